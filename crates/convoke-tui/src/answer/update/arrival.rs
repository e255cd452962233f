//! Changes by others in the folder and in the daemon's sessions, and the results of our own verdicts.

use convoke_api::bodies::InboxItem;
use convoke_core::id::RequestId;

use super::queue;
use crate::answer::message::{Effect, Found, Outcome};
use crate::answer::model::{Daemon, Model, Source, Waiting};
use crate::card::{Card, asker};
use crate::sheet::{Asker, Ending};

/// Merges a listing of the folder; the open request stays open.
pub(super) fn merge(model: &mut Model, found: Found) -> Option<Effect> {
    let at = queue::listed_at_cursor(model);
    model.damaged = found.damaged;
    let mut arrived = Vec::new();
    for asked in found.open {
        if model.settled.contains(&asked.id) {
            continue;
        }
        match model.sets.iter_mut().find(|set| set.id() == asked.id) {
            Some(set) => set.card.set_asker(asked.asker),
            None => arrive(model, Source::File, Card::questions(asked), &mut arrived),
        }
    }
    for (id, ending) in found.ended {
        end(model, id, ending);
    }
    announce(model, &arrived, at)
}

/// Merges the daemon's inbox. Questions in files are in the daemon's list, too, but are taken from
/// the folder.
pub(super) fn list(model: &mut Model, items: Vec<InboxItem>) -> Option<Effect> {
    let at = queue::listed_at_cursor(model);
    let mut arrived = Vec::new();
    let items: Vec<InboxItem> = items.into_iter().filter(|item| item.uid.is_some()).collect();
    for item in &items {
        if model.settled.contains(&item.id) {
            continue;
        }
        match model.sets.iter_mut().find(|set| set.id() == item.id) {
            Some(set) => set.card.set_asker(asker(item.status)),
            None => arrive(model, Source::Daemon, Card::of(item), &mut arrived),
        }
    }
    let of_daemon = model.sets.iter().filter(|set| set.source == Source::Daemon);
    let is_listed = |id: &RequestId| items.iter().any(|item| item.id == *id);
    let gone: Vec<RequestId> = of_daemon.map(Waiting::id).filter(|id| !is_listed(id)).collect();
    for id in gone {
        end(model, id, Ending::Answered);
    }
    let is_first = !std::mem::replace(&mut model.is_listed, true);
    announce(model, &arrived, at).filter(|_| !is_first)
}

/// Sets the state of the connection. Without one, requests of agents stay readable, but cannot be
/// answered.
pub(super) fn link(model: &mut Model, daemon: Daemon) {
    if model.daemon == Daemon::Linked && daemon == Daemon::Unlinked {
        model.notify("Lost the connection to the daemon; only questions in files can be answered.");
        for set in model.sets.iter_mut().filter(|set| set.source == Source::Daemon) {
            if set.card.is_settling() {
                set.card.reopen();
            }
        }
    }
    model.daemon = daemon;
}

fn arrive(model: &mut Model, source: Source, card: Card, arrived: &mut Vec<String>) {
    arrived.push(card.name());
    model.sets.push(Waiting { source, card });
}

/// Sorts the requests, and announces new ones.
fn announce(model: &mut Model, arrived: &[String], at: Option<RequestId>) -> Option<Effect> {
    model.sets.sort_by_key(|set| {
        let asked = set.card.asked();
        (asked.asker != Asker::Waits, asked.created_at, asked.id)
    });
    queue::follow(model, at);
    let text = news(arrived);
    if model.open.is_none() {
        // The page itself shows it.
        queue::open_first(model);
    } else if let Some(text) = &text {
        model.notify(text.clone());
    }
    text.map(Effect::Announce)
}

/// Handles the result of our own verdict.
pub(super) fn settled(model: &mut Model, id: RequestId, outcome: Outcome) -> Option<Effect> {
    let at = queue::listed_at_cursor(model);
    let set = model.sets.iter_mut().find(|set| set.id() == id)?;
    let name = set.card.name();
    match outcome {
        Outcome::Sent => put_away(model, id, format!("Sent: {name}")),
        Outcome::Rejected => put_away(model, id, format!("Rejected: {name}")),
        Outcome::Late(ending) => {
            set.card.reopen();
            end(model, id, ending);
        }
        Outcome::Failed(words) => {
            set.card.reopen();
            model.refuse(format!("Not sent: {words}"));
        }
    }
    queue::follow(model, at);
    None
}

/// A set was settled elsewhere: it is removed with a notice, unless the human is working on it.
fn end(model: &mut Model, id: RequestId, ending: Ending) {
    let Some(set) = model.sets.iter_mut().find(|set| set.id() == id) else { return };
    if set.card.is_settling() {
        // It may be our own verdict; its writer reports the result.
        return;
    }
    let name = set.card.name();
    if model.open == Some(id) {
        set.card.end(ending);
        model.settled.insert(id);
        return;
    }
    put_away(
        model,
        id,
        match ending {
            Ending::Answered => format!("Answered elsewhere: {name}"),
            Ending::Rejected => format!("Rejected elsewhere: {name}"),
            Ending::Deleted => format!("Deleted elsewhere: {name}"),
        },
    );
}

fn put_away(model: &mut Model, id: RequestId, words: String) {
    model.settled.insert(id);
    if model.open == Some(id) {
        queue::open_next(model);
    } else {
        model.sets.retain(|set| set.id() != id);
    }
    model.notify(words);
}

/// A notice about new sets.
fn news(arrived: &[String]) -> Option<String> {
    match arrived {
        [] => None,
        [name] => Some(format!("Needs your answer: {name}")),
        [_, _, ..] => Some(format!("{} new requests need your answer", arrived.len())),
    }
}
