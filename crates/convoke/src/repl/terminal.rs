//! The terminal as it was found, to be left like that also when the line editor is not asked.

use std::io::{self, IsTerminal, Write};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// Switches off what the line editor switches on while it reads: text that is pasted is no longer marked.
const PASTE_OFF: &[u8] = b"\x1b[?2004l\r\n";

/// How the terminal was set at the start.
pub(super) struct Terminal(Option<Termios>);

impl Terminal {
    /// Remembers how the terminal is set, if there is one.
    pub(super) fn remember() -> Self {
        let stdin = io::stdin();
        Self(if stdin.is_terminal() { tcgetattr(stdin).ok() } else { None })
    }

    /// Sets the terminal as it was, under the hands of a line editor that still reads.
    pub(super) fn restore(&self) {
        let Some(original) = &self.0 else { return };
        // A terminal that is gone needs nothing.
        tcsetattr(io::stdin(), OptionalActions::Now, original).ok();
        if io::stdout().is_terminal() {
            io::stdout().write_all(PASTE_OFF).ok();
        }
    }
}
