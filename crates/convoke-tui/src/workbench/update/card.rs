//! Answers requests: a permission by a choice, questions with the pages of `convoke answer`.

use convoke_api::frames::ClientFrame;
use convoke_core::id::RequestId;
use convoke_core::question::GivenAnswers;
use crossterm::event::KeyEvent;

use super::Handled;
use crate::card::Card;
use crate::permission::keys as permission;
use crate::picture::Target;
use crate::sheet::keys::{self, Step};
use crate::workbench::layout;
use crate::workbench::message::InFlight;
use crate::workbench::model::{Model, Sent};

/// Handles a key for the card; returns whether it was used.
pub(super) fn press(model: &mut Model, key: KeyEvent) -> Handled {
    let (room, now) = (layout::sheet_room(model), model.now);
    let Some(request) = model.request_mut() else { return Handled::No };
    let id = request.item.id;
    match &mut request.card {
        Card::Permission(card) => {
            let step = permission::press(card, key, room);
            follow_permission(model, id, step)
        }
        Card::Questions(set) => {
            let step = keys::press(set, key, room, now);
            follow(model, id, step)
        }
    }
}

/// A pasted text.
pub(super) fn paste(model: &mut Model, text: &str) {
    match model.request_mut().map(|request| &mut request.card) {
        Some(Card::Questions(set)) => keys::paste(set, text),
        Some(Card::Permission(card)) => permission::paste(card, text),
        None => {}
    }
}

/// A click on something of the card.
pub(super) fn click(model: &mut Model, target: Target, column: usize) {
    let (room, now) = (layout::sheet_room(model), model.now);
    let Some(request) = model.request_mut() else { return };
    let id = request.item.id;
    match (&mut request.card, target) {
        (Card::Permission(card), Target::Choice(row)) => {
            let step = permission::choose(card, row);
            follow_permission(model, id, step);
        }
        (Card::Permission(_), _) => {}
        (Card::Questions(set), target) => {
            let step = keys::click(set, target, column, room, now);
            follow(model, id, step);
        }
    }
}

fn follow(model: &mut Model, id: RequestId, step: Step) -> Handled {
    let question_id = id.to_string();
    let frame = match step {
        Step::Left => return Handled::No,
        Step::Taken | Step::Away => return Handled::Yes,
        Step::Refused(words) => {
            model.refuse(words);
            return Handled::Yes;
        }
        Step::Send(answers) => {
            let answers: GivenAnswers = answers.into_iter().collect();
            ClientFrame::QuestionAnswer { question_id, answers }
        }
        Step::Reject(reason) => ClientFrame::QuestionReject { question_id, reason },
    };
    settle(model, id, frame);
    Handled::Yes
}

fn follow_permission(model: &mut Model, id: RequestId, step: permission::Step) -> Handled {
    if step == permission::Step::Left {
        return Handled::No;
    }
    if let Some(frame) = step.frame(id) {
        settle(model, id, frame);
    }
    Handled::Yes
}

fn settle(model: &mut Model, id: RequestId, frame: ClientFrame) {
    if model.send(InFlight::Settle(id), frame) == Sent::No {
        super::inbox::reopen(model, id);
    }
}
