//! The descendants of one process, from `/proc`.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

/// How long killed processes may take to disappear; after that the kernel blocks them.
const DEATH_GRACE: Duration = Duration::from_secs(5);
/// The polling interval meanwhile.
const DEATH_PAUSE: Duration = Duration::from_millis(1);

/// A process below another one.
pub(super) struct Descendant {
    pub(super) pid: Pid,
    /// 1 for a child.
    depth: usize,
    /// Exited, but not reaped.
    is_zombie: bool,
}

/// Every descendant of a process, including those in other sessions and groups.
pub(super) fn descendants(root: Pid) -> Vec<Descendant> {
    let mut children: BTreeMap<i32, Vec<(i32, bool)>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some((parent, is_zombie)) = parent_of(pid) {
            children.entry(parent).or_default().push((pid, is_zombie));
        }
    }
    let mut found = Vec::new();
    let mut open = vec![(root.as_raw_pid(), 0)];
    while let Some((pid, depth)) = open.pop() {
        for (child, is_zombie) in children.remove(&pid).unwrap_or_default() {
            open.push((child, depth + 1));
            found.extend(Pid::from_raw(child).map(|pid| Descendant {
                pid,
                depth: depth + 1,
                is_zombie,
            }));
        }
    }
    found
}

/// The parent of a process, and whether it is a zombie.
fn parent_of(pid: i32) -> Option<(i32, bool)> {
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let line = String::from_utf8_lossy(&line);
    // The program's name is in parentheses and may contain any character, so only the last one
    // closes it.
    let (_, rest) = line.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    Some((fields.next()?.parse().ok()?, matches!(state, "Z" | "X")))
}

/// Sends SIGTERM to the program and all its descendants, except for the monitors of bubblewrap,
/// which would end the namespace at once.
pub(super) fn terminate(root: Pid) {
    let all = descendants(root);
    let is_monitor = |one: &&Descendant| !is_bubblewrap(one.pid) || one.depth > 2;
    for one in all.iter().filter(is_monitor) {
        // It may have exited meanwhile.
        kill_process(one.pid, Signal::TERM).ok();
    }
}

fn is_bubblewrap(pid: Pid) -> bool {
    let name = fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_pid()));
    name.is_ok_and(|name| name.trim() == "bwrap")
}

/// Kills all descendants of a process, until none is left.
pub(super) fn kill_all(root: Pid) {
    let deadline = Instant::now() + DEATH_GRACE;
    loop {
        // Listed again each time: a dying process may still have started another one.
        let left = descendants(root);
        if left.is_empty() || Instant::now() > deadline {
            return;
        }
        for one in left.iter().filter(|one| !one.is_zombie) {
            kill_process(one.pid, Signal::KILL).ok();
        }
        for one in left.iter().filter(|one| one.depth == 1) {
            reap(one.pid);
        }
        std::thread::sleep(DEATH_PAUSE);
    }
}

/// Reaps orphans that exited; `child` has its own waiter.
pub(super) fn reap_orphans(all: &[Descendant], child: Option<u32>) {
    let is_orphan = |one: &&Descendant| {
        one.depth == 1 && one.is_zombie && Some(one.pid.as_raw_pid().cast_unsigned()) != child
    };
    all.iter().filter(is_orphan).for_each(|one| reap(one.pid));
}

fn reap(pid: Pid) {
    // Fails if it is no longer a child, or still alive; the next check handles it.
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG).ok();
}
