//! Draws the model. Pure, so that the mouse and the paging keys can query the layout.

mod frame;
mod help;
mod list;
mod status;
mod waiting;

use ratatui::Frame;
use ratatui::layout::{Position, Rect, Size};

use crate::answer::model::{Model, Overlay};
use crate::card::Card;
use crate::permission;
use crate::picture::{Picture, Target};
use crate::rule;
use crate::sheet::{self, keys::Room};

/// The smallest terminal in which everything can be used.
const SIZE_MIN: Size = Size::new(60, 16);

/// Draws the model.
pub(crate) fn view(model: &Model, frame: &mut Frame<'_>) {
    compose(model).paint(frame);
}

/// Whether the terminal is too small to show anything but that.
pub(crate) const fn is_too_small(size: Size) -> bool {
    size.width < SIZE_MIN.width || size.height < SIZE_MIN.height
}

/// The target at a position, and the offset of the position from its start, in cells.
pub(crate) fn target_at(model: &Model, at: Position) -> Option<(Target, usize)> {
    compose(model).target_at(at)
}

/// The area of the open request.
pub(crate) fn room(model: &Model) -> Room {
    Room {
        size: frame::body(frame::areas(model).main, model.size).as_size(),
        palette: model.palette,
    }
}

/// The maximum scroll offset of the scrollable text.
pub(crate) fn scroll_max(model: &Model) -> usize {
    compose(model).scroll_max
}

/// Rows that the keys for pages move by.
pub(crate) fn page_rows(model: &Model) -> usize {
    compose(model).page_rows()
}

fn compose(model: &Model) -> Picture {
    let mut picture = Picture::default();
    if is_too_small(model.size) {
        picture.ask_for_room(model.size, SIZE_MIN);
        return picture;
    }
    let areas = frame::areas(model);
    if let Some(side) = areas.side {
        list::side(model, &mut picture, side);
    }
    match model.overlay {
        Some(Overlay::Help { scroll }) => help::page(model, &mut picture, areas.main, scroll),
        Some(Overlay::List { cursor }) if areas.side.is_none() => {
            list::page(model, &mut picture, areas.main, cursor);
        }
        Some(Overlay::List { .. }) | None => main(model, &mut picture, areas.main),
    }
    rule::with_notice(&mut picture, areas.rule, model.notices.shown(), model.palette);
    status::line(model, &mut picture, areas.status);
    picture
}

fn main(model: &Model, picture: &mut Picture, area: Rect) {
    let Some(set) = model.open_set() else {
        waiting::page(model, picture, area);
        return;
    };
    let body = frame::head(model, set, picture, area);
    match &set.card {
        Card::Questions(set) => sheet::view::page(set, picture, body, model.palette),
        Card::Permission(card) => permission::view::page(card, picture, body, model.palette),
    }
}
