//! Prompts that wait behind the running turn: how they are added, changed, sent and ended.

use crate::id::MessageId;
use crate::message::Draft;
use crate::prompt::Prompt;
use crate::state::{QueuedPrompt, SessionState};
use crate::turn::{Stop, Turn};
use crate::user::UserName;

use super::command::{Decision, QueueChoice, Refusal, Stamp};
use super::human::check_prompt;
use super::{Change, QUEUE_BYTES_MAX, QUEUE_MAX, Session};

impl Session {
    pub(super) fn queue_prompt(
        &self,
        prompt: Prompt,
        stamp: Stamp,
        decision: &mut Decision,
    ) -> Result<(), Refusal> {
        if self.running.is_none() {
            // Output between turns is closed when the next turn begins.
            decision.changes.extend(self.output.close_stream());
            // Held prompts follow the new one.
            decision.changes.extend(self.is_held.then(|| queue(self.queued())));
            decision.start_turn(stamp.id, prompt);
            return Ok(());
        }
        let mut prompts = self.queued();
        prompts.push(QueuedPrompt::new(stamp.id, prompt, stamp.at));
        check_queue(&prompts)?;
        decision.changes.push(queue(prompts));
        Ok(())
    }

    fn queued(&self) -> Vec<QueuedPrompt> {
        self.queue.iter().cloned().collect()
    }

    /// The queue with other prompts, held if it is now.
    fn requeue(&self, prompts: Vec<QueuedPrompt>) -> Change {
        let held = self.is_held && !prompts.is_empty();
        Change::State(SessionState::Queue { prompts, held })
    }

    pub(super) fn edit_queued(
        &self,
        id: MessageId,
        text: String,
        by: Option<UserName>,
        mut decision: Decision,
    ) -> Result<Decision, Refusal> {
        let mut prompts = self.queued();
        let found = prompts.iter_mut().find(|prompt| prompt.id == id);
        let found = found.ok_or(Refusal::NotQueued { id })?;
        let before = std::mem::replace(&mut found.text, text);
        found.by = by;
        check_prompt(&found.prompt())?;
        // A queue above the limit may still be shortened.
        if prompts.iter().any(|prompt| prompt.id == id && prompt.text.len() > before.len()) {
            check_queue(&prompts)?;
        }
        decision.changes.push(self.requeue(prompts));
        Ok(decision)
    }

    pub(super) fn move_queued(
        &self,
        id: MessageId,
        to: usize,
        mut decision: Decision,
    ) -> Result<Decision, Refusal> {
        let mut prompts = self.queued();
        let at = prompts.iter().position(|prompt| prompt.id == id);
        let at = at.ok_or(Refusal::NotQueued { id })?;
        let prompt = prompts.remove(at);
        let to = to.min(prompts.len());
        prompts.insert(to, prompt);
        if at != to {
            decision.changes.push(self.requeue(prompts));
        }
        Ok(decision)
    }

    pub(super) fn remove_queued(
        &self,
        id: MessageId,
        mut decision: Decision,
    ) -> Result<Decision, Refusal> {
        let mut prompts = self.queued();
        prompts.retain(|prompt| prompt.id != id);
        if prompts.len() == self.queue.len() {
            return Err(Refusal::NotQueued { id });
        }
        decision.changes.push(self.requeue(prompts));
        Ok(decision)
    }

    pub(super) fn send_queued(
        &self,
        id: MessageId,
        mut decision: Decision,
    ) -> Result<Decision, Refusal> {
        let mut prompts = self.queued();
        let at = prompts.iter().position(|prompt| prompt.id == id);
        let first = prompts.remove(at.ok_or(Refusal::NotQueued { id })?);
        if self.running.is_none() {
            decision.changes.extend(self.output.close_stream());
            decision.changes.push(queue(prompts));
            decision.start_turn(first.id, first.prompt());
            return Ok(decision);
        }
        prompts.insert(0, first);
        decision.changes.push(queue(prompts));
        self.cancel_turn(decision)
    }

    pub(super) fn stop(
        &self,
        choice: QueueChoice,
        mut decision: Decision,
    ) -> Result<Decision, Refusal> {
        match choice {
            QueueChoice::Send if self.is_held => decision.changes.push(queue(self.queued())),
            QueueChoice::Send => {}
            QueueChoice::Keep if self.queue.is_empty() => {}
            QueueChoice::Keep => {
                let prompts = self.queued();
                decision.changes.push(Change::State(SessionState::Queue { prompts, held: true }));
            }
            QueueChoice::Discard => self.end_queue(&Stop::Cancelled, &mut decision),
        }
        self.cancel_turn(decision)
    }

    /// Starts the next queued prompt, unless they are held.
    pub(super) fn start_next(&self, decision: &mut Decision) {
        let mut prompts = self.queued();
        if !prompts.is_empty() && !self.is_held {
            let next = prompts.remove(0);
            decision.changes.push(queue(prompts));
            decision.start_turn(next.id, next.prompt());
        }
    }

    /// Turns queued prompts into messages with ended turns, so that they are not lost.
    pub(super) fn end_queue(&self, stop: &Stop, decision: &mut Decision) {
        if self.queue.is_empty() {
            return;
        }
        decision.changes.push(queue(Vec::new()));
        for queued in self.queued() {
            let turn = Turn::Ended(stop.clone());
            decision.begin(Draft::prompt(queued.id, queued.prompt(), turn));
        }
    }
}

/// A queue that is not held: its next prompt is sent when the turn ends.
const fn queue(prompts: Vec<QueuedPrompt>) -> Change {
    Change::State(SessionState::Queue { prompts, held: false })
}

fn check_queue(prompts: &[QueuedPrompt]) -> Result<(), Refusal> {
    let bytes: usize = prompts.iter().map(QueuedPrompt::bytes).sum();
    if prompts.len() > QUEUE_MAX || (prompts.len() > 1 && bytes > QUEUE_BYTES_MAX) {
        return Err(Refusal::QueueFull);
    }
    Ok(())
}
