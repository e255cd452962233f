//! Questions to the human by configuration: what `ask`, `questions` and the MCP server have in
//! common.

use std::path::PathBuf;
use std::time::Duration;

use convoke_api::mcp::AskedQuestion;
use convoke_core::question::{Limits, Question};
use convoke_files::Result;
use convoke_files::questions::{NewSet, PendingQuestions, Questions, Settings, Which};
use serde::Deserialize;

use crate::{clock, config, random};

/// The folder of question sessions, and how long is waited.
#[derive(Debug, Clone)]
pub(crate) struct Asking {
    /// The folder.
    pub(crate) questions: Questions,
    /// The limits of a set of questions.
    pub(crate) limits: Limits,
    /// How long an answer is waited for; `None` waits for ever.
    pub(crate) timeout: Option<Duration>,
    /// How long a session is kept after its last change; `None` keeps it for ever.
    pub(crate) retention: Option<Duration>,
}

/// Questions as callers write them, where they do not just write the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskedSet {
    /// What is asked.
    pub(crate) questions: Vec<AskedQuestion>,
}

/// Who asks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asker {
    /// The id of the call that asks, if it has one.
    pub(crate) call_id: Option<String>,
    /// Where it works.
    pub(crate) working_directory: Option<PathBuf>,
    /// Its name.
    pub(crate) name: Option<String>,
}

/// Zero means for ever, in the configuration and on the command line.
pub(crate) fn timeout_of(timeout_ms: u64) -> Option<Duration> {
    (timeout_ms > 0).then(|| Duration::from_millis(timeout_ms))
}

/// Zero means for ever.
pub(crate) fn days(days: u64) -> Option<Duration> {
    (days > 0).then(|| Duration::from_secs(days.saturating_mul(86_400)))
}

impl Asking {
    /// Uses the folder and the limits of a configuration.
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
            timeout: timeout_of(config.timeout_ms),
            retention: days(config.retention_days),
        }
    }

    /// Puts questions into the folder.
    pub(crate) fn ask(&self, questions: Vec<Question>, asker: Asker) -> Result<PendingQuestions> {
        let new = NewSet {
            questions,
            call_id: asker.call_id,
            working_directory: asker.working_directory.map(|path| path.display().to_string()),
            asked_by: asker.name,
        };
        self.questions.ask(random::request_id(), new, clock::now)
    }

    /// Deletes old sessions in the background. Those that the human may still answer stay.
    pub(crate) fn clean_in_background(&self) {
        let Some(retention) = self.retention else { return };
        let questions = self.questions.clone();
        std::thread::spawn(move || {
            match questions.clean(Which::Settled, retention, clock::now()) {
                Ok(cleaned) => {
                    tracing::debug!("cleaned {} question sessions", cleaned.deleted.len());
                }
                Err(error) => tracing::warn!("cannot clean up question sessions: {error}"),
            }
        });
    }
}
