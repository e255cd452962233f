//! The agent's answers and thoughts, in pieces or in whole messages.
//!
//! A sub-agent talks to the agent and not to people, so its text is left out; its tool calls are
//! shown.

use convoke_core::bounds::clip;
use convoke_core::session::Report;
use serde_json::Value;

use super::{Conversation, list, word};
use crate::driver::WORDS_BYTES_MAX;

/// The current message of the agent.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// The id of the message that is being streamed.
    current: String,
    /// The id of the last streamed message; when it arrives whole, its text was already reported.
    in_pieces: String,
    /// The model that wrote it. Not always the chosen one: some modes use another one.
    pub(super) model: String,
    read_tokens: u64,
    written_tokens: u64,
}

impl Answer {
    /// The tokens in the model's context after its last message.
    pub(super) fn context_used(&self) -> Option<u64> {
        Some(self.read_tokens + self.written_tokens).filter(|tokens| *tokens > 0)
    }

    /// Records the token count after a compaction.
    pub(super) fn shorten(&mut self, tokens: u64) {
        (self.read_tokens, self.written_tokens) = (tokens, 0);
    }

    fn record_model(&mut self, message: &Value) {
        let model = word(message, "model");
        // Messages that no model wrote have a name in angle brackets.
        if !model.is_empty() && !model.starts_with('<') {
            model.clone_into(&mut self.model);
        }
    }

    fn count(&mut self, usage: &Value) {
        // The usage with the last pieces may count only written tokens, and messages that no model
        // wrote have none.
        let (read, written) = (read_tokens(usage), usage["output_tokens"].as_u64().unwrap_or(0));
        if read > 0 {
            self.read_tokens = read;
        }
        if written > 0 {
            self.written_tokens = written;
        }
    }
}

/// The tokens that the model read, whether they came from a cache or not.
pub(super) fn read_tokens(usage: &Value) -> u64 {
    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
        .iter()
        .filter_map(|field| usage[field].as_u64())
        .fold(0, u64::saturating_add)
}

impl Conversation {
    pub(super) fn handle_piece(&mut self, frame: &Value) {
        if is_from_sub_agent(frame) {
            return;
        }
        let event = &frame["event"];
        match word(event, "type") {
            "message_start" => {
                let message = &event["message"];
                word(message, "id").clone_into(&mut self.answer.current);
                self.answer.record_model(message);
                self.answer.count(&message["usage"]);
            }
            "message_delta" => self.answer.count(&event["usage"]),
            "content_block_delta" => self.handle_delta(&event["delta"]),
            // Starts and ends of blocks, and frames that later versions may add.
            _ => {}
        }
    }

    /// The arguments of a tool are streamed too, but reported when the call is complete.
    fn handle_delta(&mut self, delta: &Value) {
        match word(delta, "type") {
            "text_delta" => self.say(word(delta, "text")),
            "thinking_delta" => self.think(word(delta, "thinking")),
            _ => return,
        }
        self.answer.in_pieces.clone_from(&self.answer.current);
    }

    pub(super) fn handle_message(&mut self, frame: &Value) {
        let message = &frame["message"];
        let by_sub_agent = is_from_sub_agent(frame);
        if !by_sub_agent {
            self.answer.record_model(message);
            self.answer.count(&message["usage"]);
        }
        let id = word(message, "id");
        let was_told = !id.is_empty() && self.answer.in_pieces == id;
        // An error of the model is repeated in the result of the turn.
        let is_error = frame["is_api_error_message"] == true;
        let is_news = !by_sub_agent && !was_told && !is_error;
        for block in list(message, "content") {
            match word(block, "type") {
                "text" if is_news => self.say(word(block, "text")),
                "thinking" if is_news => self.think(word(block, "thinking")),
                "tool_use" | "server_tool_use" | "mcp_tool_use" => self.call(block, frame),
                // Tools that run at the model's provider have their results among the text blocks.
                _ if block["tool_use_id"].is_string() => self.settle(block, &Value::Null),
                _ => {}
            }
        }
    }

    pub(super) fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some(turn) = &mut self.turn {
            turn.answered = true;
        }
        self.report(Report::Said(clip(text, WORDS_BYTES_MAX)));
    }

    fn think(&mut self, text: &str) {
        if !text.is_empty() {
            self.report(Report::Thought(clip(text, WORDS_BYTES_MAX)));
        }
    }
}

fn is_from_sub_agent(frame: &Value) -> bool {
    frame["parent_tool_use_id"].is_string()
}
