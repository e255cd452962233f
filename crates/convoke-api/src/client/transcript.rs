//! Reads the messages of a session one by one from a response that may be larger than memory.

use convoke_core::message::Message;
use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use serde::de::Error as _;

use super::Client;
use super::elements::{Elements, Head};
use crate::bodies::SessionDetail;
use crate::error::Result;

/// The longest session without its messages; a longer head is an error.
const HEAD_BYTES_MAX: usize = 1 << 20;

/// A session, its project, and its messages.
#[derive(Debug)]
pub struct Transcript {
    /// The session and its project.
    pub detail: SessionDetail,
    /// Its messages, oldest first.
    pub messages: Messages,
}

/// A reader of messages. Dropping it early cancels the rest of the response.
#[derive(Debug)]
pub struct Messages {
    client: Client,
    body: Incoming,
    elements: Elements,
}

/// A response as the daemon wrote it, to be passed on piece by piece.
#[derive(Debug)]
pub struct Text {
    client: Client,
    body: Incoming,
}

impl Text {
    pub(super) const fn new(client: Client, body: Incoming) -> Self {
        Self { client, body }
    }

    /// The next piece, split anywhere; `None` after the last one.
    pub async fn next(&mut self) -> Result<Option<Bytes>> {
        piece(&self.client, &mut self.body).await
    }
}

impl Transcript {
    pub(super) async fn read(client: Client, mut body: Incoming) -> Result<Self> {
        let mut arrived = Vec::new();
        loop {
            if let Some(Head { object, list }) = Head::split(&arrived, "messages") {
                let detail = serde_json::from_slice(&object);
                let detail = detail.map_err(|source| client.malformed(source))?;
                let elements = list.map_or_else(Elements::default, Elements::inside);
                return Ok(Self { detail, messages: Messages { client, body, elements } });
            }
            match piece(&client, &mut body).await? {
                Some(bytes) if arrived.len() < HEAD_BYTES_MAX => arrived.extend_from_slice(&bytes),
                Some(_) | None => return Err(client.malformed(cut_off())),
            }
        }
    }
}

impl Messages {
    /// The next message; `None` after the last one.
    pub async fn next(&mut self) -> Result<Option<Message>> {
        loop {
            if let Some(element) = self.elements.next() {
                let message = serde_json::from_slice(element);
                return message.map(Some).map_err(|source| self.client.malformed(source));
            }
            match piece(&self.client, &mut self.body).await? {
                Some(bytes) => self.elements.push(&bytes),
                None if self.elements.is_complete() => return Ok(None),
                None => return Err(self.client.malformed(cut_off())),
            }
        }
    }
}

/// The next piece of a body; `None` at its end.
pub(super) async fn piece(client: &Client, body: &mut Incoming) -> Result<Option<Bytes>> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| client.broken(error))?;
        // Trailers are ignored.
        if let Ok(bytes) = frame.into_data() {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

fn cut_off() -> serde_json::Error {
    serde_json::Error::custom("the response is incomplete")
}
