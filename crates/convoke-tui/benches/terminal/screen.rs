//! The workbench without a terminal and a daemon: it draws to a sink, and its frames for the daemon are returned.

use std::io;

use convoke_api::frames::{ClientFrame, Envelope, ServerFrame};
use convoke_core::time::Timestamp;
use convoke_tui::Colour;
use convoke_tui::workbench::{Effect, Message, Model, update, view};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::{Rect, Size};
use ratatui::{Terminal, TerminalOptions, Viewport};

/// A workbench with its terminal.
pub(crate) struct Screen {
    model: Model,
    terminal: Terminal<CrosstermBackend<io::Sink>>,
    now: Timestamp,
}

impl Screen {
    /// A screen of this size that is connected to a daemon.
    pub(crate) fn open(size: Size, now: Timestamp) -> io::Result<Self> {
        let area = Rect::new(0, 0, size.width, size.height);
        let options = TerminalOptions { viewport: Viewport::Fixed(area) };
        let terminal = Terminal::with_options(CrosstermBackend::new(io::sink()), options)?;
        let model = Model::new("/".to_owned(), None, Colour::On, now);
        let mut screen = Self { model, terminal, now };
        screen.take(Message::Resized(size))?;
        screen.take(Message::Linked)?;
        Ok(screen)
    }

    /// Presses a key, and draws; returns the frames for the daemon.
    pub(crate) fn press(&mut self, key: KeyCode) -> io::Result<Vec<ClientFrame>> {
        self.take(Message::Key(KeyEvent::new(key, KeyModifiers::NONE)))
    }

    /// Receives a frame of the daemon, and draws; returns the frames for the daemon.
    pub(crate) fn receive(&mut self, frame: ServerFrame) -> io::Result<Vec<ClientFrame>> {
        self.take(Message::Frame(Box::new(Envelope::push(frame))))
    }

    fn take(&mut self, message: Message) -> io::Result<Vec<ClientFrame>> {
        let effects = update(&mut self.model, self.now, message);
        self.terminal.draw(|frame| view(&self.model, frame))?;
        let said = |effect| match effect {
            Effect::SendFrame(envelope) => Some(envelope.frame),
            Effect::Call(_)
            | Effect::CallWorktree(_)
            | Effect::FetchTeams
            | Effect::FetchNodes
            | Effect::Announce(_)
            | Effect::Attach { .. }
            | Effect::Quit => None,
        };
        Ok(effects.into_iter().filter_map(said).collect())
    }
}
