//! The protocol state of one conversation with an agent, without I/O: takes the agent's messages,
//! and returns messages and reports.
//!
//! Nothing here blocks. Lines for the agent, reports for the session and work are queued in the
//! outbox; the caller bounds the queues by not reading from the agent meanwhile.

mod asked;
mod turn;

use std::collections::{BTreeMap, VecDeque};

use convoke_core::message::Seq;
use convoke_core::notice::{AgentEvent, Notice};
use convoke_core::session::Report;
use convoke_core::state::SessionState;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::content::AcceptedContent;
use super::host::{Host, UnknownFile, Work};
use super::listing;
use super::offer::Offers;
use super::permission::Permissions;
use super::update::{Translator, UpdateSource};
use super::wire::{self, Incoming, Outcome};
use crate::driver::{Order, Page, Random};
use crate::error::{Error, Result};
use turn::{HeldPrompt, Turn};

/// Changes of mode or settings that may be unconfirmed at once; further ones are refused.
const CHANGES_MAX: usize = 32;

/// A conversation with an agent.
pub(super) struct Dialogue {
    pub(super) outbox: Outbox,
    host: Host,
    translator: Translator,
    permissions: Permissions,
    random: Random,
    /// The agent's own id of the session, once it is known.
    session: Option<String>,
    source: UpdateSource,
    /// The number of updates so far.
    received: u64,
    turn: Option<Turn>,
    /// The login methods that the agent offers, for when it requires one.
    logins: Vec<String>,
    /// The modes and settings in the response that opened the session.
    offered: Vec<SessionState>,
    /// A prompt that is held until the agent has confirmed changes of its mode or settings, and the
    /// deadline.
    held: Option<(HeldPrompt, Instant)>,
    /// The content types that the agent accepts in a prompt besides text.
    accepted: AcceptedContent,
    /// Convoke's requests that the agent has not answered.
    pending: BTreeMap<u64, Pending>,
    last_id: u64,
    /// The response to the last call.
    answer: Option<Outcome>,
}

/// The output of a conversation, for the caller to carry out.
#[derive(Default)]
pub(super) struct Outbox {
    /// Lines for the agent.
    pub(super) lines: VecDeque<Value>,
    /// Reports for the session.
    pub(super) reports: VecDeque<Report>,
    /// Work on files for the request with this id, which ends soon.
    pub(super) soon: Vec<(Value, Work)>,
    /// Work that waits for the end of a command, for the request with this id.
    pub(super) later: Vec<(Value, Work)>,
}

/// The purpose of a request of Convoke's.
enum Pending {
    /// The caller of `call` reads the response.
    Call,
    Prompt {
        turn: Seq,
    },
    SetMode {
        mode: String,
    },
    SetSetting {
        setting: String,
        choice: String,
    },
    List(oneshot::Sender<Result<Page>>),
}

impl Dialogue {
    pub(super) fn new(host: Host, random: Random) -> Self {
        Self {
            outbox: Outbox::default(),
            host,
            translator: Translator::default(),
            permissions: Permissions::default(),
            random,
            session: None,
            source: UpdateSource::Live,
            received: 0,
            turn: None,
            logins: Vec::new(),
            offered: Vec::new(),
            held: None,
            accepted: AcceptedContent::default(),
            pending: BTreeMap::new(),
            last_id: 0,
            answer: None,
        }
    }

    /// Sends a request whose response is fetched with [`Self::take_answer`].
    pub(super) fn call(&mut self, method: &str, params: Value) {
        self.answer = None;
        self.request(method, params, Pending::Call);
    }

    /// Takes the response to the last call.
    pub(super) const fn take_answer(&mut self) -> Option<Outcome> {
        self.answer.take()
    }

    /// Sets the session of the conversation.
    pub(super) fn enter(&mut self, session: &str) {
        self.session = Some(session.to_owned());
    }

    /// Sets whether the following updates are new or a replay.
    pub(super) const fn listen(&mut self, source: UpdateSource) {
        self.source = source;
    }

    /// How many updates there were so far.
    pub(super) const fn received(&self) -> u64 {
        self.received
    }

    /// Records the modes and settings in the response that opened the session.
    pub(super) fn learn_offers(&mut self, answer: &Value) {
        self.offered = self.translator.offers.of_session(answer);
        self.outbox.reports.extend(self.offered.iter().cloned().map(Report::State));
    }

    /// The modes and settings in the response that opened the session.
    pub(super) fn offered(&self) -> &[SessionState] {
        &self.offered
    }

    /// Records the content types that the agent accepts in a prompt besides text.
    pub(super) const fn learn_accepted_content(&mut self, accepted: AcceptedContent) {
        self.accepted = accepted;
    }

    /// Records the login methods of the agent.
    pub(super) fn learn_logins(&mut self, logins: Vec<String>) {
        self.logins = logins;
    }

    /// Adapts to the known deviations of an agent.
    pub(super) fn adapt_to(&mut self, name: &str) {
        match name {
            "gemini-cli" => self.host.answer_unknown_files(UnknownFile::Empty),
            "Copilot" => self.translator.expect_running_count(),
            _ => {}
        }
    }

