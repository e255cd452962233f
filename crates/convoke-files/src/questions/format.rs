//! The three files of a question session. A contract with other programs: fields may be added, none may change.

use std::fmt;

use convoke_core::id::RequestId;
use convoke_core::question::{Answer, Question};
use convoke_core::request::{self, State};
use convoke_core::time::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// `request.json`: what is asked. Written once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestFile {
    /// The session.
    pub session_id: RequestId,
    /// What is asked.
    pub questions: Vec<Question>,
    /// The status at the time of asking, which is `pending`; `status.json` has the current one.
    pub status: Status,
    /// When it was asked.
    pub timestamp: Timestamp,
    /// The call that asks, where it has an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Where the asker works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
    /// The asker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
    /// What other programs add.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// `status.json`: the status of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusFile {
    /// The session.
    pub session_id: RequestId,
    /// The status.
    pub status: Status,
    /// When it was asked.
    pub created_at: Timestamp,
    /// When it last changed.
    pub last_modified: Timestamp,
    /// How many questions it has.
    pub total_questions: usize,
    /// The call that asks, where it has an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Why the human would not answer.
    #[serde(default)]
    pub rejection_reason: Option<String>,
    /// Where the asker works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
    /// What other programs add.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// `answers.json`: the human's answers. The set is answered once this file exists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswersFile {
    /// The session.
    pub session_id: RequestId,
    /// What was answered.
    pub answers: Vec<Answer>,
    /// When.
    pub timestamp: Timestamp,
    /// The call that asked, where it has an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// What other programs add.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The status of a question session, as its files spell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waits for the human.
    Pending,
    /// Answered.
    Completed,
    /// The human would not answer.
    Rejected,
    /// The asker waited as long as it would.
    TimedOut,
    /// The asker stopped waiting, or the files are damaged.
    Abandoned,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Completed, Self::Rejected, Self::TimedOut, Self::Abandoned];

    /// The name in the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::Rejected => "rejected",
            Self::TimedOut => "timed_out",
            Self::Abandoned => "abandoned",
        }
    }

    /// The status of a request as the core's type.
    pub(super) const fn state(self) -> State<()> {
        match self {
            Self::Pending => State::Pending,
            Self::Completed => State::Answered(()),
            Self::Rejected => State::Rejected { reason: None },
            Self::TimedOut => State::TimedOut,
            Self::Abandoned => State::Abandoned,
        }
    }
}

impl From<request::Status> for Status {
    fn from(status: request::Status) -> Self {
        match status {
            request::Status::Pending => Self::Pending,
            request::Status::Answered => Self::Completed,
            request::Status::Rejected => Self::Rejected,
            request::Status::TimedOut => Self::TimedOut,
            request::Status::Abandoned => Self::Abandoned,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let known = Self::ALL.into_iter().find(|status| status.as_str() == word);
        // Other programs have more names for "not yet answered" (`in-progress`, …).
        Ok(known.unwrap_or(Self::Pending))
    }
}
