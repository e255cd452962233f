//! Several daemons on one PostgreSQL, with faults between them; then the auditor, and checks in the
//! database itself.
//!
//! Clocks are not changed: leases do not depend on the clock of a node, and the store's own tests
//! run daemons whose clocks are in 1970.

mod audit;
mod load;
mod moving;
mod proxy;

use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use convoke_testkit::bench::random::Random;
use convoke_testkit::postgres::{Database, Server};
use rustix::process::Signal;

use super::clients::{self, World};
use super::faults::Made;
use super::ledger::Ledger;
use super::machine::{Machine, signal_process};
use super::{Options, Totals, Verdict, supervise, watchers};
use proxy::Proxy;

pub(super) use load::load;

/// How long a node sleeps that is to wake after its lease.
const PAST_LEASE: Duration = Duration::from_secs(17);
/// Rounds that are shorter have no time for that: the lease is ended in the database instead.
const LONG: Duration = Duration::from_secs(60);
/// The shortest time between two faults, and how much longer it may be.
const PAUSE_MS: (u64, u64) = (600, 1800);

/// Something that goes wrong between nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// SIGKILL for a daemon.
    KillNode,
    /// SIGKILL for PostgreSQL, which is then started again.
    KillDatabase,
    /// SIGSTOP for a daemon until its lease is over, then SIGCONT.
    Sleep,
    /// All connections of a daemon to PostgreSQL are cut, and new ones refused for a while.
    Cut,
    /// The same, with its sessions moved to another node meanwhile.
    SleepMoved,
    /// Sessions are moved from one node that runs to another.
    Move,
    /// A second home with the name of a node.
    SecondHome,
}

impl Fault {
    const ALL: [Self; 7] = [
        Self::KillNode,
        Self::KillDatabase,
        Self::Sleep,
        Self::Cut,
        Self::SleepMoved,
        Self::Move,
        Self::SecondHome,
    ];
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KillNode => "kill a node",
            Self::KillDatabase => "kill PostgreSQL",
            Self::Sleep => "stop a node past its lease and wake it",
            Self::Cut => "cut a node's connections",
            Self::SleepMoved => "stop a node past its lease, move its sessions and wake it",
            Self::Move => "move sessions to another node",
            Self::SecondHome => "start a second home with a node's name",
        })
    }
}

/// Daemons, their database, and the proxies between them.
struct Nodes {
    // Dropped first: exited daemons need no database.
    machines: Vec<Machine>,
    proxies: Vec<Proxy>,
    database: Database,
    server: Mutex<Server>,
    /// How daemons are started; for a second home.
    config: Vec<String>,
}

impl Nodes {
    /// Starts PostgreSQL and the daemons.
    fn start(program: &Path, agent: &Path, options: &Options, more: &str) -> Result<Self> {
        let server = Server::start(&["fsync=on"])?;
        let database = server.database();
        let mut nodes = Self {
            machines: Vec::new(),
            proxies: Vec::new(),
            database,
            server: Mutex::new(server),
            config: Vec::new(),
        };
        for number in 0..options.nodes {
            let proxy = Proxy::start(&nodes.database.url)?;
            let config = format!(
                "[store]\nurl = \"{}\"\n[node]\nname = \"node-{number}\"\n{more}",
                proxy.url
            );
            let machine = Machine::prepare_with(program, agent, options.seed, &config)?;
            if let Some(status) = machine.start_daemon()? {
                anyhow::bail!("a node does not start: {status}\n{}", machine.daemon_words());
            }
            nodes.machines.push(machine);
            nodes.proxies.push(proxy);
            nodes.config.push(config);
        }
        Ok(nodes)
    }

    fn first(&self) -> Result<&Machine> {
        self.machines.first().context("there is no node")
    }

    /// Injects a fault, and ends it.
    fn make(&self, fault: Fault, random: &mut Random, context: &FaultContext<'_>) -> Result<Made> {
        let drawn = random.below(self.machines.len().max(1) as u64) as usize;
        let (Some(machine), Some(proxy)) = (self.machines.get(drawn), self.proxies.get(drawn))
        else {
            return Ok(Made::No);
        };
        match fault {
            Fault::KillNode => machine.end_daemon(Signal::KILL),
            Fault::KillDatabase => {
                self.machines.iter().for_each(Machine::turn_disk);
                let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
                server.kill()?;
                thread::sleep(Duration::from_millis(random.below(2500)));
                server.start_again()?;
                self.machines.iter().for_each(Machine::turn_disk);
            }
            Fault::Sleep => {
                let Some(pid) = machine.pid() else { return Ok(Made::No) };
                signal_process(pid, Signal::STOP);
                self.end_lease(drawn, context)?;
                signal_process(pid, Signal::CONT);
            }
            Fault::SleepMoved => {
                let Some(pid) = machine.pid() else { return Ok(Made::No) };
                signal_process(pid, Signal::STOP);
                let made = self.end_lease(drawn, context).and_then(|()| {
                    let from = moving::From::Away;
                    moving::move_sessions(self, drawn, from, random, context.ledger)
                });
                signal_process(pid, Signal::CONT);
                return made;
            }
            Fault::Move => {
                let from = moving::From::Running;
                return moving::move_sessions(self, drawn, from, random, context.ledger);
            }
            Fault::Cut => {
                machine.turn_disk();
                proxy.cut();
                thread::sleep(Duration::from_millis(500 + random.below(2500)));
                proxy.reconnect();
                machine.turn_disk();
            }
            Fault::SecondHome => return self.second_home(drawn, context),
        }
        Ok(Made::Yes)
    }

