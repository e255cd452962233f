//! Lines that are no messages, and the error responses to them. The connection continues.

use serde_json::{Value, json};

/// A line that is no message.
#[derive(Debug, thiserror::Error)]
pub(super) enum MalformedLine {
    #[error("Parse error: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("Parse error: not UTF-8")]
    NotText(#[from] std::str::Utf8Error),
    #[error("Invalid Request: not a JSON-RPC message")]
    NoMessage { id: Value },
    #[error("Parse error: a line of more than {bytes_max} bytes")]
    Long { bytes_max: usize },
}

impl MalformedLine {
    /// Classifies JSON that is not a message.
    pub(super) fn of(line: &[u8], error: serde_json::Error) -> Self {
        if !error.is_data() {
            return Self::NotJson(error);
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(value) => Self::NoMessage { id: id(&value) },
            // The position of the first mismatch may precede the position at which the JSON is
            // invalid.
            Err(error) => Self::NotJson(error),
        }
    }

    /// The error response.
    pub(super) fn answer(&self) -> String {
        let (id, code) = match self {
            Self::NotJson(_) | Self::NotText(_) | Self::Long { .. } => (&Value::Null, -32700),
            Self::NoMessage { id } => (id, -32600),
        };
        error(id, code, &self.to_string())
    }
}

/// The id of the malformed message, so that the client can match the error.
fn id(message: &Value) -> Value {
    match message.get("id") {
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => {
            Value::Null
        }
    }
}

/// An answer that something went wrong.
pub(super) fn error(id: &Value, code: i32, message: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string()
}
