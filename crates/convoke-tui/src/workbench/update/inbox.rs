//! What waits for the human: it comes, it is answered, it goes.

use std::collections::HashMap;

use convoke_api::bodies::InboxItem;
use convoke_core::id::RequestId;
use crossterm::event::{KeyCode, KeyEvent};

use super::{Taken, session};
use crate::sheet::keys::is_plain;
use crate::text::clean;
use crate::workbench::message::Effect;
use crate::workbench::model::{Focus, Model, Tab};
use crate::workbench::request::Request;

/// Takes in all that waits; what the human is about to say is kept.
pub(super) fn take(model: &mut Model, items: Vec<InboxItem>) {
    let is_first = !std::mem::replace(&mut model.has_inbox, true);
    let before = std::mem::take(&mut model.inbox).into_iter();
    let mut known: HashMap<RequestId, Request> = before.map(|it| (it.item.id, it)).collect();
    let before_eyes =
        model.chat.as_ref().map(|chat| chat.id).filter(|_| model.tab == Tab::Sessions);
    let mut arrived = Vec::new();
    for item in items {
        match known.remove(&item.id) {
            Some(mut request) => {
                request.renew(item);
                model.inbox.push(request);
            }
            None => {
                let is_seen = before_eyes.is_some() && item.uid == before_eyes;
                let sight = if is_seen { Sight::Seen } else { Sight::Unseen };
                arrived.push((clean::line(&item.title), sight));
                model.inbox.push(Request::new(item));
            }
        }
    }
    if known.values().any(Request::is_touched) {
        model.notify("This request was already answered elsewhere.");
    } else if let Some(text) = news(&arrived).filter(|_| !is_first) {
        // A visible request needs no message, but the human may look elsewhere.
        if arrived.iter().any(|(_, sight)| *sight == Sight::Unseen) {
            model.notify(text.clone());
        }
        model.effects.push(Effect::Announce(text));
    }
    leave_empty_card(model);
}

/// Whether something stands before the human.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    Seen,
    Unseen,
}

/// A verdict was taken.
pub(super) fn settled(model: &mut Model, id: RequestId) {
    model.inbox.retain(|request| request.item.id != id);
    leave_empty_card(model);
}

/// A verdict was not taken.
pub(super) fn reopen(model: &mut Model, id: RequestId) {
    if let Some(request) = model.inbox.iter_mut().find(|request| request.item.id == id) {
        request.reopen();
    }
}

/// A key in the list of the inbox.
pub(super) fn press(model: &mut Model, key: KeyEvent) -> Taken {
    let Some(at) = model.request_position() else { return Taken::No };
    let last = model.inbox.len().saturating_sub(1);
    let to = match (key.code, is_plain(key)) {
        (KeyCode::Up | KeyCode::Char('k'), true) => at.saturating_sub(1),
        (KeyCode::Down | KeyCode::Char('j'), true) => at + 1,
        (KeyCode::Home | KeyCode::Char('g'), true) => 0,
        (KeyCode::End | KeyCode::Char('G'), true) => last,
        (KeyCode::Enter | KeyCode::Right | KeyCode::Tab | KeyCode::Char('l'), true) => {
            choose(model, at);
            return Taken::Yes;
        }
        (KeyCode::Char('o'), true) => {
            if let Some(id) = model.request().and_then(|request| request.item.uid) {
                session::open(model, id);
            } else {
                model.refuse("This request does not belong to a session.");
            }
            return Taken::Yes;
        }
        _ => return Taken::No,
    };
    model.inbox_cursor = model.inbox.get(to.min(last)).map(|request| request.item.id);
    Taken::Yes
}

/// Begins to answer a request of the list.
pub(super) fn choose(model: &mut Model, at: usize) {
    let Some(request) = model.inbox.get(at) else { return };
    model.inbox_cursor = Some(request.item.id);
    model.focus = Focus::Card;
}

/// Keys must not go to a card that is not there any more.
fn leave_empty_card(model: &mut Model) {
    if model.focus == Focus::Card && model.request().is_none() {
        model.focus = super::key::resting(model);
    }
}

/// A word about what has come.
fn news(arrived: &[(String, Sight)]) -> Option<String> {
    match arrived {
        [] => None,
        [(title, _)] => Some(format!("Needs your answer: {title}")),
        [_, _, ..] => Some(format!("{} requests need your answer", arrived.len())),
    }
}
