//! Following a session: server-sent events, each of which is a message.

mod lines;

use convoke_core::message::{Message, Seq};
use hyper::body::Incoming;

use super::Client;
use super::transcript::piece;
use crate::error::Result;

pub(super) use lines::Lines;

/// A session's messages as they come. When it ends or breaks, call again with the last place.
#[derive(Debug)]
pub struct Events {
    client: Client,
    body: Incoming,
    lines: Lines,
    last: Seq,
}

impl Events {
    pub(super) fn new(client: Client, body: Incoming, after: Seq) -> Self {
        Self { client, body, lines: Lines::default(), last: after }
    }

    /// The place of the newest message that was read; where to go on after a break.
    pub const fn last_seq(&self) -> Seq {
        self.last
    }

    /// The next message; `None` when the daemon ends the stream.
    pub async fn next(&mut self) -> Result<Option<Message>> {
        loop {
            while let Some(text) = self.lines.next_event() {
                let message = serde_json::from_str::<Message>(&text);
                let message = message.map_err(|source| self.client.malformed(source))?;
                // What is already known is not told twice, whatever a server does after a break.
                if message.seq > self.last {
                    self.last = message.seq;
                    return Ok(Some(message));
                }
            }
            match piece(&self.client, &mut self.body).await? {
                Some(bytes) => self.lines.push(&bytes),
                None => return Ok(None),
            }
        }
    }
}
