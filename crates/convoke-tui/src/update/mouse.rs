//! The mouse. What is clicked on, the view knows; what follows is the same as with keys.

use super::{question, queue, review, writing};
use crate::message::{Effect, Target, Way};
use crate::model::{Model, Overlay};
use crate::set::Page;
use crate::view;

/// Lines that one notch of the wheel moves.
const NOTCH: usize = 3;

/// A click on something that is shown.
pub(super) fn click(model: &mut Model, target: Target, column: usize) -> Option<Effect> {
    let page = model.open_set().map(|set| set.page);
    if !matches!(target, Target::Entry(_)) {
        model.overlay = None;
    }
    if let Target::Text(row) = target {
        point(model, row, column);
        return None;
    }
    if let Some(Page::Writing(index)) = page {
        writing::leave(model, index);
    }
    match (target, page) {
        (Target::Entry(line), _) => queue::choose(model, line),
        (Target::Choice(row), Some(Page::Question(index) | Page::Writing(index))) => {
            question::choose(model, index, row);
        }
        (Target::Page(place), Some(Page::Question(_) | Page::Writing(_) | Page::Review(_))) => {
            question::go(model, place);
        }
        (Target::Send, Some(Page::Review(_))) => return review::send(model),
        _ => {}
    }
    None
}

/// A turn of the wheel moves what is longer than its place.
pub(super) fn wheel(model: &mut Model, way: Way) -> Option<Effect> {
    let turn = |at: usize| match way {
        Way::Up => at.saturating_sub(NOTCH),
        Way::Down => at + NOTCH,
    };
    match model.overlay {
        Some(Overlay::Help { scroll }) => {
            let to = turn(scroll).min(view::scroll_max(model));
            model.overlay = Some(Overlay::Help { scroll: to });
        }
        Some(Overlay::List { cursor }) => {
            let to = match way {
                Way::Up => cursor.saturating_sub(1),
                Way::Down => (cursor + 1).min(model.entries().saturating_sub(1)),
            };
            model.overlay = Some(Overlay::List { cursor: to });
        }
        None => question::scroll(model, turn),
    }
    None
}

/// Puts the cursor into a text.
fn point(model: &mut Model, row: usize, column: usize) {
    let width = view::editor_width(model.size);
    let Some(set) = model.open_set_mut() else { return };
    match set.page {
        Page::Question(index) | Page::Writing(index) => {
            question::write(model, index);
            let draft = model.open_set_mut().and_then(|set| set.drafts.get_mut(index));
            if let Some(draft) = draft {
                draft.words.point(row, column, width);
            }
        }
        Page::Reason(_) => set.reason.point(row, column, width),
        Page::Review(_) | Page::ConfirmReject(_) | Page::Settling | Page::Gone(_) => {}
    }
}
