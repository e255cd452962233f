//! Limits on an agent's output: per turn, and per session.
//!
//! A turn above its limit is cancelled, and the rest of its output is dropped. A session above its limit accepts no
//! further prompts.

use convoke_core::message::Role;
use convoke_core::notice::{Notice, TurnEvent};
use convoke_core::session::{Change, Command, QueueChoice, Report};

use super::task::Task;
use crate::error::{Error, Result};

/// The output so far.
#[derive(Debug, Default)]
pub(super) struct Quota {
    /// Bytes since the last turn began.
    turn: u64,
    /// Whether the turn is above its limit.
    state: State,
    /// Bytes of the whole log; `None` until they are first counted.
    session: Option<u64>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Within,
    Exceeded,
}

impl Quota {
    /// Resets the count for a new turn.
    pub(super) const fn begin_turn(&mut self) {
        self.turn = 0;
        self.state = State::Within;
    }

    /// Counts a stored change.
    pub(super) fn count(&mut self, change: &Change) {
        let bytes = change.bytes() as u64;
        let is_prompt = matches!(change, Change::Begin(draft) if draft.role == Role::User);
        if !is_prompt {
            self.turn += bytes;
        }
        if let Some(session) = &mut self.session {
            *session += bytes;
        }
    }

    /// Whether a report is dropped because its turn is above the limit.
    pub(super) fn drops(&self, report: &Report) -> bool {
        let is_output = match report {
            Report::Said(_)
            | Report::Thought(_)
            | Report::Planned(_)
            | Report::ToolCalled(_)
            | Report::State(_)
            | Report::Noticed(_) => true,
            // An asker waits for its reply.
            Report::Asked(_)
            | Report::Resumed(_)
            | Report::Renewed { .. }
            | Report::Withdrew(_)
            | Report::TurnEnded { .. }
            | Report::Exited(_)
            | Report::Stopped
            | Report::Failed { .. } => false,
        };
        is_output && self.state == State::Exceeded
    }
}

impl Task {
    /// Cancels the running turn if it is above its limit. Between turns the agent's process is stopped instead.
    pub(super) async fn enforce_turn_quota(&mut self) {
        let max = self.shared.settings.limits.turn_bytes;
        if self.quota.turn <= max || self.quota.state == State::Exceeded {
            return;
        }
        self.quota.state = State::Exceeded;
        tracing::warn!(session.id = %self.id, max, "an agent said more than limits.turn_bytes in one turn");
        let notice = Report::Noticed(Notice::new(TurnEvent::Limit { max }));
        let mut commands = vec![Command::Agent(notice)];
        if self.session.running().is_some() {
            commands.push(Command::CancelTurn { queue: QueueChoice::Send });
        }
        for command in commands {
            if let Err(error) = self.handle_command(command).await {
                tracing::debug!(session.id = %self.id, "a turn beyond its limit: {error}");
            }
        }
        if self.session.running().is_none() {
            self.stop_process().await;
        }
    }

    /// Refuses a prompt if the session is above its limit.
    pub(super) async fn check_session_quota(&mut self) -> Result<()> {
        let bytes = match self.quota.session {
            Some(bytes) => bytes,
            None => self.shared.store.session_bytes(self.id).await?,
        };
        self.quota.session = Some(bytes);
        let max = self.shared.settings.limits.session_bytes;
        if bytes >= max {
            return Err(Error::SessionFull { bytes, max });
        }
        Ok(())
    }
}
