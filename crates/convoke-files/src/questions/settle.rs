//! Answering, rejecting, timing out and abandoning: of many attempts exactly one wins.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_core::id::RequestId;
use convoke_core::question::{Answer, check_all_answered, check_answers};
use convoke_core::request::Command;
use convoke_core::time::Timestamp;
use serde_json::Map;

use super::create::write;
use super::{ANSWERS, AnswersFile, Questions, STATUS, Status, StatusFile, Verdict, wake_pipe};
use crate::lock::Lock;
use crate::{Error, Result, atomic, read};

impl Questions {
    /// Settles a session, or returns its earlier outcome.
    pub fn settle(&self, id: RequestId, verdict: Verdict, now: Timestamp) -> Result<()> {
        let folder = self.existing(id)?;
        if let Verdict::Answer(answers) = &verdict {
            check_all_answered(&self.questions(id)?, answers)?;
        }
        let _lock = Lock::acquire(&lock_path(&folder))?;
        let status = self.reconcile(id, &folder, now)?;
        let (command, answers, reason) = parts(verdict);
        let settled = |_| Error::Settled { id, status: status.status };
        let (next, _) = status.status.state().handle(command).map_err(settled)?;
        if let Some(answers) = answers {
            let file = AnswersFile {
                session_id: id,
                answers,
                timestamp: now,
                call_id: status.call_id.clone(),
                other: Map::new(),
            };
            write(&folder.join(ANSWERS), &file)?;
        }
        let status = StatusFile {
            status: next.status().into(),
            last_modified: now,
            rejection_reason: reason,
            ..status
        };
        write(&folder.join(STATUS), &status)?;
        wake_pipe::wake(&folder);
        Ok(())
    }

    /// Whether the files are inconsistent: a process was killed while answering, or a file is damaged.
    pub(super) fn is_unfinished(&self, folder: &Path) -> Result<bool> {
        match read::json::<StatusFile>(&folder.join(STATUS)) {
            Ok(Some(status)) => Ok(match status.status {
                Status::Rejected => false,
                Status::Completed => !folder.join(ANSWERS).exists(),
                Status::Pending | Status::TimedOut | Status::Abandoned => {
                    folder.join(ANSWERS).exists()
                }
            }),
            Ok(None) | Err(Error::Damaged { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Completes the change of a killed writer, and sets damaged files aside.
    pub(super) fn repair(&self, id: RequestId) -> Result<StatusFile> {
        let folder = self.existing(id)?;
        let _lock = Lock::acquire(&lock_path(&folder))?;
        let modified = fs::metadata(&folder).and_then(|metadata| metadata.modified());
        let since_epoch =
            modified.ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let millis = since_epoch.and_then(|age| i64::try_from(age.as_millis()).ok());
        self.reconcile(id, &folder, Timestamp::from_millis(millis.unwrap_or_default()))
    }

    /// Makes the files of a locked session consistent and returns its status.
    fn reconcile(&self, id: RequestId, folder: &Path, now: Timestamp) -> Result<StatusFile> {
        atomic::sweep(folder);
        let path = folder.join(STATUS);
        let found = match read::json::<StatusFile>(&path) {
            Err(error @ Error::Damaged { .. }) => {
                set_aside(&path, &error)?;
                Some(StatusFile { status: Status::Abandoned, ..self.first_status(id)? })
            }
            found => found?,
        };
        let before = match &found {
            Some(status) => status.clone(),
            None => self.first_status(id)?,
        };
        let status = match (before.status, self.answers(id, folder)?) {
            (Status::Rejected, _) => Status::Rejected,
            (_, Answers::Valid) => Status::Completed,
            // `answers.json` is unreadable or missing: the session can be answered again.
            (_, Answers::SetAside) | (Status::Completed, Answers::None) => Status::Abandoned,
            (_, Answers::BeingWritten) | (_, Answers::None) => before.status,
        };
        let after = StatusFile { status, ..before };
        if found.as_ref().map(|status| status.status) != Some(after.status) || !path.exists() {
            write(&path, &StatusFile { last_modified: now, ..after.clone() })?;
        }
        Ok(after)
    }

    /// The status that a session had when it was asked.
    fn first_status(&self, id: RequestId) -> Result<StatusFile> {
        let request = self.request(id)?;
        Ok(StatusFile {
            session_id: id,
            status: Status::Pending,
            created_at: request.timestamp,
            last_modified: request.timestamp,
            total_questions: request.questions.len(),
            call_id: request.call_id,
            rejection_reason: None,
            working_directory: request.working_directory,
            other: Map::new(),
        })
    }

    fn answers(&self, id: RequestId, folder: &Path) -> Result<Answers> {
        let path = folder.join(ANSWERS);
        let checked = read::json::<AnswersFile>(&path).and_then(|file| match file {
            None => Ok(Answers::None),
            Some(file) => {
                check_answers(&self.questions(id)?, &file.answers)?;
                Ok(Answers::Valid)
            }
        });
        match checked {
            Err(Error::Damaged { .. } | Error::Answers(_)) if is_being_written(folder) => {
                Ok(Answers::BeingWritten)
            }
            Err(error @ (Error::Damaged { .. } | Error::Answers(_))) => {
                set_aside(&path, &error)?;
                Ok(Answers::SetAside)
            }
            checked => checked,
        }
    }
}

/// A file that was changed this recently may be incomplete: some programs write it in place.
const WRITING_MAX: Duration = Duration::from_secs(2);

/// Whether answers that cannot be read may be about to be.
pub(super) fn is_being_written(folder: &Path) -> bool {
    let changed_at = fs::metadata(folder.join(ANSWERS)).and_then(|file| file.modified());
    changed_at.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < WRITING_MAX))
}

enum Answers {
    None,
    Valid,
    BeingWritten,
    /// `answers.json` exists and is unreadable.
    SetAside,
}

/// The lock that every writer of a session holds.
pub(super) fn lock_path(folder: &Path) -> PathBuf {
    folder.join(format!("{STATUS}.lock"))
}

fn parts(verdict: Verdict) -> (Command<()>, Option<Vec<Answer>>, Option<String>) {
    match verdict {
        Verdict::Answer(answers) => (Command::Answer(()), Some(answers), None),
        Verdict::Reject { reason } => (Command::Reject { reason: None }, None, reason),
        Verdict::TimeOut => (Command::TimeOut, None, None),
        Verdict::Abandon => (Command::Abandon, None, None),
    }
}

/// Renames a damaged file, so that its name is free and nothing is lost.
fn set_aside(path: &Path, error: &Error) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let aside = (0u32..).map(|count| path.with_file_name(format!("{name}.bad{count}")));
    // Names are tried one after another, so that an earlier file is never replaced.
    let Some(aside) = aside.into_iter().find(|path| !path.exists()) else { return Ok(()) };
    tracing::warn!("{} set aside as {}: {error}", path.display(), aside.display());
    let fail = |source| Error::Write { path: path.to_owned(), step: "setting it aside", source };
    fs::rename(path, &aside).map_err(fail)
}
