//! Collects lines that are no wider than the available width.

use convoke_core::count::counted;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{ansi, clean, wrap};
use crate::palette::Palette;

/// Rows narrower than this cannot be read; text runs out of the picture instead.
const WIDTH_MIN: usize = 8;
/// The most bytes that are shown of a tool's output, however few lines it has.
const EXCERPT_BYTES_MAX: usize = 64 * 1024;

/// The collected lines.
#[derive(Debug)]
pub(crate) struct LineBuffer {
    pub(crate) width: usize,
    pub(crate) palette: Palette,
    pub(crate) lines: Vec<Line<'static>>,
}

/// Which lines of a text are shown when there are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Excerpt {
    /// The first ones.
    Head(usize),
    /// The first line and the last ones, for the output of a failure.
    Tail(usize),
}

impl LineBuffer {
    /// A blank one.
    pub(crate) const fn new(width: usize, palette: Palette) -> Self {
        Self { width, palette, lines: Vec::new() }
    }

    /// Text with line breaks, in rows that fit behind a margin, which may be another one from the second row on.
    pub(crate) fn text(
        &mut self,
        first: &str,
        rest: &str,
        text: &str,
        margin: Style,
        style: Style,
    ) {
        for (index, line) in clean::block(text.trim_end()).lines().enumerate() {
            let first = if index == 0 { first } else { rest };
            self.row(first, rest, margin, &[Span::styled(line.to_owned(), style)]);
        }
    }

    /// One line of harmless styled text, in rows that fit.
    pub(crate) fn row(&mut self, first: &str, rest: &str, margin: Style, spans: &[Span<'static>]) {
        let width = self.width.saturating_sub(wrap::width(rest)).max(WIDTH_MIN);
        for (index, row) in wrap::spans(spans, width).into_iter().enumerate() {
            let before = if index == 0 { first } else { rest };
            let mut line = vec![Span::styled(before.to_owned(), margin)];
            line.extend(row);
            self.lines.push(Line::from(line));
        }
    }

    /// Adds the heading of a part of a card.
    pub(crate) fn heading(&mut self, text: &str) {
        let line = Line::styled(format!("  ├ {text}"), self.palette.faint());
        self.lines.push(line);
    }

    /// Adds an excerpt of an output with its colours, and the number of hidden lines.
    pub(crate) fn output(&mut self, margin: &str, text: &str, excerpt: Excerpt, style: Style) {
        let text = text.trim_end();
        let lines: Vec<&str> = text.split('\n').collect();
        let count = lines.len();
        let (before, after) = match excerpt {
            Excerpt::Head(max) => (max.min(count), 0),
            Excerpt::Tail(max) if max >= count => (count, 0),
            Excerpt::Tail(max) => (1, max.saturating_sub(1)),
        };
        let hidden = count - before - after;
        self.printed(margin, lines.get(..before).unwrap_or_default(), style);
        if hidden > 0 {
            let words = match excerpt {
                Excerpt::Head(_) => format!("{margin}… {}", counted(hidden, "more line")),
                Excerpt::Tail(_) => format!("{margin}… {}", counted(hidden, "line")),
            };
            self.lines.push(Line::styled(words, self.palette.faint()));
        }
        self.printed(margin, lines.get(before + hidden..).unwrap_or_default(), style);
    }

    fn printed(&mut self, margin: &str, lines: &[&str], style: Style) {
        if lines.is_empty() {
            return;
        }
        let text = lines.join("\n");
        // A single line may be as long as a file.
        let shown = head(&text, EXCERPT_BYTES_MAX);
        let (faint, palette) = (self.palette.faint(), self.palette);
        for spans in ansi::lines(shown, style, palette) {
            self.row(margin, margin, faint, &spans);
        }
        if shown.len() < text.len() {
            self.lines.push(Line::styled(format!("{margin}… and more"), faint));
        }
    }
}

/// The start of a text, at most `bytes_max` bytes.
pub(crate) fn head(text: &str, bytes_max: usize) -> &str {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
