//! Changes by other processes in the folder, and the results of our own verdicts.

use convoke_core::id::RequestId;

use super::queue;
use crate::answer::message::{Effect, Found, Outcome};
use crate::answer::model::Model;
use crate::sheet::{Asker, Ending, Page, Place, QuestionSet};

/// Takes in what was found; what the human is at stays before them.
pub(super) fn merge(model: &mut Model, found: Found) -> Option<Effect> {
    let at = queue::listed_at_cursor(model);
    model.damaged = found.damaged;
    let mut arrived = Vec::new();
    for asked in found.open {
        if model.settled.contains(&asked.id) {
            continue;
        }
        match model.sets.iter_mut().find(|set| set.asked.id == asked.id) {
            Some(set) => set.asked.asker = asked.asker,
            None => {
                let set = QuestionSet::new(asked);
                arrived.push(set.name());
                model.sets.push(set);
            }
        }
    }
    model
        .sets
        .sort_by_key(|set| (set.asked.asker != Asker::Waits, set.asked.created_at, set.asked.id));
    for (id, ending) in found.ended {
        end(model, id, ending);
    }
    queue::follow(model, at);
    let text = news(&arrived);
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
    let set = model.sets.iter_mut().find(|set| set.asked.id == id)?;
    let name = set.name();
    match outcome {
        Outcome::Sent => put_away(model, id, format!("Sent: {name}")),
        Outcome::Rejected => put_away(model, id, format!("Rejected: {name}")),
        Outcome::Late(ending) => {
            set.go(Place::Review);
            end(model, id, ending);
        }
        Outcome::Failed(words) => {
            set.go(Place::Review);
            model.refuse(format!("Not sent: {words}"));
        }
    }
    queue::follow(model, at);
    None
}

/// A set was settled elsewhere: it is removed with a notice, unless the human is working on it.
fn end(model: &mut Model, id: RequestId, ending: Ending) {
    let Some(set) = model.sets.iter_mut().find(|set| set.asked.id == id) else { return };
    if set.page == Page::Settling {
        // It may be our own verdict; its writer reports the result.
        return;
    }
    let name = set.name();
    if model.open == Some(id) {
        set.page = Page::Gone(ending);
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
        model.sets.retain(|set| set.asked.id != id);
    }
    model.notify(words);
}

/// A notice about new sets.
fn news(arrived: &[String]) -> Option<String> {
    match arrived {
        [] => None,
        [name] => Some(format!("New questions: {name}")),
        [_, _, ..] => Some(format!("{} new sets of questions", arrived.len())),
    }
}
