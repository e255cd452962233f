//! Checkpoints around the turns of a session: one before the prompt is sent to the agent, one after the turn is
//! reported.
//!
//! Checkpoints of one session are made one after another in spawned tasks: the session's task never
//! waits for git, and a failed checkpoint fails no turn.

use std::sync::Arc;
use std::time::Duration;

use convoke_agents::pool::Seat;
use convoke_core::files::ChangeTotals;
use convoke_core::message::Seq;
use convoke_core::notice::{FilesEvent, Notice};
use convoke_core::session::Report;
use convoke_git::CheckpointKind;
use convoke_store::SessionKind;
use tokio::task::JoinHandle;

use super::Answer;
use super::seating::Freshness;
use super::start::{ProcessUpdate, Seating, explain};
use super::task::{AbortOnDrop, Process, Task};
use crate::changes::Folder;
use crate::sessions::Sessions;
use crate::settings::Checkpointing;
use crate::view::{Change, SessionChange};

/// How long a prompt waits for the checkpoint before it. If a large project takes longer, the
/// prompt is sent, and the checkpoint may include the agent's first changes; it is marked as late.
const PROMPT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a prompt waits for the set-up of a work tree, which has a shorter limit of its own.
const SET_UP_TIMEOUT: Duration = Duration::from_secs(20 * 60);

/// The checkpoints of a session's turns.
#[derive(Default)]
pub(super) struct Capture {
    /// The turn whose end is to be captured.
    pub(super) running: Option<Seq>,
    /// The last checkpoint that was begun; the next one waits for it.
    last: Option<JoinHandle<()>>,
    /// Whether a failure was reported in the conversation.
    is_failure_reported: bool,
    /// Whether `last` is the set-up of a work tree, which may take long.
    is_set_up: bool,
}

impl Capture {
    /// Makes the first checkpoint wait for the set-up of the work tree.
    pub(super) fn set_up(&mut self, running: JoinHandle<()>) {
        self.last = Some(running);
        self.is_set_up = true;
    }

    /// Whether the work tree is still being set up.
    pub(super) fn is_setting_up(&self) -> bool {
        self.is_set_up && self.last.as_ref().is_some_and(|running| !running.is_finished())
    }
}

/// A checkpoint that is being made.
pub(super) struct Captured {
    made: tokio::sync::oneshot::Receiver<()>,
    timeout: Duration,
}

impl Captured {
    /// Waits until it is made, or the limit is over.
    pub(super) async fn wait(self) {
        // The sender is dropped when it failed.
        if tokio::time::timeout(self.timeout, self.made).await.is_err() {
            tracing::info!("a checkpoint takes long, and the prompt is sent before it is made");
        }
    }
}

impl Task {
    /// Begins the checkpoint before a turn.
    pub(super) fn capture_before(&mut self, turn: Seq) -> Option<Captured> {
        self.capture.running = Some(turn);
        self.begin_checkpoint(CheckpointKind::Before(turn.get()), turn)
    }

    /// Begins the checkpoint after the turn that has ended, if one has.
    pub(super) fn capture_ended_turn(&mut self) {
        let running = self.session.running();
        let ended = self.capture.running.take_if(|turn| running != Some(*turn));
        if let Some(turn) = ended {
            self.begin_checkpoint(CheckpointKind::After(turn.get()), turn);
        }
    }

    /// Waits for the checkpoints that were begun.
    pub(super) async fn finish_checkpoints(&mut self) {
        if let Some(last) = self.capture.last.take() {
            // A panicked one has no effect on the others.
            last.await.ok();
        }
    }

