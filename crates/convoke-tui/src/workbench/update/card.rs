//! Answering what is asked: a permission by choosing, questions with the pages that `convoke answer` has.

use convoke_api::frames::ClientFrame;
use convoke_core::id::RequestId;
use convoke_core::question::GivenAnswers;
use convoke_core::request::PermissionKind;
use crossterm::event::{KeyCode, KeyEvent};

use super::Taken;
use crate::picture::Target;
use crate::sheet::keys::{self, Step, is_plain};
use crate::workbench::layout;
use crate::workbench::message::Wish;
use crate::workbench::model::{Asked, Model};
use crate::workbench::request::{Card, Choice, Memory, PermissionCard};

/// Handles a key for the card; returns whether it was used.
pub(super) fn press(model: &mut Model, key: KeyEvent) -> Taken {
    let (room, now) = (layout::sheet_room(model), model.now);
    let Some(request) = model.request_mut() else { return Taken::No };
    let id = request.item.id;
    match &mut request.card {
        Card::Permission(_) => press_permission(model, id, key),
        Card::Questions(set) => {
            let step = keys::press(set, key, room, now);
            follow(model, id, step)
        }
    }
}

/// A pasted text.
pub(super) fn paste(model: &mut Model, text: &str) {
    if let Some(Card::Questions(set)) = model.request_mut().map(|request| &mut request.card) {
        keys::paste(set, text);
    }
}

/// A click on something of the card.
pub(super) fn click(model: &mut Model, target: Target, column: usize) {
    let (room, now) = (layout::sheet_room(model), model.now);
    let Some(request) = model.request_mut() else { return };
    let id = request.item.id;
    match (&mut request.card, target) {
        (Card::Permission(card), Target::Choice(row)) => {
            card.cursor = row;
            choose(model, id, row);
        }
        (Card::Permission(_), _) => {}
        (Card::Questions(set), target) => {
            let step = keys::click(set, target, column, room, now);
            follow(model, id, step);
        }
    }
}

fn follow(model: &mut Model, id: RequestId, step: Step) -> Taken {
    let question_id = id.to_string();
    let frame = match step {
        Step::Left => return Taken::No,
        Step::Taken | Step::Away => return Taken::Yes,
        Step::Refused(words) => {
            model.refuse(words);
            return Taken::Yes;
        }
        Step::Send(answers) => {
            let answers: GivenAnswers = answers.into_iter().collect();
            ClientFrame::QuestionAnswer { question_id, answers }
        }
        Step::Reject(reason) => ClientFrame::QuestionReject { question_id, reason },
    };
    settle(model, id, frame);
    Taken::Yes
}

fn press_permission(model: &mut Model, id: RequestId, key: KeyEvent) -> Taken {
    let Some(card) = card_mut(model) else { return Taken::No };
    let last = card.choices.len().saturating_sub(1);
    let of_kind = |wanted: PermissionKind| {
        card.choices.iter().position(|choice: &Choice| choice.kind == wanted)
    };
    match (key.code, is_plain(key)) {
        (KeyCode::Up | KeyCode::Char('k'), true) => card.cursor = card.cursor.saturating_sub(1),
        (KeyCode::Down | KeyCode::Char('j'), true) => card.cursor = (card.cursor + 1).min(last),
        (KeyCode::Char(digit @ '1'..='9'), true) => {
            choose(model, id, usize::from(digit as u8 - b'1'));
        }
        (KeyCode::Enter, _) => {
            let at = card.cursor;
            choose(model, id, at);
        }
        (KeyCode::Char('y'), true) => {
            if let Some(at) = of_kind(PermissionKind::AllowOnce) {
                choose(model, id, at);
            }
        }
        (KeyCode::Char('n'), true) => match of_kind(PermissionKind::RejectOnce) {
            Some(at) => choose(model, id, at),
            None => reject(model, id),
        },
        (KeyCode::Char('r'), true) => reject(model, id),
        _ => return Taken::No,
    }
    Taken::Yes
}

fn choose(model: &mut Model, id: RequestId, at: usize) {
    let Some(card) = card_mut(model) else { return };
    let Some(choice) = card.choices.get(at).filter(|_| !card.is_settling).cloned() else { return };
    let frame = ClientFrame::PermissionAnswer {
        permission_id: id.to_string(),
        option_id: choice.option_id,
        rule: (choice.memory == Memory::Project).then_some(0),
        remember: None,
    };
    card.cursor = at;
    card.is_settling = true;
    settle(model, id, frame);
}

fn reject(model: &mut Model, id: RequestId) {
    if let Some(card) = card_mut(model) {
        card.is_settling = true;
    }
    settle(model, id, ClientFrame::QuestionReject { question_id: id.to_string(), reason: None });
}

fn settle(model: &mut Model, id: RequestId, frame: ClientFrame) {
    if model.wish(Wish::Settle(id), frame) == Asked::No {
        super::inbox::reopen(model, id);
    }
}

fn card_mut(model: &mut Model) -> Option<&mut PermissionCard> {
    match &mut model.request_mut()?.card {
        Card::Permission(card) => Some(card),
        Card::Questions(_) => None,
    }
}
