//! The life of a request to a human: a permission or a set of questions. A human's answer is never lost.
//!
//! The records are part of the message contract, see `message`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::Evidence;
use crate::id::RequestId;
use crate::question::{Answer, AnswerFault, Question, check_all_answered, format_answers};
use crate::quote;
use crate::rule::{Effect, Proposal};
use crate::user::UserName;

/// Where a request is in its life; nothing leaves `answered` and `rejected`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum State<A> {
    /// The asker waits.
    Pending,
    /// The human answered.
    Answered(A),
    /// The human would not answer.
    Rejected {
        /// Why, in their words.
        reason: Option<String>,
    },
    /// The asker waited as long as it would.
    TimedOut,
    /// The asker went away, or took the request back.
    Abandoned,
}

/// The state of a request without what was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RequestStatus")]
pub enum Status {
    /// The asker waits.
    Pending,
    /// The human answered.
    Answered,
    /// The human would not answer.
    Rejected,
    /// The asker waited as long as it would.
    TimedOut,
    /// The asker went away.
    Abandoned,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::Answered, Self::Rejected, Self::TimedOut, Self::Abandoned];

    /// The name in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Answered => "answered",
            Self::Rejected => "rejected",
            Self::TimedOut => "timed_out",
            Self::Abandoned => "abandoned",
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A command to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command<A> {
    /// The human answers.
    Answer(A),
    /// The human will not answer.
    Reject {
        /// Why, in their words.
        reason: Option<String>,
    },
    /// The asker waited long enough.
    TimeOut,
    /// The asker went away.
    Abandon,
}

/// Who receives the new state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The asker, which is still waiting.
    Asker,
    /// The agent, in its next turn, because the asking call has ended.
    NextTurn,
    /// Only the log.
    None,
}

/// A request that is settled already; the first answer won.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request is already {status}")]
pub struct Settled {
    /// What became of it.
    pub status: Status,
}

impl<A> State<A> {
    /// Decides what follows from a command.
    pub fn handle(&self, command: Command<A>) -> Result<(Self, Delivery), Settled> {
        match (self, command) {
            (Self::Pending, Command::Answer(answer)) => {
                Ok((Self::Answered(answer), Delivery::Asker))
            }
            (Self::Pending, Command::Reject { reason }) => {
                Ok((Self::Rejected { reason }, Delivery::Asker))
            }
            (Self::Pending, Command::TimeOut) => Ok((Self::TimedOut, Delivery::Asker)),
            (Self::Pending, Command::Abandon) => Ok((Self::Abandoned, Delivery::None)),
            (Self::TimedOut | Self::Abandoned, Command::Answer(answer)) => {
                Ok((Self::Answered(answer), Delivery::NextTurn))
            }
            (Self::TimedOut | Self::Abandoned, Command::Reject { reason }) => {
                Ok((Self::Rejected { reason }, Delivery::None))
            }
            (Self::TimedOut | Self::Abandoned, Command::TimeOut | Command::Abandon)
            | (
                Self::Answered(_) | Self::Rejected { .. },
                Command::Answer(_) | Command::Reject { .. } | Command::TimeOut | Command::Abandon,
            ) => Err(Settled { status: self.status() }),
        }
    }

    /// The state without what was said.
    pub const fn status(&self) -> Status {
        match self {
            Self::Pending => Status::Pending,
            Self::Answered(_) => Status::Answered,
            Self::Rejected { .. } => Status::Rejected,
            Self::TimedOut => Status::TimedOut,
            Self::Abandoned => Status::Abandoned,
        }
    }

    /// Whether a human has had the last word.
    pub const fn is_settled(&self) -> bool {
        matches!(self, Self::Answered(_) | Self::Rejected { .. })
    }
}

/// A permission asked of the human, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRecord {
    /// The request.
    pub request_id: RequestId,
    /// The tool call that needs it, where the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The tool, or the sort of tool; where the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the agent wants to do.
    pub title: String,
    /// What it is about, of the arguments that the agent gives to its tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The rules that an answer can make, the narrowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Proposal>,
    /// What the human may choose.
    pub options: Vec<PermissionOption>,
    /// The user who decided it; the owner of the daemon, or a rule, without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserName>,
    /// Where it stands.
    #[serde(flatten)]
    pub state: State<Choice>,
}

/// One way to answer a permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionOption {
    /// What the agent calls it.
    pub option_id: String,
    /// What people read.
    pub name: String,
    /// What it means.
    pub kind: PermissionKind,
}

/// What choosing an option means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PermissionKind {
    /// Yes, this time.
    AllowOnce,
    /// Yes, from now on.
    AllowAlways,
    /// No, this time.
    RejectOnce,
    /// No, from now on.
    RejectAlways,
}

impl PermissionKind {
    /// What a rule does that is made by choosing such an option.
    pub const fn effect(self) -> Effect {
        match self {
            Self::AllowOnce | Self::AllowAlways => Effect::Allow,
            Self::RejectOnce | Self::RejectAlways => Effect::Deny,
        }
    }
}

/// The option that the human chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ChosenOption")]
pub struct Choice {
    /// What the agent calls it.
    pub option_id: String,
}