    /// Waits until the lease of a stopped node is over.
    fn end_lease(&self, number: usize, context: &FaultContext<'_>) -> Result<()> {
        if context.length >= LONG {
            thread::sleep(PAST_LEASE);
            return Ok(());
        }
        let over = format!(
            "UPDATE nodes SET lease_until = clock_timestamp() - interval '1 second'
             WHERE name = 'node-{number}'"
        );
        self.database.execute(&over).map_err(anyhow::Error::msg)?;
        thread::sleep(Duration::from_millis(1500));
        Ok(())
    }

    fn second_home(&self, number: usize, context: &FaultContext<'_>) -> Result<Made> {
        let Some(config) = self.config.get(number) else { return Ok(Made::No) };
        let (program, agent) = context.programs;
        let second = Machine::prepare_with(program, agent, context.seed, config)?;
        let status = second.start_daemon()?;
        let words = second.daemon_words();
        if status.is_none() {
            context.ledger.complain(format!("a second home is node-{number}, too"));
        }
        let is_refused = words.contains(&format!("another node is called node-{number}"));
        if !is_refused {
            context.ledger.complain(format!("a second home of node-{number} printed: {words}"));
        }
        Ok(Made::Yes)
    }
}

/// The context of a fault.
struct FaultContext<'a> {
    ledger: &'a Ledger,
    programs: (&'a Path, &'a Path),
    seed: u64,
    length: Duration,
}

/// One round with many faults.
pub(super) fn torture(program: &Path, agent: &Path, options: &Options) -> Result<Verdict> {
    let nodes = Nodes::start(program, agent, options, "")?;
    let (ledger, mut total) = (Ledger::default(), Totals::default());
    let first = nodes.first()?;
    total.begin(options.seed, first);
    let world = World::of_nodes(first, &nodes.machines, &ledger, options.seed);
    let length = Duration::from_secs(options.seconds);
    let context =
        FaultContext { ledger: &ledger, programs: (program, agent), seed: options.seed, length };
    let is_watched_over = AtomicBool::new(true);
    thread::scope(|scope| -> Result<()> {
        for machine in &nodes.machines {
            let (ledger, is_watched_over) = (&ledger, &is_watched_over);
            scope.spawn(move || supervise(machine, ledger, is_watched_over));
        }
        let made = thread::scope(|scope| {
            let world = &world;
            for client in 0..10 {
                scope.spawn(move || clients::prompter(world, client));
            }
            for client in 100..104 {
                scope.spawn(move || watchers::watcher(world, client));
            }
            scope.spawn(move || clients::human(world));
            let made = carry_out(&nodes, &context, &mut total);
            world.over.store(true, Ordering::SeqCst);
            made
        });
        is_watched_over.store(false, Ordering::SeqCst);
        made
    })?;
    let findings = audit::examine(&nodes, &ledger, &mut total)?;
    report(&nodes, options, &total, &findings)
}

/// Injects faults, each kind once before any is repeated.
fn carry_out(nodes: &Nodes, context: &FaultContext<'_>, total: &mut Totals) -> Result<()> {
    let (mut random, mut hat) = (Random::new(context.seed), Vec::new());
    let begun = Instant::now();
    loop {
        let pause = Duration::from_millis(PAUSE_MS.0 + random.below(PAUSE_MS.1));
        if begun.elapsed() + pause >= context.length {
            thread::sleep(context.length.saturating_sub(begun.elapsed()));
            return Ok(());
        }
        thread::sleep(pause);
        if hat.is_empty() {
            hat = Fault::ALL.to_vec();
        }
        let drawn = random.below(hat.len() as u64) as usize;
        let fault = hat.swap_remove(drawn);
        if nodes.make(fault, &mut random, context)? == Made::Yes {
            *total.faults.entry(fault.to_string()).or_default() += 1;
        }
    }
}

fn report(
    nodes: &Nodes,
    options: &Options,
    total: &Totals,
    findings: &[String],
) -> Result<Verdict> {
    let mut out = io::stdout().lock();
    write!(out, "{} nodes on one PostgreSQL\n{}", options.nodes, total.summary())?;
    for finding in findings {
        writeln!(out, "seed {}: {finding}", options.seed)?;
    }
    if findings.is_empty() {
        writeln!(
            out,
            "torture: all nodes agree, and everything that was acknowledged is there once"
        )?;
        return Ok(Verdict::Held);
    }
    for (number, machine) in nodes.machines.iter().enumerate() {
        let seed = options.seed * 1000 + number as u64;
        writeln!(out, "node-{number}: {}", machine.keep_evidence(seed)?.display())?;
    }
    writeln!(out, "torture: {} findings", findings.len())?;
    Ok(Verdict::Broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n9_every_fault_between_nodes_has_its_own_name() {
        let names: std::collections::BTreeSet<String> =
            Fault::ALL.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), Fault::ALL.len());
    }
}
