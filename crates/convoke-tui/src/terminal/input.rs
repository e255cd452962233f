//! What reaches a screen without the daemon: events of the terminal, signals, and the passing of time.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use crossterm::event::{Event, EventStream};
use futures_core::Stream as _;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, Interval, interval_at};

/// How often relative times are redrawn.
const MINUTE: Duration = Duration::from_secs(60);

/// Waits for the terminal, for signals and for the next minute.
pub(super) struct Input {
    events: EventStream,
    signals: [Signal; 3],
    minute: Interval,
}

/// What woke a screen.
pub(crate) enum Woken {
    Event(Event),
    /// Relative times are to be redrawn.
    Minute,
    /// A signal, or the terminal is gone.
    Leave,
    Panicked,
}

impl Input {
    pub(super) fn open() -> io::Result<Self> {
        let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        let [terminate, interrupt, hangup] = kinds.map(signal);
        Ok(Self {
            signals: [terminate?, interrupt?, hangup?],
            events: EventStream::new(),
            minute: interval_at(Instant::now() + MINUTE, MINUTE),
        })
    }

    /// Waits for what comes first; nothing is lost when the caller stops waiting.
    pub(super) async fn next(&mut self) -> io::Result<Woken> {
        let Self { events, signals: [terminate, interrupt, hangup], minute } = self;
        let event = poll_fn(|context| Pin::new(&mut *events).poll_next(context));
        Ok(tokio::select! {
            event = event => event.transpose()?.map_or(Woken::Leave, Woken::Event),
            _ = minute.tick() => Woken::Minute,
            _ = terminate.recv() => Woken::Leave,
            _ = interrupt.recv() => Woken::Leave,
            _ = hangup.recv() => Woken::Leave,
        })
    }
}
