//! The changes that a decision consists of, which are stored and sent to readers.

use crate::content::Content;
use crate::message::{Draft, Role, Seq};
use crate::state::SessionState;
use crate::time::Timestamp;
use crate::turn::Turn;

/// One change of a session, with its own revision.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A new message, at the next seq.
    Begin(Draft),
    /// More text of an open answer or thought.
    Append {
        /// The seq of the message.
        seq: Seq,
        /// The text.
        text: String,
    },
    /// An answer or thought is complete.
    Close {
        /// The seq of the message.
        seq: Seq,
    },
    /// A message is replaced: progress of a tool call, a settled request.
    Replace {
        /// The seq of the message.
        seq: Seq,
        /// Its new content.
        content: Content,
    },
    /// The state of a prompt's turn changes.
    Turn {
        /// The seq of the prompt.
        seq: Seq,
        /// The new state.
        turn: Turn,
    },
    /// State that is not conversation is replaced.
    State(SessionState),
    /// A human has looked at the session. Stored with the summary, and no update for readers.
    Seen,
    /// What another program says of a conversation that it keeps. Stored with the summary, and no update for readers.
    Described {
        /// Its title, if it has one.
        title: Option<String>,
        /// When it last changed.
        active_at: Timestamp,
    },
}

impl Change {
    /// Whether a human said or decided this, so that it must be synced before it is acknowledged.
    pub fn is_human(&self) -> bool {
        match self {
            Self::Begin(draft) => draft.role == Role::User || draft.content.is_decision(),
            Self::Replace { content, .. } => content.is_decision(),
            Self::Turn { turn, .. } => *turn == Turn::Cancelling,
            Self::State(state) => matches!(state, SessionState::Queue { .. }),
            Self::Append { .. } | Self::Close { .. } | Self::Seen | Self::Described { .. } => false,
        }
    }

    /// The approximate size: text as it is, everything else as JSON.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Begin(Draft { content, .. }) | Self::Replace { content, .. } => content.bytes(),
            Self::Append { text, .. } => text.len(),
            Self::State(state) => crate::bounds::json_bytes(state),
            Self::Close { .. } | Self::Turn { .. } | Self::Seen | Self::Described { .. } => 0,
        }
    }
}
