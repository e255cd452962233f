//! How a session gets a process: requests it from the pool, and queues orders until it is ready.

use convoke_agents::driver::{Order, PromptAttachment};
use convoke_agents::pool::Seat;
use convoke_core::message::Seq;
use convoke_core::notice::{Notice, TurnEvent};
use convoke_core::session::{Report, Status};
use convoke_core::turn::{FailureKind, Stop};

use super::Answer;
use super::capture::Captured;
use super::start::{self, ProcessUpdate, Seating};
use super::task::{AbortOnDrop, Process, Task};
use crate::error::{Error, Result};
use crate::view::AgentStatus;

/// Orders that may be queued for a starting process; one more is refused.
const WAITING_MAX: usize = 64;

/// An order that is queued until the process is ready.
pub(super) struct Waiting {
    /// `None` if the caller only needs the process to be ready.
    order: Option<Order>,
    /// The reply channel, if a caller waits for the outcome.
    reply: Option<Answer<()>>,
}

/// Whether a process is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// It was used before.
    Warm,
    /// It has just been started.
    New,
}

impl Task {
    /// Requests a process. `from` is the first prompt to send to it.
    pub(super) fn await_process(&mut self, from: Seq, captured: Option<Captured>) {
        self.given = None;
        let work = start::for_turn(
            self.shared.clone(),
            self.spec(),
            from,
            self.reports_to.clone(),
            self.updates_to.clone(),
            captured,
        );
        let _asking = AbortOnDrop(tokio::spawn(work).abort_handle());
        self.process = Process::Awaited { from, _asking };
    }

    pub(super) async fn handle_process_update(&mut self, update: ProcessUpdate) {
        match update {
            ProcessUpdate::Place { turn, place } => {
                if self.awaits(turn) && self.session.running().is_some() && place > 0 {
                    let place = u64::try_from(place).unwrap_or(u64::MAX);
                    let notice = Notice::new(TurnEvent::Waiting { place });
                    self.handle_reports(vec![Report::Noticed(notice)]).await;
                }
            }
            ProcessUpdate::Seated { turn, outcome } => {
                // A process that is no longer needed is being stopped.
                if !self.awaits(turn) {
                    return;
                }
                self.process = Process::None;
                match outcome {
                    Ok(seating) => self.seated(seating).await,
                    Err(error) => self.not_seated(error).await,
                }
            }
            ProcessUpdate::Captured(outcome) => self.captured(outcome).await,
            ProcessUpdate::SetUp(notice) => self.was_set_up(notice).await,
        }
        self.give_seat_back();
    }

    fn awaits(&self, turn: Seq) -> bool {
        matches!(self.process, Process::Awaited { from, .. } if from == turn)
    }

    async fn seated(&mut self, seating: Seating) {
        let Seating { seat, noted, transcript } = seating;
        let freshness = if noted.is_some() { Freshness::New } else { Freshness::Warm };
        if let Some(start::StartRecord { agent_session, why, reports }) = noted {
            // The transcript is for this process only; it replaces one for an earlier process.
            self.transcript = transcript;
            self.record_agent_session(agent_session, why).await;
            self.handle_reports(reports).await;
            self.publish_agent_status(AgentStatus::Ready);
        }
        for Waiting { order, reply } in std::mem::take(&mut self.waiting) {
            let sent = match order {
                Some(order) => seat.send(order).await.map_err(|_| Error::NotRunning),
                None => Ok(()),
            };
            if let Some(reply) = reply {
                // The caller may have stopped waiting.
                reply.send(sent).ok();
            }
        }
        match self.session.running() {
            Some(turn) => self.prompt(turn, seat, freshness).await,
            // Kept while it waits for the human; otherwise the caller returns the seat.
            None => self.process = Process::Seated(seat),
        }
    }

