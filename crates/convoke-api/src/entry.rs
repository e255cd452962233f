//! Entries: one per message of a session, and one for each kind of state. A contract.
//!
//! Nothing here renders Markdown: the server sets `html`.

mod list;
mod shown;
mod verdict;

use convoke_core::content::{Diff, PlanStep, ToolStatus, Usage};
use convoke_core::evidence::Evidence;
use convoke_core::id::{MessageId, RequestId};
use convoke_core::message::{Rev, Seq};
use convoke_core::notice::Notice;
use convoke_core::prompt::Attachment;
use convoke_core::question::{Answer, Choice, Question};
use convoke_core::request::{
    Answers, Choice as Chosen, PermissionOption, PermissionRecord, QuestionRecord, State, Status,
};
use convoke_core::review::ReviewComment;
use convoke_core::rule::Proposal;
use convoke_core::state::{OfferedChoice, OfferedCommand, OfferedSetting};
use convoke_core::time::Timestamp;
use convoke_core::user::UserName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use list::{Entries, Older};
pub use shown::entry_id;
pub use verdict::Verdict;

/// One thing that people see of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its name within the session: the id of its message, or the kind of state.
    pub entry_id: String,
    /// The place of its message in the conversation; 0 for state.
    pub seq: Seq,
    /// The session's revision at its newest change.
    pub rev: Rev,
    /// When it began.
    pub timestamp: Timestamp,
    /// What it shows.
    #[serde(flatten)]
    pub body: EntryBody,
}

/// The content of an entry, tagged by `type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum EntryBody {
    /// What the human said.
    User(Prompted),
    /// What the agent said.
    Assistant(Words),
    /// What the agent thought aloud.
    Thinking(Words),
    /// A tool call as it stands.
    ToolCall(ToolCall),
    /// The plan of a turn as it stands.
    Plan {
        /// The steps, first to last.
        steps: Vec<PlanStep>,
    },
    /// A permission asked of the human.
    Permission(Permission),
    /// Questions asked of the human.
    Question(QuestionSet),
    /// A fact about the session.
    Notice(Notice),
    /// Not part of the conversation: the prompts that wait for the running turn to end.
    Queue {
        /// First to last.
        prompts: Vec<QueuedEntry>,
        /// Whether they wait for the next prompt, or until one of them is sent.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        held: bool,
    },
    /// Not part of the conversation: the commands that the agent offers.
    Commands {
        /// All of them.
        commands: Vec<OfferedCommand>,
    },
    /// Not part of the conversation: the modes that the agent offers.
    Modes {
        /// The id of the current mode.
        current: String,
        /// All modes.
        available: Vec<OfferedChoice>,
    },
    /// Not part of the conversation: the settings that the agent offers.
    Settings {
        /// All of them.
        settings: Vec<OfferedSetting>,
    },
    /// Not part of the conversation: what it has cost so far.
    Usage(Usage),
}

/// What the human said, and how far the agent is with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PromptedEntry")]
pub struct Prompted {
    /// The words.
    pub content: String,
    /// The words as sanitised HTML, for clients that opened the session with `render`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// The files that are attached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Files and folders of the project that it mentions, relative to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The comments on lines of changed files that it carries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub review: Vec<ReviewComment>,
    /// The user who said it; absent for the owner of the daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserName>,
    /// How far the agent is.
    pub state: PromptState,
}

/// A prompt that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueuedEntry {
    /// The id of the message that it becomes.
    pub id: MessageId,
    /// The words.
    pub content: String,
    /// The words as sanitised HTML, for clients that opened the session with `render`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// The files that are attached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Files and folders of the project that it mentions, relative to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The comments on lines of changed files that it carries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub review: Vec<ReviewComment>,
    /// The user who said it; absent for the owner of the daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserName>,
    /// When it was sent.
    pub timestamp: Timestamp,
    /// The node that it waits for, which is away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
}

/// How far the agent is with a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptState {
    /// The agent works on it.
    Running,
    /// Its turn has ended.
    Done,
}

