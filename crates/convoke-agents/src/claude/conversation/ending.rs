//! The end of a turn, and its usage.

use convoke_core::content::{Cost, Usage};
use convoke_core::session::Report;
use convoke_core::state::SessionState;
use convoke_core::turn::{FailureKind, Stop};
use serde_json::Value;

use super::answer::read_tokens;
use super::{Conversation, Turn, list, word};

impl Conversation {
    pub(super) fn handle_ending(&mut self, frame: &Value) {
        let Some(turn) = self.turn.take_if(|turn| ends(turn, frame)) else {
            return self.handle_ending_of_own_turn(frame);
        };
        let stop = stop(&turn, frame);
        // Older versions report the output of a local command nowhere else.
        if !turn.answered && stop == Stop::EndTurn {
            self.say(word(frame, "result"));
        }
        self.report_usage(frame);
        self.report(Report::TurnEnded { turn: turn.place, stop });
    }

    /// Handles the result of a turn without a prompt, which a background task began.
    fn handle_ending_of_own_turn(&mut self, frame: &Value) {
        if frame["is_error"] == true && !was_aborted(frame) {
            self.advise("error", detail(frame));
        }
        self.report_usage(frame);
    }

    /// Tokens are those of the turn. The cost is that of the whole session, including before it was
    /// resumed; `/clear` resets it.
    fn report_usage(&mut self, frame: &Value) {
        let (used, models, model) = (&frame["usage"], &frame["modelUsage"], &self.answer.model);
        let tokens = |count: u64| Some(count).filter(|count| *count > 0);
        let cost = frame["total_cost_usd"].as_f64();
        let usage = Usage {
            input_tokens: tokens(read_tokens(used)),
            output_tokens: used["output_tokens"].as_u64().and_then(tokens),
            context_used: self.answer.context_used(),
            context_size: models.get(model).and_then(|used| used["contextWindow"].as_u64()),
            cost: cost.map(|amount| Cost { amount, currency: "USD".to_owned() }),
        };
        if usage != Usage::default() {
            self.offer(SessionState::Usage(usage));
        }
    }
}

/// Whether this is the end of the turn, and not of one that the agent began itself.
fn ends(turn: &Turn, frame: &Value) -> bool {
    let prompts = list(frame, "user_message_uuids");
    if prompts.is_empty() {
        // Older versions name no prompt, but state whether a human prompted.
        let origin = word(&frame["origin"], "kind");
        return origin.is_empty() || origin == "human";
    }
    prompts.iter().any(|prompt| *prompt == turn.message)
}

/// The stop reason. Failures are recognised by `is_error`, since errors of the model come as
/// `success`.
fn stop(turn: &Turn, frame: &Value) -> Stop {
    if turn.interrupted && was_aborted(frame) {
        return Stop::Cancelled;
    }
    if word(frame, "subtype") == "error_max_turns" {
        return Stop::MaxTurnRequests;
    }
    match word(frame, "stop_reason") {
        "refusal" => Stop::Refusal,
        "max_tokens" | "model_context_window_exceeded" => Stop::MaxTokens,
        _ if is_failure(frame) => Stop::failed(FailureKind::AgentError, detail(frame)),
        _ => Stop::EndTurn,
    }
}

fn is_failure(frame: &Value) -> bool {
    frame["is_error"] == true || word(frame, "subtype").starts_with("error")
}

/// Whether an execution was aborted; older versions do not state why.
fn was_aborted(frame: &Value) -> bool {
    let reason = frame["terminal_reason"].as_str();
    reason.map_or(word(frame, "subtype") == "error_during_execution", |r| r.starts_with("aborted"))
}

/// The most specific error message.
fn detail(frame: &Value) -> String {
    let result = word(frame, "result").trim();
    if !result.is_empty() {
        return result.to_owned();
    }
    let errors: Vec<&str> = list(frame, "errors").iter().filter_map(Value::as_str).collect();
    if !errors.is_empty() {
        return errors.join("; ");
    }
    let reasons = [word(frame, "terminal_reason"), word(frame, "subtype")];
    reasons.into_iter().find(|reason| !reason.is_empty()).unwrap_or("unknown error").to_owned()
}
