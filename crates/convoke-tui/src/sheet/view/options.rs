//! The options of a question, with a row for free text at the end.

use convoke_core::question::{Choice, Question};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::editor::{self, INDENT};
use crate::palette::Palette;
use crate::picture::{Strip, Target};
use crate::sheet::draft::{Draft, Label, words_row};
use crate::text::{clean, wrap};

/// Rows of free text that are shown while it is not being edited.
const WORDS_ROWS_MAX: usize = 3;

/// Whether the human is choosing or writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    Choosing,
    Writing,
}

/// The rows of the options.
pub(super) fn strip(
    question: &Question,
    draft: &Draft,
    width: usize,
    focus: Focus,
    palette: Palette,
) -> Strip {
    let mut list = Options { question, draft, width, palette, strip: Strip::default() };
    for (row, option) in question.options.iter().enumerate() {
        list.option(row, option);
    }
    list.words(focus);
    list.strip
}

struct Options<'a> {
    question: &'a Question,
    draft: &'a Draft,
    width: usize,
    palette: Palette,
    strip: Strip,
}

impl Options<'_> {
    fn option(&mut self, row: usize, option: &Choice) {
        let label = Label::of(&option.label);
        let mut spans = vec![Span::styled(clean::line(&label.text), self.label_style(row))];
        if label.recommended {
            spans.push(Span::styled(" · recommended", self.palette.good()));
        }
        let from = self.strip.len();
        self.label(row, &spans);
        let description = clean::block(option.description.as_deref().unwrap_or_default());
        for line in description.trim().lines() {
            for spans in wrap::spans(&[Span::raw(line.to_owned())], self.text_width()) {
                self.indented(spans, row);
            }
        }
        self.focus(row, from);
    }

    /// The row for free text, with the text so far.
    fn words(&mut self, focus: Focus) {
        let row = words_row(self.question);
        let from = self.strip.len();
        let mut spans = vec![Span::styled("Other", self.label_style(row))];
        if self.draft.words.text().is_empty() && focus == Focus::Choosing {
            spans.push(Span::styled("  in your own words", self.palette.faint()));
        }
        self.label(row, &spans);
        let words = &self.draft.words;
        // As wide as `editor::width` says.
        let width = self.text_width().saturating_sub(1);
        match focus {
            Focus::Writing => {
                let above = std::mem::take(&mut self.strip);
                self.strip = editor::written_below(above, words, width, self.palette);
            }
            Focus::Choosing if words.text().is_empty() => {}
            Focus::Choosing => {
                let rows = editor::strip(words, width, WORDS_ROWS_MAX, self.palette).rows;
                self.strip.rows.extend(rows);
            }
        }
        self.focus(row, from);
    }

    /// A label with its number and its box (`▸ 1 (•) `), on as many rows as it takes.
    fn label(&mut self, row: usize, spans: &[Span<'static>]) {
        let is_here = row == self.draft.cursor;
        let marker = if is_here { "▸" } else { " " };
        let number = if row < 9 { (row + 1).to_string() } else { " ".to_owned() };
        let chosen = self.draft.chosen.contains(&row);
        let mark = match (self.question.multi_select, chosen) {
            (false, true) => "(•)",
            (false, false) => "( )",
            (true, true) => "[x]",
            (true, false) => "[ ]",
        };
        let mark_style = if chosen { self.palette.good() } else { self.palette.faint() };
        for (index, spans) in wrap::spans(spans, self.text_width()).into_iter().enumerate() {
            if index > 0 {
                self.indented(spans, row);
                continue;
            }
            let mut line = vec![
                Span::styled(format!("{marker} "), self.palette.here()),
                Span::styled(format!("{number} "), self.palette.faint()),
                Span::styled(format!("{mark} "), mark_style),
            ];
            line.extend(spans);
            self.strip.push_target(Line::from(line), Target::Choice(row));
        }
    }

    fn indented(&mut self, spans: Vec<Span<'static>>, row: usize) {
        let mut line = vec![Span::raw(" ".repeat(INDENT))];
        line.extend(spans);
        self.strip.push_target(Line::from(line), Target::Choice(row));
    }

    fn focus(&mut self, row: usize, from: usize) {
        if row == self.draft.cursor {
            self.strip.focus = from..self.strip.len();
        }
    }

    fn label_style(&self, row: usize) -> Style {
        if row == self.draft.cursor { self.palette.here() } else { self.palette.strong() }
    }

    const fn text_width(&self) -> usize {
        self.width.saturating_sub(INDENT)
    }
}