/// Questions asked of the human, and what became of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionRecord {
    /// The request.
    pub request_id: RequestId,
    /// What is asked.
    pub questions: Vec<Question>,
    /// The user who decided it; the owner of the daemon, or a rule, without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserName>,
    /// Where it stands.
    #[serde(flatten)]
    pub state: State<Answers>,
}

/// The human's answers to a set of questions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answers {
    /// One or more for each question.
    pub answers: Vec<Answer>,
}

/// A request to a human, tagged by `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Request {
    /// May the agent do this?
    Permission(PermissionRecord),
    /// What does the human want?
    Questions(QuestionRecord),
}

/// What a human, or the clock in their place, says to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Chooses this option of a permission.
    Choose(Choice),
    /// Answers the questions.
    Answer(Answers),
    /// Will not answer.
    Reject {
        /// Why, in their words.
        reason: Option<String>,
    },
    /// The asker waited long enough.
    TimeOut,
    /// The asker went away.
    Abandon,
}

/// Why a verdict cannot stand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The request is settled already.
    #[error(transparent)]
    Settled(#[from] Settled),
    /// The answers do not fit the questions; the request stays open.
    #[error(transparent)]
    Answers(#[from] AnswerFault),
    /// The permission has no such option; the request stays open.
    #[error("the permission has no option `{option_id}`")]
    UnknownOption {
        /// What was chosen.
        option_id: String,
    },
    /// A permission was answered like questions, or the other way round.
    #[error("the request is for {expected}")]
    WrongKind {
        /// What it is for.
        expected: &'static str,
    },
}

impl Request {
    /// The request's id.
    pub const fn id(&self) -> RequestId {
        match self {
            Self::Permission(record) => record.request_id,
            Self::Questions(record) => record.request_id,
        }
    }

    /// Where it stands.
    pub const fn status(&self) -> Status {
        match self {
            Self::Permission(record) => record.state.status(),
            Self::Questions(record) => record.state.status(),
        }
    }

    /// Decides what follows from a verdict: the new state of the request, and who receives it.
    pub fn handle(&self, verdict: Verdict) -> Result<(Self, Delivery), Refusal> {
        // A second answer is refused as late, even if it would not have fitted.
        if let status @ (Status::Answered | Status::Rejected) = self.status() {
            return Err(Settled { status }.into());
        }
        match self {
            Self::Permission(record) => {
                let (state, delivery) = record.state.handle(record.command(verdict)?)?;
                Ok((Self::Permission(PermissionRecord { state, ..record.clone() }), delivery))
            }
            Self::Questions(record) => {
                let (state, delivery) = record.state.handle(record.command(verdict)?)?;
                Ok((Self::Questions(QuestionRecord { state, ..record.clone() }), delivery))
            }
        }
    }

    /// The request with the user who decided it.
    #[must_use]
    pub(crate) fn decided_by(self, by: Option<UserName>) -> Self {
        match self {
            Self::Permission(record) => Self::Permission(PermissionRecord { by, ..record }),
            Self::Questions(record) => Self::Questions(QuestionRecord { by, ..record }),
        }
    }

    /// The answer as the agent reads it in its next turn, with the question quoted.
    pub(crate) fn late_answer(&self) -> Option<String> {
        match self {
            Self::Permission(record) => {
                let State::Answered(choice) = &record.state else { return None };
                let name = record
                    .options
                    .iter()
                    .find(|option| option.option_id == choice.option_id)
                    .map_or(&choice.option_id, |option| &option.name);
                Some(format!(
                    "You asked for permission earlier, and the call ended before the answer came.\n\n\
                     You asked (quoted as JSON): {}\nThe user chose (quoted as JSON): {}",
                    quote::string(&record.title),
                    quote::string(name)
                ))
            }
            Self::Questions(record) => {
                let State::Answered(answers) = &record.state else { return None };
                let text = format_answers(&record.questions, &answers.answers).ok()?;
                Some(format!(
                    "You asked the user earlier, and the call ended before the answer came. Your questions and the \
                     user's answers, quoted as one JSON text: {}",
                    quote::string(&text)
                ))
            }
        }
    }
}

impl PermissionRecord {
    fn command(&self, verdict: Verdict) -> Result<Command<Choice>, Refusal> {
        match verdict {
            Verdict::Choose(choice) => {
                if self.options.iter().any(|option| option.option_id == choice.option_id) {
                    Ok(Command::Answer(choice))
                } else {
                    Err(Refusal::UnknownOption { option_id: choice.option_id })
                }
            }
            Verdict::Answer(_) => Err(Refusal::WrongKind { expected: "a permission" }),
            Verdict::Reject { reason } => Ok(Command::Reject { reason }),
            Verdict::TimeOut => Ok(Command::TimeOut),
            Verdict::Abandon => Ok(Command::Abandon),
        }
    }
}

impl QuestionRecord {
    fn command(&self, verdict: Verdict) -> Result<Command<Answers>, Refusal> {
        match verdict {
            Verdict::Choose(_) => Err(Refusal::WrongKind { expected: "answers to questions" }),
            Verdict::Answer(answers) => {
                check_all_answered(&self.questions, &answers.answers)?;
                Ok(Command::Answer(answers))
            }
            Verdict::Reject { reason } => Ok(Command::Reject { reason }),
            Verdict::TimeOut => Ok(Command::TimeOut),
            Verdict::Abandon => Ok(Command::Abandon),
        }
    }
}

#[cfg(test)]
mod tests;
