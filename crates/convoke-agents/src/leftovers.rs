//! Finds and kills agent processes that a killed daemon left behind.
//!
//! Every process group has a record that names its leader and its owner. A pid alone proves nothing, because the system
//! reuses it: a process is the recorded one only when it also has the same start time in the same boot. A group can
//! outlive its leader: an adapter ends with its input, while the agent that it started keeps running. While a group has
//! members, the system does not reuse its number, so:
//!
//! * The leader is alive: its whole group is ours, and is killed.
//! * Another process has its pid: our group has no members, or the number would not have been free.
//! * No process has its pid: the members of a group with that number are either ours or, if ours died out and the number
//!   was reused, in a foreign group that has lost its leader, too. Only those that run in the starter's session or in the
//!   leader's own, started after the leader, and work in its workspace are killed. All others are spared.
//!
//! Without `/proc` nothing can be proved, so nothing is recorded and nothing is killed.

mod proc;

pub use proc::boot;

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::{Deserialize, Serialize};

use proc::Seen;

/// How long a killed process may take to disappear; after that the kernel blocks it.
const DEATH_GRACE: Duration = Duration::from_secs(2);
/// The polling interval meanwhile.
const DEATH_PAUSE: Duration = Duration::from_millis(2);
/// The extension of records; other files are not touched.
const ENDING: &str = "json";
/// The extension of a record that is being written, after the pids of its leader and of its writer.
const UNFINISHED: &str = "new";

/// The result for one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The agent's program.
    pub program: PathBuf,
    /// The process that led the group.
    pub pid: u32,
    /// What happened to it.
    pub outcome: Outcome,
}

/// What happened to a recorded group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was left of it.
    Gone,
    /// It was killed, and is gone.
    Killed {
        /// How many processes there were.
        processes: usize,
    },
    /// It was sent SIGKILL and has not gone; the next start tries again.
    Survived,
    /// Its starter is alive, so it is in use.
    Attended,
}

/// Kills processes that earlier daemons left behind, and reports on every record in the folder.
///
/// Blocks until the killed processes are gone, at most two seconds per group. A group whose starter is alive is left
/// alone.
pub fn reap(folder: &Path) -> io::Result<Vec<Leftover>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if is_abandoned(&path) {
            // A record that cannot be removed now is left for the next start, which does no harm.
            fs::remove_file(&path).ok();
        }
        if path.extension().is_none_or(|ending| ending != ENDING) {
            continue;
        }
        match read(&path) {
            Ok(Some(entry)) => found.push(settle(&path, &entry)?),
            // Its owner has just removed it.
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "cannot read what an agent was recorded in");
            }
        }
    }
    Ok(found)
}

/// The record of a running group; dropping it removes the file.
pub(crate) struct Record {
    path: PathBuf,
}

impl Record {
    /// Records the group of a process that is an unreaped child of this one.
    pub(crate) fn write(
        folder: &Path,
        pid: u32,
        program: &Path,
        workspace: &Path,
        keeper: Keeper,
    ) -> io::Result<Self> {
        let unknown = || {
            io::Error::new(
                io::ErrorKind::Unsupported,
                "the system does not report when the process started",
            )
        };
        let leader = proc::look_at(pid).ok_or_else(unknown)?;
        let starter = proc::look_at(std::process::id()).ok_or_else(unknown)?;
        let entry = Entry {
            leader: leader.identity(),
            session: starter.session,
            starter: starter.identity(),
            boot: proc::boot().ok_or_else(unknown)?,
            program: program.to_owned(),
            workspace: workspace.to_owned(),
            keeper,
        };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // Renamed when it is complete: readers ignore other extensions.
        let unfinished = folder.join(format!("{pid}-{}.{UNFINISHED}", std::process::id()));
        let path = folder.join(format!("{pid}.{ENDING}"));
        let mut options = fs::OpenOptions::new();
        let mut file =
            options.write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
        let written = serde_json::to_vec(&entry)
            .map_err(io::Error::from)
            .and_then(|bytes| file.write_all(&bytes))
            .and_then(|()| fs::rename(&unfinished, &path));
        if let Err(error) = written {
            fs::remove_file(&unfinished).ok();
            return Err(error);
        }
        Ok(Self { path })
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        // A record that cannot be removed is recognised as stale at the next start.
        fs::remove_file(&self.path).ok();
    }
}

/// The contents of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    leader: Identity,
    /// The session (`setsid`) of the starter, which the leader may have left for its own.
    session: u32,
    starter: Identity,
    boot: String,
    program: PathBuf,
    workspace: PathBuf,
    #[serde(default)]
    keeper: Keeper,
}

