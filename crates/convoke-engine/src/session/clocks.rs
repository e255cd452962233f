//! The deadlines of a session's task: when an idle session ends, and when an answer between turns does.

use std::time::Duration;

use convoke_core::session::{Command, Status};
use convoke_store::SessionKind;
use tokio::time::Instant;

use super::task::Task;

/// How long an agent that speaks between turns may pause before its answer is closed, since agents
/// report no end of it. Later text begins another message.
const PAUSE_MAX: Duration = Duration::from_secs(3);

impl Task {
    /// When the session is completed unless there is activity before.
    pub(super) fn idle_at(&self) -> Option<Instant> {
        let summary = self.session.summary();
        let has_clock = self.stored.kind == SessionKind::Session
            && summary.status == Status::Active
            && self.session.is_idle();
        has_clock.then(|| self.touched + self.shared.settings.idle_timeout)
    }

    /// When the answer of an agent that speaks between turns is closed unless more text arrives
    /// before.
    pub(super) fn close_at(&self) -> Option<Instant> {
        self.session.is_speaking_between_turns().then(|| self.touched + PAUSE_MAX)
    }

    /// Closes what the agent said between turns.
    pub(super) async fn close_stream(&mut self) {
        if !self.session.is_speaking_between_turns() {
            return;
        }
        if let Err(error) = self.handle_command(Command::CloseStream).await {
            tracing::warn!(session.id = %self.id, "an answer between turns cannot be closed: {error}");
            // Retried after another pause.
            self.touched = Instant::now();
        }
    }
}
