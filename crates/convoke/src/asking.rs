//! Asking the human and waiting for the answer: what `ask`, `questions` and the MCP server have in common.

use std::path::PathBuf;
use std::time::Duration;

use convoke_api::mcp::AskedQuestion;
use convoke_core::id::RequestId;
use convoke_core::question::{Limits, Question};
use convoke_core::request::{Answers, State};
use convoke_files::questions::{
    NewSet, Outcome, Questions, RequestFile, Settings, Status, Until, Verdict,
};
use convoke_files::{Error, Result};
use serde::Deserialize;

use crate::{clock, config, random};

/// The folder of question sessions, and how long is waited.
#[derive(Debug, Clone)]
pub(crate) struct Asking {
    /// The folder.
    pub(crate) questions: Questions,
    /// How much may be asked at once.
    pub(crate) limits: Limits,
    /// How long an answer is waited for; `None` waits for ever.
    pub(crate) timeout: Option<Duration>,
    /// How long a session is kept after its last change.
    pub(crate) retention: Duration,
}

/// Questions as callers write them, where they do not just write the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// What is asked.
    pub(crate) questions: Vec<AskedQuestion>,
}

/// Who asks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asker {
    /// The call that asks, where it has an id.
    pub(crate) call_id: Option<String>,
    /// Where it works.
    pub(crate) working_directory: Option<PathBuf>,
    /// What it is called.
    pub(crate) name: Option<String>,
}

/// Zero means for ever, in the configuration and on the command line.
pub(crate) fn patience(timeout_ms: u64) -> Option<Duration> {
    (timeout_ms > 0).then(|| Duration::from_millis(timeout_ms))
}

impl Asking {
    /// Asks in the folder, and within the limits, of a configuration.
    pub(crate) fn new(config: &config::Questions) -> Self {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let limits = Limits {
            questions_max: count(config.max_questions),
            options_max: count(config.max_options),
        };
        let settings = Settings { sessions_max: count(config.max_sessions), limits };
        Self {
            questions: Questions::new(config.dir.clone(), settings),
            limits,
            timeout: patience(config.timeout_ms),
            retention: Duration::from_secs(config.retention_days.saturating_mul(86_400)),
        }
    }

    /// Puts questions into the folder.
    pub(crate) fn ask(&self, questions: Vec<Question>, asker: Asker) -> Result<RequestId> {
        let id = random::request_id();
        let new = NewSet {
            questions,
            call_id: asker.call_id,
            working_directory: asker.working_directory.map(|path| path.display().to_string()),
            asked_by: asker.name,
        };
        self.questions.create(id, new, clock::now())?;
        Ok(id)
    }

    /// Waits for what becomes of one's own questions; when time is over, they have timed out.
    pub(crate) async fn wait(
        &self,
        id: RequestId,
        call_id: Option<&str>,
        timeout: Option<Duration>,
    ) -> Result<Outcome> {
        match self.questions.wait(id, call_id, Until::NotPending, timeout).await? {
            Some(outcome) => Ok(outcome),
            None => self.time_out(id, call_id),
        }
    }

    /// Waits for an answer to anybody's questions, also to those whose asker has left.
    ///
    /// When time is over, questions that nobody else waits for have timed out.
    pub(crate) async fn wait_again(
        &self,
        id: RequestId,
        timeout: Option<Duration>,
    ) -> Result<Outcome> {
        if let Some(outcome) = self.questions.wait(id, None, Until::Settled, timeout).await? {
            return Ok(outcome);
        }
        if self.questions.is_waited_on(id)? {
            return Ok(Outcome::TimedOut);
        }
        self.time_out(id, None)
    }

    fn time_out(&self, id: RequestId, call_id: Option<&str>) -> Result<Outcome> {
        match self.questions.settle(id, Verdict::TimeOut, clock::now()) {
            Ok(()) => Ok(Outcome::TimedOut),
            // Settled in this very moment, or long before: then that is what became of it.
            Err(Error::Settled { .. }) => {
                let outcome = self.questions.outcome_now(id, call_id)?;
                Ok(outcome.unwrap_or(Outcome::TimedOut))
            }
            Err(error) => Err(error),
        }
    }

    /// Marks questions whose asker goes away; they stay answerable.
    pub(crate) fn abandon(&self, id: RequestId) {
        match self.questions.settle(id, Verdict::Abandon, clock::now()) {
            // Whatever became of it in this moment stands.
            Ok(()) | Err(Error::Settled { .. } | Error::NotFound { .. }) => {}
            Err(error) => tracing::warn!("question session {id} cannot be abandoned: {error}"),
        }
    }

    /// What was asked, and what has become of it by now.
    pub(crate) fn look(&self, id: RequestId) -> Result<(RequestFile, Option<Outcome>)> {
        let request = self.questions.show(id)?.request;
        Ok((request, self.questions.outcome_now(id, None)?))
    }

    /// Deletes old sessions, in the background of something more important.
    pub(crate) fn clean_in_background(&self) {
        let asking = self.clone();
        std::thread::spawn(move || {
            let cleaned = asking.questions.clean(asking.retention, clock::now());
            match cleaned {
                Ok(cleaned) => {
                    tracing::debug!("cleaned {} question sessions", cleaned.deleted.len());
                }
                Err(error) => tracing::warn!("question sessions cannot be cleaned: {error}"),
            }
        });
    }
}

/// The status that an outcome stands for.
pub(crate) const fn status_of(outcome: Option<&Outcome>) -> Status {
    match outcome {
        None => Status::Pending,
        Some(Outcome::Answered(_)) => Status::Completed,
        Some(Outcome::Rejected { .. }) => Status::Rejected,
        Some(Outcome::TimedOut) => Status::TimedOut,
        Some(Outcome::Abandoned) => Status::Abandoned,
    }
}

/// What has become of questions, in the words that agents are told of it.
pub(crate) fn state_of(outcome: Option<&Outcome>) -> State<Answers> {
    match outcome {
        None => State::Pending,
        Some(Outcome::Answered(file)) => State::Answered(Answers { answers: file.answers.clone() }),
        Some(Outcome::Rejected { reason }) => State::Rejected { reason: reason.clone() },
        Some(Outcome::TimedOut) => State::TimedOut,
        Some(Outcome::Abandoned) => State::Abandoned,
    }
}
