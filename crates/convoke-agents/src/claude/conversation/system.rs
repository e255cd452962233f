//! System frames: what the agent reports about itself.

use convoke_core::notice::AgentEvent;
use convoke_core::session::Report;
use serde_json::Value;

use super::{Conversation, word};

/// How many retries of the model are reported in one turn.
const RETRIES_REPORTED_MAX: u32 = 8;

impl Conversation {
    pub(super) fn handle_system(&mut self, frame: &Value) {
        match word(frame, "subtype") {
            "init" => self.handle_start_of_turn(frame),
            "status" => self.enter_mode(word(frame, "permissionMode")),
            "api_retry" => self.handle_retry(frame),
            "compact_boundary" => self.handle_compaction(&frame["compact_metadata"]),
            "informational" => self.handle_information(frame),
            subtype => tracing::trace!(subtype, "claude says something about itself"),
        }
    }

    /// Handles the frame before every turn, which is also sent when something has changed.
    fn handle_start_of_turn(&mut self, frame: &Value) {
        self.record_reported_model(word(frame, "model"));
        self.enter_mode(word(frame, "permissionMode"));
        let session = word(frame, "session_id");
        if !session.is_empty() && session != self.session {
            session.clone_into(&mut self.session);
            let text = format!(
                "Claude forgot the conversation and began a new one, which it calls {session}."
            );
            self.advise("warning", text);
            self.report(Report::Renewed { agent_session: self.session.clone() });
        }
    }

    /// Each retry waits twice as long as the one before, so only the first, second, fourth and
    /// eighth are reported.
    fn handle_retry(&mut self, frame: &Value) {
        let attempt = frame["attempt"].as_u64().unwrap_or(1);
        let reported = self.turn.as_ref().map_or(0, |turn| turn.retries_reported);
        if !attempt.is_power_of_two() || reported >= RETRIES_REPORTED_MAX {
            return;
        }
        if let Some(turn) = &mut self.turn {
            turn.retries_reported += 1;
        }
        let of = frame["max_retries"].as_u64().map_or(String::new(), |max| format!("/{max}"));
        let seconds = frame["retry_delay_ms"].as_f64().unwrap_or(0.0) / 1000.0;
        let status =
            frame["error_status"].as_u64().map_or(String::new(), |code| format!("{code} "));
        let error = frame["error"].as_str().unwrap_or("unknown error");
        let text = format!("retrying {attempt}{of} in {:.0} s: {status}{error}", seconds.ceil());
        self.advise("warning", text);
    }

    fn handle_compaction(&mut self, numbers: &Value) {
        if let Some(tokens) = numbers["post_tokens"].as_u64() {
            self.answer.shorten(tokens);
        }
        self.notice(AgentEvent::Compacted);
    }

    fn handle_information(&mut self, frame: &Value) {
        let content = word(frame, "content");
        if !content.is_empty() {
            let level = frame["level"].as_str().unwrap_or("info");
            self.advise(level, content.to_owned());
        }
    }

    /// Handles the usage limit, which comes with every response of the model; only changes are
    /// reported.
    pub(super) fn handle_limit(&mut self, limit: &Value) {
        let which = limit["rateLimitType"].as_str().unwrap_or("usage");
        let status = word(limit, "status");
        if self.limit == status {
            return;
        }
        status.clone_into(&mut self.limit);
        match status {
            "allowed_warning" => {
                self.advise("warning", format!("The limit of {which} is nearly reached."));
            }
            "rejected" => self.advise("error", format!("The limit of {which} is reached.")),
            _ => {}
        }
    }
}
