//! What is true of a session now and is not conversation: the prompt queue, what the agent offers, what it has used. A
//! contract, see `message`.
//!
//! Each kind is stored once per session, replaced as a whole, and delivered through the same cursor as messages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::Usage;
use crate::id::MessageId;
use crate::prompt::{Attachment, Prompt};
use crate::review::ReviewComment;
use crate::time::Timestamp;
use crate::user::UserName;

/// One kind of session state, tagged by `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SessionState {
    /// The prompts that wait for the running turn to end, first to last.
    Queue {
        /// The prompts.
        prompts: Vec<QueuedPrompt>,
        /// Whether they wait for the next prompt or for one of them to be sent, because the turn before them was
        /// stopped and they were to be kept.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        held: bool,
    },
    /// The commands that the agent offers.
    Commands {
        /// All of them.
        commands: Vec<OfferedCommand>,
    },
    /// The modes that the agent offers, and the one it is in.
    Modes {
        /// The id of the current mode.
        current: String,
        /// All modes. An agent that only switches reports none; the session keeps those it knows.
        #[serde(default)]
        available: Vec<OfferedChoice>,
    },
    /// The settings that the agent offers (model, effort, …).
    Settings {
        /// All of them.
        settings: Vec<OfferedSetting>,
    },
    /// What the conversation has used so far.
    Usage(Usage),
}

/// The kinds of session state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateKind {
    /// The prompt queue.
    Queue,
    /// Commands.
    Commands,
    /// Modes.
    Modes,
    /// Settings.
    Settings,
    /// Usage.
    Usage,
}

impl StateKind {
    /// The name in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Commands => "commands",
            Self::Modes => "modes",
            Self::Settings => "settings",
            Self::Usage => "usage",
        }
    }
}

impl SessionState {
    /// Which kind it is.
    pub const fn kind(&self) -> StateKind {
        match self {
            Self::Queue { .. } => StateKind::Queue,
            Self::Commands { .. } => StateKind::Commands,
            Self::Modes { .. } => StateKind::Modes,
            Self::Settings { .. } => StateKind::Settings,
            Self::Usage(_) => StateKind::Usage,
        }
    }
}

/// A prompt that waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueuedPrompt {
    /// The id that the message will have.
    pub id: MessageId,
    /// What is said.
    pub text: String,
    /// The files that are attached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Files and folders of the project that it mentions, relative to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Comments on lines of changed files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub review: Vec<ReviewComment>,
    /// The user who sent it; the owner of the daemon without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserName>,
    /// When it was sent.
    pub timestamp: Timestamp,
    /// The name of the node that it waits for, which is away. Never stored: it is not in the session yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
}

impl QueuedPrompt {
    /// A prompt that waits in its session.
    pub fn new(id: MessageId, prompt: Prompt, timestamp: Timestamp) -> Self {
        let Prompt { text, attachments, files, review, by } = prompt;
        Self { id, text, attachments, files, review, by, timestamp, waits_for: None }
    }

    /// The size of what is said.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.review.iter().map(ReviewComment::bytes).sum::<usize>()
    }

    /// What is said, with what is enclosed.
    pub fn prompt(&self) -> Prompt {
        let Self { text, attachments, files, review, by, .. } = self.clone();
        Prompt { text, attachments, files, review, by }
    }
}

/// A command that people may type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedCommand {
    /// Without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// One value that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedChoice {
    /// What the agent calls it.
    pub id: String,
    /// What people read.
    pub name: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A setting with its choices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedSetting {
    /// What the agent calls it.
    pub id: String,
    /// What people read.
    pub name: String,
    /// What sort of setting it is (`model`, `mode`, `thought_level`, …), where the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The id of the chosen one.
    pub current: String,
    /// All choices.
    pub choices: Vec<OfferedChoice>,
}
