//! The mouse. The view finds the target of a click; the effects are the same as for keys.

use super::{key, queue};
use crate::answer::message::Effect;
use crate::answer::model::{Model, Overlay};
use crate::answer::view;
use crate::card::Card;
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
    let turn = |at: usize| match direction {
        Direction::Up => at.saturating_sub(NOTCH),
        Direction::Down => at + NOTCH,
    };
    match model.overlay {
        Some(Overlay::Help { scroll }) => {
            let to = turn(scroll).min(view::scroll_max(model));
            model.overlay = Some(Overlay::Help { scroll: to });
        }
        Some(Overlay::List { cursor }) => {
            let to = match direction {
                Direction::Up => cursor.saturating_sub(1),
                Direction::Down => (cursor + 1).min(model.entries().saturating_sub(1)),
            };
            model.overlay = Some(Overlay::List { cursor: to });
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
