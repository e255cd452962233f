//! Logs and the turns that they become.

use serde_json::{Value, json};

use super::*;

/// The turns of a log, a line each.
fn turns(contents: &[(&str, Value)]) -> Vec<String> {
    let mut spoken = Spoken::default();
    let mut turns = Vec::new();
    for (index, (role, content)) in contents.iter().enumerate() {
        let seq = index + 1;
        let message = json!({
            "id": "00000000-0000-4000-8000-000000000001",
            "sessionId": "00000000-0000-4000-8000-000000000002",
            "seq": seq,
            "role": role,
            "content": content,
            "timestamp": format!("2026-11-15T12:00:{seq:02}.000Z"),
        });
        turns.extend(spoken.hear(&serde_json::from_value(message).unwrap()));
    }
    turns.extend(spoken.end());
    turns.iter().map(|turn| serde_json::to_string(turn).unwrap()).collect()
}

fn said(text: &str) -> (&'static str, Value) {
    ("user", json!({"type": "text", "text": text}))
}

fn piece(text: &str) -> (&'static str, Value) {
    ("agent", json!({"type": "text", "text": text, "partial": true}))
}

fn ended(turn: u64) -> (&'static str, Value) {
    let event = json!({"type": "notice", "event": "turn_ended", "turn": turn, "stopReason": "end_turn", "text": "."});
    ("system", event)
}

#[test]
fn pieces_become_one_answer_and_what_came_between_a_paragraph() {
    let tool = json!({"type": "tool", "toolCallId": "1", "tool": "Read", "args": {}, "status": "complete"});
    let usage = json!({"type": "usage", "outputTokens": 9});
    let log = [
        said("look"),
        piece("I lo"),
        piece("ok."),
        ("system", tool),
        piece("Done."),
        ("system", usage),
        ended(1),
    ];
    insta::assert_snapshot!(turns(&log).join("\n"), @r#"
    {"role":"user","content":"look","timestamp":"2026-11-15T12:00:01.000Z","tokens":1}
    {"role":"assistant","content":"I look.\n\nDone.","timestamp":"2026-11-15T12:00:05.000Z","tokens":9}
    "#);
}

#[test]
fn a_prompt_that_waited_stands_after_the_answer_it_waited_for() {
    let log = [said("one"), said("two"), said("three"), piece("1"), ended(3), ended(1), piece("2")];
    insta::assert_snapshot!(turns(&log).join("\n"), @r#"
    {"role":"user","content":"one","timestamp":"2026-11-15T12:00:01.000Z","tokens":1}
    {"role":"user","content":"three","timestamp":"2026-11-15T12:00:03.000Z","tokens":2}
    {"role":"assistant","content":"1","timestamp":"2026-11-15T12:00:04.000Z","tokens":1}
    {"role":"user","content":"two","timestamp":"2026-11-15T12:00:02.000Z","tokens":1}
    {"role":"assistant","content":"2","timestamp":"2026-11-15T12:00:07.000Z","tokens":1}
    "#);
}

#[test]
fn what_was_imported_comes_out_as_it_came_in() {
    let at = "2020-02-02T02:02:02.000Z";
    let turns_of = json!([
        {"seq": 2, "timestamp": at, "tokens": 77},
        {"seq": 3, "timestamp": at, "tokens": 0},
        {"seq": 4, "timestamp": at, "tokens": 5},
    ]);
    let imported = json!({"type": "notice", "event": "imported", "transcript": "x", "after": 0, "turns": turns_of, "text": "."});
    let whole = |text: &str| ("agent", json!({"type": "text", "text": text, "partial": false}));
    let log = [("system", imported), said("hi"), whole(""), whole("two\n"), ended(2), said("more")];
    insta::assert_snapshot!(turns(&log).join("\n"), @r#"
    {"role":"user","content":"hi","timestamp":"2020-02-02T02:02:02.000Z","tokens":77}
    {"role":"assistant","content":"","timestamp":"2020-02-02T02:02:02.000Z","tokens":0}
    {"role":"assistant","content":"two\n","timestamp":"2020-02-02T02:02:02.000Z","tokens":5}
    {"role":"user","content":"more","timestamp":"2026-11-15T12:00:06.000Z","tokens":1}
    "#);
}
