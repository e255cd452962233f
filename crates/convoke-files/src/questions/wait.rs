//! Waiting for the human, woken by the file system.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use convoke_core::id::RequestId;
use convoke_core::question::check_answers;
use tokio::time::Instant;

use super::clean::wait_on;
use super::settle::is_being_written;
use super::wake_pipe::WakePipe;
use super::{ANSWERS, AnswersFile, Questions, STATUS, Status, StatusFile, not_found};
use crate::watch::{Change, Pace};
use crate::{Error, Result, read};

/// The result of waiting.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The human answered.
    Answered(AnswersFile),
    /// The human would not answer.
    Rejected {
        /// The reason that the human gave.
        reason: Option<String>,
    },
    /// The asker, or an earlier one, waited as long as it would.
    TimedOut,
    /// The asker stopped waiting earlier, or the files are damaged.
    Abandoned,
}

/// The state of a session at which a wait ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Any state but pending, for an asker.
    NotPending,
    /// Answered or rejected: the outcomes that a waiter on an abandoned session waits for.
    Settled,
}

impl Until {
    const fn is_reached(self, outcome: &Outcome) -> bool {
        match (self, outcome) {
            (Self::NotPending, _)
            | (Self::Settled, Outcome::Answered(_) | Outcome::Rejected { .. }) => true,
            (Self::Settled, Outcome::TimedOut | Outcome::Abandoned) => false,
        }
    }
}

/// How soon half an answer is read again.
const REREAD: Duration = Duration::from_millis(250);

impl Questions {
    /// Waits until a session reaches the state `until`; `None` if `timeout` passed first, which
    /// settles nothing.
    ///
    /// With `call_id`, answers with another one are ignored. The session is not cleaned up
    /// meanwhile.
    pub async fn wait(
        &self,
        id: RequestId,
        call_id: Option<&str>,
        until: Until,
        timeout: Option<Duration>,
    ) -> Result<Option<Outcome>> {
        let folder = self.existing(id)?;
        let _waited_on = wait_on(&folder)?;
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let mut watcher = self.watches.watcher(Pace::Slow);
        // Before the first look, so that nothing happens between the two.
        watcher.watch(&folder)?;
        let wake_pipe = if watcher.is_polling() { create_wake_pipe(&folder) } else { None };
        loop {
            let looked_at = changed_at(&folder);
            let outcome = self.outcome(id, &folder, call_id)?;
            if let Some(outcome) = outcome.filter(|outcome| until.is_reached(outcome)) {
                return Ok(Some(outcome));
            }
            loop {
                let change = tokio::select! {
                    change = watcher.changed() => change,
                    () = woken(wake_pipe.as_ref()) => Change::Reported,
                    // A program that writes answers in place may be killed halfway, and then no
                    // further event follows.
                    () = tokio::time::sleep(REREAD), if is_being_written(&folder) => Change::Reported,
                    () = at(deadline) => return Ok(None),
                };
                // A poll costs one call of the system while the folder is as it was.
                if change == Change::Reported || is_touched(&folder, looked_at) {
                    break;
                }
            }
        }
    }

    /// The current outcome of a session.
    pub fn outcome_now(&self, id: RequestId, call_id: Option<&str>) -> Result<Option<Outcome>> {
        let folder = self.existing(id)?;
        self.outcome(id, &folder, call_id)
    }

    fn outcome(
        &self,
        id: RequestId,
        folder: &Path,
        call_id: Option<&str>,
    ) -> Result<Option<Outcome>> {
        match self.answered(id, folder) {
            Ok(Some(answers)) if is_expected(call_id, answers.call_id.as_deref()) => {
                return Ok(Some(Outcome::Answered(answers)));
            }
            Ok(Some(_)) => return Ok(None),
            Ok(None) => {}
            Err(Error::Damaged { .. } | Error::Answers(_)) if is_being_written(folder) => {
                return Ok(None);
            }
            // The answer is unreadable: it is set aside, and the session is abandoned.
            Err(Error::Damaged { .. } | Error::Answers(_)) => {
                self.repair(id)?;
            }
            Err(error) => return Err(error),
        }
        let status = match read::json::<StatusFile>(&folder.join(STATUS)) {
            Err(Error::Damaged { .. }) | Ok(None) => self.repair(id)?,
            status => status?.ok_or_else(|| not_found(id))?,
        };
        Ok(match status.status {
            // Answered between the two looks: the next one finds it.
            Status::Completed if folder.join(ANSWERS).exists() => {
                return self.outcome(id, folder, call_id);
            }
            Status::Pending => None,
            Status::Rejected => Some(Outcome::Rejected { reason: status.rejection_reason }),
            Status::TimedOut => Some(Outcome::TimedOut),
            Status::Completed | Status::Abandoned => Some(Outcome::Abandoned),
        })
    }

    fn answered(&self, id: RequestId, folder: &Path) -> Result<Option<AnswersFile>> {
        let Some(file) = read::json::<AnswersFile>(&folder.join(ANSWERS))? else {
            return Ok(None);
        };
        check_answers(&self.questions(id)?, &file.answers)?;
        Ok(Some(file))
    }
}

fn changed_at(folder: &Path) -> Option<SystemTime> {
    fs::metadata(folder).and_then(|folder| folder.modified()).ok()
}

/// Whether files may have been created, removed or replaced since a folder was read.
fn is_touched(folder: &Path, looked_at: Option<SystemTime>) -> bool {
    let now = changed_at(folder);
    // Two changes within one tick of the file system's clock look like one.
    let is_old = now.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > CLOCK_GRAIN);
    !is_old || now != looked_at
}

/// Coarser than the clock of any file system.
const CLOCK_GRAIN: Duration = Duration::from_secs(3);

fn is_expected(expected: Option<&str>, found: Option<&str>) -> bool {
    expected.is_none() || expected == found
}

/// A waiter without a pipe still polls.
fn create_wake_pipe(folder: &Path) -> Option<WakePipe> {
    let created = WakePipe::create(folder);
    created.inspect_err(|error| tracing::info!("no pipe wakes this waiter: {error}")).ok()
}

async fn woken(wake_pipe: Option<&WakePipe>) {
    match wake_pipe {
        Some(wake_pipe) => wake_pipe.woken().await,
        None => std::future::pending().await,
    }
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
