//! How things look: few colours, all of the terminal's own theme, and none that carries meaning alone.

use ratatui::style::{Color, Modifier, Style};

use crate::Colour;

/// The styles, with or without colours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Palette {
    pub(crate) colour: Colour,
}

impl Palette {
    /// Where the human is.
    pub(crate) fn here(self) -> Style {
        self.tint(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// The page of several that is open.
    pub(crate) fn open(self) -> Style {
        self.here().add_modifier(Modifier::REVERSED)
    }

    /// Chosen, answered, recommended.
    pub(crate) fn good(self) -> Style {
        self.tint(Color::Green)
    }

    /// Missing, refused, damaged.
    pub(crate) fn bad(self) -> Style {
        self.tint(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Removed lines.
    pub(crate) fn removed(self) -> Style {
        self.tint(Color::Red)
    }

    /// Something has happened.
    pub(crate) fn news(self) -> Style {
        self.tint(Color::Magenta).add_modifier(Modifier::BOLD)
    }

    /// Code, paths, and arguments of tools.
    pub(crate) fn code(self) -> Style {
        self.tint(Color::Cyan)
    }

    /// Words of a programming language.
    pub(crate) fn keyword(self) -> Style {
        self.tint(Color::Magenta)
    }

    /// Numbers and constants in code.
    pub(crate) fn literal(self) -> Style {
        self.tint(Color::Yellow)
    }

    /// Names of functions in code.
    pub(crate) fn name(self) -> Style {
        self.tint(Color::Blue)
    }

    /// Secondary text: rules, hints, ages.
    pub(crate) fn faint(self) -> Style {
        // Not a grey: which of them can be read depends on the background.
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Headings, labels and keys.
    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    fn tint(self, colour: Color) -> Style {
        match self.colour {
            Colour::On => Style::new().fg(colour),
            Colour::Off => Style::new(),
        }
    }
}
