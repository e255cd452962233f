//! The workbench without a terminal and a daemon, for benchmarks: what it would draw goes nowhere.

use std::io;

use convoke_api::frames::{ClientFrame, Envelope, ServerFrame};
use convoke_core::time::Timestamp;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Rect, Size};
use ratatui::{Terminal, TerminalOptions, Viewport};

use crate::Colour;
use crate::workbench::{Effect, Message, Model, update, view};

/// A workbench that is played with.
pub struct Rehearsal {
    model: Model,
    terminal: Terminal<CrosstermBackend<io::Sink>>,
    now: Timestamp,
}

/// A key of the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A letter.
    Letter(char),
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// A page towards the beginning.
    PageUp,
    /// A page towards the end.
    PageDown,
    /// One row, or entry, towards the beginning.
    Up,
}

impl Rehearsal {
    /// A screen of this size, which hears that there is a daemon.
    pub fn start(width: u16, height: u16, now: Timestamp) -> io::Result<Self> {
        let area = Rect::new(0, 0, width, height);
        let options = TerminalOptions { viewport: Viewport::Fixed(area) };
        let terminal = Terminal::with_options(CrosstermBackend::new(io::sink()), options)?;
        let mut model = Model::new("/".to_owned(), None, Colour::On, now);
        model.size = Size { width, height };
        let mut rehearsal = Self { model, terminal, now };
        rehearsal.take(Message::Linked)?;
        Ok(rehearsal)
    }

    /// Presses a key, and draws; gives what would be said to the daemon.
    pub fn press(&mut self, key: Key) -> io::Result<Vec<ClientFrame>> {
        let code = match key {
            Key::Letter(letter) => KeyCode::Char(letter),
            Key::Enter => KeyCode::Enter,
            Key::Escape => KeyCode::Esc,
            Key::PageUp => KeyCode::PageUp,
            Key::PageDown => KeyCode::PageDown,
            Key::Up => KeyCode::Up,
        };
        self.take(Message::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    /// Hears something from the daemon, and draws; gives what would be said to it.
    pub fn hear(&mut self, frame: ServerFrame) -> io::Result<Vec<ClientFrame>> {
        self.take(Message::Heard(Box::new(Envelope::push(frame))))
    }

    fn take(&mut self, message: Message) -> io::Result<Vec<ClientFrame>> {
        let effects = update(&mut self.model, self.now, message);
        self.terminal.draw(|frame| view(&self.model, frame))?;
        let said = |effect| match effect {
            Effect::Say(envelope) => Some(envelope.frame),
            Effect::FetchTeams | Effect::Announce(_) | Effect::Quit => None,
        };
        Ok(effects.into_iter().filter_map(said).collect())
    }
}