    /// Handles a line of the agent.
    pub(super) fn handle(&mut self, line: Value) {
        match Incoming::read(line) {
            Incoming::Request { id, method, params } => self.serve(id, &method, &params),
            Incoming::Notification { method, params } => match method.as_str() {
                "session/update" => self.update(&params),
                "$/cancel_request" => self.withdraw(params.get("requestId")),
                _ => tracing::debug!(method, "a notification that Convoke does not know"),
            },
            Incoming::Answer { id, outcome } => self.answered(id, outcome),
            Incoming::Nonsense => tracing::debug!("a line that is neither question nor answer"),
        }
    }

    /// Answers a request of the agent.
    fn served(&mut self, id: Value, outcome: Outcome) {
        self.outbox.lines.push_back(wire::answer(id, outcome));
    }

    /// Handles an order.
    pub(super) fn order(&mut self, order: Order, now: Instant) {
        match order {
            Order::Prompt { turn, text, attachments } => {
                self.prompt_or_hold(HeldPrompt { turn, text, attachments }, now);
            }
            Order::Cancel => self.cancel(now),
            Order::End => self.end_session(now),
            Order::Reply { request, reply } => self.reply(request, &reply),
            Order::SetMode { mode } => {
                let params = json!({"modeId": mode});
                self.change("session/set_mode", params, Pending::SetMode { mode });
            }
            Order::SetSetting { setting, choice } => {
                let (method, params) = self.translator.offers.change(&setting, &choice);
                self.change(method, params, Pending::SetSetting { setting, choice });
            }
        }
    }

    /// Requests a page of the agent's sessions.
    pub(super) fn list(&mut self, cursor: Option<String>, reply: oneshot::Sender<Result<Page>>) {
        let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        self.request("session/list", params, Pending::List(reply));
    }

    fn request(&mut self, method: &str, params: Value, pending: Pending) {
        self.last_id += 1;
        self.pending.insert(self.last_id, pending);
        self.outbox.lines.push_back(wire::request(self.last_id, method, params));
    }

    /// Parameters with the session's id.
    fn in_session(&self, mut params: Value) -> Value {
        if let Value::Object(fields) = &mut params {
            let session = self.session.clone().unwrap_or_default();
            fields.insert("sessionId".to_owned(), Value::String(session));
        }
        params
    }

    /// How many changes of mode or settings the agent has not confirmed.
    fn changes(&self) -> usize {
        let is_change =
            |it: &&Pending| matches!(it, Pending::SetMode { .. } | Pending::SetSetting { .. });
        self.pending.values().filter(is_change).count()
    }

    fn change(&mut self, method: &str, params: Value, pending: Pending) {
        if self.changes() >= CHANGES_MAX {
            return self.advise("The agent has not confirmed earlier changes yet.");
        }
        let params = self.in_session(params);
        self.request(method, params, pending);
    }

    fn update(&mut self, params: &Value) {
        let of = params.get("sessionId").and_then(Value::as_str);
        if let (Some(of), Some(ours)) = (of, &self.session)
            && of != ours
        {
            tracing::debug!(session = of, "an update of an unknown session");
            return;
        }
        let Some(update) = params.get("update") else { return };
        self.received += 1;
        let terminals = &self.host.terminals;
        let report = self.translator.handle(update, self.source, &|id| terminals.shown(id));
        if let Some(report) = report {
            self.report(report);
        }
    }

    fn answered(&mut self, id: u64, outcome: Outcome) {
        match self.pending.remove(&id) {
            Some(Pending::Call) => self.answer = Some(outcome),
            Some(Pending::Prompt { turn }) => self.prompt_answered(turn, outcome),
            Some(Pending::SetMode { mode }) => match outcome {
                Ok(_) => self.offer(|offers| offers.mode(&mode)),
                Err(fault) => {
                    self.advise(&format!("The agent did not change its mode: {}", fault.detail()));
                }
            },
            Some(Pending::SetSetting { setting, choice }) => match outcome {
                Ok(result) => self.offer(|offers| match result.get("configOptions") {
                    Some(options) => offers.settings(options),
                    None => offers.model(&choice),
                }),
                Err(fault) => {
                    let why = fault.detail();
                    self.advise(&format!("The agent did not change its setting {setting}: {why}"));
                }
            },
            Some(Pending::List(reply)) => {
                let page = outcome.map(|result| listing::page(&result));
                let page = page.map_err(|fault| Error::Refused { detail: fault.detail() });
                // The caller may have stopped waiting.
                reply.send(page).ok();
            }
            None => tracing::debug!(id, "an answer to an unknown request"),
        }
        self.release_held();
    }

    fn offer(&mut self, offer: impl FnOnce(&mut Offers) -> Option<SessionState>) {
        let offer = offer(&mut self.translator.offers);
        self.outbox.reports.extend(offer.map(Report::State));
    }

    /// Reports to the session that an order failed.
    fn advise(&mut self, text: &str) {
        let event = AgentEvent::Advice { severity: "warning".to_owned() };
        self.outbox.reports.push_back(Report::Noticed(Notice::worded(event, text.to_owned())));
    }

    /// Queues a report for the session.
    fn report(&mut self, report: Report) {
        if let Some(turn) = &mut self.turn {
            turn.record_output(&report);
        }
        self.outbox.reports.push_back(report);
    }
}

#[cfg(test)]
mod tests;
