//! Carries out the effects of a decision after it is stored: starts and cancels turns, sends replies, stops the
//! process.

use convoke_agents::driver::{Order, REPORTS_MAX};
use convoke_core::content::Content;
use convoke_core::id::RequestId;
use convoke_core::message::Seq;
use convoke_core::prompt::Prompt;
use convoke_core::session::{Effect, Reply, Report};
use convoke_core::turn::Stop;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::command::Attempts;
use super::task::{CANCEL_TIMEOUT, Process, Task};
use crate::error::{Error, Result};
use crate::view::{AgentStatus, Change, SessionChange};

/// How long the session waits for its process to exit.
const STOP_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(4);

impl Task {
    pub(super) async fn carry_out(&mut self, effects: Vec<Effect>) {
        // Boxed, because an effect may cause further effects (recursion).
        for effect in effects {
            match effect {
                Effect::StartTurn { turn } => Box::pin(self.start_turn(turn)).await,
                Effect::CancelTurn { turn } => Box::pin(self.cancel_turn(turn)).await,
                Effect::Reply { request, reply } => self.reply(request, reply).await,
                Effect::StopProcess => self.stop_process().await,
                Effect::RecordAgentSession { agent_session } => {
                    self.record_agent_session(agent_session, "renewed").await;
                }
            }
        }
        self.release_askers();
        self.give_seat_back();
    }

    /// Returns the seat of a process without work to the pool, which may stop it after the idle timeout.
    pub(super) fn give_seat_back(&mut self) {
        // Held prompts wait for the human, without a process.
        if !self.session.is_under_way() && matches!(self.process, Process::Seated(_)) {
            self.process = Process::None;
        }
    }

    /// Drops the reply channels of requests that are no longer pending.
    fn release_askers(&mut self) {
        let session = &self.session;
        self.askers.retain(|id, _| session.pending().any(|request| request.id() == *id));
    }

    async fn start_turn(&mut self, turn: Seq) {
        // A later change of the same decision may have ended the turn.
        if self.session.running() != Some(turn) {
            return;
        }
        self.cancelling = None;
        self.quota.begin_turn();
        let captured = self.capture_before(turn);
        match std::mem::replace(&mut self.process, Process::None) {
            Process::Seated(seat) => self.prompt_when_captured(turn, seat, captured).await,
            Process::None => {
                match self.shared.processes.pool.take_warm(&self.key, self.reports_to.clone()).await
                {
                    Some(seat) => self.prompt_when_captured(turn, seat, captured).await,
                    None => self.await_process(turn, captured),
                }
            }
            // A process that is already on its way for an earlier turn is used for this one.
            awaited @ Process::Awaited { .. } => self.process = awaited,
        }
    }

    async fn cancel_turn(&mut self, turn: Seq) {
        if self.session.running() != Some(turn) {
            return;
        }
        match &self.process {
            Process::Seated(seat) => {
                // A send fails only if the process has exited, which is reported separately.
                seat.send(Order::Cancel).await.ok();
                self.cancelling = Some((turn, Instant::now() + CANCEL_TIMEOUT));
            }
            // The agent was not given the turn. Its process is still starting; the next prompt will use it.
            Process::Awaited { .. } | Process::None => {
                self.handle_reports(vec![Report::TurnEnded { turn, stop: Stop::Cancelled }]).await;
            }
        }
    }

    /// Cancels the session at the agent, if it has a process.
    pub(super) async fn end_at_agent(&self) {
        let warm;
        let seat = match &self.process {
            Process::Seated(seat) => Some(seat),
            Process::Awaited { .. } => None,
            Process::None => {
                warm =
                    self.shared.processes.pool.take_warm(&self.key, self.reports_to.clone()).await;
                warm.as_ref()
            }
        };
        if let Some(seat) = seat {
            // If the process has exited, nothing is left to cancel.
            seat.send(Order::End).await.ok();
        }
    }

    pub(super) async fn reply(&mut self, request: RequestId, reply: Reply) {
        if let Some(asker) = self.askers.remove(&request) {
            // The asker may have disconnected; the answer is stored.
            asker.send(reply).ok();
            return;
        }
        let order = Order::Reply { request, reply };
        match &self.process {
            Process::Seated(seat) => {
                seat.send(order).await.ok();
            }
            Process::Awaited { .. } => self.wait_with(order),
            Process::None => {}
        }
    }

    pub(super) async fn stop_process(&mut self) {
        self.process = Process::None;
        self.cancelling = None;
        self.given = None;
        self.refuse_orders();
        // The old reports are no longer read. Closing the channel keeps the stopping process from blocking on it.
        (self.reports_to, self.reports) = mpsc::channel(REPORTS_MAX);
        let is_there = self.shared.processes.pool.keys().await.contains(&self.key);
        let released = self.shared.processes.pool.release(&self.key);
        if tokio::time::timeout(STOP_TIMEOUT, released).await.is_err() {
            tracing::warn!(session.id = %self.id, "a process takes long to stop");
        }
        if is_there {
            self.publish_agent_status(AgentStatus::Exited);
        }
    }

    /// Stops the agent, and deletes the session with all that belongs to it. The task ends after this: senders of requests
    /// that are still in the mailbox find no task, and then no session.
    pub(super) async fn erase(&mut self) -> Result<()> {
        self.stop_process().await;
        self.shared.store.erase_session(self.id).await?;
        self.shared.registry.erase(self.id);
        self.shared.snapshots.forget(self.stored.project_id, self.project.clone(), self.id);
        self.shared.inbox_changed.notify_one();
        self.shared.publish(Change::SessionErased(Box::new(self.stored.clone())));
        Ok(())
    }

    pub(super) fn prompt_of(&self, turn: Seq) -> Result<Prompt> {
        match self.open.get(turn).map(|message| message.content.clone()) {
            Some(Content::Text { text, attachments, files, review, by, .. }) => {
                Ok(Prompt { text, attachments, files, review, by })
            }
            Some(_) | None => Err(Error::Broken { session: self.id }),
        }
    }

    pub(super) async fn record_agent_session(&mut self, agent_session: String, why: &str) {
        if self.stored.agent_session_id.as_ref() == Some(&agent_session) {
            return;
        }
        let (at, mut attempts) = (self.shared.now(), Attempts::begin());
        loop {
            let (id, why) = (agent_session.clone(), why.to_owned());
            let recorded = self.shared.store.record_agent_session(self.id, id, why, at).await;
            let Err(error) = recorded else { break };
            tracing::error!(session.id = %self.id, "cannot record an agent's session: {error}");
            if !self.wait_to_retry(error.into(), &mut attempts).await {
                return;
            }
        }
        let before = self.view();
        self.stored.agent_session_id = Some(agent_session);
        let now = self.view();
        self.shared.publish(Change::SessionChanged(Box::new(SessionChange { before, now })));
    }
}
