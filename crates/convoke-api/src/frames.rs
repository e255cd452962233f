//! The frames of the WebSocket, one JSON object per text frame. A contract, see
//! `docs/interfaces/websocket.md`.
//!
//! A `requestId` is stored beside the frame, so that every response can carry it, even one to an
//! invalid frame.

mod client;
mod server;
mod shapes;
mod subject;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use client::{ClientFrame, EndHow, Malformed};
pub use server::{AgentState, ChunkHtml, ServerFrame, StopReason};
pub use shapes::{AgentItem, SessionItem};
pub use subject::FrameSubject;

/// A frame with the request id that correlates a response with its request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope<F> {
    /// The id that the client chose; the response repeats it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The frame.
    #[serde(flatten)]
    pub frame: F,
}

impl<F> Envelope<F> {
    /// A frame that answers nothing and wants no answer of its own.
    pub const fn push(frame: F) -> Self {
        Self { request_id: None, frame }
    }

    /// Another frame with the same id.
    pub fn with<G>(self, frame: G) -> Envelope<G> {
        Envelope { request_id: self.request_id, frame }
    }
}

impl<F: Serialize> Envelope<F> {
    /// The text of the frame.
    pub fn to_text(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

impl Envelope<ServerFrame> {
    /// Parses a server frame.
    pub fn read(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

impl ServerFrame {
    /// Parses a frame that another daemon has sent.
    pub fn from_value(frame: Value) -> serde_json::Result<Self> {
        serde_json::from_value(frame)
    }
}

#[cfg(test)]
mod tests;
