//! The signals that matter to a conversation: one stops a turn, the others end the program.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end the program.
pub(super) struct Signals {
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Listens from now on.
    pub(super) fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("cannot listen for signals");
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// Ends when the program is told to end.
    pub(super) async fn ended(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }

    /// Ctrl-C from now on. What was pressed before is over.
    pub(super) fn interrupts() -> anyhow::Result<Signal> {
        signal(SignalKind::interrupt()).context("cannot listen for signals")
    }
}
