//! A turn at the agent: one prompt at a time, the translation of its end, and a timeout when it does not end.

use std::time::Duration;

use convoke_core::message::Seq;
use convoke_core::notice::{Event, Notice};
use convoke_core::session::Report;
use convoke_core::state::SessionState;
use convoke_core::turn::{FailureKind, Stop};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Dialogue, Pending};
use crate::acp::content;
use crate::acp::wire::{self, AUTH_REQUIRED, CANCELLED, Outcome};
use crate::driver::PromptAttachment;

/// How long an agent may take to end a cancelled turn; then the driver reports its end itself.
const CANCEL_GRACE: Duration = Duration::from_secs(10);

/// How long a prompt waits for the agent to confirm a change of its mode or settings.
const CHANGE_GRACE: Duration = Duration::from_secs(5);

/// A prompt with its attachments.
#[derive(Debug)]
pub(super) struct HeldPrompt {
    /// The seq of the prompt.
    pub(super) turn: Seq,
    pub(super) text: String,
    pub(super) attachments: Vec<PromptAttachment>,
}

/// The running turn of the agent.
#[derive(Debug)]
pub(super) struct Turn {
    /// The seq of its prompt.
    place: Seq,
    /// Whether the agent has produced output in it.
    seen: Seen,
    /// The deadline for its end, once it was cancelled.
    deadline: Option<Instant>,
}

/// Whether the agent has produced output in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// No output, although some is expected.
    Nothing,
    /// Output, or the prompt was a command, which needs none.
    Enough,
}

impl Turn {
    fn new(place: Seq, text: &str) -> Self {
        let seen = if text.trim_start().starts_with('/') { Seen::Enough } else { Seen::Nothing };
        Self { place, seen, deadline: None }
    }

    pub(super) const fn is_cancelled(&self) -> bool {
        self.deadline.is_some()
    }

    /// Records a report of the turn.
    pub(super) const fn record_output(&mut self, report: &Report) {
        match report {
            Report::Said(_)
            | Report::Thought(_)
            | Report::Planned(_)
            | Report::ToolCalled(_)
            | Report::Asked(_) => self.seen = Seen::Enough,
            Report::Noticed(Notice { event: Event::Agent(_), .. }) => self.seen = Seen::Enough,
            // Some commands only switch the mode; other offers have nothing to do with the prompt.
            Report::State(SessionState::Modes { .. }) => self.seen = Seen::Enough,
            Report::Noticed(_)
            | Report::Resumed(_)
            | Report::Renewed { .. }
            | Report::State(_)
            | Report::Withdrew(_)
            | Report::TurnEnded { .. }
            | Report::Exited(_)
            | Report::Stopped
            | Report::Failed { .. } => {}
        }
    }
}

impl Dialogue {
    /// Sends a prompt, or holds it until the agent has confirmed the changes of its mode and
    /// settings: an agent may handle several requests concurrently, and would answer the prompt in
    /// the old mode.
    pub(super) fn prompt_or_hold(&mut self, prompt: HeldPrompt, now: Instant) {
        if self.changes() > 0 && self.turn.is_none() && self.held.is_none() {
            self.held = Some((prompt, now + CHANGE_GRACE));
        } else {
            self.prompt(&prompt);
        }
    }

    /// Sends the held prompt once all changes are confirmed.
    pub(super) fn release_held(&mut self) {
        if self.changes() == 0
            && let Some((prompt, _)) = self.held.take()
        {
            self.prompt(&prompt);
        }
    }

    fn prompt(&mut self, prompt: &HeldPrompt) {
        let place = prompt.turn;
        if self.turn.is_some() {
            let stop = Stop::failed(FailureKind::Internal, "a turn is running already");
            return self.end(place, stop);
        }
        self.turn = Some(Turn::new(place, &prompt.text));
        self.translator.begin_turn();
        self.host.terminals.begin_turn();
        let content = content::blocks(&prompt.text, &prompt.attachments, self.accepted);
        if let Some(advice) = content.advice {
            self.advise(&advice);
        }
        let params = self.in_session(json!({"prompt": content.blocks}));
        self.request("session/prompt", params, Pending::Prompt { turn: place });
    }

