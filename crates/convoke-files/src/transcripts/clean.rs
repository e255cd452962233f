//! Deleting transcripts, one by name or all that are old.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use convoke_core::time::Timestamp;

use super::format::{Parsed, Record};
use super::lines::Lines;
use super::recover::changed_at;
use super::writer::unwritable;
use super::{BAD_ENDING, Damage, Error, Id, Result, Transcripts};
use crate::atomic::{TEMP_SUFFIX, sync_folder};
use crate::lock::Lock;

/// The result of a cleaning.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// Transcripts that were deleted.
    pub deleted: Vec<Id>,
    /// Old transcripts that were kept because a process has them open.
    pub open: Vec<Id>,
    /// Old transcripts that could not be deleted.
    pub failed: Vec<Damage>,
}

impl Transcripts {
    /// Deletes a transcript that no process has open, with its file of bad lines.
    pub fn delete(&self, id: &Id) -> Result<()> {
        self.existing(id)?;
        let lock = self.lock(id)?;
        self.delete_locked(id)?;
        drop(lock);
        Ok(())
    }

    /// Deletes the transcripts without activity for `age`, and leftovers of killed writers; continues past those that
    /// fail.
    pub fn clean(&self, age: Duration, now: Timestamp) -> Result<Cleaned> {
        let cleaned = self.clean_among(self.names()?.ids, age, now);
        self.sweep();
        Ok(cleaned)
    }

    fn clean_among(&self, ids: Vec<Id>, age: Duration, now: Timestamp) -> Cleaned {
        let mut cleaned = Cleaned::default();
        for id in ids {
            match self.clean_one(&id, |time| is_old(time, age, now)) {
                Ok(CleanOutcome::Kept) => {}
                Ok(CleanOutcome::Open) => cleaned.open.push(id),
                Ok(CleanOutcome::Deleted) => cleaned.deleted.push(id),
                Err(error) => {
                    tracing::warn!("the session {id} cannot be cleaned up: {error}");
                    cleaned.failed.push(Damage { id, error });
                }
            }
        }
        cleaned
    }

    fn clean_one(&self, id: &Id, is_old: impl Fn(Timestamp) -> bool) -> Result<CleanOutcome> {
        let path = self.path(id);
        // Nothing is older than its beginning, so most need no second look.
        if !is_old(first_time(&path)?) {
            return Ok(CleanOutcome::Kept);
        }
        let lock = match Lock::try_acquire(&self.beside(id, super::LOCK_ENDING)) {
            Ok(lock) => lock,
            Err(crate::Error::Locked { .. }) => return Ok(CleanOutcome::Open),
            Err(error) => return Err(error.into()),
        };
        // Checked under the lock, since a turn may have been added before the lock was taken.
        if !is_old(last_time(&path)?) {
            return Ok(CleanOutcome::Kept);
        }
        self.delete_locked(id)?;
        drop(lock);
        Ok(CleanOutcome::Deleted)
    }

    fn delete_locked(&self, id: &Id) -> Result<()> {
        let path = self.path(id);
        // The file of bad lines goes first: without its transcript it would not be found again.
        for path in [self.beside(id, BAD_ENDING), path.clone()] {
            match fs::remove_file(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => return Err(unwritable(&path, "deleting", source)),
            }
        }
        sync_folder(&self.dir).map_err(|source| unwritable(&path, "syncing its folder", source))
    }

    /// Deletes temporary files of killed writers; a live writer needs one only for milliseconds.
    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.dir) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_temporary = name.starts_with('.') && name.ends_with(TEMP_SUFFIX);
            let age = || entry.metadata().and_then(|file| file.modified()).map(|at| at.elapsed());
            if is_temporary && age().is_ok_and(|age| age.is_ok_and(|age| age > LEFT_BEHIND)) {
                // A file that cannot be deleted now is left for the next time; it does no harm.
                fs::remove_file(entry.path()).ok();
            }
        }
    }
}

/// A temporary file that is older than this has no writer.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

enum CleanOutcome {
    Kept,
    Open,
    Deleted,
}

fn is_old(time: Timestamp, age: Duration, now: Timestamp) -> bool {
    now.millis_since(time) > i64::try_from(age.as_millis()).unwrap_or(i64::MAX)
}

/// When a transcript was created; without metadata, the time of the file's last change.
fn first_time(path: &Path) -> Result<Timestamp> {
    if let Ok(Some(mut lines)) = Lines::open(path)
        && let Ok(Some(line)) = lines.next()
        && let Parsed::Known(Record::Metadata(metadata)) = line.parse()
    {
        return Ok(metadata.created_at);
    }
    changed(path)
}

/// The time of the last entry of a transcript. If lines cannot be read, the time of the file's last
/// change.
fn last_time(path: &Path) -> Result<Timestamp> {
    let mut last = None;
    if let Ok(Some(mut lines)) = Lines::open(path) {
        loop {
            match lines.next().map(|line| line.map(|line| line.parse())) {
                Ok(Some(Parsed::Known(record))) => last = last.max(Some(record.time())),
                Ok(Some(Parsed::Other)) => {}
                Ok(Some(Parsed::Cut(_) | Parsed::Bad(_))) | Err(_) => {
                    last = last.max(Some(changed(path)?));
                    break;
                }
                Ok(None) => break,
            }
        }
    }
    last.map_or_else(|| changed(path), Ok)
}

fn changed(path: &Path) -> Result<Timestamp> {
    let fail = |source: io::Error| -> Error { super::lines::unreadable(path, source) };
    changed_at(path).map_err(fail)
}
