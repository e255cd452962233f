//! The mouse. The view finds the target of a click; the effects are the same as for keys.

use ratatui::layout::Position;

use super::{card, changes, chat, comparisons, home, key, list, rules, teams};
use crate::card::Card;
use crate::list_keys::Move;
use crate::permission::keys as permission;
use crate::picture::{Direction, Target};
use crate::sheet::keys;
use crate::workbench::layout;
use crate::workbench::model::{Focus, Model, Overlay, Tab};
use crate::workbench::view;

/// Lines that one notch of the wheel moves.
const NOTCH: usize = 3;

/// A click on something that is shown.
pub(super) fn click(model: &mut Model, target: Target, column: usize) {
    if let Some(Overlay::Changes(_)) = model.overlay {
        return changes::click(model, target);
    }
    if model.overlay.is_some() {
        return;
    }
    match target {
        Target::Tab(at) => {
            if let Some(tab) = Tab::ALL.get(at) {
                key::open_tab(model, *tab);
            }
        }
        Target::Entry(at) => match model.tab {
            Tab::Sessions => {
                model.list.cursor = model.list.rows().get(at).copied();
                list::open_at_cursor(model);
            }
            Tab::Home => home::choose(model, at),
            Tab::Teams => teams::choose(model, at),
            Tab::Rules => rules::step(model, Move::To(at)),
            Tab::Compare => comparisons::step(model, Move::To(at)),
        },
        Target::Block(at) => {
            if let Some(chat) = &mut model.chat {
                chat.toggle(at);
            }
        }
        Target::Input if model.tab == Tab::Home => home::compose(model, None),
        Target::Input => chat::write_on(model),
        Target::Choice(_) | Target::Text(_) | Target::Page(_) | Target::Send => {
            model.focus = Focus::Card;
            card::click(model, target, column);
        }
    }
}

/// The wheel scrolls the area under the pointer.
pub(super) fn wheel(model: &mut Model, direction: Direction, at: Position) {
    if let Some(Overlay::Help { scroll }) = model.overlay {
        let scroll = Move::By(direction, NOTCH).apply(scroll, view::scroll_max(model));
        model.overlay = Some(Overlay::Help { scroll });
        return;
    }
    if let Some(Overlay::Changes(_)) = model.overlay {
        return changes::wheel(model, direction, NOTCH);
    }
    let areas = layout::areas(model);
    if areas.list.is_some_and(|list| list.contains(at)) {
        wheel_list(model, direction);
        return;
    }
    let room = layout::sheet_room(model);
    if model.focus == Focus::Card
        && let Some(request) = model.request_mut()
    {
        return match &mut request.card {
            Card::Questions(set) => keys::wheel(set, direction, room),
            Card::Permission(card) => permission::wheel(card, direction, room),
        };
    }
    if let Some(chat) = &mut model.chat {
        match direction {
            Direction::Up => chat.scroll_up(NOTCH),
            Direction::Down => chat.scroll_down(NOTCH),
        }
    }
}

fn wheel_list(model: &mut Model, direction: Direction) {
    let to = Move::By(direction, 1);
    match model.tab {
        Tab::Home => home::step(model, to),
        Tab::Sessions => model.list.step(to),
        Tab::Compare => comparisons::step(model, to),
        Tab::Teams => teams::step(model, to),
        Tab::Rules => rules::step(model, to),
    }
}
