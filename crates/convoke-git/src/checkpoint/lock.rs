//! One process at a time changes the index of a work tree; the system frees the lock of a dead one.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::{Error, Limits, Result};

/// How long to wait between two tries; the system cannot wait for a lock and a deadline at once.
const RETRY: Duration = Duration::from_millis(5);

/// Takes the lock, waiting for other processes and threads until the time is over.
///
/// Git processes share it (`Command::holding`), so it also waits for those that a killed process left running.
pub(crate) fn take(path: &Path, limits: &Limits) -> Result<File> {
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let file = opened.map_err(|source| Error::io("open", path, source))?;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(source) => return Err(Error::io("lock", path, source.into())),
        }
        if limits.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if limits.left().is_zero() {
            return Err(Error::Busy { path: path.to_owned() });
        }
        std::thread::sleep(RETRY.min(limits.left()));
    }
}

/// Removes the lock that a killed git left beside our index; the caller holds our own lock, so no git is using it.
pub(crate) fn remove_stale(index: &Path) -> Result<()> {
    let stale = index.with_extension("index.lock");
    match fs::remove_file(&stale) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", &stale, error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
