//! A multi-line text editor: a cursor that is never inside a character, and undo.
//!
//! Rows are computed from text and width alone, so drawing and cursor movement agree.

use std::ops::Range;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::picture::Direction;
use crate::text::{clean, wrap};

/// Undo steps; the oldest are dropped beyond that.
const PAST_MAX: usize = 50;

/// A text and the cursor in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Editor {
    text: String,
    /// A byte between two graphemes.
    cursor: usize,
    /// The column that moving up and down aims at.
    goal: Option<usize>,
    past: Vec<(String, usize)>,
    /// Consecutive changes of one kind are undone as one.
    run: Option<Run>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    Typing,
    Deleting,
}

/// The layout of a text on the screen.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The bytes of each row.
    pub(crate) rows: Vec<Range<usize>>,
    /// The row and column of the cursor.
    pub(crate) cursor: (usize, usize),
}

impl Editor {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The byte offset of the cursor.
    pub(crate) const fn cursor(&self) -> usize {
        self.cursor
    }

    /// Replaces the text between a byte offset and the cursor.
    pub(crate) fn replace_back_to(&mut self, from: usize, text: &str) {
        self.delete(from..self.cursor);
        self.insert(text);
        self.run = None;
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Inserts a pasted text: line breaks are kept, other control characters are not.
    pub(crate) fn paste(&mut self, text: &str) {
        self.run = None;
        self.insert(&clean::typed(text));
        self.run = None;
    }

    /// Puts in a line break.
    pub(crate) fn break_line(&mut self) {
        self.insert("\n");
    }

    /// Follows a key that writes, deletes or moves; others mean nothing here.
    pub(crate) fn press(&mut self, key: KeyEvent, width: usize) {
        let by_word = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match (key.code, by_word) {
            (KeyCode::Char(letter), false) => {
                self.insert(&clean::typed(letter.encode_utf8(&mut [0; 4])));
            }
            (KeyCode::Char(letter), true) => self.command(letter),
            (KeyCode::Backspace, true) => self.delete(self.word_back()..self.cursor),
            (KeyCode::Backspace, false) => self.delete(self.back()..self.cursor),
            (KeyCode::Delete, true) => self.delete(self.cursor..self.word_forward()),
            (KeyCode::Delete, false) => self.delete(self.cursor..self.forward()),
            (KeyCode::Left, true) => self.go(self.word_back()),
            (KeyCode::Left, false) => self.go(self.back()),
            (KeyCode::Right, true) => self.go(self.word_forward()),
            (KeyCode::Right, false) => self.go(self.forward()),
            (KeyCode::Home, true) => self.go(0),
            (KeyCode::Home, false) => self.go(self.line().start),
            (KeyCode::End, true) => self.go(self.text.len()),
            (KeyCode::End, false) => self.go(self.line().end),
            (KeyCode::Up, _) => self.go_rows(Direction::Up, width),
            (KeyCode::Down, _) => self.go_rows(Direction::Down, width),
            _ => {}
        }
    }

    /// Puts the cursor where the human points.
    pub(crate) fn point(&mut self, row: usize, column: usize, width: usize) {
        self.go(self.at(&self.layout(width).rows, row, column));
    }

    /// The text in rows of at most `width` cells.
    pub(crate) fn layout(&self, width: usize) -> Layout {
        let mut rows = Vec::new();
        let mut from = 0;
        for line in self.text.split('\n') {
            let shifted = |row: Range<usize>| row.start + from..row.end + from;
            rows.extend(wrap::rows(line, width).into_iter().map(shifted));
            from += line.len() + 1;
        }
        let row = rows.iter().rposition(|row| row.start <= self.cursor).unwrap_or_default();
        let start = rows.get(row).map_or(0, |row| row.start);
        let column = wrap::width(self.text.get(start..self.cursor).unwrap_or_default());
        Layout { rows, cursor: (row, column) }
    }

    /// The keys that shells and editors share.
    fn command(&mut self, letter: char) {
        match letter {
            'a' => self.go(self.line().start),
            'e' => self.go(self.line().end),
            'b' => self.go(self.word_back()),
            'f' => self.go(self.word_forward()),
            'h' => self.delete(self.back()..self.cursor),
            'd' => self.delete(self.cursor..self.forward()),
            'w' => self.delete(self.word_back()..self.cursor),
            'u' => self.delete(self.line().start..self.cursor),
            'k' => self.delete(self.cursor..self.line().end),
            'z' => self.take_back(),
            _ => {}
        }
    }

    fn insert(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.remember(Run::Typing);
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
        // A character that joins the next one must not leave the cursor inside the pair.
        self.cursor = boundary(&self.text, self.cursor);
    }

    fn delete(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        self.remember(Run::Deleting);
        self.cursor = range.start;
        self.text.replace_range(range, "");
        self.cursor = boundary(&self.text, self.cursor);
    }

    fn remember(&mut self, run: Run) {
        self.goal = None;
        if self.run == Some(run) {
            return;
        }
        self.run = Some(run);
        if self.past.len() == PAST_MAX {
            self.past.remove(0);
        }
        self.past.push((self.text.clone(), self.cursor));
    }

    fn take_back(&mut self) {
        self.run = None;
        if let Some((text, cursor)) = self.past.pop() {
            (self.text, self.cursor) = (text, cursor);
        }
    }

    fn go(&mut self, to: usize) {
        self.cursor = to;
        (self.goal, self.run) = (None, None);
    }

    fn go_rows(&mut self, direction: Direction, width: usize) {
        let Layout { rows, cursor: (row, column) } = self.layout(width);
        let goal = self.goal.unwrap_or(column);
        let to = match direction {
            Direction::Up if row == 0 => 0,
            Direction::Up => self.at(&rows, row - 1, goal),
            Direction::Down if row + 1 == rows.len() => self.text.len(),
            Direction::Down => self.at(&rows, row + 1, goal),
        };
        self.go(to);
        self.goal = Some(goal);
    }

    /// The position in a row that is nearest to a column.
    fn at(&self, rows: &[Range<usize>], row: usize, column: usize) -> usize {
        let Some(range) = rows.get(row) else { return self.text.len() };
        let text = self.text.get(range.clone()).unwrap_or_default();
        let mut used = 0;
        for (at, grapheme) in text.grapheme_indices(true) {
            used += wrap::cells(grapheme);
            let is_last = at + grapheme.len() == text.len();
            // The end of a wrapped row is the beginning of the next.
            let goes_on = is_last && rows.get(row + 1).is_some_and(|next| next.start == range.end);
            if used > column || goes_on {
                return range.start + at;
            }
        }
        range.end
    }

    fn back(&self) -> usize {
        let before = self.text.get(..self.cursor).unwrap_or_default();
        before.grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn forward(&self) -> usize {
        let after = self.text.get(self.cursor..).unwrap_or_default();
        self.cursor + after.graphemes(true).next().map_or(0, str::len)
    }

    fn word_back(&self) -> usize {
        let before = self.text.get(..self.cursor).unwrap_or_default();
        let mut words = before.split_word_bound_indices().rev();
        words.find(|(_, word)| !word.trim().is_empty()).map_or(0, |(at, _)| at)
    }

    fn word_forward(&self) -> usize {
        let after = self.text.get(self.cursor..).unwrap_or_default();
        let mut words = after.split_word_bound_indices();
        let word = words.find(|(_, word)| !word.trim().is_empty());
        word.map_or(self.text.len(), |(at, word)| self.cursor + at + word.len())
    }

    /// The line of the cursor.
    fn line(&self) -> Range<usize> {
        let (before, after) = self.text.split_at(self.cursor);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        start..self.cursor + after.find('\n').unwrap_or(after.len())
    }
}

/// The first boundary between two graphemes that is not before `at`.
fn boundary(text: &str, at: usize) -> usize {
    text.grapheme_indices(true)
        .map(|(start, _)| start)
        .find(|start| *start >= at)
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests;
