//! Processes as `/proc` shows them.

use std::fs;
use std::path::PathBuf;

use super::Identity;

/// A process as it was when `/proc` was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) pid: u32,
    state: char,
    pub(super) group: u32,
    pub(super) session: u32,
    /// When it began, in ticks since the boot.
    pub(super) start: u64,
}

impl Seen {
    pub(super) const fn identity(&self) -> Identity {
        Identity { pid: self.pid, start: self.start }
    }

    /// Whether it is no zombie, which only waits to be reaped.
    pub(super) const fn is_alive(&self) -> bool {
        !matches!(self.state, 'Z' | 'X' | 'x')
    }

    /// Reads a line of `/proc/PID/stat`.
    fn read(line: &str) -> Option<Self> {
        let (pid, rest) = line.split_once(" (")?;
        // The program's name is in parentheses and may contain any character, so only the last one
        // closes it.
        let (_, rest) = rest.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        // proc(5) numbers fields from 1, and these begin with the third.
        let field = |number: usize| fields.get(number - 3).copied();
        Some(Self {
            pid: pid.parse().ok()?,
            state: field(3)?.chars().next()?,
            group: field(5)?.parse().ok()?,
            session: field(6)?.parse().ok()?,
            start: field(22)?.parse().ok()?,
        })
    }
}

/// The process with this number, if there is one.
pub(super) fn look_at(pid: u32) -> Option<Seen> {
    // A name that is not UTF-8 must not hide its process.
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    Seen::read(&String::from_utf8_lossy(&line))
}

/// Lists all processes.
pub(super) fn all() -> impl Iterator<Item = Seen> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(look_at)
}

/// The working directory of a process, if it is readable.
pub(super) fn workplace(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// The id of this boot of the operating system, if it has one.
pub fn boot() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programs_name_may_hold_anything() {
        let rest = "S 1 77 5 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 99 1";
        for name in ["sh", "a) S 1 (b", "", "two words"] {
            let seen = Seen::read(&format!("42 ({name}) {rest}")).unwrap();
            assert_eq!(seen, Seen { pid: 42, state: 'S', group: 77, session: 5, start: 123_456 });
        }
        assert_eq!(Seen::read("42 (sh) S 1"), None);
        assert_eq!(Seen::read(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_seen_as_it_is() {
        let me = look_at(std::process::id()).unwrap();
        assert_eq!(me.group, rustix::process::getpgrp().as_raw_pid().cast_unsigned());
        assert!(me.is_alive());
        assert!(all().any(|seen| seen.identity() == me.identity()));
        assert_eq!(workplace(me.pid), std::env::current_dir().ok());
        assert_eq!(boot().unwrap().len(), 36);
    }
}
