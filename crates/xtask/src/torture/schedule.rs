//! The faults and their times: drawn from a seed, so that the same seed yields the same plan.
//!
//! The plan is reproducible; the instruction at which a fault hits a process is not.

use std::fmt;
use std::time::Duration;

use convoke_testkit::bench::random::Random;

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// SIGKILL for the daemon.
    KillDaemon,
    /// SIGTERM for the daemon.
    StopDaemon,
    /// SIGKILL for an agent.
    KillAgent,
    /// SIGKILL for a `convoke ask` that waits.
    KillWaiter,
    /// SIGKILL for a REPL.
    KillRepl,
    /// A full disk for about a second.
    FillDisk,
    /// A read-only home for about a second.
    ReadOnly,
    /// A clock that was wrong has left its marks.
    JumpClock,
    /// A hundred clients at once.
    Crowd,
}

impl Fault {
    /// Every fault.
    pub(super) const ALL: [Self; 9] = [
        Self::KillDaemon,
        Self::StopDaemon,
        Self::KillAgent,
        Self::KillWaiter,
        Self::KillRepl,
        Self::FillDisk,
        Self::ReadOnly,
        Self::JumpClock,
        Self::Crowd,
    ];

    /// How often it comes, compared with the others.
    const fn weight(self) -> usize {
        match self {
            Self::KillDaemon | Self::KillRepl | Self::KillWaiter => 3,
            Self::KillAgent => 4,
            Self::StopDaemon | Self::FillDisk | Self::ReadOnly | Self::JumpClock | Self::Crowd => 1,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KillDaemon => "kill the daemon",
            Self::StopDaemon => "stop the daemon",
            Self::KillAgent => "kill an agent",
            Self::KillWaiter => "kill a waiter",
            Self::KillRepl => "kill a REPL",
            Self::FillDisk => "fill the disk",
            Self::ReadOnly => "make the home read-only",
            Self::JumpClock => "jump the clock",
            Self::Crowd => "100 clients at once",
        })
    }
}

/// When each fault comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) faults: Vec<(Duration, Fault)>,
}

/// The shortest time between two faults, and how much longer it may be.
const PAUSE_MS: (u64, u64) = (150, 1100);

impl Plan {
    /// The plan of a seed: every fault comes once in the order of chance before any comes twice.
    pub(super) fn of(seed: u64, length: Duration) -> Self {
        let mut random = Random::new(seed);
        let (mut at, mut faults, mut hat) = (Duration::ZERO, Vec::new(), Fault::ALL.to_vec());
        loop {
            at += Duration::from_millis(PAUSE_MS.0 + random.below(PAUSE_MS.1));
            if at >= length {
                return Self { faults };
            }
            if hat.is_empty() {
                let many = |fault: Fault| std::iter::repeat_n(fault, fault.weight());
                hat = Fault::ALL.into_iter().flat_map(many).collect();
            }
            let drawn = random.below(hat.len() as u64) as usize;
            faults.push((at, hat.swap_remove(drawn)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_the_same_plan_again_with_every_fault_in_it() {
        let plan = Plan::of(7, Duration::from_secs(20));
        assert_eq!(plan, Plan::of(7, Duration::from_secs(20)));
        assert_ne!(plan, Plan::of(8, Duration::from_secs(20)));
        for fault in Fault::ALL {
            assert!(plan.faults.iter().any(|(_, it)| *it == fault), "{fault} is missing");
        }
        assert!(plan.faults.is_sorted_by_key(|(at, _)| *at));
    }
}
