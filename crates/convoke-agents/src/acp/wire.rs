//! JSON-RPC 2.0 as agents really use it: ids and codes of any type, and sometimes messages that are
//! neither request nor response.
//!
//! The meaning of methods is not handled here.

use serde_json::{Value, json};

/// The user must log in first.
pub(super) const AUTH_REQUIRED: i64 = -32000;
/// There is no such session, file or terminal.
pub(super) const NOT_FOUND: i64 = -32002;
/// There is no such method.
pub(super) const NO_METHOD: i64 = -32601;
/// The parameters are invalid.
pub(super) const BAD_PARAMS: i64 = -32602;
/// Any other error.
pub(super) const INTERNAL: i64 = -32603;
/// The request was cancelled by its sender.
pub(super) const CANCELLED: i64 = -32800;

/// Bytes of an error's detail that are kept; some agents put a whole HTTP response there.
const DETAIL_CHARS_MAX: usize = 2000;

/// What the agent sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Incoming {
    /// A request, which expects a response.
    Request {
        /// To be echoed unchanged.
        id: Value,
        method: String,
        params: Value,
    },
    /// A notification.
    Notification { method: String, params: Value },
    /// The response to a request of Convoke's.
    Answer { id: u64, outcome: Outcome },
    /// JSON that is none of these.
    Nonsense,
}

/// The result of a request.
pub(super) type Outcome = Result<Value, Fault>;

/// An error, in either direction.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    /// By the standard below -32000; some agents send HTTP codes, or none.
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Value,
}

impl Incoming {
    /// Classifies a line of JSON.
    pub(super) fn read(line: Value) -> Self {
        let Value::Object(mut message) = line else { return Self::Nonsense };
        let id = message.remove("id");
        let params = message.remove("params").unwrap_or_default();
        if let Some(method) = message.remove("method") {
            let Value::String(method) = method else { return Self::Nonsense };
            // An id of null still expects a response: only a message without an id is a
            // notification.
            return match id {
                Some(id) => Self::Request { id, method, params },
                None => Self::Notification { method, params },
            };
        }
        let Some(id) = id.as_ref().and_then(own_id) else { return Self::Nonsense };
        let outcome = match message.remove("error") {
            None | Some(Value::Null) => Ok(message.remove("result").unwrap_or_default()),
            Some(error) => Err(Fault::read(error)),
        };
        Self::Answer { id, outcome }
    }
}

/// Convoke's ids are numbers; an agent may return them as strings of digits.
fn own_id(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

impl Fault {
    /// An error of Convoke's.
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: Value::Null }
    }

    fn read(error: Value) -> Self {
        let Value::Object(mut error) = error else {
            return Self { code: 0, message: String::new(), data: error };
        };
        let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
        let message = match error.remove("message") {
            Some(Value::String(message)) => message,
            Some(_) | None => String::new(),
        };
        Self { code, message, data: error.remove("data").unwrap_or_default() }
    }

    /// The error for people: the message, and what the data add to it.
    pub(super) fn detail(&self) -> String {
        let added = words(&self.data).filter(|added| !self.message.contains(added.as_str()));
        let detail = match (self.message.trim(), added) {
            ("", None) => format!("error {}", self.code),
            ("", Some(added)) => added,
            (message, None) => message.to_owned(),
            (message, Some(added)) => format!("{message}: {added}"),
        };
        detail.chars().take(DETAIL_CHARS_MAX).collect()
    }
}

/// The readable part of an error's data.
fn words(data: &Value) -> Option<String> {
    let text = match data {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let known = ["details", "detail", "message", "error", "reason"];
            let text = known.iter().find_map(|key| fields.get(*key)?.as_str());
            text.map_or_else(|| data.to_string(), str::to_owned)
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => data.to_string(),
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

/// A request of Convoke's.
pub(super) fn request(id: u64, method: &str, params: Value) -> Value {
    message([("id", id.into()), ("method", method.into()), ("params", params)])
}

/// A notification to the agent.
pub(super) fn notification(method: &str, params: Value) -> Value {
    message([("method", method.into()), ("params", params)])
}

/// The response to a request of the agent.
pub(super) fn answer(id: Value, outcome: Outcome) -> Value {
    let outcome = match outcome {
        Ok(result) => ("result", result),
        Err(fault) => ("error", json!({"code": fault.code, "message": fault.message})),
    };
    message([("id", id), outcome])
}

fn message<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let version = ("jsonrpc", Value::from("2.0"));
    fields.into_iter().chain([version]).map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_may_have_any_id_and_only_no_id_is_no_request() {
        for id in [json!(0), json!("abc"), json!(null), json!(1.5), json!({"odd": []})] {
            let request = Incoming::read(json!({"id": id, "method": "m", "params": {"a": 1}}));
            let (method, params) = ("m".to_owned(), json!({"a": 1}));
            assert_eq!(request, Incoming::Request { id, method, params });
        }
        let (method, params) = ("m".to_owned(), Value::Null);
        let notification = Incoming::read(json!({"method": "m"}));
        assert_eq!(notification, Incoming::Notification { method, params });
    }

    #[test]
    fn an_answer_may_have_no_result_or_an_id_in_digits() {
        for answer in [json!({"id": 7}), json!({"id": "7", "result": null, "error": null})] {
            let read = Incoming::read(answer);
            assert_eq!(read, Incoming::Answer { id: 7, outcome: Ok(Value::Null) });
        }
    }

    #[test]
    fn a_line_that_is_neither_request_nor_response_is_malformed() {
        for line in
            [json!([]), json!("x"), json!(null), json!({}), json!({"id": -1}), json!({"id": "x"})]
        {
            assert_eq!(Incoming::read(line), Incoming::Nonsense);
        }
        assert_eq!(Incoming::read(json!({"id": 1, "method": 5})), Incoming::Nonsense);
    }

    /// Errors as they were seen: claude, codex by Zed, qwen, goose, gemini, and ones that say nothing.
    #[test]
    fn an_error_of_any_shape_becomes_text() {
        let errors = [
            json!({"code": -32603, "message": "Internal error: API Error: 400"}),
            json!({"code": -32603, "message": "Internal error", "data": {"message": "stream error"}}),
            json!({"code": -32603, "message": "Internal error", "data": {"details": "no key"}}),
            json!({"code": -32602, "message": "Invalid params", "data": "session already has active run"}),
            json!({"code": 400, "message": "{\"type\":\"error\"}"}),
            json!({"code": -32002, "message": "Resource not found", "data": {"sessionId": "x"}}),
            json!({"code": "odd", "message": 5}),
            json!("just words"),
        ];
        let reported: Vec<String> = errors
            .into_iter()
            .map(|error| {
                let read = Incoming::read(json!({"id": 1, "error": error}));
                let Incoming::Answer { outcome: Err(fault), .. } = read else { panic!("{read:?}") };
                fault.detail()
            })
            .collect();
        insta::assert_snapshot!(reported.join("\n"), @r#"
        Internal error: API Error: 400
        Internal error: stream error
        Internal error: no key
        Invalid params: session already has active run
        {"type":"error"}
        Resource not found: {"sessionId":"x"}
        error 0
        just words
        "#);
    }
}
