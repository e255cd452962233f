//! Debounces the progress reports of tool calls.

use std::time::Duration;

use convoke_core::content::ToolStatus;
use convoke_core::session::Report;
use tokio::time::Instant;

/// The shortest interval between two writes of a running tool call: each write replaces the whole call.
const PROGRESS_PACE: Duration = Duration::from_millis(100);

/// Progress reports of running tool calls, held back until the next write is due.
pub(super) struct Progress {
    pub(super) held: Vec<Report>,
    due: Instant,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { held: Vec::new(), due: Instant::now() }
    }

    /// The reports to handle now, if the next write is due.
    pub(super) fn admit(&mut self, reports: Vec<Report>) -> Option<Vec<Report>> {
        self.held.extend(reports);
        if self.held.iter().all(is_progress) && Instant::now() < self.due {
            return None;
        }
        if self.held.iter().any(is_progress) {
            self.due = Instant::now() + PROGRESS_PACE;
        }
        Some(std::mem::take(&mut self.held))
    }

    pub(super) fn due(&self) -> Option<Instant> {
        (!self.held.is_empty()).then_some(self.due)
    }
}

/// Whether a report is only progress of a running tool call.
fn is_progress(report: &Report) -> bool {
    let Report::ToolCalled(update) = report else { return false };
    matches!(update.status, None | Some(ToolStatus::Running))
}