/// Which process kills the group if its starter is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Keeper {
    /// None: the next start kills the rest.
    #[default]
    None,
    /// The leader itself is a supervisor, and gets time to do it.
    Supervisor,
}

/// The identity of a process within one boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    pid: u32,
    /// Its start time, in the kernel's ticks since the boot.
    start: u64,
}

impl Identity {
    fn lives(self) -> bool {
        proc::look_at(self.pid).is_some_and(|seen| seen.identity() == self && seen.is_alive())
    }
}

/// Whether a record was never finished, and its writer is dead.
fn is_abandoned(path: &Path) -> bool {
    if path.extension().is_none_or(|ending| ending != UNFINISHED) {
        return false;
    }
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let writer = name.rsplit('-').next().and_then(|pid| pid.parse().ok());
    !writer.and_then(proc::look_at).is_some_and(|seen| seen.is_alive())
}

fn read(path: &Path) -> io::Result<Option<Entry>> {
    match fs::read(path) {
        Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Handles one record, and removes it if nothing is left of its group.
fn settle(path: &Path, entry: &Entry) -> io::Result<Leftover> {
    let outcome = if proc::boot().as_ref() != Some(&entry.boot) {
        Outcome::Gone
    } else if entry.starter.lives() {
        // The starter removes the record with the group, unless a disk error prevented it.
        if members(entry).is_empty() { Outcome::Gone } else { Outcome::Attended }
    } else {
        kill(entry)
    };
    match outcome {
        Outcome::Gone | Outcome::Killed { .. } => fs::remove_file(path)?,
        Outcome::Survived | Outcome::Attended => {}
    }
    Ok(Leftover { program: entry.program.clone(), pid: entry.leader.pid, outcome })
}

/// Kills the remaining members of a group, and waits until they are gone.
fn kill(entry: &Entry) -> Outcome {
    let mut killed = Vec::new();
    if entry.keeper == Keeper::Supervisor {
        // The supervisor kills everything, even processes that left the group, unless it is killed
        // itself.
        let deadline = Instant::now() + DEATH_GRACE;
        while entry.leader.lives() && Instant::now() < deadline {
            thread::sleep(DEATH_PAUSE);
        }
    }
    let deadline = Instant::now() + DEATH_GRACE;
    loop {
        // Listed again each time: a dying process may still have started another one.
        let left = members(entry);
        if left.is_empty() {
            killed.sort_unstable();
            killed.dedup();
            let processes = killed.len();
            return if processes == 0 { Outcome::Gone } else { Outcome::Killed { processes } };
        }
        if Instant::now() >= deadline {
            return Outcome::Survived;
        }
        killed.extend(left.iter().map(|seen| seen.pid));
        send_kill(entry, &left);
        thread::sleep(DEATH_PAUSE);
    }
}

/// The living members of a recorded group that certainly belong to it.
fn members(entry: &Entry) -> Vec<Seen> {
    let group = entry.leader.pid;
    let living = || proc::all().filter(|seen| seen.is_alive());
    match proc::look_at(group).map(|seen| seen.identity() == entry.leader) {
        // The leader may have moved to another group, but still belongs to this one.
        Some(true) => living().filter(|seen| seen.group == group || seen.pid == group).collect(),
        Some(false) => Vec::new(),
        None => {
            living().filter(|seen| seen.group == group && entry.is_certainly_of_us(seen)).collect()
        }
    }
}

impl Entry {
    /// Whether a process in a group with this number, whose leader is dead, was started by the
    /// recorded leader.
    fn is_certainly_of_us(&self, seen: &Seen) -> bool {
        [self.session, self.leader.pid].contains(&seen.session)
            && seen.start >= self.leader.start
            && proc::workplace(seen.pid).is_some_and(|place| place.starts_with(&self.workspace))
    }
}

fn send_kill(entry: &Entry, left: &[Seen]) {
    let number = |pid: u32| i32::try_from(pid).ok().and_then(Pid::from_raw);
    // A signal fails if its receiver has just exited, or belongs to another user; the next check
    // distinguishes the two.
    if left.iter().any(|seen| seen.identity() == entry.leader) {
        number(entry.leader.pid).map(|group| kill_process_group(group, Signal::KILL).ok());
    }
    for one in left.iter().filter_map(|seen| number(seen.pid)) {
        kill_process(one, Signal::KILL).ok();
    }
}

// These tests need /proc.
#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;
