//! How messages and state are shown: each message is one entry, and each kind of state is one.

use convoke_core::content::{Content, Tool, ToolResult, ToolStatus};
use convoke_core::id::MessageId;
use convoke_core::message::{Message, Rev, Role, Seq};
use convoke_core::request::Status;
use convoke_core::state::SessionState;
use convoke_core::time::Timestamp;
use convoke_core::turn::Turn;

use super::{
    Entry, EntryBody, Permission, PromptState, Prompted, QuestionSet, QueuedEntry, ToolCall, Words,
};

impl From<&Message> for Entry {
    fn from(message: &Message) -> Self {
        let body = match &message.content {
            Content::Text { text, attachments, files, review, by, .. }
                if message.role == Role::User =>
            {
                EntryBody::User(Prompted {
                    content: text.clone(),
                    html: None,
                    attachments: attachments.clone(),
                    files: files.clone(),
                    review: review.clone(),
                    by: by.clone(),
                    state: PromptState::of(message.turn.as_ref()),
                })
            }
            Content::Text { text, partial, .. } => EntryBody::Assistant(words(text, *partial)),
            Content::Thinking { text, partial } => EntryBody::Thinking(words(text, *partial)),
            Content::Plan { steps } => EntryBody::Plan { steps: steps.clone() },
            Content::Tool(tool) => EntryBody::ToolCall(ToolCall::from(tool)),
            Content::Permission(record) => EntryBody::Permission(Permission::from(record)),
            Content::Question(record) => EntryBody::Question(QuestionSet::from(record)),
            Content::Notice(notice) => EntryBody::Notice(notice.clone()),
        };
        Self {
            entry_id: message.id.to_string(),
            seq: message.seq,
            rev: message.rev,
            timestamp: message.timestamp,
            body,
        }
    }
}

impl Entry {
    /// The entry that shows state of a kind. It has no place in the conversation.
    pub fn of_state(state: &SessionState, rev: Rev) -> Self {
        let body = match state {
            SessionState::Queue { prompts, held } => EntryBody::Queue {
                held: *held,
                prompts: prompts
                    .iter()
                    .map(|prompt| QueuedEntry {
                        id: prompt.id,
                        content: prompt.text.clone(),
                        html: None,
                        attachments: prompt.attachments.clone(),
                        files: prompt.files.clone(),
                        review: prompt.review.clone(),
                        by: prompt.by.clone(),
                        timestamp: prompt.timestamp,
                        waits_for: prompt.waits_for.clone(),
                    })
                    .collect(),
            },
            SessionState::Commands { commands } => {
                EntryBody::Commands { commands: commands.clone() }
            }
            SessionState::Modes { current, available } => {
                EntryBody::Modes { current: current.clone(), available: available.clone() }
            }
            SessionState::Settings { settings } => {
                EntryBody::Settings { settings: settings.clone() }
            }
            SessionState::Usage(usage) => EntryBody::Usage(usage.clone()),
        };
        let (entry_id, timestamp) = (state.kind().as_str().to_owned(), Timestamp::from_millis(0));
        Self { entry_id, seq: Seq::START, rev, timestamp, body }
    }

    /// Whether more changes are expected, so that it is shown however old it is.
    pub fn is_open(&self) -> bool {
        match &self.body {
            EntryBody::User(prompted) => prompted.state == PromptState::Running,
            EntryBody::Assistant(words) | EntryBody::Thinking(words) => words.partial,
            EntryBody::ToolCall(call) => call.status == ToolStatus::Running,
            EntryBody::Permission(permission) => permission.status == Status::Pending,
            EntryBody::Question(set) => set.status == Status::Pending,
            EntryBody::Plan { .. }
            | EntryBody::Notice(_)
            | EntryBody::Queue { .. }
            | EntryBody::Commands { .. }
            | EntryBody::Modes { .. }
            | EntryBody::Settings { .. }
            | EntryBody::Usage(_) => false,
        }
    }

    /// Whether it is part of the conversation, and not state.
    pub(crate) const fn is_conversation(&self) -> bool {
        match &self.body {
            EntryBody::User(_)
            | EntryBody::Assistant(_)
            | EntryBody::Thinking(_)
            | EntryBody::ToolCall(_)
            | EntryBody::Plan { .. }
            | EntryBody::Permission(_)
            | EntryBody::Question(_)
            | EntryBody::Notice(_) => true,
            EntryBody::Queue { .. }
            | EntryBody::Commands { .. }
            | EntryBody::Modes { .. }
            | EntryBody::Settings { .. }
            | EntryBody::Usage(_) => false,
        }
    }
}

/// The name of a message's entry.
pub fn entry_id(id: MessageId) -> String {
    id.to_string()
}

impl PromptState {
    const fn of(turn: Option<&Turn>) -> Self {
        match turn {
            Some(Turn::Running | Turn::Cancelling) => Self::Running,
            Some(Turn::Ended(_)) | None => Self::Done,
        }
    }
}

fn words(text: &str, partial: bool) -> Words {
    Words { content: text.to_owned(), html: None, partial }
}

impl From<&Tool> for ToolCall {
    fn from(tool: &Tool) -> Self {
        let ToolResult { text, diffs, error } = tool.result.clone().unwrap_or_default();
        Self {
            tool_call_id: tool.tool_call_id.clone(),
            name: tool.tool.clone(),
            title: tool.title.clone(),
            kind: tool.kind.clone(),
            status: tool.status,
            args: tool.args.clone(),
            result: text,
            diffs,
            error,
            html: None,
        }
    }
}
