//! Deletes old sessions.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::time::{Duration, SystemTime};

use convoke_core::id::RequestId;
use convoke_core::time::Timestamp;

use super::settle::lock_path;
use super::{Damage, Questions, REQUEST, STATUS, Status};
use crate::lock::Lock;
use crate::{Error, Result};

/// The result of a cleaning.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// Sessions that were deleted.
    pub deleted: Vec<RequestId>,
    /// Old sessions that were kept because an asker still waits.
    pub waited_on: Vec<RequestId>,
    /// Old sessions that could not be deleted.
    pub failed: Vec<Damage>,
}

/// Which old sessions a cleaning deletes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those that were answered or rejected, or never completely asked; the human may still answer the others.
    Settled,
    /// All that no process waits for.
    All,
}

impl Questions {
    /// Deletes the sessions without changes for `retention`, and continues past those that fail.
    pub fn clean(&self, which: Which, retention: Duration, now: Timestamp) -> Result<Cleaned> {
        let mut cleaned = Cleaned::default();
        for id in self.ids()? {
            match self.clean_one(id, which, retention, now) {
                Ok(CleanOutcome::Kept) => {}
                Ok(CleanOutcome::WaitedOn) => cleaned.waited_on.push(id),
                Ok(CleanOutcome::Deleted) => cleaned.deleted.push(id),
                Err(error) => {
                    tracing::warn!("question session {id} cannot be cleaned: {error}");
                    cleaned.failed.push(Damage { id, error });
                }
            }
        }
        Ok(cleaned)
    }

    fn clean_one(
        &self,
        id: RequestId,
        which: Which,
        retention: Duration,
        now: Timestamp,
    ) -> Result<CleanOutcome> {
        let folder = self.existing(id)?;
        let entry = match self.entry(id) {
            // A damaged session is as old as its folder.
            Err(Error::Damaged { .. }) => None,
            entry => entry?,
        };
        let changed_at = entry.as_ref().map_or_else(
            || folder_changed_at(&folder),
            |entry| Ok(entry.last_modified.max(entry.created_at)),
        )?;
        let age = u64::try_from(now.millis_since(changed_at)).unwrap_or_default();
        if Duration::from_millis(age) <= retention {
            return Ok(CleanOutcome::Kept);
        }
        let is_settled = entry
            .as_ref()
            .is_some_and(|entry| matches!(entry.status, Status::Completed | Status::Rejected));
        // A process that was killed while it asked leaves a folder without a status, which cannot be answered.
        let is_unfinished = !folder.join(STATUS).exists();
        if which == Which::Settled && !is_settled && !is_unfinished {
            return Ok(CleanOutcome::Kept);
        }
        let is_pending = entry.is_some_and(|entry| entry.status == Status::Pending);
        if is_pending && is_waited_on(&folder)? {
            return Ok(CleanOutcome::WaitedOn);
        }
        let _lock = Lock::try_acquire(&lock_path(&folder))?;
        let fail = |source| Error::Write { path: folder.clone(), step: "deleting", source };
        fs::remove_dir_all(&folder).map_err(fail)?;
        Ok(CleanOutcome::Deleted)
    }
}

enum CleanOutcome {
    Kept,
    WaitedOn,
    Deleted,
}

/// Holds a session against cleaning for as long as it lives, and no longer than its process does.
pub(super) fn wait_on(folder: &Path) -> Result<File> {
    let path = folder.join(REQUEST);
    let fail = |source| Error::Read { path: path.clone(), source };
    let file = File::open(&path).map_err(fail)?;
    match file.try_lock_shared() {
        // Another process is cleaning; the next scan of the folder shows the result.
        Ok(()) | Err(TryLockError::WouldBlock) => Ok(file),
        Err(TryLockError::Error(error)) => Err(fail(error)),
    }
}

impl Questions {
    /// Whether some process waits for a session.
    pub(crate) fn is_waited_on(&self, id: RequestId) -> Result<bool> {
        is_waited_on(&self.existing(id)?)
    }
}

fn is_waited_on(folder: &Path) -> Result<bool> {
    let path = folder.join(REQUEST);
    let fail = |source| Error::Read { path: path.clone(), source };
    match File::open(&path).map_err(fail)?.try_lock() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(fail(error)),
    }
}

fn folder_changed_at(folder: &Path) -> Result<Timestamp> {
    let fail = |source| Error::Read { path: folder.to_owned(), source };
    let modified = fs::metadata(folder).and_then(|metadata| metadata.modified()).map_err(fail)?;
    let age = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(Timestamp::from_millis(i64::try_from(age.as_millis()).unwrap_or(i64::MAX)))
}
