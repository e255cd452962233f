//! Going from set to set.

use convoke_core::id::RequestId;
use crossterm::event::{KeyCode, KeyEvent};

use super::key::leave;
use crate::answer::message::Effect;
use crate::answer::model::{Model, Overlay};
use crate::list_keys::{PAGE, moved};
use crate::sheet::keys::is_plain;

/// The direction.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Next,
    Previous,
}

/// A key while the list of sets is open.
pub(super) fn press(model: &mut Model, key: KeyEvent, cursor: usize) -> Option<Effect> {
    let last = model.entries().saturating_sub(1);
    if let Some(cursor) = moved(key, cursor, last, PAGE) {
        model.overlay = Some(Overlay::List { cursor });
        return None;
    }
    match (key.code, is_plain(key)) {
        (KeyCode::Enter | KeyCode::Char(' '), true) => choose(model, cursor),
        (KeyCode::Esc | KeyCode::Char('l'), true) => model.overlay = None,
        (KeyCode::Char('q'), true) => return leave(model),
        _ => {}
    }
    None
}

/// Opens the set on a line of the list.
pub(super) fn choose(model: &mut Model, line: usize) {
    match model.sets.get(line) {
        Some(set) => {
            open(model, Some(set.id()));
            model.overlay = None;
        }
        None => model.refuse("This set is damaged and cannot be shown or answered."),
    }
}

/// The request at the list's cursor, if the list is open.
pub(super) fn listed_at_cursor(model: &Model) -> Option<RequestId> {
    let Some(Overlay::List { cursor }) = model.overlay else { return None };
    listed(model).nth(cursor)
}

/// Moves the list's cursor to this request, wherever it is now.
pub(super) fn follow(model: &mut Model, id: Option<RequestId>) {
    let Some(Overlay::List { cursor }) = model.overlay else { return };
    let found = id.and_then(|id| listed(model).position(|listed| listed == id));
    // A list of nothing is closed.
    let last = model.entries().checked_sub(1);
    model.overlay =
        last.map(|last| Overlay::List { cursor: found.unwrap_or_else(|| cursor.min(last)) });
}

fn listed(model: &Model) -> impl Iterator<Item = RequestId> {
    let sets = model.sets.iter().map(|set| set.id());
    sets.chain(model.damaged.iter().map(|damaged| damaged.id))
}

/// Goes to the set beside the open one, around the ends.
pub(super) fn step(model: &mut Model, step: Step) {
    let count = model.sets.len();
    let Some(position) = model.open_position() else { return };
    let to = match step {
        Step::Next => (position + 1) % count,
        Step::Previous => (position + count - 1) % count,
    };
    if to == position {
        model.refuse("There is no other set.");
    }
    open(model, model.sets.get(to).map(|set| set.id()));
}

/// Removes the open request and opens the next one, or else the oldest.
pub(super) fn open_next(model: &mut Model) {
    let position = model.open_position().unwrap_or_default();
    let is_last = position + 1 >= model.sets.len();
    let following = model.sets.get(if is_last { 0 } else { position + 1 });
    let to = following.map(|set| set.id()).filter(|id| Some(*id) != model.open);
    let gone = model.open;
    model.sets.retain(|set| Some(set.id()) != gone);
    open(model, to);
}

/// Opens the oldest set, if there is any.
pub(super) fn open_first(model: &mut Model) {
    open(model, model.sets.first().map(|set| set.id()));
}

/// Brings a set before the human where they left it.
pub(super) fn open(model: &mut Model, id: Option<RequestId>) {
    model.sets.retain(|set| !set.card.is_gone() || Some(set.id()) == id);
    model.open = id;
    // The human sees it now.
    if let Some(set) = model.open_set_mut() {
        set.card.mark_seen();
    }
}
