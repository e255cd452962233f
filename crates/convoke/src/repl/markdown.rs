//! Markdown for a terminal, rendered while it streams: every character is styled as soon as its meaning is known.
//!
//! Text whose meaning depends on what follows is buffered: the beginning of a line, a run of marks, a link. Lines are not
//! wrapped, since terminals do that themselves and copy a wrapped line as one.

mod inline;
mod lead;

use inline::Inline;
use lead::Lead;

/// The part of a line that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Its beginning, whose meaning is not known yet.
    Lead,
    /// Its words.
    Words,
    /// A line of code.
    Code,
    /// A line that opens a block of code.
    Fence,
}

/// The mark that opened a block of code: which character, and how many of them.
type Fence = (char, usize);

/// A streaming renderer.
#[derive(Debug)]
pub(super) struct Markdown {
    place: Place,
    /// The beginning of a line, until it is known what it begins.
    lead: String,
    /// The block of code that is open.
    fence: Option<Fence>,
    inline: Inline,
}

impl Markdown {
    pub(super) fn new() -> Self {
        Self { place: Place::Lead, lead: String::new(), fence: None, inline: Inline::default() }
    }

    /// Renders one more piece, as far as that is possible.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        piece.chars().for_each(|c| self.take(c, &mut out));
        // Other output may follow, which must not be coloured.
        self.inline.rest(&mut out);
        out
    }

    /// Renders what is still buffered.
    pub(super) fn finish(&mut self) -> String {
        let mut out = String::new();
        self.end_line(&mut out);
        *self = Self::new();
        out
    }

    fn take(&mut self, c: char, out: &mut String) {
        if c == '\n' {
            self.end_line(out);
            out.push('\n');
            self.place = Place::Lead;
            return;
        }
        match self.place {
            Place::Words => self.inline.take(c, out),
            Place::Code => self.inline.code(c, out),
            Place::Fence => self.inline.faint(c, out),
            Place::Lead => {
                self.lead.push(c);
                self.decide(out);
            }
        }
    }

    /// Renders the beginning of a line as soon as its meaning is known.
    fn decide(&mut self, out: &mut String) {
        let lead = match self.fence {
            Some(fence) => Lead::in_code(&self.lead, fence),
            None => Lead::of(&self.lead),
        };
        if lead != Lead::Unclear {
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
                self.place = Place::Words;
                self.inline.begin_words();
                text.chars().for_each(|c| self.inline.take(c, out));
            }
            Lead::Number => {
                self.place = Place::Words;
                self.inline.begin_block();
                text.chars().for_each(|c| self.inline.take(c, out));
            }
            Lead::Code => {
                self.place = Place::Code;
                text.chars().for_each(|c| self.inline.code(c, out));
            }
            Lead::Heading { level } => {
                self.place = Place::Words;
                self.inline.begin_heading(level);
            }
            Lead::Bullet { indent } => {
                self.place = Place::Words;
                self.inline.begin_block();
                out.push_str(&" ".repeat(indent));
                out.push_str("• ");
            }
            Lead::Quote { indent } => {
                self.place = Place::Words;
                out.push_str(&" ".repeat(indent));
                self.inline.faint('│', out);
                self.inline.begin_quote();
            }
            Lead::Fence(fence) => {
                self.place = Place::Fence;
                self.fence = Some(fence);
                self.inline.begin_block();
                text.chars().for_each(|c| self.inline.faint(c, out));
            }
        }
    }

    /// Renders what is buffered at the end of a line.
    fn end_line(&mut self, out: &mut String) {
        if self.place == Place::Lead {
            let lead = Lead::of_line(&self.lead, self.fence);
            self.begin_line(lead, out);
        }
        self.inline.end(out);
    }
}

/// The columns of a horizontal rule: fewer than any terminal has.
const RULE: usize = 40;

#[cfg(test)]
mod tests;
