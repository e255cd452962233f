//! Changes of a session: what a decision is made of, what is stored, and what readers are sent.

use crate::content::Content;
use crate::message::{Draft, Role, Seq};
use crate::state::SessionState;
use crate::turn::Turn;

/// One change of a session. Each gets a revision of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A message begins, at the next place.
    Begin(Draft),
    /// More words of an open answer or thought.
    Append {
        /// The place of the message.
        seq: Seq,
        /// The words.
        text: String,
    },
    /// An answer or thought is whole.
    Close {
        /// The place of the message.
        seq: Seq,
    },
    /// A message is another one: a tool call that went on, a request that was settled.
    Replace {
        /// The place of the message.
        seq: Seq,
        /// All of its content.
        content: Content,
    },
    /// The turn of a prompt is in another state.
    Turn {
        /// The place of the prompt.
        seq: Seq,
        /// The state.
        turn: Turn,
    },
    /// Something that is not conversation is another.
    State(SessionState),
}

impl Change {
    /// Whether a human said or decided this, so that it must be on disk before it is acknowledged.
    pub fn is_human(&self) -> bool {
        match self {
            Self::Begin(draft) => draft.role == Role::User || draft.content.is_decision(),
            Self::Replace { content, .. } => content.is_decision(),
            Self::Turn { turn, .. } => *turn == Turn::Cancelling,
            Self::State(state) => matches!(state, SessionState::Queue { .. }),
            Self::Append { .. } | Self::Close { .. } => false,
        }
    }

    /// How many bytes it adds, more or less: words are counted as they are, all else as JSON.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Begin(Draft { content, .. }) | Self::Replace { content, .. } => content.bytes(),
            Self::Append { text, .. } => text.len(),
            Self::State(state) => crate::bounds::json_bytes(state),
            Self::Close { .. } | Self::Turn { .. } => 0,
        }
    }
}
