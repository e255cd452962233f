//! The terminal's settings, which are restored when the program ends while the line editor still reads.

use std::io::{self, IsTerminal, Write};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// Switches off bracketed paste, which the line editor switches on while it reads.
const PASTE_OFF: &[u8] = b"\x1b[?2004l\r\n";

/// The settings at the start.
pub(super) struct Terminal(Option<Termios>);

impl Terminal {
    /// Reads the settings, if there is a terminal.
    pub(super) fn remember() -> Self {
        let stdin = io::stdin();
        Self(if stdin.is_terminal() { tcgetattr(stdin).ok() } else { None })
    }

    /// Restores the settings.
    pub(super) fn restore(&self) {
        let Some(original) = &self.0 else { return };
        // Best effort: the terminal may be closed.
        tcsetattr(io::stdin(), OptionalActions::Now, original).ok();
        if io::stdout().is_terminal() {
            io::stdout().write_all(PASTE_OFF).ok();
        }
    }
}
