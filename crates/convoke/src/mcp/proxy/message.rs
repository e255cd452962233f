//! The parts of a JSON-RPC message that a relay needs.

use serde::Deserialize;
use serde_json::Value;

use crate::mcp::malformed_line::{MalformedLine, error};

/// One message of the client's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    /// As it was written.
    pub(super) text: String,
    /// The id of a request, as JSON; `None` for messages without a response.
    pub(super) id: Option<String>,
    /// The method of a request or notification.
    pub(super) method: Option<String>,
    /// The tool or the like that is meant.
    pub(super) name: Option<String>,
    /// The version of the protocol that the message itself names.
    pub(super) version: Option<String>,
    /// The id of the request that it cancels, as JSON.
    pub(super) cancels: Option<String>,
}

/// The parsed fields of a message.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    id: Option<Value>,
    method: Option<String>,
    params: Option<Params>,
    result: Option<Value>,
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Params {
    name: Option<Value>,
    uri: Option<Value>,
    #[serde(rename = "requestId")]
    request_id: Option<Value>,
    #[serde(rename = "_meta")]
    meta: Option<Value>,
}

/// A message of the daemon.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DaemonMessage {
    /// The id of the request that this answers, as JSON.
    pub(super) answers: Option<String>,
    /// The version of the protocol that both sides agree on from now on, in the answer to `initialize`.
    pub(super) version: Option<String>,
}

/// The messages in a line: one, or several in a list.
pub(super) fn read(line: &[u8]) -> Result<Vec<Message>, MalformedLine> {
    let line = std::str::from_utf8(line)?;
    if line.trim_start().starts_with('[') {
        let list: Vec<Value> = serde_json::from_str(line)?;
        return list.into_iter().map(|message| Message::read(&message.to_string())).collect();
    }
    Message::read(line).map(|message| vec![message])
}

impl Message {
    fn read(text: &str) -> Result<Self, MalformedLine> {
        let head = Head::read(text)?;
        let Params { name, uri, request_id, meta } = head.params.unwrap_or_default();
        let is_cancellation = head.method.as_deref() == Some("notifications/cancelled");
        let version = meta
            .as_ref()
            .and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"))
            .and_then(Value::as_str);
        let named = match head.method.as_deref() {
            Some("tools/call" | "prompts/get") => name,
            Some("resources/read") => uri,
            Some(_) | None => None,
        };
        Ok(Self {
            text: one_line(text),
            // A response to a request of the daemon has an id, too, but is not answered itself.
            id: head.id.filter(|_| head.method.is_some()).map(|id| id.to_string()),
            name: named.and_then(|name| name.as_str().map(str::to_owned)),
            version: version.map(str::to_owned),
            cancels: request_id.filter(|_| is_cancellation).map(|id| id.to_string()),
            method: head.method,
        })
    }

    /// The error response to a request that could not be forwarded; `None` if no response is
    /// expected.
    pub(super) fn failed(&self, why: &str, hint: Option<&str>) -> Option<String> {
        let id: Value = serde_json::from_str(self.id.as_deref()?).unwrap_or_default();
        let message = match hint {
            Some(hint) => format!("{why} ({hint})"),
            None => why.to_owned(),
        };
        // The code is in the range that JSON-RPC reserves for servers.
        Some(error(&id, -32000, &message))
    }
}

impl DaemonMessage {
    /// Parses a message of the daemon; `None` if it is invalid.
    pub(super) fn read(text: &str) -> Option<Self> {
        let head = Head::read(text).ok()?;
        let is_answer = head.method.is_none() && (head.result.is_some() || head.error.is_some());
        let version = head.result.as_ref().and_then(|result| result.get("protocolVersion"));
        Some(Self {
            answers: head.id.filter(|_| is_answer).map(|id| id.to_string()),
            version: version.and_then(Value::as_str).map(str::to_owned),
        })
    }
}

impl Head {
    fn read(text: &str) -> Result<Self, MalformedLine> {
        serde_json::from_str(text).map_err(|error| MalformedLine::of(text.as_bytes(), error))
    }
}

/// JSON in one line. Line breaks can only be between tokens: in strings they are escaped.
pub(super) fn one_line(json: &str) -> String {
    json.trim().replace(['\n', '\r'], " ")
}
