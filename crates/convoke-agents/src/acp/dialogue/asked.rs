//! Requests of the agent: work for Convoke, and permissions of the human.

use convoke_core::id::RequestId;
use convoke_core::session::{Reply, Report};
use serde_json::{Value, json};

use super::Dialogue;
use super::turn::Turn;
use crate::acp::files::ProtectedChange;
use crate::acp::host::{Served, WorkResult};
use crate::acp::permission::{Settled, protected_call, protected_denied};
use crate::acp::question::Form;
use crate::acp::wire::{CANCELLED, Fault, INTERNAL, NO_METHOD, Outcome};

impl Dialogue {
    pub(super) fn serve(&mut self, id: Value, method: &str, params: &Value) {
        match method {
            "session/request_permission" => {
                return match Form::of_permission(params) {
                    Some(form) => self.ask_questions(id, form),
                    None => self.ask(id, params),
                };
            }
            "elicitation/create" => {
                return match Form::of_elicitation(params) {
                    Some(form) => self.ask_questions(id, form),
                    // The human has not declined a form that cannot be shown as questions.
                    None => self.served(id, Ok(json!({"action": "cancel"}))),
                };
            }
            _ => {}
        }
        match self.host.serve(method, params) {
            Some(Served::Now(outcome)) => self.served(id, outcome),
            Some(Served::Soon(work)) => self.outbox.soon.push((id, work)),
            Some(Served::Later(work)) => self.outbox.later.push((id, work)),
            None => {
                tracing::debug!(method, "a request that Convoke does not know");
                let fault = Fault::new(NO_METHOD, format!("Convoke does not know {method}"));
                self.served(id, Err(fault));
            }
        }
    }

    /// Handles a permission request. It may be for the session of a sub-agent; the human decides in
    /// any case.
    fn ask(&mut self, id: Value, params: &Value) {
        if self.turn.as_ref().is_some_and(Turn::is_cancelled) {
            // The request crossed with the cancellation.
            return self.served(id, Ok(json!({"outcome": {"outcome": "cancelled"}})));
        }
        let call = params.get("toolCall").unwrap_or(&Value::Null);
        // A bare id adds nothing; some agents send only that, and some send tool calls here that
        // they never announce.
        let is_more = call.as_object().is_some_and(|fields| fields.len() > 1);
        let terminals = &self.host.terminals;
        let update = is_more.then(|| self.translator.tools.handle(call, &|id| terminals.shown(id)));
        let known = call.get("toolCallId").and_then(Value::as_str);
        let known = known.and_then(|id| self.translator.tools.known(id));
        let request = RequestId::from_random((self.random)());
        match self.permissions.ask(&id, request, params, known) {
            Ok(request) => {
                let update = update.flatten().map(|mut update| {
                    // A call that waits for a permission has not ended, whatever status the agent reports.
                    update.status = None;
                    Report::ToolCalled(update)
                });
                for report in update.into_iter().chain([Report::Asked(request)]) {
                    self.report(report);
                }
            }
            Err(fault) => self.served(id, Err(fault)),
        }
    }

    /// Handles questions that the agent asks in a form of its own.
    fn ask_questions(&mut self, id: Value, form: Form) {
        if self.turn.as_ref().is_some_and(Turn::is_cancelled) {
            // The request crossed with the cancellation.
            return self.served(id, Ok(form.cancelled()));
        }
        let request = RequestId::from_random((self.random)());
        match self.permissions.ask_questions(&id, request, form) {
            Ok(request) => self.report(Report::Asked(request)),
            Err(fault) => self.served(id, Err(fault)),
        }
    }

    /// Handles the end of work for a request of the agent.
    pub(in crate::acp) fn finish_work(&mut self, id: Value, result: WorkResult) {
        match result {
            WorkResult::Answer(outcome) => self.served(id, outcome),
            WorkResult::Asks(change) => self.ask_to_write(id, change),
            WorkResult::Wrote { change, outcome } => self.end_write(id, &change, outcome),
        }
    }

    /// Asks the human about a change of a protected file, with the change.
    fn ask_to_write(&mut self, id: Value, change: ProtectedChange) {
        let is_asked = self.turn.as_ref().is_some_and(|turn| !turn.is_cancelled());
        if !is_asked {
            let why = "the user is asked only while a turn runs";
            return self.served(id, Err(protected_denied(&change, why)));
        }
        let call = protected_call(&change, "pending");
        let update = self.translator.tools.handle(&call, &|_| None);
        let request = RequestId::from_random((self.random)());
        match self.permissions.ask_to_write(&id, request, change) {
            Ok(request) => {
                self.outbox.reports.extend(update.map(Report::ToolCalled));
                self.outbox.reports.push_back(Report::Asked(request));
            }
            Err(fault) => self.served(id, Err(fault)),
        }
    }

    /// Handles the answer to a permission.
    pub(super) fn reply(&mut self, request: RequestId, reply: &Reply) {
        match self.permissions.reply(request, reply) {
            Some(Settled::Answer { id, result }) => self.served(id, Ok(result)),
            Some(Settled::Allowed { id, change }) => {
                self.outbox.soon.push((id, self.host.write_protected(change)));
            }
            Some(Settled::Denied { id, change, fault }) => self.end_write(id, &change, Err(fault)),
            None => tracing::debug!(%request, "the agent has its answer already"),
        }
    }

    /// Reports that a change of a protected file was made or denied.
    fn end_write(&mut self, id: Value, change: &ProtectedChange, outcome: Outcome) {
        let status = if outcome.is_ok() { "completed" } else { "failed" };
        let update = self.translator.tools.handle(&protected_call(change, status), &|_| None);
        self.outbox.reports.extend(update.map(Report::ToolCalled));
        self.served(id, outcome);
    }

    /// Handles the cancellation of a request by the agent.
    pub(super) fn withdraw(&mut self, id: Option<&Value>) {
        let Some(id) = id else { return };
        // Work on files is not interrupted, and a request that was answered is not answered again.
        if let Some(request) = self.permissions.withdraw(id) {
            self.outbox.reports.push_back(Report::Withdrew(request));
            let fault = Fault::new(CANCELLED, "the request was cancelled");
            self.served(id.clone(), Err(fault));
        }
    }

    /// Refuses a request, because too many are in progress.
    pub(in crate::acp) fn refuse(&mut self, id: Value) {
        let fault = Fault::new(INTERNAL, "too many requests are open already");
        self.served(id, Err(fault));
    }
}
