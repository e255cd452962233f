//! The terminal, set up while a screen is open and restored however it closes.

mod input;

use std::io::{self, Stdout, Write};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::panic::{self, PanicHookInfo};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Size;
use ratatui::{Frame, Terminal};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

use crate::Arrival;
use crate::text::wrap;

use input::EventSource;
pub(crate) use input::{Input, ScreenEvent};

/// A terminal that shows our screen until this is dropped, or until something panics.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    state: Arc<State>,
    hook: Arc<Hook>,
    /// A second handle of the terminal, to detect its end; `None` where the system cannot.
    end: Option<AsyncFd<OwnedFd>>,
    source: EventSource,
}

type Hook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

/// Shared with the panic hook, which may run on any thread.
#[derive(Default)]
struct State {
    /// Giving back twice would put the cursor where it no longer belongs.
    is_taken: AtomicBool,
    panicked: Notify,
}

impl Screen {
    /// Sets up the terminal.
    pub(crate) fn open() -> io::Result<Self> {
        // Before the terminal is set up, so that no signal ends the program without restoring it.
        let source = EventSource::open()?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let state = Arc::new(State::default());
        let hook = give_back_on_panic(&state);
        // From here on dropping the screen restores everything, whatever fails.
        let screen = Self { terminal, state, hook, end: end_of(io::stdout().as_fd()), source };
        screen.take()?;
        Ok(screen)
    }

    pub(crate) fn size(&self) -> io::Result<Size> {
        self.terminal.size()
    }

    pub(crate) fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(picture).map(|_| ())
    }

    /// Notifies the human of new questions; the text must be sanitised.
    pub(crate) fn announce(&mut self, arrival: Arrival, text: &str) -> io::Result<()> {
        let out = self.terminal.backend_mut();
        out.write_all(announcement(arrival, text).as_bytes())?;
        Write::flush(out)
    }

    /// Waits for an event of the terminal, a signal, the next minute, or a panic that has restored the terminal.
    pub(crate) async fn next(&mut self) -> io::Result<ScreenEvent> {
        tokio::select! {
            event = self.source.next() => event,
            () = ended(self.end.as_ref()) => Ok(ScreenEvent::Leave),
            () = self.state.panicked.notified() => Ok(ScreenEvent::Panicked),
        }
    }

    fn take(&self) -> io::Result<()> {
        self.state.is_taken.store(true, Ordering::SeqCst);
        enable_raw_mode()?;
        execute!(
            io::stdout(),
            EnterAlternateScreen,
            EnableBracketedPaste,
            EnableMouseCapture,
            // Distinguishes Shift-Enter from Enter; terminals that do not know it ignore it.
            PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES),
        )
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.state.give_back();
        // The hook cannot be changed by a thread that is just panicking.
        if !thread::panicking() {
            let before = Arc::clone(&self.hook);
            panic::set_hook(Box::new(move |panic| before(panic)));
        }
    }
}

impl State {
    fn give_back(&self) {
        if !self.is_taken.swap(false, Ordering::SeqCst) {
            return;
        }
        // If the terminal itself was closed, there is nowhere to report an error.
        execute!(
            io::stdout(),
            PopKeyboardEnhancementFlags,
            DisableMouseCapture,
            DisableBracketedPaste,
            LeaveAlternateScreen,
            cursor::Show,
        )
        .ok();
        disable_raw_mode().ok();
    }
}

/// The descriptor that signals the end of a terminal.
#[expect(
    deprecated,
    reason = "unsound for types that lie about their descriptor; this one owns it"
)]
fn end_of(terminal: BorrowedFd<'_>) -> Option<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(terminal.try_clone_to_owned().ok()?, Interest::READABLE).ok()
}

/// Waits until there is no terminal any more.
///
/// The reader of its keys gets no error, and would retry for ever (crossterm issue 793).
async fn ended(end: Option<&AsyncFd<OwnedFd>>) {
    let Some(end) = end else { return std::future::pending().await };
    while let Ok(mut ready) = end.readable().await {
        if ready.ready().is_read_closed() {
            return;
        }
        // A key, which the event stream reads.
        ready.clear_ready();
    }
}

/// The escape sequence that makes a terminal ring, or show a desktop notification.
fn announcement(arrival: Arrival, text: &str) -> String {
    match arrival {
        Arrival::Bell => "\x07".to_owned(),
        Arrival::Notice => format!("\x1b]9;{}\x07", wrap::shorten(text, NOTICE_CELLS)),
    }
}

/// The length up to which desktops show a notification in full.
const NOTICE_CELLS: usize = 80;

/// Restores the terminal before a panic message is printed, and returns the previous hook.
fn give_back_on_panic(state: &Arc<State>) -> Arc<Hook> {
    let before: Arc<Hook> = Arc::from(panic::take_hook());
    let (state, then) = (Arc::clone(state), Arc::clone(&before));
    panic::set_hook(Box::new(move |panic| {
        state.give_back();
        state.panicked.notify_one();
        then(panic);
    }));
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_questions_ring_or_show_a_notice() {
        assert_eq!(announcement(Arrival::Bell, "New questions: Tea"), "\u{7}");
        let notice = announcement(Arrival::Notice, &format!("New questions: {}", "日".repeat(90)));
        assert!(notice.starts_with("\u{1b}]9;New questions: 日"));
        assert!(notice.ends_with("日…\u{7}"));
    }
}
