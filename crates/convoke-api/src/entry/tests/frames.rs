//! Recorded frames with the state that a reader must have after them, in `fixtures/frames.json`.
//!
//! The page's reducer replays the same file (`web/test`), so that terminal and page show the same. After a change here:
//! `UPDATE_FRAMES=1 cargo nextest run -p convoke-api recorded_frames`.

mod cases;

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::Cursor;
use crate::entry::Entries;
use crate::frames::{Envelope, ServerFrame};

/// Plays a frame into the reducer, as every reader does.
fn play(entries: &mut Entries, frame: &Value) {
    let Envelope { frame, .. } = Envelope::<ServerFrame>::read(&frame.to_string()).unwrap();
    if let ServerFrame::SessionHistory { rev, generation, entries: list, more, .. } = frame {
        entries.replace(list, Cursor { generation, rev }, more.into());
    } else if let ServerFrame::SessionOpened { rev, generation, .. } = frame {
        entries.opened(Cursor { generation, rev });
    } else if let ServerFrame::SessionPage { entries: page, more, .. } = frame {
        entries.prepend(page, more.into());
    } else if let ServerFrame::SessionUpdate { entry, .. } = frame {
        entries.upsert(entry);
    } else if let ServerFrame::SessionChunk { rev, entry_id, content, .. } = frame {
        entries.append(&entry_id, &content, rev);
    } else if let ServerFrame::SessionComplete { rev, .. } = frame {
        entries.reach(rev);
    } else {
        assert!(matches!(frame, ServerFrame::SessionCancelled { .. }), "{frame:?}");
    }
}

/// What a reader has: where it continues, the older page that it asks for next, what it knows, and what it shows in order.
fn state(entries: &Entries) -> Value {
    let state = entries.state().iter().map(|entry| (entry.entry_id.clone(), json!(entry)));
    let conversation = entries.conversation().iter().map(|entry| entry.entry_id.clone());
    let queue = entries.queue().iter().map(|prompt| prompt.id.to_string());
    let cursor = entries.cursor().unwrap();
    json!({
        "cursor": {"generation": cursor.generation, "rev": cursor.rev},
        "before": entries.before(),
        "shown": conversation.chain(queue).collect::<Vec<String>>(),
        "conversation": entries.conversation(),
        "state": state.collect::<Map<String, Value>>(),
    })
}

/// The file: a line for each frame, so that differences can be read.
fn recorded() -> String {
    let mut text = "[\n".to_owned();
    let cases = cases::cases();
    for (at, (name, frames)) in cases.iter().enumerate() {
        let mut entries = Entries::new();
        let lines: Vec<String> = frames.iter().map(|frame| format!("    {frame}")).collect();
        frames.iter().for_each(|frame| play(&mut entries, frame));
        let end = if at + 1 == cases.len() { "" } else { "," };
        let (name, frames, expected) = (json!(name), lines.join(",\n"), pretty(&state(&entries)));
        writeln!(
            text,
            "  {{\n   \"name\": {name},\n   \"frames\": [\n{frames}\n   ],\n   \"expected\": {expected}\n  }}{end}"
        )
        .unwrap();
    }
    text + "]\n"
}

/// The state, with a line for each field and each entry of the conversation.
fn pretty(state: &Value) -> String {
    let fields = state.as_object().unwrap().iter().map(|(name, value)| match value.as_array() {
        Some(list) if name == "conversation" && !list.is_empty() => {
            let lines: Vec<String> = list.iter().map(|entry| format!("     {entry}")).collect();
            format!("    \"{name}\": [\n{}\n    ]", lines.join(",\n"))
        }
        Some(_) | None => format!("    \"{name}\": {value}"),
    });
    format!("{{\n{}\n   }}", fields.collect::<Vec<String>>().join(",\n"))
}

#[test]
fn m5_recorded_frames_end_in_the_recorded_state() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/frames.json");
    let recorded = recorded();
    serde_json::from_str::<Value>(&recorded).unwrap();
    if std::env::vars_os().any(|(name, _)| name == "UPDATE_FRAMES") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &recorded).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written, recorded, "record them anew with UPDATE_FRAMES=1, and run web/test, too");
}

#[test]
fn frames_that_come_twice_change_nothing() {
    for (name, frames) in cases::cases() {
        let (mut once, mut twice) = (Entries::new(), Entries::new());
        for frame in &frames {
            play(&mut once, frame);
            play(&mut twice, frame);
            if frame["type"] != "session:page" {
                play(&mut twice, frame);
            }
        }
        assert_eq!(state(&once), state(&twice), "{name}");
    }
}
