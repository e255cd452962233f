//! A session that leaves for another machine, or arrives from one.

use convoke_core::notice::MovedMemory;
use convoke_core::session::{Command, Interruption, QueueChoice};
use convoke_store::{HandOver, Owner};

use super::Answer;
use super::start::LEFT_BEHIND;
use super::task::Task;
use crate::error::{Error, Result};
use crate::moving::{MoveError, MoveRunning, OutgoingMove, Unpacked, pack};
use crate::view::{Change, SessionChange};
use crate::worktrees::{WorktreeError, moved};

/// A session that is about to leave; it accepts no requests until it has left, or stays.
pub(super) struct Leaving {
    outgoing: OutgoingMove,
    reply: Answer<()>,
    /// Whether queued prompts wait for the move only, and not for a human.
    holds_queue: bool,
}

/// The result of handing a session over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Departure {
    /// It belongs to another machine.
    Gone,
    /// It is still here, and the caller was sent the error.
    Stays,
}

impl Task {
    /// Prepares the session for leaving: a running turn is stopped, or the move refused.
    pub(super) async fn prepare_to_leave(&mut self, outgoing: OutgoingMove, reply: Answer<()>) {
        let was_held = self.session.is_held();
        if let Err(error) = self.stop_for_move(outgoing.order.running).await {
            // The caller may have stopped waiting.
            reply.send(Err(error)).ok();
            return;
        }
        self.leaving = Some(Leaving { outgoing, reply, holds_queue: !was_held });
    }

    async fn stop_for_move(&mut self, running: MoveRunning) -> Result<()> {
        if self.hold.is_on() {
            return Err(WorktreeError::Busy.into());
        }
        if self.capture.is_setting_up() {
            return Err(WorktreeError::SettingUp.into());
        }
        match running {
            MoveRunning::Refuse if self.session.is_under_way() => Err(MoveError::Working.into()),
            MoveRunning::Refuse => Ok(()),
            MoveRunning::Stop => {
                if self.session.running().is_some() {
                    let queue = QueueChoice::Keep;
                    match self.handle_command(Command::CancelTurn { queue }).await {
                        // It is being cancelled already.
                        Ok(_) | Err(Error::Refused(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether the session can be handed over now: no turn is running.
    pub(super) fn is_ready_to_leave(&self) -> bool {
        self.leaving.is_some() && self.session.running().is_none()
    }

    /// Hands the session over to the other machine, with what is transferred.
    pub(super) async fn leave(&mut self) -> Departure {
        let Some(Leaving { outgoing, reply, holds_queue }) = self.leaving.take() else {
            return Departure::Stays;
        };
        let outcome = self.give_away(&outgoing, holds_queue).await;
        let left = if outcome.is_ok() { Departure::Gone } else { Departure::Stays };
        if left == Departure::Stays {
            if let Err(error) = self.shared.store.abandon_moves(Some(self.id)).await {
                // The next start of the daemon abandons it.
                tracing::warn!(session.id = %self.id, "a move is not forgotten: {error}");
            }
            if holds_queue {
                self.release_queue().await;
            }
        }
        reply.send(outcome).ok();
        left
    }

    async fn give_away(&mut self, outgoing: &OutgoingMove, holds_queue: bool) -> Result<()> {
        self.stop_process().await;
        if self.session.pending().len() > 0 {
            // Their askers are stopped with the process; a later answer becomes the next turn.
            self.handle_command(Command::Recover(Interruption::Moved)).await?;
            self.askers.clear();
        }
        self.close_stream().await;
        self.finish_checkpoints().await;
        let mut cargo = pack(&self.shared, &self.stored, &self.workspace, outgoing).await?;
        cargo.release_queue = holds_queue && self.session.is_held();
        let order = HandOver {
            session: self.id,
            from: Owner::Own,
            target: outgoing.order.to,
            project: outgoing.order.project,
            cargo: cargo.to_json(),
        };
        if let Some(worktree) = cargo.worktree {
            // Left there after an error, too: the transaction may have been committed.
            let (own, tip) = (worktree.own, worktree.tip);
            moved::write_note(&self.shared, self.id, worktree.project, own, tip)?;
        }
        Ok(self.shared.store.hand_over(order).await?)
    }

    /// Sends the queued prompts that were held for a move.
    async fn release_queue(&mut self) {
        let first = self.session.queue().next().map(|prompt| prompt.id);
        if let Some(id) = first.filter(|_| self.session.is_held())
            && let Err(error) = self.handle_command(Command::SendQueued { id }).await
        {
            tracing::warn!(session.id = %self.id, "queued prompts are still held: {error}");
        }
    }

    /// Records that the session is here, and sends the prompts that were held for the move, in one commit.
    pub(super) async fn arrive(&mut self, unpacked: Unpacked) -> Result<()> {
        let Unpacked { moved, release_queue } = unpacked;
        if let (MovedMemory::Transcript { .. }, Some(id)) =
            (&moved.memory, self.stored.agent_session_id.clone())
        {
            let (why, at) = (LEFT_BEHIND.to_owned(), self.shared.now());
            self.shared.store.record_agent_session(self.id, id, why, at).await?;
        }
        let mut commands = vec![Command::Arrive(Box::new(moved))];
        let first = self.session.queue().next().map(|prompt| prompt.id);
        let first = first.filter(|_| release_queue && self.session.is_held());
        commands.extend(first.map(|id| Command::SendQueued { id }));
        let before = self.view();
        self.handle_arrival(commands).await?;
        moved::remove_note(&self.shared, self.id);
        let now = self.view();
        // Lists still show it as a session of another machine.
        self.shared.publish(Change::SessionChanged(Box::new(SessionChange { before, now })));
        Ok(())
    }
}
