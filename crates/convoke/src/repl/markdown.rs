//! Markdown for a terminal, while it is still being written: every character is styled as soon as its meaning is known.
//!
//! What cannot be known yet is held back: the beginning of a line, a run of marks, a link. Lines are not wrapped, since
//! terminals do that themselves, and copy what they wrapped as one line.

mod inline;
mod lead;

use inline::Inline;
use lead::Lead;

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At its beginning, of which too little is known.
    Lead,
    /// In its words.
    Words,
    /// In a line of code.
    Code,
    /// In a line that opens a block of code.
    Fence,
}

/// The mark that opened a block of code: which character, and how many of them.
type Fence = (char, usize);

/// Turns Markdown into words and colours, piece by piece.
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

    /// What can be shown after one more piece.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        piece.chars().for_each(|c| self.take(c, &mut out));
        // Nothing that comes in between may be coloured by mistake.
        self.inline.rest(&mut out);
        out
    }

    /// What is still held back at the end.
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

    /// Goes on as soon as it is known what a line begins with.
    fn decide(&mut self, out: &mut String) {
        let lead = match self.fence {
            Some(fence) => Lead::in_code(&self.lead, fence),
            None => Lead::of(&self.lead),
        };
        let text = std::mem::take(&mut self.lead);
        match lead {
            Lead::Unclear => self.lead = text,
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

    /// Shows what was held back.
    fn end_line(&mut self, out: &mut String) {
        if self.place == Place::Lead {
            let text = std::mem::take(&mut self.lead);
            match lead::whole(&text, self.fence) {
                lead::Whole::Rule => {
                    self.inline.begin_block();
                    "─".repeat(RULE).chars().for_each(|c| self.inline.faint(c, out));
                }
                lead::Whole::Opens(fence) => {
                    self.inline.begin_block();
                    text.chars().for_each(|c| self.inline.faint(c, out));
                    self.fence = Some(fence);
                }
                lead::Whole::Closes => {
                    text.chars().for_each(|c| self.inline.faint(c, out));
                    self.fence = None;
                }
                lead::Whole::Code => text.chars().for_each(|c| self.inline.code(c, out)),
                lead::Whole::Blank => self.inline.begin_block(),
                lead::Whole::Words => {
                    self.inline.begin_words();
                    text.chars().for_each(|c| self.inline.take(c, out));
                }
            }
        }
        self.inline.end(out);
    }
}

/// How long a line across the page is drawn: shorter than any terminal is wide.
const RULE: usize = 40;

#[cfg(test)]
mod tests;
