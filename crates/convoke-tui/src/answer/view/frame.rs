//! The frame of every page: the head of the set, the rule with notices, and the list on wide
//! screens.

use ratatui::layout::{Rect, Size};
use ratatui::text::{Line, Span};

use crate::answer::model::{Model, Waiting};
use crate::card::Card;
use crate::picture::Picture;
use crate::sheet;
use crate::text::wrap;
use crate::{rule, words};

/// From this width on the list of sets stays beside the page.
const WIDE: u16 = 100;
/// Columns of the list beside the page, its rule included.
const SIDE: u16 = 36;
/// Rows of the head of a set.
const HEAD: u16 = 3;
/// Lines longer than this are hard to read.
const TEXT_MAX: usize = 96;

/// The areas of the screen.
pub(super) struct Areas {
    pub(super) side: Option<Rect>,
    pub(super) main: Rect,
    pub(super) rule: Rect,
    pub(super) status: Rect,
}

pub(super) fn areas(model: &Model) -> Areas {
    let Size { width, height } = model.size;
    let content = Rect::new(0, 0, width, height - 2);
    let has_side = width >= WIDE && model.entries() > 0;
    let side = has_side.then_some(Rect { width: SIDE, ..content });
    let x = side.map_or(0, |side| side.width);
    Areas {
        side,
        main: Rect { x, width: width - x, ..content },
        rule: Rect::new(0, height - 2, width, 1),
        status: Rect::new(0, height - 1, width, 1),
    }
}

/// The cells that text has on a page, which begins one cell from the left.
fn text_width(size: Size) -> usize {
    let side = if size.width >= WIDE { SIDE } else { 0 };
    usize::from(size.width.saturating_sub(side + 2)).min(TEXT_MAX)
}

/// The part of an area for text.
pub(super) fn text_area(size: Size, area: Rect) -> Rect {
    let width = u16::try_from(text_width(size)).unwrap_or(area.width);
    Rect { x: area.x + 1, width: width.min(area.width.saturating_sub(1)), ..area }
}

/// The asker, the pages of the set and a rule; returns the remaining area for the page.
pub(super) fn head(model: &Model, set: &Waiting, picture: &mut Picture, area: Rect) -> Rect {
    let [first, second, third] = [0, 1, 2].map(|row| Rect { y: area.y + row, height: 1, ..area });
    origin(model, set, picture, first);
    match &set.card {
        Card::Questions(set) => sheet::view::tabs(set, picture, second, model.palette),
        Card::Permission(_) => {
            picture.line(second, Line::styled(" ◆ permission", model.palette.news()));
        }
    }
    let text = match words::left(set.card.asked().asker) {
        Some(_) => "the asker has left; your answer is kept for it",
        None => "",
    };
    picture.line(third, rule::line(area.width, text, model.palette.news(), model.palette));
    body(area, model.size)
}

/// The area below the head.
pub(super) fn body(area: Rect, size: Size) -> Rect {
    text_area(size, Rect { y: area.y + HEAD, height: area.height.saturating_sub(HEAD), ..area })
}

fn origin(model: &Model, set: &Waiting, picture: &mut Picture, area: Rect) {
    let position = model.open_position().map_or(1, |position| position + 1);
    let mut right = format!("{position} of {} ", model.sets.len());
    if let Some(left) = words::left(set.card.asked().asker) {
        right = format!("{left} · {right}");
    }
    let room = usize::from(area.width).saturating_sub(wrap::width(&right) + 3);
    let left = words::origin(set.card.asked(), model.user_folder.as_deref(), model.now, room);
    let gap = usize::from(area.width).saturating_sub(wrap::width(&left) + wrap::width(&right) + 1);
    picture.line(
        area,
        vec![
            Span::raw(" "),
            Span::styled(left, model.palette.strong()),
            Span::raw(" ".repeat(gap)),
            Span::styled(right, model.palette.faint()),
        ],
    );
}
