//! Wraps streamed text at spaces. A word is held back until its end is known, or the stream pauses.

use unicode_width::UnicodeWidthChar;

/// Lines narrower than this are left to the terminal.
const WIDTH_MIN: usize = 20;
/// Lines longer than this are hard to read.
const WIDTH_MAX: usize = 120;

/// Whether lines may be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// At spaces.
    Words,
    /// Not at all: code is copied literally.
    AsIs,
}

/// The current line.
#[derive(Debug, Default)]
pub(super) struct Wrap {
    /// Cells that are written.
    column: usize,
    /// The indentation of a list's text, which its further lines keep.
    indent: usize,
    /// Spaces before the word.
    spaces: usize,
    /// The word with its colours.
    word: String,
    cells: usize,
    /// Whether the beginning of the word is written already, so that the line cannot break before
    /// it.
    is_begun: bool,
}

impl Wrap {
    /// Writes one more piece. Its colours are complete escape sequences of Convoke's.
    pub(super) fn push(&mut self, piece: &str, flow: Flow, width: usize, out: &mut String) {
        let mut letters = piece.chars();
        while let Some(letter) = letters.next() {
            match (letter, flow) {
                ('\u{1b}', _) => {
                    self.word.push(letter);
                    for letter in letters.by_ref() {
                        self.word.push(letter);
                        if letter == 'm' {
                            break;
                        }
                    }
                }
                ('\n', _) => {
                    self.end(width, out);
                    out.push('\n');
                    *self = Self::default();
                }
                (' ', Flow::Words) => {
                    self.flush(width, out);
                    self.is_begun = false;
                    self.spaces += 1;
                }
                (_, Flow::Words) => {
                    self.word.push(letter);
                    self.cells += letter.width().unwrap_or_default();
                }
                (_, Flow::AsIs) => {
                    self.flush(width, out);
                    out.push(letter);
                    self.column += letter.width().unwrap_or_default();
                }
            }
        }
    }

    /// Writes the text that is held back.
    pub(super) fn end(&mut self, width: usize, out: &mut String) {
        self.flush(width, out);
        out.push_str(&" ".repeat(std::mem::take(&mut self.spaces)));
    }

    /// Whether letters are held back.
    pub(super) const fn is_holding(&self) -> bool {
        self.cells > 0
    }

    /// Writes the beginning of a word whose end is delayed.
    pub(super) fn pause(&mut self, width: usize, out: &mut String) {
        if self.is_holding() {
            self.flush(width, out);
            self.is_begun = true;
        }
    }

    fn flush(&mut self, width: usize, out: &mut String) {
        if self.cells == 0 {
            // Colours without letters stay at the end of the word before.
            out.push_str(&std::mem::take(&mut self.word));
            return;
        }
        let is_first = self.column == 0;
        let room = width.min(WIDTH_MAX);
        let fits = self.column + self.spaces + self.cells <= room;
        if fits || is_first || self.is_begun || self.column <= self.indent || width < WIDTH_MIN {
            out.push_str(&" ".repeat(self.spaces));
            self.column += self.spaces;
        } else {
            out.push('\n');
            out.push_str(&" ".repeat(self.indent));
            self.column = self.indent;
        }
        if is_first && begins_item(&self.word) {
            self.indent = self.column + self.cells + 1;
        }
        out.push_str(&std::mem::take(&mut self.word));
        self.column += std::mem::take(&mut self.cells);
        self.spaces = 0;
    }
}

/// Whether a word is the marker of a list item.
fn begins_item(word: &str) -> bool {
    let number = word.strip_suffix(['.', ')']);
    matches!(word, "•" | "-" | "*" | "+")
        || number.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, flow: Flow, width: usize) -> String {
        let (mut wrap, mut out) = (Wrap::default(), String::new());
        for letter in text.split_inclusive(|_| true) {
            wrap.push(letter, flow, width, &mut out);
        }
        wrap.end(width, &mut out);
        out
    }

    #[test]
    fn p12_lines_end_between_words_and_items_keep_their_indent() {
        let text = "One two three four five six seven.\n  • an item that is longer than a line\n12. another one of them, too\n";
        assert_eq!(
            wrapped(text, Flow::Words, 20),
            "One two three four\nfive six seven.\n  • an item that is\n    longer than a\n    line\n\
             12. another one of\n    them, too\n"
        );
        let long = "see https://example.org/a/very/long/address now";
        assert_eq!(
            wrapped(long, Flow::Words, 20),
            "see\nhttps://example.org/a/very/long/address\nnow"
        );
        assert_eq!(wrapped(text, Flow::AsIs, 20), text);
    }

    #[test]
    fn p12_a_pause_shows_the_beginning_of_a_word_and_its_rest_stays_on_the_line() {
        let (mut wrap, mut out) = (Wrap::default(), String::new());
        wrap.push("one two three fo", Flow::Words, 20, &mut out);
        assert_eq!(out, "one two three");
        wrap.pause(20, &mut out);
        assert_eq!(out, "one two three fo");
        assert!(!wrap.is_holding());
        wrap.pause(20, &mut out);
        wrap.push("urteen fifteen", Flow::Words, 20, &mut out);
        wrap.end(20, &mut out);
        assert_eq!(out, "one two three fourteen\nfifteen");
    }

    #[test]
    fn p12_colours_take_no_room() {
        let (mut wrap, mut out) = (Wrap::default(), String::new());
        wrap.push("\x1b[1mone two\x1b[0m three four five", Flow::Words, 20, &mut out);
        wrap.end(20, &mut out);
        assert_eq!(out, "\x1b[1mone two\x1b[0m three four\nfive");
    }
}
