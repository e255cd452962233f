//! Pending requests: they arrive, are answered, and are removed.

use std::collections::HashMap;

use convoke_api::bodies::InboxItem;
use convoke_core::id::RequestId;

use crate::text::clean;
use crate::workbench::home::Row;
use crate::workbench::message::Effect;
use crate::workbench::model::{Focus, Model, Tab};
use crate::workbench::request::Request;

/// Replaces the inbox; drafts are kept.
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
                let visibility = if is_seen { Visibility::Seen } else { Visibility::Unseen };
                arrived.push((clean::line(&item.title), visibility));
                model.inbox.push(Request::new(item));
            }
        }
    }
    if known.values().any(|request| request.card.is_touched()) {
        model.notify("This request was already answered elsewhere.");
    } else if let Some(text) = arrival_notice(&arrived).filter(|_| !is_first) {
        // A visible request needs no message, but the human may look elsewhere.
        if arrived.iter().any(|(_, visibility)| *visibility == Visibility::Unseen) {
            model.notify(text.clone());
        }
        model.effects.push(Effect::Announce(text));
    }
    leave_empty_card(model);
}

/// Whether a request is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visibility {
    Seen,
    Unseen,
}

/// Handles an accepted verdict.
pub(super) fn settled(model: &mut Model, id: RequestId) {
    // The cursor moves to the next request, so that several are answered one after the other.
    let rows = model.home_rows();
    let at = rows.iter().position(|(_, row)| *row == Row::Request(id));
    let next = at.and_then(|at| rows.get(at + 1).or_else(|| rows.get(at.checked_sub(1)?)));
    if model.home.cursor.is_none_or(|row| row == Row::Request(id)) {
        model.home.cursor = next.map(|(_, row)| *row);
    }
    model.inbox.retain(|request| request.item.id != id);
    leave_empty_card(model);
}

/// Handles a refused verdict.
pub(super) fn reopen(model: &mut Model, id: RequestId) {
    if let Some(request) = model.inbox.iter_mut().find(|request| request.item.id == id) {
        request.card.reopen();
    }
}

/// Keys must not go to a card that is not there any more.
fn leave_empty_card(model: &mut Model) {
    if model.focus == Focus::Card && model.request().is_none() {
        model.focus = super::key::resting(model);
    }
}

/// The notice about new requests.
fn arrival_notice(arrived: &[(String, Visibility)]) -> Option<String> {
    match arrived {
        [] => None,
        [(title, _)] => Some(format!("Needs your answer: {title}")),
        [_, _, ..] => Some(format!("{} requests need your answer", arrived.len())),
    }
}
