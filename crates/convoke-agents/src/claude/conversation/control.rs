//! Control requests to the agent, and its responses.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::offer::MODEL;
use super::{Conversation, word};

/// Unanswered control requests; beyond that the oldest is dropped, and a response to it is ignored.
const OPEN_MAX: usize = 64;

/// Control requests that are not answered yet.
#[derive(Debug, Default)]
pub(super) struct ControlRequests {
    made: u64,
    open: BTreeMap<u64, ControlRequest>,
}

/// A control request to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ControlRequest {
    /// Start the conversation and return the capabilities.
    Initialize,
    /// Stop the turn.
    Interrupt,
    /// Change the mode.
    Mode(String),
    /// Change the model.
    Model(String),
}

impl Conversation {
    /// Starts the conversation. The agent is ready when it has answered.
    pub(in crate::claude) fn initialize(&mut self) -> Vec<super::Step> {
        self.request(ControlRequest::Initialize, &json!({"subtype": "initialize", "hooks": null}));
        std::mem::take(&mut self.steps)
    }

    pub(super) fn request_interrupt(&mut self) {
        self.request(ControlRequest::Interrupt, &json!({"subtype": "interrupt"}));
    }

    pub(super) fn request_mode(&mut self, mode: String) {
        let body = json!({"subtype": "set_permission_mode", "mode": mode});
        self.request(ControlRequest::Mode(mode), &body);
    }

    pub(super) fn request_setting(&mut self, setting: &str, choice: String) {
        if setting != MODEL {
            return self.advise("warning", format!("Claude has no setting “{setting}”."));
        }
        let body = json!({"subtype": "set_model", "model": choice});
        self.request(ControlRequest::Model(choice), &body);
    }

    pub(super) fn handle_response(&mut self, response: &Value) {
        let number = word(response, "request_id").strip_prefix("convoke-").map(str::parse);
        let Some(request) = number.and_then(|number| self.control.open.remove(&number.ok()?))
        else {
            return tracing::debug!(%response, "claude answered an unknown request");
        };
        if word(response, "subtype") != "success" {
            return self.handle_refusal(&request, word(response, "error"));
        }
        match request {
            ControlRequest::Initialize => self.handle_initialized(&response["response"]),
            // The result of the turn shows whether it worked.
            ControlRequest::Interrupt => {}
            ControlRequest::Mode(mode) => self.enter_mode(&mode),
            ControlRequest::Model(model) => self.choose_model(&model),
        }
    }

    fn handle_refusal(&mut self, request: &ControlRequest, error: &str) {
        match request {
            ControlRequest::Initialize => self.offer.refuse(error),
            ControlRequest::Interrupt => {
                self.advise("warning", format!("Claude did not stop: {error}"));
            }
            ControlRequest::Mode(mode) => {
                self.advise("warning", format!("The mode is not changed to {mode}: {error}"));
            }
            ControlRequest::Model(model) => {
                self.advise("warning", format!("The model is not changed to {model}: {error}"));
            }
        }
    }

    fn request(&mut self, request: ControlRequest, body: &Value) {
        let number = self.control.add(request);
        let request_id = format!("convoke-{number}");
        self.send(json!({"type": "control_request", "request_id": request_id, "request": body}));
    }
}

impl ControlRequests {
    fn add(&mut self, request: ControlRequest) -> u64 {
        if self.open.len() >= OPEN_MAX {
            self.open.pop_first();
        }
        self.made += 1;
        self.open.insert(self.made, request);
        self.made
    }
}
