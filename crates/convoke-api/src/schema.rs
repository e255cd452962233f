//! The core's messages once more, for the OpenAPI document alone: the core knows nothing of OpenAPI.
//!
//! Nothing is made of these types. A test holds them against the core's own JSON.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// One thing that a reader of a conversation sees, whole.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Message {
    /// Unique among all messages.
    #[schema(format = "uuid")]
    pub id: String,
    /// The session whose conversation this is part of.
    #[schema(format = "uuid")]
    pub session_id: String,
    /// The place in the conversation: 1, 2, 3, … without gaps, fixed when the message begins.
    pub seq: u64,
    /// The session's revision at the message's newest change; the cursor for `after`.
    pub rev: u64,
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Content,
    /// For a prompt: the state of its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnState>,
    /// When it began.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// When it last changed.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// The state of a turn.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnState {
    /// `running`, `cancelling` or `ended`.
    pub status: TurnStatus,
    /// How it ended: `end_turn`, `cancelled`, `refusal`, `max_tokens`, `max_turn_requests` or `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// What sort of failure ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What exactly failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Where a turn is.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// The agent works on it.
    Running,
    /// The agent was told to stop.
    Cancelling,
    /// Over.
    Ended,
}

/// Who speaks.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The human, or a program that prompts in their place.
    User,
    /// The agent, in words.
    Agent,
    /// Convoke: plans, tools, requests and notices.
    System,
}

/// What a message says, told apart by `type`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Content {
    /// A prompt or an answer.
    Text {
        /// The words so far.
        text: String,
        /// Whether the agent is still writing it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        partial: bool,
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
    Tool {
        /// The agent's id of the call, unique within its turn.
        tool_call_id: String,
        /// The tool's name.
        tool: String,
        /// What the agent calls this call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// What sort of tool it is, in the agent's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
        /// The arguments as far as they are known.
        args: Value,
        /// How far the call is.
        status: ToolStatus,
        /// What came of it, as far as it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<ToolResult>,
    },
    /// A permission asked of the human, and later what became of it.
    Permission {
        /// The request.
        #[schema(format = "uuid")]
        request_id: String,
        /// The tool call that needs it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
        /// The tool, or the sort of tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// What is remembered if the human allows it for good: `kind` is `call`, with the `tool` and its `args`, or `file`,
        /// with the `tool` and the `path`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<Object>)]
        scope: Option<Value>,
        /// What the agent wants to do.
        title: String,
        /// What the human may choose.
        options: Vec<PermissionOption>,
        /// Where it stands.
        status: RequestStatus,
        /// The option that the human chose.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option_id: Option<String>,
        /// Why it was rejected; only there when it was, and `null` when nothing was said.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
        #[schema(value_type = Option<String>)]
        reason: Option<Option<String>>,
    },
    /// Questions asked of the human, and later what became of them.
    Question {
        /// The request.
        #[schema(format = "uuid")]
        request_id: String,
        /// What is asked.
        questions: Vec<Question>,
        /// Where it stands.
        status: RequestStatus,
        /// The human's answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answers: Option<Vec<QuestionAnswer>>,
        /// Why they were rejected; only there when they were, and `null` when nothing was said.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
        #[schema(value_type = Option<String>)]
        reason: Option<Option<String>>,
    },
    /// A fact about the session itself. Each event has fields of its own besides these.
    Notice {
        /// What happened: `turn_ended`, `resumed`, `process_exited`, `compacted`, `completed`, `cancelled`, `failed`,
        /// `reopened`, `renamed`, `archived`, `unarchived`, `waiting`, `turn_limit`, `unconfined`, `rule_made`,
        /// `rule_applied`, `rule_dropped`, `continues`, `continued_in`, `imported`, `advice` or `unknown`; more may come.
        event: String,
        /// The fact in a sentence.
        text: String,
        /// The event's own fields.
        #[serde(flatten)]
        fields: serde_json::Map<String, Value>,
    },
}

/// One step of a plan.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
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
#[derive(Debug, Serialize, Deserialize, ToSchema)]
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
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanPriority {
    /// Must be done.
    High,
    /// Should be done.
    Medium,
    /// May be done.
    Low,
}

/// How far a tool call is.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
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
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Diff {
    /// The file's path as the agent gave it.
    pub path: String,
    /// The text before; absent for a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_text: Option<String>,
    /// The text after.
    pub new_text: String,
}

/// Where a session is in its life.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// Accepts prompts.
    Active,
    /// Ended well; can be resumed.
    Completed,
    /// Ended by a human, for good.
    Cancelled,
    /// Its agent can be neither started nor resumed; can be tried again.
    Error,
}

/// Where a request to a human is in its life.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestStatus {
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

/// One way to answer a permission.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PermissionOption {
    /// What the agent calls it.
    pub option_id: String,
    /// What people read.
    pub name: String,
    /// What it means.
    pub kind: PermissionKind,
}

/// What choosing an option means.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
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

/// One question with its options.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Question {
    /// The question in full.
    pub prompt: String,
    /// The question in a word or two.
    pub title: String,
    /// What can be chosen; free text is always possible besides.
    pub options: Vec<QuestionOption>,
    /// Whether several options may be chosen.
    pub multi_select: bool,
}

/// One option of a question.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QuestionOption {
    /// What is chosen.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The human's answer to one question.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QuestionAnswer {
    /// Which question, counted from 0.
    pub question_index: u64,
    /// The label of the one chosen option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_option: Option<String>,
    /// The labels of all chosen options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_options: Option<Vec<String>>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_text: Option<String>,
    /// When it was given.
    #[schema(format = DateTime)]
    pub timestamp: String,
}

/// An answer to one question, as it is given.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GivenAnswer {
    /// The label of the one chosen option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_option: Option<String>,
    /// The labels of all chosen options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_options: Option<Vec<String>>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_text: Option<String>,
}

/// Tells a field that is `null` from one that is not there.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests;
