//! The mouse. The view finds the target of a click; the effects are the same as for keys.

use super::{key, queue};
use crate::answer::message::Effect;
use crate::answer::model::{Model, Overlay};
use crate::answer::view;
use crate::card::Card;
use crate::list_keys::Move;
use crate::permission::keys as permission;
use crate::picture::{Direction, Target};
use crate::sheet::keys;

/// Lines that one notch of the wheel moves.
const NOTCH: usize = 3;

/// A click on something that is shown.
pub(super) fn click(model: &mut Model, target: Target, column: usize) -> Option<Effect> {
    if let Target::Entry(line) = target {
        queue::choose(model, line);
        return None;
    }
    model.overlay = None;
    let (room, now) = (view::room(model), model.now);
    match &mut model.open_set_mut()?.card {
        Card::Questions(set) => {
            let step = keys::click(set, target, column, room, now);
            key::follow(model, step)
        }
        Card::Permission(card) => {
            let Target::Choice(row) = target else { return None };
            let step = permission::choose(card, row);
            key::follow_permission(model, step)
        }
    }
}

/// The wheel scrolls a text that is longer than its area.
pub(super) fn wheel(model: &mut Model, direction: Direction) -> Option<Effect> {
    match model.overlay {
        Some(Overlay::Help { scroll }) => {
            let scroll = Move::By(direction, NOTCH).apply(scroll, view::scroll_max(model));
            model.overlay = Some(Overlay::Help { scroll });
        }
        Some(Overlay::List { cursor }) => {
            let cursor = Move::By(direction, 1).apply(cursor, model.entries().saturating_sub(1));
            model.overlay = Some(Overlay::List { cursor });
        }
        None => {
            let room = view::room(model);
            match model.open_set_mut().map(|set| &mut set.card) {
                Some(Card::Questions(set)) => keys::wheel(set, direction, room),
                Some(Card::Permission(card)) => permission::wheel(card, direction, room),
                None => {}
            }
        }
    }
    None
}
