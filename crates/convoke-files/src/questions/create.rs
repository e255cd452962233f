//! Asking: a new session in the folder.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use convoke_core::id::RequestId;
use convoke_core::question::{Question, check_questions};
use convoke_core::time::Timestamp;
use serde::Serialize;
use serde_json::Map;

use super::{Questions, REQUEST, RequestFile, STATUS, Status, StatusFile};
use crate::{Error, Result, atomic, read};

/// The questions and their asker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSet {
    /// What is asked.
    pub questions: Vec<Question>,
    /// The id of the call that asks, if it has one.
    pub call_id: Option<String>,
    /// Where the asker works.
    pub working_directory: Option<String>,
    /// The asker.
    pub asked_by: Option<String>,
}

impl Questions {
    /// Creates the folder, accessible to its owner only.
    pub(crate) fn make_dir(&self) -> Result<()> {
        make_folder(&self.dir)
    }

    /// Asks. The session exists once its `status.json` does.
    pub fn create(&self, id: RequestId, new: NewSet, now: Timestamp) -> Result<()> {
        check_questions(&new.questions, self.settings.limits)?;
        self.make_dir()?;
        // Askers count and ask under a lock, or two of them would take the last place.
        let _turn = take_turn(&self.dir)?;
        let mut pending = self.pending()?;
        let max = self.settings.sessions_max;
        if pending.count() >= max {
            return Err(Error::TooMany { max });
        }
        let folder = self.folder(id);
        make_folder(&folder)?;
        let status = StatusFile {
            session_id: id,
            status: Status::Pending,
            created_at: now,
            last_modified: now,
            total_questions: new.questions.len(),
            call_id: new.call_id.clone(),
            rejection_reason: None,
            working_directory: new.working_directory.clone(),
            other: Map::new(),
        };
        let request = RequestFile {
            session_id: id,
            questions: new.questions,
            status: Status::Pending,
            timestamp: now,
            call_id: new.call_id,
            working_directory: new.working_directory,
            asked_by: new.asked_by,
            other: Map::new(),
        };
        let written = write(&folder.join(REQUEST), &request)
            .and_then(|()| write(&folder.join(STATUS), &status))
            .and_then(|()| sync(&self.dir));
        // A session without all of its files would be listed as damaged.
        written.inspect_err(|_| fs::remove_dir_all(&folder).unwrap_or_default())?;
        pending.add(id);
        Ok(())
    }
}

/// Writes a file of a session as all programs with this format do.
pub(super) fn write(path: &Path, file: &impl Serialize) -> Result<()> {
    let fail = |source| Error::Damaged { path: path.to_owned(), source };
    let text = serde_json::to_vec_pretty(file).map_err(fail)?;
    if text.len() > read::BYTES_MAX {
        let (bytes, max) = (text.len(), read::BYTES_MAX);
        return Err(Error::TooLong { path: path.to_owned(), bytes, max });
    }
    atomic::write(path, &text)
}

fn make_folder(path: &Path) -> Result<()> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|source| Error::Write { path: path.to_owned(), step: "making the folder", source })
}

/// How long the other askers are waited for; each needs milliseconds.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(2);

/// Waits for the other askers; ends with the file, and with the process.
fn take_turn(folder: &Path) -> Result<File> {
    let fail =
        |source| Error::Write { path: folder.to_owned(), step: "locking the folder", source };
    let file = File::open(folder).map_err(fail)?;
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(fail(error)),
            Err(TryLockError::WouldBlock) if Instant::now() > deadline => {
                return Err(Error::Locked { path: folder.to_owned(), holder: None });
            }
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
        }
    }
}

fn sync(folder: &Path) -> Result<()> {
    let fail =
        |source| Error::Write { path: folder.to_owned(), step: "syncing the folder", source };
    atomic::sync_folder(folder).map_err(fail)
}
