//! The life of a set of questions as its asker sees it: asked, waited for, timed out or abandoned.

use std::time::Duration;

use convoke_core::id::RequestId;
use convoke_core::question::Question;
use convoke_core::request::{Answers, State};
use convoke_core::time::Timestamp;
use tokio::runtime::{Handle, RuntimeFlavor};

use super::{NewSet, Outcome, Questions, RequestFile, Status, Until, Verdict};
use crate::{Error, Result};

/// Returns the current time.
pub type Clock = fn() -> Timestamp;

/// Questions that were asked. Dropping it before it is settled abandons them; they stay answerable.
#[derive(Debug)]
pub struct PendingQuestions {
    folder: Questions,
    id: RequestId,
    questions: Vec<Question>,
    clock: Clock,
    is_waited_for: bool,
}

impl Questions {
    /// Asks, for a caller that will wait.
    pub fn ask(&self, id: RequestId, new: NewSet, clock: Clock) -> Result<PendingQuestions> {
        let questions = new.questions.clone();
        self.create(id, new, clock())?;
        Ok(PendingQuestions { folder: self.clone(), id, questions, clock, is_waited_for: true })
    }

    /// The questions, and their current state.
    pub fn read(&self, id: RequestId) -> Result<(RequestFile, Option<Outcome>)> {
        let request = self.show(id)?.request;
        Ok((request, self.outcome_now(id, None)?))
    }

    /// Waits for an answer to questions that another process asked, even if that has exited.
    ///
    /// If `timeout` passes first, questions that no other process waits for have timed out.
    pub async fn wait_again(
        &self,
        id: RequestId,
        call_id: Option<&str>,
        timeout: Option<Duration>,
        clock: Clock,
    ) -> Result<Outcome> {
        if let Some(outcome) = self.wait(id, call_id, Until::Settled, timeout).await? {
            return Ok(outcome);
        }
        if self.is_waited_on(id)? {
            return Ok(Outcome::TimedOut);
        }
        self.time_out(id, call_id, clock).await
    }

    async fn time_out(
        &self,
        id: RequestId,
        call_id: Option<&str>,
        clock: Clock,
    ) -> Result<Outcome> {
        let (folder, call_id) = (self.clone(), call_id.map(str::to_owned));
        let work = move || match folder.settle(id, Verdict::TimeOut, clock()) {
            Ok(()) => Ok(Outcome::TimedOut),
            // Settled since the wait ended, or long before.
            Err(Error::Settled { .. }) => {
                let outcome = folder.outcome_now(id, call_id.as_deref())?;
                Ok(outcome.unwrap_or(Outcome::TimedOut))
            }
            Err(error) => Err(error),
        };
        tokio::task::spawn_blocking(work).await.map_err(|error| Error::Read {
            path: self.folder(id),
            source: std::io::Error::other(error),
        })?
    }
}

impl PendingQuestions {
    /// Its id.
    pub const fn id(&self) -> RequestId {
        self.id
    }

    /// What was asked.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Waits for the outcome. If `timeout` passes first, it has timed out.
    ///
    /// With `call_id`, answers with another one are ignored.
    pub async fn wait(
        &mut self,
        call_id: Option<&str>,
        timeout: Option<Duration>,
    ) -> Result<Outcome> {
        let outcome = match self.folder.wait(self.id, call_id, Until::NotPending, timeout).await? {
            Some(outcome) => Ok(outcome),
            None => self.folder.time_out(self.id, call_id, self.clock).await,
        };
        self.is_waited_for = false;
        outcome
    }

    /// Leaves it to wait for the human.
    pub const fn leave(&mut self) {
        self.is_waited_for = false;
    }

    /// Marks it as abandoned, on this thread; it stays answerable.
    pub fn abandon(mut self) {
        self.is_waited_for = false;
        abandon(&self.folder, self.id, self.clock);
    }
}

impl Drop for PendingQuestions {
    fn drop(&mut self) {
        if !self.is_waited_for {
            return;
        }
        let (folder, id, clock) = (self.folder.clone(), self.id, self.clock);
        match Handle::try_current() {
            Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => {
                runtime.spawn_blocking(move || abandon(&folder, id, clock));
            }
            // A command with a single thread may be about to end, and would not wait for another one.
            Ok(_) | Err(_) => abandon(&folder, id, clock),
        }
    }
}

fn abandon(folder: &Questions, id: RequestId, clock: Clock) {
    match folder.settle(id, Verdict::Abandon, clock()) {
        // Settled or deleted meanwhile; that takes precedence.
        Ok(()) | Err(Error::Settled { .. } | Error::NotFound { .. }) => {}
        Err(error) => tracing::warn!("question session {id} cannot be abandoned: {error}"),
    }
}

impl Outcome {
    /// The status of this outcome.
    pub const fn status(&self) -> Status {
        match self {
            Self::Answered(_) => Status::Completed,
            Self::Rejected { .. } => Status::Rejected,
            Self::TimedOut => Status::TimedOut,
            Self::Abandoned => Status::Abandoned,
        }
    }

    /// The state of a request as the core's type.
    pub fn into_state(self) -> State<Answers> {
        match self {
            Self::Answered(file) => State::Answered(Answers { answers: file.answers }),
            Self::Rejected { reason } => State::Rejected { reason },
            Self::TimedOut => State::TimedOut,
            Self::Abandoned => State::Abandoned,
        }
    }
}
