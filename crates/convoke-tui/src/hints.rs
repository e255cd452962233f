//! The line at the bottom: the keys that work now, as many as fit; and the page of all keys.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::list_keys::Move;
use crate::palette::Palette;
use crate::picture::{Direction, Picture, Strip};
use crate::sheet::keys::is_plain;
use crate::text::wrap;

/// A key and what it does.
pub(crate) type Hint = (&'static str, &'static str);

pub(crate) const HELP: Hint = ("?", "help");
pub(crate) const QUIT: Hint = ("q", "quit");

/// The keys that work now.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// The most important ones first; as many as fit are shown.
    pub(crate) here: Vec<Hint>,
    /// These always fit.
    pub(crate) always: Vec<Hint>,
}

/// Draws the line at the bottom.
pub(crate) fn line(hints: Hints, picture: &mut Picture, area: Rect, palette: Palette) {
    let Hints { here, always } = hints;
    let cells = |(key, word): &Hint| wrap::width(key) + wrap::width(word) + 3;
    let mut room = usize::from(area.width).saturating_sub(always.iter().map(cells).sum());
    let mut shown = Vec::new();
    for hint in here {
        match room.checked_sub(cells(&hint)) {
            Some(rest) => room = rest,
            None => break,
        }
        shown.push(hint);
    }
    shown.extend(always);
    let mut spans = vec![Span::raw(" ")];
    for (key, word) in shown {
        spans.push(Span::styled(key, palette.here()));
        spans.push(Span::raw(format!(" {word}  ")));
    }
    picture.line(area, spans);
}

/// Cells of the column of keys.
const KEY_CELLS: usize = 12;

/// The page of all keys, from a line on; a line without a key is a heading.
pub(crate) fn page(
    keys: &[Hint],
    picture: &mut Picture,
    area: Rect,
    scroll: usize,
    palette: Palette,
) {
    let mut strip = Strip::default();
    for (key, meaning) in keys {
        if key.is_empty() {
            strip.push(Line::styled(*meaning, palette.strong()));
            continue;
        }
        let room = usize::from(area.width).saturating_sub(KEY_CELLS + 2).max(1);
        for (row, words) in wrap::spans(&[Span::raw(*meaning)], room).into_iter().enumerate() {
            let key = if row == 0 { key } else { "" };
            let mut line =
                vec![Span::raw("  "), Span::styled(format!("{key:KEY_CELLS$}"), palette.here())];
            line.extend(words);
            strip.push(line);
        }
    }
    picture.scrolled(area, strip, scroll);
    let above = scroll.min(picture.scroll_max);
    picture.hidden = (above, picture.scroll_max - above);
}

/// The result of a key on the page of all keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageStep {
    Scroll(Move),
    Close,
    /// The page has no use for it.
    Ignored,
}

/// A key on the page of all keys, which moves by so many rows at once.
pub(crate) fn press_page(key: KeyEvent, page_rows: usize) -> PageStep {
    if let Some(to) = Move::of(key, page_rows) {
        return PageStep::Scroll(to);
    }
    match (key.code, is_plain(key)) {
        (KeyCode::Char(' '), _) => PageStep::Scroll(Move::By(Direction::Down, page_rows)),
        (KeyCode::Esc | KeyCode::Enter | KeyCode::F(1) | KeyCode::Char('?' | 'q'), true) => {
            PageStep::Close
        }
        _ => PageStep::Ignored,
    }
}
