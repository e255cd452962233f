//! Updates: changes of a session as they are stored, sent, and applied by readers.
//!
//! Updates carry state, not events: a reader replaces a message by its id, appends a delta, or replaces state of a
//! kind. A reader that was disconnected asks for what changed after its revision, and gets each changed message once,
//! whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::content::Content;
use crate::id::{MessageId, SessionId};
use crate::message::{Draft, Message, Rev, Seq};
use crate::session::Change;
use crate::state::{SessionState, StateKind};
use crate::time::Timestamp;

/// What changed in a session, and at which revision.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    /// A message as it is now: new, replaced, or whole.
    Message(Arc<Message>),
    /// More words of an open message.
    Delta(Delta),
    /// State of a kind as it is now.
    State {
        /// The revision.
        rev: Rev,
        /// The state.
        state: Arc<SessionState>,
    },
}

/// Words that are appended to an open message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// The message.
    pub id: MessageId,
    /// Its place.
    pub seq: Seq,
    /// The revision.
    pub rev: Rev,
    /// When they came.
    pub at: Timestamp,
    /// The words.
    pub text: String,
}

impl Update {
    /// The revision of the update.
    pub fn rev(&self) -> Rev {
        match self {
            Self::Message(message) => message.rev,
            Self::Delta(delta) => delta.rev,
            Self::State { rev, .. } => *rev,
        }
    }

    /// The approximate size.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Message(message) => message.content.bytes(),
            Self::Delta(delta) => delta.text.len(),
            Self::State { state, .. } => crate::bounds::json_bytes(&**state),
        }
    }
}

/// What the engine assigns to a change: session, revision and time, and an id for a new message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateStamp {
    /// The session.
    pub session_id: SessionId,
    /// The id of a new message without one.
    pub id: MessageId,
    /// The seq of a new message.
    pub seq: Seq,
    /// The revision.
    pub rev: Rev,
    /// When it happened.
    pub at: Timestamp,
}

/// The messages of a session that may still change; turns changes into updates. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenMessages {
    messages: BTreeMap<Seq, Arc<Message>>,
}

impl OpenMessages {
    /// The open messages from the store.
    pub fn restore(open: Vec<Message>) -> Self {
        Self {
            messages: open.into_iter().map(|message| (message.seq, Arc::new(message))).collect(),
        }
    }

    /// Adds a closed message that is about to change again, such as a question with a late answer.
    pub fn reopen(&mut self, message: Message) {
        self.messages.entry(message.seq).or_insert_with(|| Arc::new(message));
    }

    /// The open message with this seq.
    pub fn get(&self, seq: Seq) -> Option<&Arc<Message>> {
        self.messages.get(&seq)
    }

    /// Turns a change into an update. `None` for `Seen` and `Described`, and if the message to be
    /// changed is not open, which is a bug in the caller.
    pub fn apply(&mut self, change: Change, stamp: UpdateStamp) -> Option<Update> {
        let UpdateStamp { rev, at, .. } = stamp;
        match change {
            Change::Begin(draft) => Some(self.begin(draft, stamp)),
            Change::State(state) => Some(Update::State { rev, state: Arc::new(state) }),
            Change::Seen | Change::Described { .. } => None,
            Change::Append { seq, text } => {
                let message = Arc::make_mut(self.messages.get_mut(&seq)?);
                append(&mut message.content, &text);
                (message.rev, message.updated_at) = (rev, at);
                Some(Update::Delta(Delta { id: message.id, seq, rev, at, text }))
            }
            Change::Close { seq } => self.change(seq, stamp, |message| close(&mut message.content)),
            Change::Replace { seq, content } => {
                self.change(seq, stamp, |message| message.content = content)
            }
            Change::Turn { seq, turn } => {
                let is_over = turn.is_over();
                let update = self.change(seq, stamp, |message| message.turn = Some(turn));
                if is_over {
                    self.messages.retain(|_, message| message.is_open());
                }
                update
            }
        }
    }

    fn begin(&mut self, draft: Draft, stamp: UpdateStamp) -> Update {
        let UpdateStamp { session_id, id, seq, rev, at } = stamp;
        let Draft { id: known, role, content, turn } = draft;
        let id = known.unwrap_or(id);
        let message = Arc::new(Message {
            id,
            session_id,
            seq,
            rev,
            role,
            content,
            turn,
            timestamp: at,
            updated_at: at,
        });
        if may_change(&message) {
            self.messages.insert(seq, Arc::clone(&message));
        }
        Update::Message(message)
    }

    fn change(
        &mut self,
        seq: Seq,
        stamp: UpdateStamp,
        change: impl FnOnce(&mut Message),
    ) -> Option<Update> {
        let message = Arc::make_mut(self.messages.get_mut(&seq)?);
        change(message);
        (message.rev, message.updated_at) = (stamp.rev, stamp.at);
        let shared = Arc::clone(self.messages.get(&seq)?);
        if !may_change(&shared) {
            self.messages.remove(&seq);
        }
        Some(Update::Message(shared))
    }
}

/// Whether a message may change without being open: plans, and notices about a waiting turn.
fn may_change(message: &Message) -> bool {
    let is_replaceable = match &message.content {
        Content::Plan { .. } => true,
        Content::Notice(notice) => notice.event.is_replaceable(),
        Content::Text { .. }
        | Content::Thinking { .. }
        | Content::Tool(_)
        | Content::Permission(_)
        | Content::Question(_) => false,
    };
    is_replaceable || message.is_open()
}

/// Appends text to an answer or thought.
pub fn append(content: &mut Content, more: &str) {
    if let Content::Text { text, .. } | Content::Thinking { text, .. } = content {
        text.push_str(more);
    }
}

fn close(content: &mut Content) {
    if let Content::Text { partial, .. } | Content::Thinking { partial, .. } = content {
        *partial = false;
    }
}

/// The updates of one commit. Several updates of one message are merged, and of each state only the newest is kept.
/// So a message may come before one with a lower seq that changed after it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Updates {
    updates: Vec<Update>,
}

impl Updates {
    /// Adds an update, and drops those that it supersedes.
    pub fn push(&mut self, update: Update) {
        match (&update, self.updates.last_mut()) {
            (Update::Delta(delta), Some(Update::Delta(last))) if last.seq == delta.seq => {
                last.text.push_str(&delta.text);
                (last.rev, last.at) = (delta.rev, delta.at);
                return;
            }
            (Update::Message(message), _) => {
                let seq = message.seq;
                self.updates.retain(|older| match older {
                    Update::Message(older) => older.seq != seq,
                    Update::Delta(older) => older.seq != seq,
                    Update::State { .. } => true,
                });
            }
            // The store sums up all usage reports.
            (Update::State { state, .. }, _) if state.kind() == StateKind::Usage => {}
            (Update::State { state, .. }, _) => {
                let kind = state.kind();
                self.updates.retain(|older| match older {
                    Update::State { state, .. } => state.kind() != kind,
                    Update::Message(_) | Update::Delta(_) => true,
                });
            }
            (Update::Delta(_), _) => {}
        }
        self.updates.push(update);
    }

    /// The updates, by revision.
    pub fn as_slice(&self) -> &[Update] {
        &self.updates
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.updates.is_empty()
    }
}

impl IntoIterator for Updates {
    type Item = Update;
    type IntoIter = std::vec::IntoIter<Update>;

    fn into_iter(self) -> Self::IntoIter {
        self.updates.into_iter()
    }
}
