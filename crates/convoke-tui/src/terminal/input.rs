//! What reaches a screen without the daemon: events of the terminal, signals, and the passing of time.

use std::io;
use std::time::Duration;

use crossterm::event::{
    Event, EventStream, KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind,
};
use futures_util::StreamExt as _;
use ratatui::layout::{Position, Size};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, Interval, interval_at};

use crate::picture::Direction;

/// How often relative times are redrawn.
const MINUTE: Duration = Duration::from_secs(60);

/// Waits for the terminal, for signals and for the next minute.
pub(super) struct EventSource {
    events: EventStream,
    signals: [Signal; 3],
    minute: Interval,
}

/// What woke a screen.
pub(crate) enum ScreenEvent {
    Input(Input),
    /// Relative times are to be redrawn.
    Minute,
    /// A signal, or the terminal is gone.
    Leave,
    Panicked,
}

impl EventSource {
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
    pub(super) async fn next(&mut self) -> io::Result<ScreenEvent> {
        let Self { events, signals: [terminate, interrupt, hangup], minute } = self;
        loop {
            return Ok(tokio::select! {
                event = events.next() => match event.transpose()? {
                    None => ScreenEvent::Leave,
                    Some(event) => match Input::of(event) {
                        Some(input) => ScreenEvent::Input(input),
                        None => continue,
                    },
                },
                _ = minute.tick() => ScreenEvent::Minute,
                _ = terminate.recv() => ScreenEvent::Leave,
                _ = interrupt.recv() => ScreenEvent::Leave,
                _ = hangup.recv() => ScreenEvent::Leave,
            });
        }
    }
}

/// What the human did at the terminal.
pub(crate) enum Input {
    Key(KeyEvent),
    Pasted(String),
    Clicked(Position),
    Wheeled(Direction, Position),
    Resized(Size),
}

impl Input {
    /// Translates an event of the terminal; `None` for those that no screen uses.
    fn of(event: Event) -> Option<Self> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => Some(Self::Key(key)),
            Event::Paste(text) => Some(Self::Pasted(text)),
            Event::Resize(width, height) => Some(Self::Resized(Size { width, height })),
            Event::Mouse(mouse) => Self::of_mouse(mouse),
            Event::Key(_) | Event::FocusGained | Event::FocusLost => None,
        }
    }

    const fn of_mouse(mouse: MouseEvent) -> Option<Self> {
        let at = Position { x: mouse.column, y: mouse.row };
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => Some(Self::Clicked(at)),
            MouseEventKind::ScrollUp => Some(Self::Wheeled(Direction::Up, at)),
            MouseEventKind::ScrollDown => Some(Self::Wheeled(Direction::Down, at)),
            MouseEventKind::Down(MouseButton::Right | MouseButton::Middle)
            | MouseEventKind::Up(_)
            | MouseEventKind::Drag(_)
            | MouseEventKind::Moved
            | MouseEventKind::ScrollLeft
            | MouseEventKind::ScrollRight => None,
        }
    }
}
