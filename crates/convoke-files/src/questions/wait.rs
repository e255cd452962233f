//! Waiting for the human, woken by the file system.

use std::path::Path;
use std::time::Duration;

use convoke_core::id::RequestId;
use convoke_core::question::check_answers;
use tokio::time::Instant;

use super::clean::wait_on;
use super::{ANSWERS, AnswersFile, Questions, STATUS, Status, StatusFile, not_found};
use crate::watch::Watcher;
use crate::{Error, Result, read};

/// What came of waiting.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The human answered.
    Answered(AnswersFile),
    /// The human would not answer.
    Rejected {
        /// Why, in their words.
        reason: Option<String>,
    },
    /// The asker, or an earlier one, waited as long as it would.
    TimedOut,
    /// The asker went away before, or the files are damaged.
    Abandoned,
}

impl Questions {
    /// Waits until a session is settled; `None` when `timeout` passed first, which settles nothing.
    ///
    /// With `call_id`, answers that carry another one are waited past. The session is not cleaned meanwhile.
    pub async fn wait(
        &self,
        id: RequestId,
        call_id: Option<&str>,
        timeout: Option<Duration>,
    ) -> Result<Option<Outcome>> {
        let folder = self.existing(id)?;
        let _waited_on = wait_on(&folder)?;
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let mut watcher = Watcher::new();
        // Before the first look, so that nothing happens between the two.
        watcher.watch(&folder)?;
        loop {
            if let Some(outcome) = self.outcome(id, &folder, call_id)? {
                return Ok(Some(outcome));
            }
            tokio::select! {
                () = watcher.changed() => {}
                () = until(deadline) => return Ok(None),
            }
        }
    }

    /// What has come of a session by now.
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
            // Nobody can read this answer: it is set aside, and the session is abandoned.
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

fn is_expected(expected: Option<&str>, found: Option<&str>) -> bool {
    expected.is_none() || expected == found
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
