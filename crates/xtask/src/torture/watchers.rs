//! Watchers: they follow sessions over server-sent events, disconnect, and reconnect with their
//! last cursor.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::clients::{PAUSE, World, text_of};
use super::http::{Event, StreamItem};

/// Follows sessions, and records what it received and every revision that was out of order.
pub(super) fn watcher(world: &World<'_>, client: u64) {
    let mut random = world.random(client);
    let mut readers: BTreeMap<String, Reader> = BTreeMap::new();
    while !world.is_over() {
        let (Some(endpoint), Some(session)) =
            (world.endpoint(&mut random), world.any_session(&mut random))
        else {
            thread::sleep(PAUSE);
            continue;
        };
        let reader = readers.entry(session.clone()).or_default();
        let Ok(mut events) = endpoint.follow(&session, reader.cursor.as_deref()) else {
            thread::sleep(PAUSE);
            continue;
        };
        let until = Instant::now() + Duration::from_millis(200 + random.below(3000));
        while Instant::now() < until && !world.is_over() {
            match events.next() {
                StreamItem::Event(event) => {
                    if let Some(finding) = reader.apply(event) {
                        world.ledger.complain(format!("{session}: {finding}"));
                    }
                }
                StreamItem::Quiet => {}
                StreamItem::Over => break,
            }
        }
    }
    let mut records = world.ledger.records();
    for (session, reader) in readers {
        let shown = reader.messages.into_values();
        records.shown.extend(shown.map(|message| (session.clone(), message)));
    }
}

/// A watcher's state of a session.
#[derive(Debug, Default)]
struct Reader {
    /// The id of the last event.
    cursor: Option<String>,
    rev: u64,
    messages: BTreeMap<String, Value>,
}

impl Reader {
    /// Applies an event according to the contract; returns violations.
    fn apply(&mut self, event: Event) -> Option<String> {
        let Event { name, id, data } = event;
        if name == "reset" {
            *self = Self::default();
            return None;
        }
        let rev = data.get("rev").and_then(Value::as_u64).unwrap_or_default();
        let before = std::mem::replace(&mut self.rev, rev);
        if id.rsplit('-').next() != Some(&rev.to_string()) {
            return Some(format!("revision {rev} was shown under the id {id:?}"));
        }
        self.cursor = Some(id);
        match name.as_str() {
            "message" => {
                self.messages.insert(text_of(&data, "id"), data);
            }
            "delta" => {
                let id = text_of(&data, "id");
                let Some(message) = self.messages.get_mut(&id) else {
                    return Some(format!("a delta of the message {id}, which was not shown"));
                };
                append(message, &text_of(&data, "text"), rev);
            }
            "state" => {}
            _ => return Some(format!("an unknown event {name:?}")),
        }
        (rev <= before).then(|| format!("revision {rev} was shown after {before}"))
    }
}

fn append(message: &mut Value, words: &str, rev: u64) {
    if let Some(Value::String(text)) = message.pointer_mut("/content/text") {
        text.push_str(words);
    }
    if let Some(known) = message.get_mut("rev") {
        *known = rev.into();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(name: &str, data: Value) -> Event {
        let id = format!("7-{}", data["rev"]);
        Event { name: name.to_owned(), id, data }
    }

    #[test]
    fn a_reader_has_what_it_was_shown_and_says_what_came_out_of_order() {
        let mut reader = Reader::default();
        let begun = json!({"id": "m", "seq": 1, "rev": 1, "content": {"text": "a"}});
        assert_eq!(reader.apply(event("message", begun.clone())), None);
        assert_eq!(reader.apply(event("delta", json!({"id": "m", "rev": 2, "text": "b"}))), None);
        assert_eq!(reader.cursor.as_deref(), Some("7-2"));
        let expected = json!({"id": "m", "seq": 1, "rev": 2, "content": {"text": "ab"}});
        assert_eq!(reader.messages.get("m"), Some(&expected));
        assert_eq!(
            reader.apply(event("message", begun)).as_deref(),
            Some("revision 1 was shown after 2")
        );
        assert_eq!(
            reader.apply(event("delta", json!({"id": "x", "rev": 3, "text": "b"}))).as_deref(),
            Some("a delta of the message x, which was not shown")
        );
        assert_eq!(reader.apply(event("reset", json!({}))), None);
        assert_eq!((reader.cursor, reader.messages.len()), (None, 0));
    }
}
