//! Keys: which part of the screen handles them, and those with the same meaning everywhere except
//! in a text.

use convoke_api::frames::ClientFrame;
use convoke_core::id::RequestId;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::queue;
use crate::answer::message::Effect;
use crate::answer::model::{Daemon, Model, Overlay, Source};
use crate::answer::view;
use crate::card::Card;
use crate::hints::{self, PageStep};
use crate::permission::keys as permission;
use crate::sheet::keys::{self, Step, is_plain};

/// Dispatches a key to the focused part of the screen.
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
        // Nothing that is not visible is changed.
        return if key.code == KeyCode::Char('q') { leave(model) } else { None };
    }
    match model.overlay {
        Some(Overlay::Help { scroll }) => return help(model, key, scroll),
        Some(Overlay::List { cursor }) => return queue::press(model, key, cursor),
        None => {}
    }
    let (room, now) = (view::room(model), model.now);
    let Some(set) = model.open_set_mut() else { return anywhere(model, key) };
    match &mut set.card {
        Card::Questions(set) => match keys::press(set, key, room, now) {
            Step::Left => anywhere(model, key),
            step @ (Step::Taken
            | Step::Refused(_)
            | Step::Send(_)
            | Step::Reject(_)
            | Step::Away) => follow(model, step),
        },
        Card::Permission(card) => match permission::press(card, key, room) {
            permission::Step::Left => anywhere(model, key),
            step @ (permission::Step::Taken
            | permission::Step::Answer { .. }
            | permission::Step::Deny(_)
            | permission::Step::Away) => follow_permission(model, step),
        },
    }
}

/// Applies the result of a key in the open set of questions.
pub(super) fn follow(model: &mut Model, step: Step) -> Option<Effect> {
    let (id, source) = model.open_set().map(|set| (set.id(), set.source))?;
    match (step, source) {
        (Step::Taken | Step::Left, _) => None,
        (Step::Refused(words), _) => {
            model.refuse(words);
            None
        }
        (Step::Send(answers), Source::File) => Some(Effect::Send { id, answers }),
        (Step::Send(answers), Source::Daemon) => {
            let answers = answers.into_iter().collect();
            send_frame(
                model,
                id,
                ClientFrame::QuestionAnswer { question_id: id.to_string(), answers },
            )
        }
        (Step::Reject(reason), Source::File) => Some(Effect::Reject { id, reason }),
        (Step::Reject(reason), Source::Daemon) => send_frame(
            model,
            id,
            ClientFrame::QuestionReject { question_id: id.to_string(), reason },
        ),
        (Step::Away, _) => {
            queue::open_next(model);
            None
        }
    }
}

/// Applies the result of a key in the open permission.
pub(super) fn follow_permission(model: &mut Model, step: permission::Step) -> Option<Effect> {
    let id = model.open?;
    if step == permission::Step::Away {
        queue::open_next(model);
    }
    let frame = step.frame(id)?;
    send_frame(model, id, frame)
}

/// Sends the daemon a frame, if it is connected.
fn send_frame(model: &mut Model, id: RequestId, frame: ClientFrame) -> Option<Effect> {
    if model.daemon == Daemon::Linked {
        return Some(Effect::SendFrame { id, frame });
    }
    if let Some(set) = model.open_set_mut() {
        set.card.reopen();
    }
    model.refuse("Not connected to the daemon: your answer was not sent.");
    None
}

/// A pasted text.
pub(super) fn paste(model: &mut Model, text: &str) -> Option<Effect> {
    if model.overlay.is_none()
        && let Some(set) = model.open_set_mut()
    {
        match &mut set.card {
            Card::Questions(set) => keys::paste(set, text),
            Card::Permission(card) => permission::paste(card, text),
        }
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
        (KeyCode::Char('n') | KeyCode::Tab, true) => queue::step(model, queue::Step::Next),
        (KeyCode::Char('p') | KeyCode::BackTab, true) => {
            queue::step(model, queue::Step::Previous);
        }
        (KeyCode::Char('q'), true) => return leave(model),
        _ => {}
    }
    None
}

/// Leaves at once if nothing would be lost, else after a confirmation.
pub(super) fn leave(model: &mut Model) -> Option<Effect> {
    let touched = model.sets.iter().filter(|set| set.card.is_touched()).count();
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
    match hints::press_page(key, view::page_rows(model)) {
        PageStep::Scroll(to) => {
            let scroll = to.apply(scroll, view::scroll_max(model));
            model.overlay = Some(Overlay::Help { scroll });
        }
        PageStep::Close => model.overlay = None,
        PageStep::Ignored => {}
    }
    None
}

fn is_interrupt(key: KeyEvent) -> bool {
    key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
}
