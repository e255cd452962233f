//! The protocol state of a conversation with `claude`, without I/O.
//!
//! Frames are parsed field by field, because a missing field or one of another type must not
//! invalidate the rest of its frame: an unread `result` would be a turn without an end.

mod answer;
mod content;
mod control;
mod ending;
mod human;
mod offer;
mod system;
mod tool;

use std::collections::BTreeMap;
use std::mem;

use convoke_core::id::RequestId;
use convoke_core::message::Seq;
use convoke_core::notice::{AgentEvent, Notice};
use convoke_core::session::Report;
use convoke_core::state::SessionState;
use convoke_core::turn::{FailureKind, Stop};
use serde_json::{Value, json};

use crate::driver::{Order, PromptAttachment, Random};

use answer::Answer;
use control::ControlRequests;
use human::Ask;
use offer::Offer;
use tool::Calls;

pub(super) use offer::InitializeOutcome;

/// Characters of an unknown frame that are stored.
const UNKNOWN_CHARS_MAX: usize = 4096;

/// The next action of the driver.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "most steps are reports, and each is handed on at once"
)]
pub(super) enum Step {
    /// Report to the session.
    Report(Report),
    /// Send this to the agent.
    Send(Value),
}

/// The state of a conversation.
pub(super) struct Conversation {
    random: Random,
    /// The agent's id of the session; `/clear` changes it.
    session: String,
    turn: Option<Turn>,
    answer: Answer,
    calls: Calls,
    asked: BTreeMap<RequestId, Ask>,
    control: ControlRequests,
    offer: Offer,
    /// The last reported usage limit.
    limit: String,
    steps: Vec<Step>,
}

/// A turn that a prompt of Convoke's began.
struct Turn {
    /// The seq of the prompt.
    place: Seq,
    /// The id that the prompt was sent with; the result of the turn contains it.
    message: String,
    /// Whether an interrupt was sent.
    interrupted: bool,
    /// Whether the agent has answered in it.
    answered: bool,
    /// How many retries were reported.
    retries_reported: u32,
}

impl Conversation {
    /// A new conversation.
    pub(super) fn new(session: String, random: Random) -> Self {
        Self {
            random,
            session,
            turn: None,
            answer: Answer::default(),
            calls: Calls::default(),
            asked: BTreeMap::new(),
            control: ControlRequests::default(),
            offer: Offer::default(),
            limit: String::new(),
            steps: Vec::new(),
        }
    }

    /// Handles a frame of the agent.
    pub(super) fn handle(&mut self, frame: &Value) -> Vec<Step> {
        match word(frame, "type") {
            "stream_event" => self.handle_piece(frame),
            "assistant" => self.handle_message(frame),
            "user" => self.handle_results(frame),
            "system" => self.handle_system(frame),
            "result" => self.handle_ending(frame),
            "control_request" => self.handle_request(frame),
            "control_response" => self.handle_response(&frame["response"]),
            "control_cancel_request" => self.handle_withdrawal(word(frame, "request_id")),
            "command_lifecycle" => self.handle_progress_of_prompt(frame),
            "rate_limit_event" => self.handle_limit(&frame["rate_limit_info"]),
            kind => self.handle_unknown(kind, frame),
        }
        mem::take(&mut self.steps)
    }

    /// Handles an order.
    pub(super) fn handle_order(&mut self, order: Order) -> Vec<Step> {
        match order {
            Order::Prompt { turn, text, attachments } => self.prompt(turn, &text, &attachments),
            // Claude works only in turns, so there is nothing else to stop.
            Order::Cancel | Order::End => self.cancel(),
            Order::Reply { request, reply } => self.reply(request, reply),
            Order::SetMode { mode } => self.request_mode(mode),
            Order::SetSetting { setting, choice } => self.request_setting(&setting, choice),
        }
        mem::take(&mut self.steps)
    }

    /// Steps to be sent before the process is stopped, so that it does not continue its turn.
    pub(super) fn leave(&mut self) -> Vec<Step> {
        self.cancel();
        self.steps.retain(|step| matches!(step, Step::Send(_)));
        mem::take(&mut self.steps)
    }

    fn prompt(&mut self, place: Seq, text: &str, attachments: &[PromptAttachment]) {
        if self.turn.is_some() {
            // Claude would merge both into one turn with one result.
            let stop = Stop::failed(FailureKind::Internal, "another turn was still running");
            return self.report(Report::TurnEnded { turn: place, stop });
        }
        let message = self.new_id();
        self.send(json!({
            "type": "user",
            "message": {"role": "user", "content": content::of_prompt(text, attachments)},
            "parent_tool_use_id": null,
            "session_id": "",
            "uuid": message,
        }));
        let (interrupted, answered, retries_reported) = (false, false, 0);
        self.turn = Some(Turn { place, message, interrupted, answered, retries_reported });
    }

    fn cancel(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.interrupted = true;
            self.request_interrupt();
        }
    }

    /// An interrupt before the prompt has begun has no effect, so it is sent again when the prompt
    /// begins.
    fn handle_progress_of_prompt(&mut self, frame: &Value) {
        let is_ours = |turn: &Turn| turn.interrupted && turn.message == word(frame, "command_uuid");
        if word(frame, "state") == "started" && self.turn.as_ref().is_some_and(is_ours) {
            self.request_interrupt();
        }
    }

    fn handle_unknown(&mut self, kind: &str, frame: &Value) {
        if frame["message"].is_null() && frame["content"].is_null() {
            return tracing::debug!(
                kind,
                "claude sent a frame of a kind that says nothing to people"
            );
        }
        let text = frame.to_string();
        let payload = match text.char_indices().nth(UNKNOWN_CHARS_MAX) {
            Some((end, _)) => json!({"cut": text.get(..end)}),
            None => frame.clone(),
        };
        self.notice(AgentEvent::Unknown { kind: kind.to_owned(), payload });
    }

    fn report(&mut self, report: Report) {
        self.steps.push(Step::Report(report));
    }

    fn send(&mut self, frame: Value) {
        self.steps.push(Step::Send(frame));
    }

    fn offer(&mut self, offer: SessionState) {
        self.report(Report::State(offer));
    }

    fn notice(&mut self, event: AgentEvent) {
        self.report(Report::Noticed(Notice::new(event)));
    }

    fn advise(&mut self, severity: &str, text: String) {
        let event = AgentEvent::Advice { severity: severity.to_owned() };
        self.report(Report::Noticed(Notice::worded(event, text)));
    }

    fn new_id(&self) -> String {
        RequestId::from_random((self.random)()).to_string()
    }
}

/// A field as a string; empty if it is none.
fn word<'a>(frame: &'a Value, field: &str) -> &'a str {
    frame[field].as_str().unwrap_or_default()
}

/// A field as a list; empty if it is none.
fn list<'a>(frame: &'a Value, field: &str) -> &'a [Value] {
    frame[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests;
