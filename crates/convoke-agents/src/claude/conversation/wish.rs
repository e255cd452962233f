//! What we ask of the agent, and its answers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::offer::MODEL;
use super::{Conversation, word};

/// Wishes that may be unanswered; beyond that the first is forgotten, and an answer to it changes nothing.
const OPEN_MAX: usize = 64;

/// Wishes that are not answered yet.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    made: u64,
    open: BTreeMap<u64, Wish>,
}

/// Something that we ask of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wish {
    /// Say what you can do.
    Initialize,
    /// Stop the turn.
    Interrupt,
    /// Change the mode.
    Mode(String),
    /// Change the model.
    Model(String),
}

impl Conversation {
    /// Begins the conversation. The agent is ready when it has answered.
    pub(in crate::claude) fn greet(&mut self) -> Vec<super::Step> {
        self.wish(Wish::Initialize, &json!({"subtype": "initialize", "hooks": null}));
        std::mem::take(&mut self.steps)
    }

    pub(super) fn wish_interrupt(&mut self) {
        self.wish(Wish::Interrupt, &json!({"subtype": "interrupt"}));
    }

    pub(super) fn wish_mode(&mut self, mode: String) {
        let request = json!({"subtype": "set_permission_mode", "mode": mode});
        self.wish(Wish::Mode(mode), &request);
    }

    pub(super) fn wish_setting(&mut self, setting: &str, choice: String) {
        if setting != MODEL {
            return self.advise("warning", format!("Claude has no setting “{setting}”."));
        }
        let request = json!({"subtype": "set_model", "model": choice});
        self.wish(Wish::Model(choice), &request);
    }

    pub(super) fn hear_response(&mut self, response: &Value) {
        let number = word(response, "request_id").strip_prefix("convoke-").map(str::parse);
        let Some(wish) = number.and_then(|number| self.wishes.open.remove(&number.ok()?)) else {
            return tracing::debug!(%response, "claude answered what nobody asked");
        };
        if word(response, "subtype") != "success" {
            return self.hear_refusal(&wish, word(response, "error"));
        }
        match wish {
            Wish::Initialize => self.welcome(&response["response"]),
            // The result of the turn says whether it worked.
            Wish::Interrupt => {}
            Wish::Mode(mode) => self.enter_mode(&mode),
            Wish::Model(model) => self.choose_model(&model),
        }
    }

    fn hear_refusal(&mut self, wish: &Wish, error: &str) {
        match wish {
            Wish::Initialize => self.offer.refuse(error),
            Wish::Interrupt => self.advise("warning", format!("Claude did not stop: {error}")),
            Wish::Mode(mode) => {
                self.advise("warning", format!("The mode is not changed to {mode}: {error}"));
            }
            Wish::Model(model) => {
                self.advise("warning", format!("The model is not changed to {model}: {error}"));
            }
        }
    }

    fn wish(&mut self, wish: Wish, request: &Value) {
        let number = self.wishes.add(wish);
        let request_id = format!("convoke-{number}");
        self.send(json!({"type": "control_request", "request_id": request_id, "request": request}));
    }
}

impl Wishes {
    fn add(&mut self, wish: Wish) -> u64 {
        if self.open.len() >= OPEN_MAX {
            self.open.pop_first();
        }
        self.made += 1;
        self.open.insert(self.made, wish);
        self.made
    }
}
