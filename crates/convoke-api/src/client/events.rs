//! Following a session: server-sent events of messages, deltas and state.

mod lines;

use convoke_core::id::MessageId;
use convoke_core::message::{Message, Rev, Seq};
use convoke_core::state::SessionState;
use hyper::body::Incoming;
use serde::{Deserialize, Serialize};

use super::Client;
use super::transcript::piece;
use crate::error::Result;

pub(super) use lines::Lines;

/// A reader's cursor: it has everything up to a revision of a generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The generation of the revision.
    pub generation: String,
    /// The revision.
    pub rev: Rev,
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.generation, self.rev)
    }
}

impl std::str::FromStr for Cursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let (generation, rev) = text.split_once('-').ok_or(InvalidCursor)?;
        let rev = rev.parse().map_err(|_| InvalidCursor)?;
        Ok(Self { generation: generation.to_owned(), rev: Rev::new(rev) })
    }
}

/// Where to start following a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventsSince {
    /// At its beginning.
    Beginning,
    /// After a revision of the current generation.
    Revision(Rev),
    /// After a cursor.
    Cursor(Cursor),
}

/// The text is not a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is a generation and a revision, such as 12-345")]
pub struct InvalidCursor;

/// A parsed event.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionEvent {
    /// The cursor was not valid: everything follows, and replaces what the reader has.
    Reset,
    /// A message in its current state.
    Message(Box<Message>),
    /// Text that is appended to an open message.
    Delta(DeltaEvent),
    /// State of a kind.
    State(StateEvent),
}

/// Text that is appended to an open message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeltaEvent {
    /// The message.
    pub id: MessageId,
    /// Its seq.
    pub seq: Seq,
    /// The revision.
    pub rev: Rev,
    /// The text.
    pub text: String,
}

/// State of a kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateEvent {
    /// The revision.
    pub rev: Rev,
    /// The state.
    #[serde(flatten)]
    pub state: SessionState,
}

/// The updates of a session. When the stream ends or breaks, call again with the last cursor.
#[derive(Debug)]
pub struct Events {
    client: Client,
    body: Incoming,
    lines: Lines,
    last: Option<Cursor>,
}

impl Events {
    pub(super) fn new(client: Client, body: Incoming) -> Self {
        Self { client, body, lines: Lines::default(), last: None }
    }

    /// The cursor of the newest event that was read; where to continue after a disconnect.
    pub const fn cursor(&self) -> Option<&Cursor> {
        self.last.as_ref()
    }

    /// The next event; `None` when the daemon ends the stream.
    pub async fn next(&mut self) -> Result<Option<SessionEvent>> {
        loop {
            while let Some(event) = self.lines.next_event() {
                if let Some(cursor) = event.id.as_deref().and_then(|id| id.parse().ok()) {
                    self.last = Some(cursor);
                }
                let read = match event.name.as_deref() {
                    None | Some("" | "message") => serde_json::from_str(&event.data)
                        .map(|message| SessionEvent::Message(Box::new(message))),
                    Some("delta") => serde_json::from_str(&event.data).map(SessionEvent::Delta),
                    Some("state") => serde_json::from_str(&event.data).map(SessionEvent::State),
                    Some("reset") => Ok(SessionEvent::Reset),
                    // Events of later versions.
                    Some(_) => continue,
                };
                return read.map(Some).map_err(|source| self.client.malformed(source));
            }
            match piece(&self.client, &mut self.body).await? {
                Some(bytes) => self.lines.push(&bytes),
                None => return Ok(None),
            }
        }
    }
}
