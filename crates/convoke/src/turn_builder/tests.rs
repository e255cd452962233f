//! Messages and the turns that they become.

use serde_json::{Value, json};

use super::*;

/// The turns of messages, a line each.
fn turns(contents: &[(&str, Value)]) -> Vec<String> {
    let mut builder = TurnBuilder::default();
    let mut turns = Vec::new();
    for (index, (role, content)) in contents.iter().enumerate() {
        let seq = index + 1;
        let at = format!("2026-11-15T12:00:{seq:02}.000Z");
        let message = json!({
            "id": "00000000-0000-4000-8000-000000000001",
            "sessionId": "00000000-0000-4000-8000-000000000002",
            "seq": seq,
            "rev": seq,
            "role": role,
            "content": content,
            "timestamp": at,
            "updatedAt": at,
        });
        turns.extend(builder.push(&serde_json::from_value(message).unwrap()));
    }
    turns.extend(builder.end());
    turns.iter().map(|turn| serde_json::to_string(turn).unwrap()).collect()
}

fn said(text: &str) -> (&'static str, Value) {
    ("user", json!({"type": "text", "text": text}))
}

fn answer(text: &str) -> (&'static str, Value) {
    ("agent", json!({"type": "text", "text": text}))
}

#[test]
fn the_messages_of_an_answer_are_its_paragraphs() {
    let tool = json!({"type": "tool", "toolCallId": "1", "tool": "Read", "args": {}, "status": "complete"});
    let messages =
        [said("look"), answer("I look."), ("system", tool), answer("Done."), said("more")];
    insta::assert_snapshot!(turns(&messages).join("\n"), @r#"
    {"role":"user","content":"look","timestamp":"2026-11-15T12:00:01.000Z","tokens":1}
    {"role":"assistant","content":"I look.\n\nDone.","timestamp":"2026-11-15T12:00:04.000Z","tokens":4}
    {"role":"user","content":"more","timestamp":"2026-11-15T12:00:05.000Z","tokens":1}
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
    let messages = [("system", imported), said("hi"), answer(""), answer("two\n"), said("more")];
    insta::assert_snapshot!(turns(&messages).join("\n"), @r#"
    {"role":"user","content":"hi","timestamp":"2020-02-02T02:02:02.000Z","tokens":77}
    {"role":"assistant","content":"","timestamp":"2020-02-02T02:02:02.000Z","tokens":0}
    {"role":"assistant","content":"two\n","timestamp":"2020-02-02T02:02:02.000Z","tokens":5}
    {"role":"user","content":"more","timestamp":"2026-11-15T12:00:05.000Z","tokens":1}
    "#);
}

#[test]
fn a_long_answer_is_one_paragraph_however_many_messages_it_fills() {
    let full = "x".repeat(WORDS_BYTES_MAX - 1);
    let turns = turns(&[said("count"), answer(&full), answer("yz"), said("more")]);
    assert!(turns[1].contains("xxyz\""), "{}", turns[1].len());
}
