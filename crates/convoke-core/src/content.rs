//! What a message can say. A contract, see `message`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::notice::Notice;
use crate::prompt::{Attachment, Prompt};
use crate::request::{PermissionRecord, QuestionRecord, Status};
use crate::review::{self, ReviewComment};
use crate::user::UserName;

/// The content of a message, tagged by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// A prompt or an answer.
    Text {
        /// The words so far.
        text: String,
        /// Whether the agent is still writing it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        partial: bool,
        /// The files that were attached to a prompt.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        /// Files and folders of the project that a prompt mentions, relative to it; a folder ends with `/`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
        /// The comments on lines of changed files that a prompt carries.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        review: Vec<ReviewComment>,
        /// The user who said it; the owner of the daemon, or an agent, without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<UserName>,
    },
    /// What the agent thinks aloud.
    Thinking {
        /// The words so far.
        text: String,
        /// Whether the agent is still writing it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        partial: bool,
    },
    /// The agent's plan for a turn, as it stands now.
    Plan {
        /// The steps, first to last.
        steps: Vec<PlanStep>,
    },
    /// A tool call as it stands now.
    Tool(Tool),
    /// A permission asked of the human, and what became of it.
    Permission(PermissionRecord),
    /// Questions asked of the human, and what became of them.
    Question(QuestionRecord),
    /// A fact about the session itself.
    Notice(Notice),
}

impl Content {
    /// Words without anything attached.
    pub fn text(text: impl Into<String>) -> Self {
        Self::from(Prompt::from(text.into()))
    }

    /// Words that the agent is still writing.
    pub fn partial_text(text: impl Into<String>) -> Self {
        let (text, partial) = (text.into(), true);
        let (attachments, files, review) = (Vec::new(), Vec::new(), Vec::new());
        Self::Text { text, partial, attachments, files, review, by: None }
    }

    /// What a prompt or an answer says as one text, with the comments on changes.
    pub fn words(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text { text, review, .. } => Some(review::words(text, review)),
            Self::Thinking { .. }
            | Self::Plan { .. }
            | Self::Tool(_)
            | Self::Permission(_)
            | Self::Question(_)
            | Self::Notice(_) => None,
        }
    }

    /// The user who wrote a prompt; `None` for the owner of the daemon, and for everything else.
    pub const fn author(&self) -> Option<&UserName> {
        match self {
            Self::Text { by, .. } => by.as_ref(),
            Self::Thinking { .. }
            | Self::Plan { .. }
            | Self::Tool(_)
            | Self::Permission(_)
            | Self::Question(_)
            | Self::Notice(_) => None,
        }
    }

    /// Whether more of it is expected.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Text { partial, .. } | Self::Thinking { partial, .. } => *partial,
            Self::Tool(tool) => tool.status == ToolStatus::Running,
            Self::Permission(record) => record.state.status() == Status::Pending,
            Self::Question(record) => record.state.status() == Status::Pending,
            Self::Plan { .. } | Self::Notice(_) => false,
        }
    }

    /// Whether a human decided this, so that it must be synced before it is acknowledged. Prompts are recognised by
    /// their role.
    pub(crate) const fn is_decision(&self) -> bool {
        match self {
            Self::Permission(record) => record.state.is_settled(),
            Self::Question(record) => record.state.is_settled(),
            Self::Notice(notice) => notice.event.is_decision(),
            Self::Text { .. } | Self::Thinking { .. } | Self::Plan { .. } | Self::Tool(_) => false,
        }
    }
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: PlanStatus,
    /// How much it matters, where the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<PlanPriority>,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

/// How much a step matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanPriority {
    /// Must be done.
    High,
    /// Should be done.
    Medium,
    /// May be done.
    Low,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// The agent's id of the call, unique within its turn.
    pub tool_call_id: String,
    /// The tool's name; the call's title where the agent names no tool.
    pub tool: String,
    /// What the agent calls this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What sort of tool it is, in the agent's words (`read`, `edit`, `execute`, …).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The arguments as far as they are known.
    pub args: Value,
    /// How far the call is.
    pub status: ToolStatus,
    /// What came of it, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ToolResult>,
}

impl Tool {
    /// The name of a tool that the agent neither names nor titles.
    pub const UNNAMED: &str = "tool";
}

/// How far a tool call is; nothing leaves `complete` and `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// Announced or at work.
    Running,
    /// Done.
    Complete,
    /// Failed, refused, or still open when its turn ended.
    Error,
}

/// What came of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// What the tool printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The files it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diffs: Vec<Diff>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A change to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// The file's path as the agent gave it.
    pub path: String,
    /// The text before; absent for a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_text: Option<String>,
    /// The text after.
    pub new_text: String,
}

/// What the conversation has cost so far; every agent reports some of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens read by the model in the last turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens written by the model in the last turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens that now fill the context window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_used: Option<u64>,
    /// Tokens that the context window holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_size: Option<u64>,
    /// Money spent on the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// How much.
    pub amount: f64,
    /// ISO 4217, such as `USD`.
    pub currency: String,
}

impl From<Prompt> for Content {
    fn from(prompt: Prompt) -> Self {
        let Prompt { text, attachments, files, review, by } = prompt;
        Self::Text { text, partial: false, attachments, files, review, by }
    }
}

impl From<Notice> for Content {
    fn from(notice: Notice) -> Self {
        Self::Notice(notice)
    }
}
