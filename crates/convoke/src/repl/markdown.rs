//! Markdown for a terminal, rendered while it streams: every character is styled as soon as its meaning is known.
//!
//! Text whose meaning depends on what follows is buffered: the beginning of a line, a run of marks,
//! a link, a word that may not fit its line, a line of code, the lines of a table. Without colours
//! the text is unchanged, except for line breaks.

mod code;
mod inline;
mod lead;
mod table;
mod wrap;

use crate::colour::Colour;
use inline::Inline;
use lead::Lead;
use wrap::{Flow, Wrap};

/// The part of a line that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    /// Its beginning, whose meaning is not known yet.
    Lead,
    /// Its text.
    Words,
    /// A line of code.
    Code,
    /// A line that opens a block of code.
    Fence,
    /// A line of a table.
    Table,
}

/// The mark that opened a code block: the character, and its count.
type Fence = (char, usize);

/// A streaming renderer.
#[derive(Debug)]
pub(super) struct Markdown {
    colour: Colour,
    place: LineState,
    /// The beginning of a line, until its meaning is known.
    lead: String,
    /// The block of code that is open.
    fence: Option<Fence>,
    /// The language of that block.
    language: String,
    /// The line of code or of a table that is being read.
    line: String,
    /// The lines of the table that is being read.
    table: Vec<String>,
    inline: Inline,
    wrap: Wrap,
}

impl Markdown {
    pub(super) fn new(colour: Colour) -> Self {
        Self {
            colour,
            place: LineState::Lead,
            lead: String::new(),
            fence: None,
            language: String::new(),
            line: String::new(),
            table: Vec::new(),
            inline: Inline::default(),
            wrap: Wrap::default(),
        }
    }

    /// Renders as much as possible after one more piece, in lines of this width.
    pub(super) fn push(&mut self, piece: &str, width: usize) -> String {
        let mut out = String::new();
        for letter in piece.chars() {
            let of_line = self.flow();
            let mut painted = String::new();
            self.take(letter, width, &mut painted);
            let flow = if letter == '\n' { of_line } else { self.flow() };
            if self.colour == Colour::Off {
                painted = letter.to_string();
            }
            self.wrap.push(&painted, flow, width, &mut out);
        }
        if self.colour == Colour::On {
            // Other output may follow, which must not be coloured.
            let mut reset = String::new();
            self.inline.rest(&mut reset);
            self.wrap.push(&reset, self.flow(), width, &mut out);
        }
        out
    }

    /// Whether a part of a word is buffered that can be shown.
    pub(super) const fn is_holding(&self) -> bool {
        self.wrap.is_holding()
    }

    /// Renders the beginning of a word whose end is delayed. Marks without a meaning stay buffered.
    pub(super) fn pause(&mut self, width: usize) -> String {
        let mut out = String::new();
        self.wrap.pause(width, &mut out);
        out
    }

    /// Renders the rest of the buffer.
    pub(super) fn finish(&mut self, width: usize) -> String {
        let (mut out, mut painted) = (String::new(), String::new());
        let flow = self.flow();
        self.end_line(&mut painted);
        self.end_table(width, &mut painted);
        if self.colour == Colour::On {
            self.wrap.push(&painted, flow, width, &mut out);
        }
        self.wrap.end(width, &mut out);
        *self = Self::new(self.colour);
        out
    }

    /// Whether the line that is being read may be broken.
    const fn flow(&self) -> Flow {
        match self.place {
            LineState::Lead | LineState::Words => Flow::Words,
            LineState::Code | LineState::Fence | LineState::Table => Flow::AsIs,
        }
    }

    fn take(&mut self, c: char, width: usize, out: &mut String) {
        if c == '\n' {
            let is_table = self.place == LineState::Table;
            if !is_table {
                self.end_table(width, out);
            }
            self.end_line(out);
            if !is_table {
                out.push('\n');
            }
            self.place = LineState::Lead;
            return;
        }
        match self.place {
            LineState::Words => self.inline.take(c, out),
            LineState::Code | LineState::Table => self.line.push(c),
            LineState::Fence => {
                self.language.push(c);
                self.inline.faint(c, out);
            }
            LineState::Lead => {
                self.lead.push(c);
                self.decide(width, out);
            }
        }
    }

    /// Renders the beginning of a line as soon as its meaning is known.
    fn decide(&mut self, width: usize, out: &mut String) {
        let lead = match self.fence {
            Some(fence) => Lead::in_code(&self.lead, fence),
            None => Lead::of(&self.lead),
        };
        if lead != Lead::Unclear {
            if lead != Lead::Table {
                self.end_table(width, out);
            }
            self.begin_line(lead, out);
        }
    }

    /// Renders the beginning of a line.
    fn begin_line(&mut self, lead: Lead, out: &mut String) {
        let text = std::mem::take(&mut self.lead);
        match lead {
            Lead::Unclear => {}
            Lead::Blank => self.inline.begin_block(),
            Lead::Rule => {
                self.inline.begin_block();
                "─".repeat(RULE).chars().for_each(|c| self.inline.faint(c, out));
            }
            Lead::Closes => {
                self.fence = None;
                text.chars().for_each(|c| self.inline.faint(c, out));
            }
            Lead::Words => {
                self.place = LineState::Words;
                self.inline.begin_words();
                text.chars().for_each(|c| self.inline.take(c, out));
            }
            Lead::Number => {
                self.place = LineState::Words;
                self.inline.begin_block();
                text.chars().for_each(|c| self.inline.take(c, out));
            }
            Lead::Code => {
                self.place = LineState::Code;
                self.line = text;
            }
            Lead::Table => {
                self.place = LineState::Table;
                self.line = text;
            }
            Lead::Heading { level } => {
                self.place = LineState::Words;
                self.inline.begin_heading(level);
            }
            Lead::Bullet { indent } => {
                self.place = LineState::Words;
                self.inline.begin_block();
                out.push_str(&" ".repeat(indent));
                out.push_str("• ");
            }
            Lead::Quote { indent } => {
                self.place = LineState::Words;
                out.push_str(&" ".repeat(indent));
                self.inline.faint('│', out);
                self.inline.begin_quote();
            }
            Lead::Fence(fence) => {
                self.place = LineState::Fence;
                self.fence = Some(fence);
                self.language = text.trim_start().trim_start_matches(fence.0).to_owned();
                self.inline.begin_block();
                text.chars().for_each(|c| self.inline.faint(c, out));
            }
        }
    }

    /// Renders the buffer at the end of a line.
    fn end_line(&mut self, out: &mut String) {
        if self.place == LineState::Lead {
            let lead = Lead::of_line(&self.lead, self.fence);
            self.begin_line(lead, out);
        }
        let line = std::mem::take(&mut self.line);
        match self.place {
            LineState::Code => {
                let language = self.language.split([' ', ',', '{']).next().unwrap_or_default();
                out.push_str(&code::painted(language, &line));
            }
            LineState::Table => self.table.push(line),
            LineState::Lead | LineState::Words | LineState::Fence => {}
        }
        self.inline.end(out);
    }

    /// Renders the table whose last line was read.
    fn end_table(&mut self, width: usize, out: &mut String) {
        if !self.table.is_empty() {
            let lines = std::mem::take(&mut self.table);
            out.push_str(&table::shown(&lines, width));
        }
    }
}

/// The columns of a horizontal rule: fewer than any terminal has.
const RULE: usize = 40;

#[cfg(test)]
mod tests;
