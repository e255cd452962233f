//! Looking at all answers, and sending them.

use crossterm::event::{KeyCode, KeyEvent};

use super::key::{Taken, is_plain};
use super::{question, reject};
use crate::message::Effect;
use crate::model::Model;
use crate::set::{Page, Place};

/// A key on the review page; the row after the questions sends.
pub(super) fn press(model: &mut Model, row: usize, key: KeyEvent) -> Taken {
    let Some(set) = model.open_set_mut() else { return Taken::No };
    let count = set.drafts.len();
    match (key.code, is_plain(key)) {
        (KeyCode::Up | KeyCode::Char('k'), true) => set.page = Page::Review(row.saturating_sub(1)),
        (KeyCode::Down | KeyCode::Char('j'), true) => set.page = Page::Review((row + 1).min(count)),
        (KeyCode::Home | KeyCode::Char('g'), true) => set.page = Page::Review(0),
        (KeyCode::End | KeyCode::Char('G'), true) => set.page = Page::Review(count),
        (KeyCode::Enter, _) if row < count => question::go(model, Place::Question(row)),
        (KeyCode::Enter, _) | (KeyCode::Char('s'), true) => return Taken::Yes(send(model)),
        (KeyCode::Char(digit @ '1'..='9'), true) => {
            let index = usize::from(digit as u8 - b'1');
            if index < count {
                question::go(model, Place::Question(index));
            }
        }
        (KeyCode::BackTab | KeyCode::Left | KeyCode::Esc, true) => {
            question::go(model, Place::Question(count.saturating_sub(1)));
        }
        (KeyCode::Tab | KeyCode::Right, true) => question::go(model, Place::Question(0)),
        (KeyCode::Char('r'), true) => reject::begin(model, Place::Review),
        _ => return Taken::No,
    }
    Taken::Yes(None)
}

/// Sends the answers once there are all.
pub(super) fn send(model: &mut Model) -> Option<Effect> {
    let now = model.now;
    let set = model.open_set_mut()?;
    if let Some(missing) = set.first_missing() {
        set.page = Page::Review(missing);
        model.refuse(format!("Question {} has no answer yet.", missing + 1));
        return None;
    }
    let answers = set.answers(now)?;
    set.page = Page::Settling;
    Some(Effect::Send { id: set.asked.id, answers })
}
