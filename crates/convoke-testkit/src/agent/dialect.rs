//! The protocol-specific part of the player.

use serde_json::Value;

use super::script::{Ask, Step};

/// Encodes the steps of a script in one protocol, and decodes the messages of the client.
pub(super) trait Dialect: Send {
    /// Parses a line of the client.
    fn decode(&mut self, line: Value) -> ClientMessage;

    /// The messages of a step that only sends something; none when the protocol cannot express it.
    fn encode(&mut self, step: &Step, request: &ClientRequest) -> Option<Vec<Value>>;

    /// The id of the agent's own request with this number.
    fn id(&self, number: u64) -> Value;

    /// A request for permission, with this id.
    fn ask(&self, id: &Value, ask: &Ask) -> Value;

    /// Any request to the client, with this id.
    fn request(&self, id: &Value, method: &str, params: &Value) -> Value;

    /// The cancellation of a request.
    fn withdraw(&self, id: &Value) -> Value;

    /// An answer.
    fn answer(&mut self, request: &ClientRequest, result: Value) -> Vec<Value>;

    /// The response of an agent that works correctly.
    fn proper_answer(&mut self, request: &ClientRequest) -> Vec<Value>;

    /// An error for an answer.
    fn fail(&mut self, request: &ClientRequest, code: i64, message: &str) -> Vec<Value>;

    /// The answer of a turn that was cancelled.
    fn cancelled(&mut self, request: &ClientRequest) -> Vec<Value>;
}

/// A request of the client's that is being answered.
#[derive(Debug, Clone)]
pub(super) struct ClientRequest {
    /// The client's id of it.
    pub(super) id: Value,
    /// The method.
    pub(super) method: String,
    /// The text of a prompt; other requests have none.
    pub(super) prompt: Option<String>,
}

/// A parsed message of the client.
#[derive(Debug)]
pub(super) enum ClientMessage {
    /// A request.
    Request(ClientRequest),
    /// It answers a request of the agent's.
    Answer {
        /// The agent's id of it.
        id: Value,
        /// For a permission: the option, `cancelled` or `failed`.
        choice: String,
        /// The answer itself.
        whole: Value,
    },
    /// A cancellation of the turn, possibly with a request for confirmation.
    Cancel {
        /// The acknowledgement to send.
        receipt: Option<Value>,
    },
    /// Nothing that matters.
    Other,
}
