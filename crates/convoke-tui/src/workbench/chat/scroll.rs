//! The visible part of the window: its end, which follows new entries, or from a fixed row on.

use convoke_core::message::Seq;
use ratatui::layout::Size;
use ratatui::text::Line;

use super::Chat;
use crate::palette::Palette;
use crate::picture::Direction;

/// Where the shown part is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    /// At the end, which moves.
    End,
    /// At its first row.
    Top { place: Seq, row: usize },
}

/// The rows of an entry that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) block: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Chat {
    /// Lays out the visible part. To be called after every change, before drawing.
    pub(crate) fn arrange(&mut self, room: Size, palette: Palette) {
        (self.room, self.palette) = (room, palette);
        self.beside = super::beside::of(self.entries.conversation(), &self.open_runs);
        if let Anchor::Top { place, row } = self.anchor {
            if self.fill_from(self.index(place), row) {
                return;
            }
            self.anchor = self.last_page();
            if let Anchor::Top { place, row } = self.anchor {
                self.fill_from(self.index(place), row);
                return;
            }
        }
        self.fill_to_end();
    }

    /// The anchor of the last page. At the end of a window that is not the session's end it must
    /// not follow: the next page is being loaded, and the human has not asked to see its end.
    fn last_page(&mut self) -> Anchor {
        if self.entries.is_at_end() {
            return Anchor::End;
        }
        let last = self.len().saturating_sub(1);
        let height = self.height_of(last);
        let (block, row) = self.rows_before(last, height, usize::from(self.room.height));
        self.top(block, row)
    }

    /// The anchor at a row of the entry at an index.
    fn top(&self, block: usize, row: usize) -> Anchor {
        Anchor::Top { place: self.place(block), row }
    }

    /// Moves the cursor into the visible part after paging.
    fn keep_cursor_in_sight(&mut self) {
        if let (Some(cursor), [first, .., last] | [first @ last]) =
            (self.cursor(), self.shown.as_slice())
        {
            self.cursor = Some(self.place(cursor.clamp(first.block, last.block)));
        }
    }

    /// The rows that are shown, first to last.
    pub(crate) fn shown(&self) -> &[Shown] {
        &self.shown
    }

    /// The lines of the visible part of an entry.
    pub(crate) fn lines(&self, shown: Shown) -> &[Line<'static>] {
        let view = self.views.get(&self.place(shown.block));
        let cached = view.and_then(|view| view.cached.as_ref());
        cached.and_then(|cached| cached.lines.get(shown.from..shown.to)).unwrap_or_default()
    }

    /// Whether new entries are followed.
    pub(crate) fn is_following(&self) -> bool {
        self.anchor == Anchor::End && self.entries.is_at_end()
    }

    /// Rows that are shown, less two for orientation.
    pub(crate) fn page_rows(&self) -> usize {
        usize::from(self.room.height).saturating_sub(2).max(1)
    }

    /// Moves towards the beginning.
    pub(crate) fn scroll_up(&mut self, rows: usize) {
        let Some(top) = self.shown.first().copied() else { return };
        let (block, row) = self.rows_before(top.block, top.from, rows);
        self.anchor = self.top(block, row);
        self.arrange(self.room, self.palette);
        self.keep_cursor_in_sight();
    }

    /// Moves towards the end, and follows it again once it is reached.
    pub(crate) fn scroll_down(&mut self, rows: usize) {
        let Anchor::Top { place, mut row } = self.anchor else { return };
        let (mut block, mut left) = (self.index(place), rows);
        loop {
            let rest = self.height_of(block).saturating_sub(row);
            if left < rest {
                row += left;
                break;
            }
            if block + 1 >= self.len() {
                // Past the end, which shows the last page.
                row += left;
                break;
            }
            left -= rest;
            (block, row) = (block + 1, 0);
        }
        self.anchor = self.top(block, row);
        self.arrange(self.room, self.palette);
        self.keep_cursor_in_sight();
    }

    /// Goes to the first row of the window.
    pub(crate) fn go_to_top(&mut self) {
        self.anchor = self.top(0, 0);
        self.cursor = self.cursor.map(|_| self.place(0));
        self.arrange(self.room, self.palette);
    }

    /// Goes to the end, and follows it.
    pub(crate) fn go_to_end(&mut self) {
        self.anchor = Anchor::End;
        self.cursor = self.cursor.map(|_| self.place(self.len().saturating_sub(1)));
        self.arrange(self.room, self.palette);
    }

    /// Puts the cursor on the last visible entry, or removes it.
    pub(crate) fn begin_reading(&mut self) {
        if self.cursor.is_none() {
            self.cursor = self.shown.last().map(|shown| self.place(shown.block));
        }
    }

    pub(crate) const fn end_reading(&mut self) {
        self.cursor = None;
    }

    /// Shows the message with a seq in the upper part of the page; returns whether it is in the
    /// window.
    pub(crate) fn go_to(&mut self, seq: Seq) -> bool {
        let Some(at) = self.entries.position(seq) else { return false };
        self.cursor = Some(seq);
        let (block, row) = self.rows_before(at, 0, usize::from(self.room.height / 4));
        self.anchor = self.top(block, row);
        self.arrange(self.room, self.palette);
        true
    }

    /// Puts the cursor on the next entry that has something to show.
    pub(crate) fn step(&mut self, direction: Direction) {
        let mut at = self.cursor().unwrap_or_else(|| self.len().saturating_sub(1));
        loop {
            let next = match direction {
                Direction::Up => at.checked_sub(1),
                Direction::Down => Some(at + 1).filter(|next| *next < self.len()),
            };
            let Some(next) = next else { return };
            at = next;
            if self.height_of(at) > 0 {
                return self.select(at);
            }
        }
    }

    /// Puts the cursor on an entry and brings it into sight.
    pub(crate) fn select(&mut self, at: usize) {
        let at = at.min(self.len().saturating_sub(1));
        self.cursor = Some(self.place(at));
        let height = self.height_of(at);
        let room = usize::from(self.room.height);
        let whole = Shown { block: at, from: 0, to: height };
        if height == 0 || self.shown.contains(&whole) {
            return;
        }
        let is_above = self.shown.first().is_none_or(|top| at <= top.block);
        let (block, row) =
            if is_above || height >= room { (at, 0) } else { self.rows_before(at, height, room) };
        self.anchor = if at + 1 == self.len() && !is_above && height < room {
            self.last_page()
        } else {
            self.top(block, row)
        };
        self.arrange(self.room, self.palette);
    }

    /// The first visible entry.
    pub(super) fn first_needed(&self) -> usize {
        let cursor = self.cursor().unwrap_or(usize::MAX);
        self.shown.first().map_or(0, |top| top.block).min(cursor)
    }

    /// The position this many rows before another.
    fn rows_before(&mut self, block: usize, row: usize, rows: usize) -> (usize, usize) {
        let (mut block, mut row, mut left) = (block, row, rows);
        while left > row {
            if block == 0 {
                return (0, 0);
            }
            left -= row;
            block -= 1;
            row = self.height_of(block);
        }
        (block, row - left)
    }

    /// Shows the rows after a row; returns whether there were enough.
    fn fill_from(&mut self, block: usize, row: usize) -> bool {
        self.shown.clear();
        let mut left = usize::from(self.room.height);
        let (mut block, mut from) = (block, row);
        while left > 0 {
            if block >= self.len() {
                return false;
            }
            let height = self.height_of(block);
            let from_here = std::mem::take(&mut from).min(height);
            let to = height.min(from_here + left);
            if to > from_here {
                self.shown.push(Shown { block, from: from_here, to });
            }
            left -= to - from_here;
            block += 1;
        }
        true
    }

    fn fill_to_end(&mut self) {
        self.shown.clear();
        let mut left = usize::from(self.room.height);
        for block in (0..self.len()).rev() {
            if left == 0 {
                break;
            }
            let to = self.height_of(block);
            let from = to.saturating_sub(left);
            if to > from {
                self.shown.push(Shown { block, from, to });
            }
            left -= to - from;
        }
        self.shown.reverse();
    }

    fn height_of(&mut self, at: usize) -> usize {
        self.lay_out(at).len()
    }
}
