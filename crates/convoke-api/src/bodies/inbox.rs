//! Pending requests to the human, and their answers.

use convoke_core::id::{AgentName, ProjectId, RequestId, SessionId};
use convoke_core::question::GivenAnswers;
use convoke_core::request::Status;
use convoke_core::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::whole;
use crate::entry::{AskedQuestion, Permission};

/// All that waits for the human: `GET /api/inbox`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Inbox {
    /// Permissions and questions of all sessions and of the question files, oldest first.
    pub items: Vec<InboxItem>,
}

/// One thing that waits for the human.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxItem {
    /// The request's id.
    pub id: RequestId,
    /// What is asked for.
    pub kind: InboxKind,
    /// The session whose agent asks: its own id, on the WebSocket its canonical id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The session's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<SessionId>,
    /// What it is about, in a line.
    pub title: String,
    /// When it was asked.
    pub created_at: Timestamp,
    /// The agent that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The name of the project in which it asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// That project's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    /// The permission, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<Permission>,
    /// The questions, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<AskedQuestion>>,
    /// The program that asks, if it is not the agent of a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
    /// The folder in which that program works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
    /// Where it stands.
    pub status: Status,
}

/// What is asked of a human.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InboxKind {
    /// May the agent do this?
    Permission,
    /// What does the human want?
    Questions,
}

/// What a human says: `POST /api/inbox/:id/answer`. A permission takes an option, questions take answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "AnswerFields", into = "AnswerFields")]
pub enum Answer {
    /// Chooses an option of a permission.
    Option {
        /// What the agent calls the option.
        option_id: String,
        /// The rule that it makes, of those that the permission offers, counted from 0.
        rule: Option<usize>,
    },
    /// Answers questions.
    Answers(GivenAnswers),
}

/// The two forms of an answer, as they are written.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AnswerFields {
    /// Of a permission: the option that is chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    option_id: Option<String>,
    /// Of a permission: the rule that the answer makes, of its `rules`, counted from 0.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional"
    )]
    #[schemars(extend("maximum" = u32::MAX))]
    rule: Option<usize>,
    /// Of a permission: the same as `rule: 0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remember: Option<bool>,
    /// Of questions: answers by the number of their question, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answers: Option<GivenAnswers>,
}

impl TryFrom<AnswerFields> for Answer {
    type Error = &'static str;

    fn try_from(fields: AnswerFields) -> Result<Self, &'static str> {
        match fields {
            AnswerFields { option_id: Some(option_id), rule, remember, answers: None } => {
                let first = (remember == Some(true)).then_some(0);
                Ok(Self::Option { option_id, rule: rule.or(first) })
            }
            AnswerFields {
                option_id: None,
                rule: None,
                remember: None,
                answers: Some(answers),
            } => Ok(Self::Answers(answers)),
            AnswerFields { option_id: Some(_), answers: Some(_), .. } => {
                Err("give either optionId or answers, not both")
            }
            AnswerFields { option_id: None, rule: Some(_), .. }
            | AnswerFields { option_id: None, remember: Some(_), .. } => {
                Err("rule and remember go with optionId only")
            }
            AnswerFields { option_id: None, rule: None, remember: None, answers: None } => {
                Err("missing field `optionId` (of a permission) or `answers` (of questions)")
            }
        }
    }
}

impl From<Answer> for AnswerFields {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Option { option_id, rule } => {
                Self { option_id: Some(option_id), rule, remember: None, answers: None }
            }
            Answer::Answers(answers) => {
                Self { option_id: None, rule: None, remember: None, answers: Some(answers) }
            }
        }
    }
}

/// A human will not answer: `POST /api/inbox/:id/reject`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rejection {
    /// Why, in their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
