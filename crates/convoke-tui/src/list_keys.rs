//! The keys that move through a list or a text, the same in all of them.

use crossterm::event::{KeyCode, KeyEvent};

use crate::picture::Direction;
use crate::sheet::keys::is_plain;

/// Rows that PgUp and PgDn move by where the visible rows are not counted: in dialogs, which are
/// rarely longer, and in lists whose rows have several lines.
pub(crate) const PAGE: usize = 10;

/// A movement of a cursor, or of a scroll offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    /// By a number of rows.
    By(Direction, usize),
    /// To a row.
    To(usize),
}

impl Move {
    pub(crate) const UP: Self = Self::By(Direction::Up, 1);
    pub(crate) const DOWN: Self = Self::By(Direction::Down, 1);
    const HOME: Self = Self::To(0);
    const END: Self = Self::To(usize::MAX);

    /// The movement that a key means; `None` for keys with another meaning.
    pub(crate) fn of(key: KeyEvent, page: usize) -> Option<Self> {
        match (key.code, is_plain(key)) {
            (KeyCode::Up | KeyCode::Char('k'), true) => Some(Self::UP),
            (KeyCode::Down | KeyCode::Char('j'), true) => Some(Self::DOWN),
            (KeyCode::PageUp, _) => Some(Self::By(Direction::Up, page)),
            (KeyCode::PageDown, _) => Some(Self::By(Direction::Down, page)),
            (KeyCode::Home | KeyCode::Char('g'), true) => Some(Self::HOME),
            (KeyCode::End | KeyCode::Char('G'), true) => Some(Self::END),
            _ => None,
        }
    }

    /// The row that it leads to, among the rows up to `last`.
    pub(crate) fn apply(self, at: usize, last: usize) -> usize {
        let to = match self {
            Self::By(Direction::Up, rows) => at.saturating_sub(rows),
            Self::By(Direction::Down, rows) => at.saturating_add(rows),
            Self::To(row) => row,
        };
        to.min(last)
    }
}

/// The row that a key leads to; `None` for keys with another meaning.
pub(crate) fn moved(key: KeyEvent, at: usize, last: usize, page: usize) -> Option<usize> {
    Move::of(key, page).map(|to| to.apply(at, last))
}

/// The row that a key leads to in a dialog, where digits go to a row; `at` for other keys.
pub(crate) fn moved_or_numbered(key: KeyEvent, at: usize, last: usize) -> usize {
    match (key.code, is_plain(key)) {
        (KeyCode::Char(digit @ '1'..='9'), true) => usize::from(digit as u8 - b'1').min(last),
        _ => moved(key, at, last, PAGE).unwrap_or(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::key;

    #[test]
    fn keys_move_within_a_list_and_stop_at_its_ends() {
        let from_five = |names: &str| -> Vec<Option<usize>> {
            names.split(' ').map(|name| moved(key(name), 5, 9, 3)).collect()
        };
        assert_eq!(from_five("up k down j"), [4, 4, 6, 6].map(Some));
        assert_eq!(from_five("pgup pgdn home g end G"), [2, 8, 0, 0, 9, 9].map(Some));
        assert_eq!(from_five("x ctrl-k alt-g 3 esc"), [None; 5]);
        assert_eq!(moved(key("pgup"), 1, 9, 3), Some(0));
        assert_eq!(moved(key("pgdn"), 8, 9, 3), Some(9));
        assert_eq!(moved(key("down"), 0, 0, 3), Some(0), "a list of one row");
        assert_eq!(["3", "9", "x"].map(|name| moved_or_numbered(key(name), 5, 6)), [2, 6, 5]);
    }
}