    fn begin_checkpoint(&mut self, kind: CheckpointKind, turn: Seq) -> Option<Captured> {
        let is_on = self.shared.settings.checkpoints == Checkpointing::On
            && self.stored.kind == SessionKind::Session;
        let is_set_up = std::mem::take(&mut self.capture.is_set_up);
        if !is_on && !is_set_up {
            return None;
        }
        let timeout = if is_set_up { SET_UP_TIMEOUT } else { PROMPT_TIMEOUT };
        let (made, captured) = tokio::sync::oneshot::channel();
        let (shared, before) = (Arc::clone(&self.shared), self.capture.last.take());
        let (id, project, workspace) = (self.id, self.stored.project_id, self.workspace.clone());
        let (session, updates) = ((id, Folder::of(&self.stored)), self.updates_to.clone());
        self.capture.last = Some(tokio::spawn(async move {
            if let Some(before) = before {
                // A checkpoint that panicked does not fail the next one.
                before.await.ok();
            }
            if !is_on {
                drop(made);
                return;
            }
            let snapshots = &shared.snapshots;
            // The prompt waits until it is made, and not for the steps below.
            let outcome = snapshots.checkpoint(project, workspace, session, kind, made).await;
            if let Err(error) = &outcome
                && error.is_git_missing()
            {
                // A missing git is a property of the machine; the routes for changes report it.
                return shared.snapshots.warn_once(error);
            }
            let outcome = match outcome.map_err(|error| explain(&error)) {
                Ok(None) => return,
                Ok(Some(totals)) => {
                    record(&shared, id, totals, turn).await;
                    Ok(totals)
                }
                Err(error) => {
                    tracing::warn!(session.id = %id, "a checkpoint cannot be made: {error}");
                    Err(error)
                }
            };
            // Fails if the session's task has ended; the totals are stored.
            updates.send(ProcessUpdate::Captured(outcome)).await.ok();
        }));
        Some(Captured { made: captured, timeout })
    }

    /// Replies when the checkpoint that is being made is done.
    pub(super) fn reply_when_captured(&mut self, reply: Answer<()>) {
        let before = self.capture.last.take();
        self.capture.last = Some(tokio::spawn(async move {
            if let Some(before) = before {
                // A checkpoint that panicked is finished, too.
                before.await.ok();
            }
            // The caller may have stopped waiting.
            reply.send(Ok(())).ok();
        }));
    }

    /// Sends a prompt to a warm process as soon as the checkpoint before the turn is made.
    pub(super) async fn prompt_when_captured(
        &mut self,
        turn: Seq,
        seat: Seat,
        captured: Option<Captured>,
    ) {
        let Some(captured) = captured else {
            return self.prompt(turn, seat, Freshness::Warm).await;
        };
        let updates = self.updates_to.clone();
        let waiting = tokio::spawn(async move {
            captured.wait().await;
            let outcome = Ok(Seating { seat, noted: None, transcript: None });
            // Fails if the session's task has ended; the seat goes back to the pool.
            updates.send(ProcessUpdate::Seated { turn, outcome }).await.ok();
        });
        let _asking = AbortOnDrop(waiting.abort_handle());
        self.process = Process::Awaited { from: turn, _asking };
    }

    /// Publishes what a checkpoint found, or adds one notice that none could be made.
    pub(super) async fn captured(&mut self, outcome: Result<ChangeTotals, String>) {
        match outcome {
            Ok(totals) => {
                let before = self.view();
                self.stored.changes = Some(totals);
                let now = self.view();
                self.show();
                self.shared
                    .publish(Change::SessionChanged(Box::new(SessionChange { before, now })));
            }
            Err(error) if !self.capture.is_failure_reported => {
                self.capture.is_failure_reported = true;
                let notice = Notice::new(FilesEvent::CheckpointFailed { error });
                self.handle_reports(vec![Report::Noticed(notice)]).await;
            }
            Err(_) => {}
        }
    }
}

/// Stores and announces what a session has changed.
async fn record(
    shared: &Arc<Sessions>,
    id: convoke_core::id::SessionId,
    totals: ChangeTotals,
    turn: Seq,
) {
    if let Err(error) = shared.store.set_changes(id, totals).await {
        // The session may have been erased; the next checkpoint counts again.
        tracing::debug!(session.id = %id, "changes cannot be recorded: {error}");
        return;
    }
    if let Ok(Some(session)) = shared.store.session(id).await {
        let session = Box::new(session);
        shared.publish(Change::ChangesUpdated { session, turn: Some(turn) });
    }
}