/// Words of the agent's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Words {
    /// The words so far.
    pub content: String,
    /// The words as sanitised HTML, for clients that opened the session with `render`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// Whether more may come.
    pub partial: bool,
}

/// A tool call as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The agent's id of the call.
    pub tool_call_id: String,
    /// The tool's name.
    pub name: String,
    /// What the agent calls this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What sort of tool it is, in the agent's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// How far the call is.
    pub status: ToolStatus,
    /// The arguments as far as they are known.
    pub args: Value,
    /// What the tool printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The files it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diffs: Vec<Diff>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What of it has terminal colours, for clients that opened the session with `render`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<ToolHtml>,
}

/// Output with terminal colours as sanitised HTML, one line of it a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolHtml {
    /// What the tool printed, if it has colours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Why it failed, if that has colours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl ToolHtml {
    /// Nothing, if neither has colours.
    pub fn of(result: Option<String>, error: Option<String>) -> Option<Self> {
        (result.is_some() || error.is_some()).then_some(Self { result, error })
    }
}

/// A permission asked of the human, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Permission {
    /// The request's id.
    pub permission_id: RequestId,
    /// What the agent wants to do.
    pub title: String,
    /// The tool call that needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The tool that the call is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What it is about: the command, the changes, the paths, the address or the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// The rules that an answer can make, the narrowest first; empty once it is settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Proposal>,
    /// What the human may choose.
    pub options: Vec<PermissionOption>,
    /// Where it stands.
    pub status: Status,
    /// The option that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option_id: Option<String>,
    /// Why it was rejected, in the human's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The user who decided it; absent for the owner of the daemon, and for a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserName>,
}

/// Questions asked of the human, and what became of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionSet {
    /// The request's id.
    pub question_id: RequestId,
    /// What is asked.
    pub questions: Vec<AskedQuestion>,
    /// Where it stands.
    pub status: Status,
    /// The human's answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<Answer>>,
    /// Why they were rejected, in the human's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The user who answered; absent for the owner of the daemon, and for a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserName>,
}

/// One question of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskedQuestion {
    /// The question in full.
    pub prompt: String,
    /// The question in a word or two.
    pub title: String,
    /// What can be chosen; free text is always possible besides.
    pub options: Vec<Choice>,
    /// Whether several options may be chosen.
    pub multi_select: bool,
    /// The prompt as sanitised HTML, for clients that opened the session with `render`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
}

impl From<&PermissionRecord> for Permission {
    fn from(record: &PermissionRecord) -> Self {
        let (option_id, reason) = said(&record.state);
        Self {
            permission_id: record.request_id,
            title: record.title.clone(),
            tool_call_id: record.tool_call_id.clone(),
            tool: record.tool.clone(),
            evidence: record.evidence.clone(),
            rules: if record.state.status() == Status::Pending {
                record.rules.clone()
            } else {
                Vec::new()
            },
            options: record.options.clone(),
            status: record.state.status(),
            option_id: option_id.map(|Chosen { option_id }| option_id),
            reason,
            by: record.by.clone(),
        }
    }
}

impl From<&QuestionRecord> for QuestionSet {
    fn from(record: &QuestionRecord) -> Self {
        let (answers, reason) = said(&record.state);
        Self {
            question_id: record.request_id,
            questions: record.questions.iter().map(AskedQuestion::from).collect(),
            status: record.state.status(),
            answers: answers.map(|Answers { answers }| answers),
            reason,
            by: record.by.clone(),
        }
    }
}

impl From<&Question> for AskedQuestion {
    fn from(question: &Question) -> Self {
        Self {
            prompt: question.prompt.clone(),
            title: question.title.clone(),
            options: question.options.clone(),
            multi_select: question.multi_select,
            html: None,
        }
    }
}

/// What the human said to a request: the answer, or why there is none.
fn said<A: Clone>(state: &State<A>) -> (Option<A>, Option<String>) {
    match state {
        State::Answered(answer) => (Some(answer.clone()), None),
        State::Rejected { reason } => (None, reason.clone()),
        State::Pending | State::TimedOut | State::Abandoned => (None, None),
    }
}

#[cfg(test)]
mod tests;
