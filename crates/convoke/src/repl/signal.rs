//! Signals: SIGINT cancels a turn, SIGTERM and SIGHUP end the program.

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

    /// Waits for a signal that ends the program.
    pub(super) async fn ended(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }

    /// SIGINT from now on; earlier ones are not delivered.
    pub(super) fn interrupts() -> anyhow::Result<Signal> {
        signal(SignalKind::interrupt()).context("cannot listen for signals")
    }
}
