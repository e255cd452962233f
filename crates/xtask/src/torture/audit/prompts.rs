//! Every acknowledged prompt exists once, as a message or in the queue of its session.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::clients::text_of;
use super::super::ledger::{Ack, LedgerRecords, Prompt, PromptPosition, QueueChange};
use super::Stored;

/// A prompt that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    place: PromptPosition,
    text: String,
}

/// The unique word of a prompt.
pub(super) fn mark(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

/// The prompts that wait, of the state of a session.
pub(super) fn queue(state: &Value) -> Vec<Value> {
    let kinds = state.get("state").and_then(Value::as_array).into_iter().flatten();
    let queue = kinds.filter(|kind| text_of(kind, "kind") == "queue");
    queue.filter_map(|kind| kind.get("prompts")?.as_array()).flatten().cloned().collect()
}

/// Compares the responses to prompts with the stored state.
pub(super) fn compare(records: &LedgerRecords, stored: &Stored, findings: &mut Vec<String>) {
    let mut found: BTreeMap<String, Vec<Found>> = BTreeMap::new();
    for (session, value, text) in said(stored) {
        let place = PromptPosition {
            session: session.to_owned(),
            message_id: text_of(value, "id"),
            seq: value.get("seq").and_then(Value::as_u64),
        };
        found.entry(mark(&text).to_owned()).or_default().push(Found { place, text });
    }
    for (text, prompt) in &records.prompts {
        let found = found.get(mark(text)).map(Vec::as_slice).unwrap_or_default();
        findings.extend(judge(text, prompt, found));
    }
}

/// The texts of users: messages, and queued prompts.
fn said(stored: &Stored) -> impl Iterator<Item = (&str, &Value, String)> {
    let logs = stored.logs.iter().flat_map(|(session, messages)| {
        let prompts = messages.iter().filter(|message| text_of(message, "role") == "user");
        prompts.map(move |message| {
            let text = message.get("content").map(|content| text_of(content, "text"));
            (session.as_str(), message, text.unwrap_or_default())
        })
    });
    let queues = stored.queues.iter().flat_map(|(session, prompts)| {
        prompts.iter().map(move |prompt| (session.as_str(), prompt, text_of(prompt, "text")))
    });
    logs.chain(queues)
}

/// The problem of a prompt, if it has one.
fn judge(text: &str, prompt: &Prompt, found: &[Found]) -> Option<String> {
    let place = &prompt.place;
    match (prompt.ack, &prompt.change, found) {
        (_, _, [_, _, ..]) => Some(format!("stored twice: the prompt {text:?}")),
        (Ack::Done, Some((QueueChange::Remove, Ack::Done)), [_]) => {
            Some(format!("removed and stored: the prompt {text:?}"))
        }
        (Ack::Done, Some((QueueChange::Remove, Ack::Done | Ack::Unknown)), []) => None,
        (Ack::Done, _, []) => Some(format!("lost: the prompt {text:?} at {place:?}")),
        (Ack::Refused, _, [_]) => Some(format!("refused and stored: {text:?}")),
        (Ack::Done, change, [found]) => {
            let is_there = place.as_ref().is_none_or(|place| {
                let is_same = (&place.session, &place.message_id)
                    == (&found.place.session, &found.place.message_id);
                is_same && (place.seq.is_none() || place.seq == found.place.seq)
            });
            if !is_there {
                return Some(format!("the prompt {text:?} is not where its response said"));
            }
            let may_say = |words: &str| match change {
                Some((QueueChange::Edit(edited), Ack::Done)) => words == edited,
                Some((QueueChange::Edit(edited), Ack::Unknown)) => words == edited || words == text,
                Some(_) | None => words == text,
            };
            let words = &found.text;
            (!may_say(words)).then(|| format!("the prompt {text:?} says {words:?} ({change:?})"))
        }
        (Ack::Unknown, _, [] | [_]) | (Ack::Refused, _, []) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(seq: Option<u64>) -> PromptPosition {
        PromptPosition { session: "s".to_owned(), message_id: "m".to_owned(), seq }
    }

    fn found(seq: Option<u64>, text: &str) -> Found {
        Found { place: place(seq), text: text.to_owned() }
    }

    #[test]
    fn a_prompt_is_stored_once_as_its_response_said() {
        let done = Prompt::unchanged(Ack::Done, Some(place(None)));
        let first = Prompt::unchanged(Ack::Done, Some(place(Some(1))));
        let changed = |change, ack| Prompt { change: Some((change, ack)), ..done.clone() };
        let edited = |ack| changed(QueueChange::Edit("n1n b".to_owned()), ack);
        let removed = |ack| changed(QueueChange::Remove, ack);
        let (a, b) = (found(Some(2), "n1n a"), found(Some(2), "n1n b"));
        for (prompt, found) in [
            (&done, std::slice::from_ref(&a)),
            (&done, &[found(None, "n1n a")]),
            (&edited(Ack::Done), std::slice::from_ref(&b)),
            (&edited(Ack::Unknown), std::slice::from_ref(&a)),
            (&edited(Ack::Refused), std::slice::from_ref(&a)),
            (&removed(Ack::Done), &[]),
            (&removed(Ack::Unknown), &[]),
            (&removed(Ack::Refused), std::slice::from_ref(&a)),
        ] {
            assert_eq!(judge("n1n a", prompt, found), None);
        }
        for (prompt, found) in [
            (&done, &[][..]),
            (&done, &[a.clone(), a.clone()]),
            (&first, std::slice::from_ref(&a)),
            (&done, std::slice::from_ref(&b)),
            (&edited(Ack::Done), std::slice::from_ref(&a)),
            (&edited(Ack::Refused), std::slice::from_ref(&b)),
            (&removed(Ack::Done), std::slice::from_ref(&a)),
            (&removed(Ack::Refused), &[]),
            (&Prompt::unchanged(Ack::Refused, None), std::slice::from_ref(&a)),
        ] {
            assert!(judge("n1n a", prompt, found).is_some(), "{prompt:?} {found:?}");
        }
    }
}