    /// Cancels the turn: first sends the cancellation, then answers its open permissions as cancelled.
    pub(super) fn cancel(&mut self, now: Instant) {
        if let Some((prompt, _)) = self.held.take() {
            return self.end(prompt.turn, Stop::Cancelled);
        }
        let Some(turn) = &mut self.turn else { return };
        if turn.is_cancelled() {
            return;
        }
        turn.deadline = Some(now + CANCEL_GRACE);
        let params = self.in_session(json!({}));
        self.outbox.lines.push_back(wire::notification("session/cancel", params));
        for (id, outcome) in self.permissions.cancel_all() {
            self.served(id, outcome);
        }
    }

    /// Cancels the session at the agent, even without a running turn: the agent may have work in
    /// the background.
    pub(super) fn end_session(&mut self, now: Instant) {
        if self.turn.is_some() {
            return self.cancel(now);
        }
        let params = self.in_session(json!({}));
        self.outbox.lines.push_back(wire::notification("session/cancel", params));
    }

    /// The deadline of a cancelled turn or of a held prompt.
    pub(in crate::acp) fn deadline(&self) -> Option<Instant> {
        let held = self.held.as_ref().map(|(_, until)| *until);
        self.turn.as_ref().and_then(|turn| turn.deadline).or(held)
    }

    /// Ends a cancelled turn whose deadline has passed, and sends a prompt that was held for too
    /// long.
    pub(in crate::acp) fn give_up(&mut self, now: Instant) {
        // Some agents never confirm a change.
        if let Some((prompt, _)) = self.held.take_if(|(_, until)| *until <= now) {
            self.prompt(&prompt);
        }
        if let Some(turn) = self.turn.take_if(|turn| turn.deadline.is_some_and(|at| at <= now)) {
            tracing::warn!(turn = %turn.place, "the agent does not end a cancelled turn");
            self.end(turn.place, Stop::Cancelled);
        }
    }

    pub(super) fn prompt_answered(&mut self, place: Seq, outcome: Outcome) {
        let Some(turn) = self.turn.take_if(|turn| turn.place == place) else {
            tracing::debug!(turn = %place, "the end of a turn that was given up");
            return;
        };
        let stop = match outcome {
            Ok(answer) => {
                let spent =
                    self.translator.usage(&answer).map(SessionState::Usage).map(Report::State);
                self.outbox.reports.extend(spent);
                self.stop_of(&turn, &answer)
            }
            Err(fault) if fault.code == CANCELLED => Stop::Cancelled,
            Err(fault) if fault.code == AUTH_REQUIRED && !self.logins.is_empty() => {
                let ways = self.logins.join(" | ");
                let detail = format!("{}; ways to log in: {ways}", fault.detail());
                Stop::failed(FailureKind::AgentError, detail)
            }
            Err(fault) => Stop::failed(FailureKind::AgentError, fault.detail()),
        };
        self.end(place, stop);
    }

    fn stop_of(&mut self, turn: &Turn, answer: &Value) -> Stop {
        match answer.get("stopReason").and_then(Value::as_str) {
            Some("cancelled") => return Stop::Cancelled,
            Some("refusal") => return Stop::Refusal,
            Some("max_tokens") => return Stop::MaxTokens,
            Some("max_turn_requests") => return Stop::MaxTurnRequests,
            Some("end_turn") => {}
            // The output is kept; only the stop reason is unknown.
            Some(other) => {
                self.advise(&format!("The agent ended its turn for an unknown reason: {other}"));
                return Stop::EndTurn;
            }
            None => tracing::debug!("the agent does not say why it ended its turn"),
        }
        match turn.seen {
            Seen::Enough => Stop::EndTurn,
            // Some agents end a turn like this when their model refuses to answer.
            Seen::Nothing => {
                let detail = "the agent ended the turn without saying anything";
                Stop::failed(FailureKind::AgentError, detail)
            }
        }
    }

    fn end(&mut self, turn: Seq, stop: Stop) {
        if stop == Stop::Cancelled {
            self.host.terminals.kill_turn();
        }
        self.outbox.reports.push_back(Report::TurnEnded { turn, stop });
    }
}
