//! Keys: to whom they belong, and those that mean the same everywhere but in a text.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::queue;
use crate::answer::message::Effect;
use crate::answer::model::{Model, Overlay};
use crate::answer::view;
use crate::sheet::keys::{self, Step, is_plain};

/// Hands a key to whatever is before the human.
pub(super) fn press(model: &mut Model, key: KeyEvent) -> Option<Effect> {
    let was_leaving = model.is_leaving;
    let effect = dispatch(model, key);
    // The question whether leaving is meant is for the very next key.
    model.is_leaving &= !was_leaving;
    effect
}

fn dispatch(model: &mut Model, key: KeyEvent) -> Option<Effect> {
    if is_interrupt(key) {
        return leave(model);
    }
    if view::is_too_small(model.size) {
        // No changes to what is not visible.
        return if key.code == KeyCode::Char('q') { leave(model) } else { None };
    }
    match model.overlay {
        Some(Overlay::Help { scroll }) => return help(model, key, scroll),
        Some(Overlay::List { cursor }) => return queue::press(model, key, cursor),
        None => {}
    }
    let (room, now) = (view::room(model), model.now);
    let Some(set) = model.open_set_mut() else { return anywhere(model, key) };
    let step = keys::press(set, key, room, now);
    if step == Step::Left { anywhere(model, key) } else { follow(model, step) }
}

/// Does what follows from what happened to the open set.
pub(super) fn follow(model: &mut Model, step: Step) -> Option<Effect> {
    let id = model.open?;
    match step {
        Step::Taken | Step::Left => {}
        Step::Refused(words) => model.refuse(words),
        Step::Send(answers) => return Some(Effect::Send { id, answers }),
        Step::Reject(reason) => return Some(Effect::Reject { id, reason }),
        Step::Away => queue::open_next(model),
    }
    None
}

/// A pasted text.
pub(super) fn paste(model: &mut Model, text: &str) -> Option<Effect> {
    if model.overlay.is_none()
        && let Some(set) = model.open_set_mut()
    {
        keys::paste(set, text);
    }
    None
}

fn anywhere(model: &mut Model, key: KeyEvent) -> Option<Effect> {
    match (key.code, is_plain(key)) {
        (KeyCode::Char('?') | KeyCode::F(1), true) => {
            model.overlay = Some(Overlay::Help { scroll: 0 });
        }
        (KeyCode::Char('l'), true) if model.entries() > 0 => {
            let cursor = model.open_position().unwrap_or_default();
            model.overlay = Some(Overlay::List { cursor });
        }
        (KeyCode::Char('n'), true) => queue::step(model, queue::Step::Next),
        (KeyCode::Char('p'), true) => queue::step(model, queue::Step::Previous),
        (KeyCode::Char('q'), true) => return leave(model),
        _ => {}
    }
    None
}

/// Leaves at once when nothing would be lost, else when asked a second time.
pub(super) fn leave(model: &mut Model) -> Option<Effect> {
    let touched = model.sets.iter().filter(|set| set.is_touched()).count();
    if model.is_leaving || touched == 0 {
        return Some(Effect::Quit);
    }
    model.is_leaving = true;
    model.refuse(match touched {
        1 => "Unsent answers would be lost. Press again to quit.".to_owned(),
        _ => format!("Unsent answers in {touched} sets would be lost. Press again to quit."),
    });
    None
}

fn help(model: &mut Model, key: KeyEvent, scroll: usize) -> Option<Effect> {
    let to = match (key.code, is_plain(key)) {
        (KeyCode::Up | KeyCode::Char('k'), _) => scroll.saturating_sub(1),
        (KeyCode::Down | KeyCode::Char('j'), _) => scroll + 1,
        (KeyCode::PageUp, _) => scroll.saturating_sub(view::page_rows(model)),
        (KeyCode::PageDown | KeyCode::Char(' '), _) => scroll + view::page_rows(model),
        (KeyCode::Esc | KeyCode::Enter | KeyCode::F(1) | KeyCode::Char('?' | 'q'), true) => {
            model.overlay = None;
            return None;
        }
        _ => return None,
    };
    model.overlay = Some(Overlay::Help { scroll: to.min(view::scroll_max(model)) });
    None
}

fn is_interrupt(key: KeyEvent) -> bool {
    key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
}
