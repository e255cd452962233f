//! Lock files that name their holder, and that no crash, reused PID or invalid content can block.
//!
//! The file holds its owner's PID, as other programs expect. For Convoke's own processes the
//! operating system's lock on that file decides, which ends with the process; the PID decides only
//! for programs that take no such lock. A process that removes a stale file holds the operating
//! system's lock on it, so a live lock is never removed.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::atomic::temporary;
use crate::{Error, Result};

/// How long a lock is waited for; holders need milliseconds, so this much means that something is wrong.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The first pause between two attempts; each next one is twice as long, up to `PAUSE_MAX`.
const PAUSE_MIN: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(32);
/// How long the last child of a dead holder may have its lock: from being made to becoming another program.
const HEIR_TIMEOUT: Duration = Duration::from_secs(2);
/// A lock file without a PID may be one that is just being written; after this long it is garbage.
const GARBAGE_AGE: Duration = Duration::from_secs(1);

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Takes the lock, waiting up to five seconds for its holder.
    pub fn acquire(path: &Path) -> Result<Self> {
        Self::acquire_within(path, TIMEOUT)
    }

    /// Takes the lock only if no live process holds it.
    pub fn try_acquire(path: &Path) -> Result<Self> {
        Self::acquire_within(path, Duration::ZERO)
    }

    fn acquire_within(path: &Path, timeout: Duration) -> Result<Self> {
        let fail = |source| Error::Write { path: path.to_owned(), step: "locking", source };
        let deadline = Instant::now() + timeout;
        let mut pause = PAUSE_MIN;
        loop {
            if let Some(file) = create(path).map_err(fail)? {
                return Ok(Self { path: path.to_owned(), file });
            }
            match clear_if_stale(path).map_err(fail)? {
                Found::Gone if Instant::now() < deadline + GARBAGE_AGE => continue,
                Found::Gone => return Err(Error::Locked { path: path.to_owned(), holder: None }),
                Found::Held { .. } if Instant::now() < deadline => {}
                Found::Inherited { .. } if Instant::now() < deadline + HEIR_TIMEOUT => {}
                Found::Held { pid } | Found::Inherited { pid } => {
                    return Err(Error::Locked { path: path.to_owned(), holder: pid });
                }
            }
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A program that does not know the operating system's lock may have replaced the file.
        if is_at(&self.file, &self.path) {
            fs::remove_file(&self.path).ok();
        }
    }
}

/// The live process that holds a lock now, where that is known.
pub fn holder(path: &Path) -> Option<u32> {
    let pid = File::open(path).ok().and_then(|file| pid_in(&file));
    pid.filter(|_| is_held_now(path))
}

/// Whether a live process holds a lock now. Takes no lock, removes nothing, and blocks no other process.
pub(crate) fn is_held_now(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(_)) => false,
        Ok(()) => {
            let written_at = file.metadata().and_then(|file| file.modified());
            written_at.is_ok_and(|written_at| is_held(pid_in(&file), written_at))
        }
    }
}

/// The PID in a lock file.
fn pid_in(mut file: &File) -> Option<u32> {
    let mut text = String::new();
    // Garbage need not be text.
    (&mut file).take(64).read_to_string(&mut text).unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok())
}

/// Creates the lock file, or reports that there is one. It appears with its PID written and its lock held.
fn create(path: &Path) -> io::Result<Option<File>> {
    let mut temp = temporary(path.parent().unwrap_or(Path::new(".")))?;
    write!(temp, "{}", std::process::id())?;
    match temp.as_file().try_lock() {
        Ok(()) => {}
        // No other process knows this file yet, so a failure means that its file system has no such locks; the PID must
        // do.
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error),
    }
    match temp.persist_noclobber(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if is_lost(error.error.kind()) => Ok(None),
        Err(error) => Err(error.error),
    }
}

/// Another process has the lock, or its holder swept our temporary file: the caller tries again.
const fn is_lost(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound)
}

enum Found {
    /// The lock file no longer exists.
    Gone,
    Held {
        pid: Option<u32>,
    },
    /// The holder was killed while it spawned a child, which has inherited the lock until it calls exec.
    Inherited {
        pid: Option<u32>,
    },
}

/// Checks a lock file and removes it if its holder is dead.
fn clear_if_stale(path: &Path) -> io::Result<Found> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return clear_stranger(path, &found),
        // A missing or unreadable file is reported by the attempt to open it.
        Ok(_) | Err(_) => {}
    }
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Gone),
        Err(error) => return Err(error),
    };
    let pid = pid_in(&file);
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let is_dead = pid.is_some_and(|pid| process_start(pid).is_none());
            return Ok(if is_dead { Found::Inherited { pid } } else { Found::Held { pid } });
        }
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    if !is_at(&file, path) {
        return Ok(Found::Gone);
    }
    if is_held(pid, file.metadata()?.modified()?) {
        return Ok(Found::Held { pid });
    }
    fs::remove_file(path)?;
    Ok(Found::Gone)
}

/// Removes a link, a pipe or the like, which cannot be a lock file; a folder is left alone.
fn clear_stranger(path: &Path, found: &fs::Metadata) -> io::Result<Found> {
    if found.is_dir() || is_held(None, found.modified()?) {
        return Ok(Found::Held { pid: None });
    }
    fs::remove_file(path)?;
    Ok(Found::Gone)
}

/// Whether a lock file that carries no lock of the operating system has a living holder.
fn is_held(pid: Option<u32>, written_at: SystemTime) -> bool {
    match pid {
        None => written_at.elapsed().is_ok_and(|age| age < GARBAGE_AGE),
        // A process that began after the lock was written is another one under a recycled PID.
        Some(pid) => process_start(pid).is_some_and(|started| started <= written_at + CLOCK_SLACK),
    }
}

/// Start times are counted in hundredths of a second from a boot time in whole seconds.
const CLOCK_SLACK: Duration = Duration::from_secs(2);

/// When the living process with this PID began.
fn process_start(pid: u32) -> Option<SystemTime> {
    // The program's name is in parentheses and may contain any character, so fields are counted
    // from its end.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    // A zombie keeps its PID until its parent reaps it, which may take long or never happen.
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    let ticks: u64 = fields.nth(18)?.parse().ok()?;
    let since_boot = Duration::from_secs(ticks / rustix::param::clock_ticks_per_second());
    Some(boot_time()? + since_boot)
}

fn boot_time() -> Option<SystemTime> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let line = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(line.trim().parse().ok()?))
}

/// Whether the open file is the one that has this name now.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

#[cfg(test)]
mod tests;
