//! One process at a time changes the index of a work tree; the system frees the lock of a dead one.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::{Error, Limits, Result};

/// How long to wait between two tries; the system cannot wait for a lock and a deadline at once.
const RETRY: Duration = Duration::from_millis(5);

/// Takes the lock, waiting for other processes and threads until the timeout.
///
/// Git processes inherit it (`Command::holding`), so it also waits for those that a killed process
/// left running.
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
    remove(&index.with_extension("index.lock"))
}

/// Removes a file that may be missing.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", path, error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Removes the locks in one of Convoke's repositories that a killed git left before a given time:
/// those of refs, of the files beside them, and of the object index. The caller must have been the
/// only user of the repository since then.
pub fn remove_stale_locks(repository: &Path, before: SystemTime) -> Result<()> {
    let mut folders = vec![repository.to_owned(), repository.join("refs")];
    // Below `refs`, folders have folders; a repository has thousands of them at most.
    let mut next = 1;
    while let Some(folder) = folders.get(next).cloned() {
        next += 1;
        folders.extend(entries(&folder)?.into_iter().filter(|path| path.is_dir()));
    }
    folders.push(repository.join("objects/info"));
    for folder in folders {
        for path in entries(&folder)? {
            // Our own lock has no content and is not git's; the system frees it.
            let is_lock = path.extension().is_some_and(|it| it == "lock")
                && path.file_name().is_some_and(|name| name != OURS);
            let changed = fs::metadata(&path).and_then(|found| found.modified());
            if is_lock && changed.is_ok_and(|at| at < before) {
                fs::remove_file(&path).map_err(|source| Error::io("remove", &path, source))?;
            }
        }
    }
    Ok(())
}

/// The lock that is held while a repository is made.
pub(crate) const OURS: &str = "convoke.lock";

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.path()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(Error::io("read", folder, source)),
    }
}
