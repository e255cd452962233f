//! Whether to colour, and the few colours there are.

use std::ffi::OsStr;
use std::fmt;
use std::io::IsTerminal;

use crate::environment::Environment;

/// Whether a stream gets colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// A terminal that can show them.
    On,
    /// A file, a pipe, or a user who disabled colours.
    Off,
}

impl Colour {
    /// Decides for a stream of this process.
    pub(crate) fn of(stream: &impl IsTerminal, environment: &Environment) -> Self {
        if stream.is_terminal() { Self::on_terminal(environment) } else { Self::Off }
    }

    /// For a terminal: off if `NO_COLOR` is set, or the terminal is dumb.
    fn on_terminal(environment: &Environment) -> Self {
        let unwanted = environment.get("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = environment.get("TERM") == Some(OsStr::new("dumb"));
        if unwanted || dumb { Self::Off } else { Self::On }
    }

    /// Red and bold: it failed.
    pub(crate) fn bad(self, text: impl fmt::Display) -> String {
        self.paint("1;31", text)
    }

    /// Red, for removed lines.
    pub(crate) fn removed(self, text: impl fmt::Display) -> String {
        self.paint("31", text)
    }

    /// Yellow, for warnings.
    pub(crate) fn doubtful(self, text: impl fmt::Display) -> String {
        self.paint("33", text)
    }

    /// Green: fine.
    pub(crate) fn good(self, text: impl fmt::Display) -> String {
        self.paint("32", text)
    }

    /// Yellow and bold, for search results.
    pub(crate) fn found(self, text: impl fmt::Display) -> String {
        self.paint("1;33", text)
    }

    /// Dim, for secondary text.
    pub(crate) fn faint(self, text: impl fmt::Display) -> String {
        self.paint("2", text)
    }

    fn paint(self, code: &str, text: impl fmt::Display) -> String {
        match self {
            Self::On => format!("\x1b[{code}m{text}\x1b[0m"),
            Self::Off => text.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_coloured_unless_someone_objects() {
        let decide = |variables: &[(&str, &str)]| {
            Colour::on_terminal(&variables.iter().copied().collect::<Environment>())
        };
        assert_eq!(decide(&[("TERM", "xterm")]), Colour::On);
        assert_eq!(decide(&[("NO_COLOR", "")]), Colour::On);
        assert_eq!(decide(&[("NO_COLOR", "1")]), Colour::Off);
        assert_eq!(decide(&[("TERM", "dumb")]), Colour::Off);
    }

    #[test]
    fn without_colour_the_text_is_left_alone() {
        assert_eq!(Colour::Off.bad("error:"), "error:");
        assert_eq!(Colour::On.bad("error:"), "\u{1b}[1;31merror:\u{1b}[0m");
    }
}