    async fn not_seated(&mut self, error: convoke_agents::Error) {
        let text = start::explain(&error);
        tracing::warn!(session.id = %self.id, agent = %self.stored.agent, "an agent did not start: {text}");
        self.publish_agent_status(AgentStatus::Exited);
        let first = self.waiting.iter_mut().find_map(|waiting| waiting.reply.take());
        if let Some(reply) = first {
            let error = Error::NotStarted { agent: self.stored.agent.clone(), source: error };
            // The caller may have stopped waiting.
            reply.send(Err(error)).ok();
        }
        self.refuse_orders();
        // A stopping pool starts no process; recovery at the next start ends the turn.
        if self.session.running().is_some() && !self.shared.registry.is_stopping() {
            self.handle_reports(vec![Report::Failed { error: text }]).await;
        }
    }

    /// Sends a prompt to the agent, with the transcript if the agent does not remember the conversation.
    pub(super) async fn prompt(&mut self, turn: Seq, seat: Seat, freshness: Freshness) {
        let prepared = self.prepare_prompt(turn, &seat).await;
        let (text, attachments) = match prepared {
            Ok(prompt) => prompt,
            Err(error) => {
                let stop = Stop::failed(FailureKind::Internal, error.to_string());
                self.process = Process::Seated(seat);
                return Box::pin(self.handle_reports(vec![Report::TurnEnded { turn, stop }])).await;
            }
        };
        let text = match self.transcript.take() {
            Some(transcript) => format!("{transcript}{text}"),
            None => text,
        };
        match (seat.send(Order::Prompt { turn, text, attachments }).await, freshness) {
            // A new process that exits at once would do so again, so it is not retried: its exit ends the turn.
            (Ok(()), _) | (Err(_), Freshness::New) => {
                self.given = Some(turn);
                self.process = Process::Seated(seat);
            }
            // The warm process exited before the prompt; a new one resumes the session.
            (Err(_), Freshness::Warm) => self.await_process(turn, None),
        }
    }

    /// The text of a prompt, and its attachments where the agent can read them.
    async fn prepare_prompt(
        &self,
        turn: Seq,
        seat: &Seat,
    ) -> Result<(String, Vec<PromptAttachment>)> {
        let prompt = self.prompt_of(turn)?;
        let temp = seat.temp.as_deref();
        let attachments = self.shared.attachments.prepare(&prompt, &self.workspace, temp).await?;
        Ok((prompt.words().into_owned(), attachments))
    }

    /// Sends the agent an order that is not a prompt, or only starts its process.
    pub(super) async fn order(&mut self, order: Option<Order>, reply: Answer<()>) {
        let summary = self.session.summary();
        let refusal = match (summary.status, &self.process) {
            (status @ (Status::Completed | Status::Cancelled | Status::Error), _) => {
                Some(Error::Ended { session: self.id, status, reason: summary.reason.clone() })
            }
            (Status::Active, Process::Seated(seat)) => match order {
                Some(order) => seat.send(order).await.err().map(|_| Error::NotRunning),
                None => None,
            },
            (Status::Active, Process::Awaited { .. } | Process::None) => {
                if self.waiting.len() < WAITING_MAX {
                    self.waiting.push(Waiting { order, reply: Some(reply) });
                    if matches!(self.process, Process::None) {
                        self.await_process(self.session.summary().last_seq.next(), None);
                    }
                    return;
                }
                Some(Error::NotRunning)
            }
        };
        // The caller may have stopped waiting.
        reply.send(refusal.map_or(Ok(()), Err)).ok();
    }

    /// Queues an order for the starting process.
    pub(super) fn wait_with(&mut self, order: Order) {
        if self.waiting.len() < WAITING_MAX {
            self.waiting.push(Waiting { order: Some(order), reply: None });
        }
    }

    /// Takes the seat of a process that asks outside of a turn, so that the pool does not stop it while the human
    /// thinks.
    pub(super) async fn hold_process(&mut self) {
        let is_asking = self.session.running().is_none() && self.session.pending().len() > 0;
        if is_asking
            && matches!(self.process, Process::None)
            && self.shared.processes.pool.keys().await.contains(&self.key)
        {
            self.await_process(self.session.summary().last_seq.next(), None);
        }
    }

    /// Fails the queued orders.
    pub(super) fn refuse_orders(&mut self) {
        for waiting in self.waiting.drain(..) {
            if let Some(reply) = waiting.reply {
                // The caller may have stopped waiting.
                reply.send(Err(Error::NotRunning)).ok();
            }
        }
    }
}
