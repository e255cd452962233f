//! What is recorded: a name, and frames as a daemon sends them.

use serde_json::{Value, json};

use crate::entry::tests::id;

const AT: &str = "2026-11-15T10:00:00.000Z";

/// Every case.
pub(super) fn cases() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("a turn from its prompt to its end", turn()),
        ("a history replaces everything, also with lower revisions", reset()),
        ("updates stand by their place, and older ones change nothing", out_of_order()),
        ("words that are known already, or of entries that are not, change nothing", chunks()),
        ("older pages are put before, until there is nothing older", pages()),
        ("a page that brings nothing older ends the asking", empty_page()),
        ("a history has open entries that are older than what it has without gaps", with_open()),
        ("open entries that are older than the window stand before it", open_entries()),
        (
            "a page may be newer than what comes after it, and does not move the cursor",
            newer_page(),
        ),
        ("prompts that wait stand after the conversation, in the order of the queue", queue()),
        ("state is replaced by kind, and older state changes nothing", state()),
        ("a cursor that is valid brings each changed entry once, whole", reopened()),
        ("a cursor of another generation brings a history", other_generation()),
    ]
}

fn turn() -> Vec<Value> {
    vec![
        history(0, "1", vec![], false),
        opened(0, "1"),
        update(user(1, 1, "Please count", "running")),
        update(spoken(2, 2, "thinking", "One, ", true)),
        chunk(2, 3, "two."),
        update(spoken(2, 4, "thinking", "One, two.", false)),
        update(tool(3, 5, "running")),
        update(tool(3, 6, "complete")),
        update(spoken(4, 7, "assistant", "It is ", true)),
        chunk(4, 8, "two"),
        chunk(4, 9, "."),
        update(spoken(4, 10, "assistant", "It is two.", false)),
        update(user(1, 11, "Please count", "done")),
        frame("session:complete", json!({"rev": 11, "entryId": id(1), "stopReason": "end_turn"})),
    ]
}

fn reset() -> Vec<Value> {
    let first = vec![
        user(1, 40, "Old", "done"),
        spoken(2, 41, "assistant", "Old answer", false),
        usage(39, 900),
        modes(38, "plan"),
    ];
    let second = vec![user(1, 3, "New", "done"), usage(2, 7)];
    vec![
        history(41, "1", first, false),
        opened(41, "1"),
        history(3, "2", second, false),
        opened(3, "2"),
        update(spoken(2, 4, "assistant", "New answer", false)),
    ]
}

fn out_of_order() -> Vec<Value> {
    vec![
        history(2, "1", vec![user(1, 1, "Go", "running"), tool(2, 2, "running")], false),
        update(tool(5, 12, "running")),
        update(tool(3, 9, "complete")),
        update(spoken(4, 10, "assistant", "Between", false)),
        update(tool(2, 1, "error")),
        update(tool(5, 11, "error")),
        update(tool(5, 12, "complete")),
        frame("session:cancelled", json!({})),
    ]
}

fn chunks() -> Vec<Value> {
    vec![
        history(
            6,
            "1",
            vec![user(1, 1, "Go", "running"), spoken(2, 6, "assistant", "a b ", true)],
            false,
        ),
        chunk(2, 5, "b "),
        chunk(2, 6, "b "),
        chunk(2, 7, "c "),
        chunk(2, 7, "c "),
        chunk(9, 8, "of an entry that is not there"),
        chunk(1, 9, "of an entry that does not grow"),
        update(spoken(2, 12, "assistant", "a b c d e ", true)),
        chunk(2, 10, "d "),
        chunk(2, 13, "f"),
        chunk(2, 1_048_589, " after a crash"),
    ]
}

fn pages() -> Vec<Value> {
    vec![
        history(300, "1", (101..=103).map(said).collect(), true),
        page((98..=100).map(said).collect(), true),
        update(said_at(104, 301)),
        page((95..=98).map(said).collect(), true),
        page((1..=94).step_by(31).map(said).collect(), false),
    ]
}

fn empty_page() -> Vec<Value> {
    vec![
        history(300, "1", (101..=103).map(said).collect(), true),
        page(vec![], true),
        update(said_at(104, 301)),
    ]
}

fn with_open() -> Vec<Value> {
    let mut entries = vec![user(5, 20, "A long task", "running"), permission(40, 90, "pending")];
    entries.extend((101..=103).map(said));
    vec![history(300, "1", entries, true)]
}

fn open_entries() -> Vec<Value> {
    let mut frames = with_open();
    frames.extend([
        update(permission(40, 301, "answered")),
        update(tool(41, 302, "complete")),
        page((98..=100).map(said).collect(), true),
        chunk(40, 303, "ignored"),
        page(vec![said(39), permission(40, 301, "answered"), said(97)], true),
        update(tool(38, 304, "complete")),
    ]);
    frames
}

fn newer_page() -> Vec<Value> {
    vec![
        history(300, "1", (101..=102).map(said).collect(), true),
        page(vec![tool(99, 320, "complete"), spoken(100, 310, "assistant", "a b ", true)], true),
        update(tool(99, 305, "running")),
        chunk(100, 309, "b "),
        update(said_at(103, 321)),
    ]
}

fn queue() -> Vec<Value> {
    let entries = vec![
        user(1, 1, "First", "running"),
        spoken(2, 4, "assistant", "Working", true),
        waiting(3, &[(91, "Second"), (92, "Third")]),
    ];
    let begun = |rev: u64, content: &str| {
        let mut entry = user(3, rev, content, "running");
        entry["entryId"] = json!(id(92));
        entry
    };
    vec![
        history(4, "1", entries, false),
        update(waiting(5, &[(91, "Second"), (92, "Third"), (93, "Fourth")])),
        update(waiting(6, &[(91, "Second, changed"), (92, "Third"), (93, "Fourth")])),
        update(waiting(7, &[(92, "Third"), (91, "Second, changed"), (93, "Fourth")])),
        update(waiting(2, &[])),
        update(spoken(2, 8, "assistant", "Working", false)),
        update(user(1, 9, "First", "done")),
        update(waiting(10, &[(91, "Second, changed"), (93, "Fourth")])),
        update(begun(11, "Third")),
        update(waiting(12, &[(93, "Fourth")])),
    ]
}

fn state() -> Vec<Value> {
    let entries = vec![user(1, 1, "Go", "running"), usage(4, 10), modes(2, "plan")];
    let commands = json!({"commands": [{"name": "compact", "description": "make room"}]});
    vec![
        history(4, "1", entries, false),
        update(usage(6, 30)),
        update(usage(5, 20)),
        update(modes(7, "code")),
        update(kind("commands", 8, commands)),
        update(kind("settings", 9, json!({"settings": []}))),
    ]
}

fn reopened() -> Vec<Value> {
    vec![
        history(
            4,
            "1",
            vec![user(1, 1, "Go", "running"), spoken(2, 4, "assistant", "a b ", true)],
            false,
        ),
        opened(4, "1"),
        chunk(2, 5, "c "),
        // Here the connection broke; the client says `after: 5`.
        update(spoken(2, 9, "assistant", "a b c d e.", false)),
        update(tool(3, 12, "complete")),
        update(waiting(13, &[(91, "Next")])),
        opened(13, "1"),
        chunk(2, 8, "e."),
        update(tool(3, 12, "complete")),
        opened(13, "1"),
    ]
}

fn other_generation() -> Vec<Value> {
    vec![
        history(500, "1", (10..=12).map(said).collect(), true),
        opened(500, "1"),
        update(waiting(501, &[(91, "Lost")])),
        // The daemon restored a backup; the client says `after: 501, generation: "1"`.
        history(20, "2", vec![user(1, 1, "Go", "running"), said(2)], false),
        opened(20, "2"),
        update(spoken(3, 21, "assistant", "Again", true)),
        chunk(3, 22, " and again"),
    ]
}

fn frame(kind: &str, fields: Value) -> Value {
    merged(json!({"type": kind, "sessionId": "demo:1", "uid": id(0)}), fields)
}

fn merged(mut object: Value, fields: Value) -> Value {
    if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields) {
        object.extend(fields);
    }
    object
}

fn history(rev: u64, generation: &str, entries: Vec<Value>, more: bool) -> Value {
    let session = json!({
        "id": "demo:1", "uid": id(0), "projectId": id(0), "cliType": "demo", "title": "Counting",
        "lastActiveAt": AT, "createdAt": AT, "status": "active", "acceptsPrompts": true,
        "archived": false, "activity": "running", "messageCount": 1,
        "attention": "working", "unseen": false,
    });
    frame(
        "session:history",
        json!({"rev": rev, "generation": generation, "entries": Value::Array(entries), "more": more, "session": session}),
    )
}

fn opened(rev: u64, generation: &str) -> Value {
    frame("session:opened", json!({"rev": rev, "generation": generation}))
}

fn page(entries: Vec<Value>, more: bool) -> Value {
    frame("session:page", json!({"entries": Value::Array(entries), "more": more}))
}

#[expect(clippy::needless_pass_by_value, reason = "the cases read better without references")]
fn update(entry: Value) -> Value {
    frame("session:update", json!({"rev": entry["rev"], "entry": entry}))
}

fn chunk(seq: u64, rev: u64, content: &str) -> Value {
    frame("session:chunk", json!({"rev": rev, "entryId": id(seq), "content": content}))
}

fn entry(seq: u64, rev: u64, kind: &str, fields: Value) -> Value {
    let entry = json!({"entryId": id(seq), "seq": seq, "rev": rev, "timestamp": AT, "type": kind});
    merged(entry, fields)
}

fn user(seq: u64, rev: u64, content: &str, state: &str) -> Value {
    entry(seq, rev, "user", json!({"content": content, "state": state}))
}

fn spoken(seq: u64, rev: u64, kind: &str, content: &str, partial: bool) -> Value {
    entry(seq, rev, kind, json!({"content": content, "partial": partial}))
}

/// A whole answer, whose revision follows from its place.
fn said(seq: u64) -> Value {
    said_at(seq, seq * 2)
}

fn said_at(seq: u64, rev: u64) -> Value {
    spoken(seq, rev, "assistant", &format!("Answer {seq}"), false)
}

fn tool(seq: u64, rev: u64, status: &str) -> Value {
    let call = format!("c{seq}");
    let fields = json!({"toolCallId": call, "name": "Read", "status": status, "args": {}});
    entry(seq, rev, "tool-call", fields)
}

fn permission(seq: u64, rev: u64, status: &str) -> Value {
    let options = json!([{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]);
    let fields = json!({"permissionId": id(seq), "title": "Read a.txt", "options": options, "status": status});
    entry(seq, rev, "permission", fields)
}

/// An entry of state.
fn kind(name: &str, rev: u64, fields: Value) -> Value {
    let entry = json!({"entryId": name, "seq": 0, "rev": rev, "timestamp": "1970-01-01T00:00:00.000Z", "type": name});
    merged(entry, fields)
}

fn usage(rev: u64, tokens: u64) -> Value {
    kind("usage", rev, json!({"inputTokens": tokens}))
}

fn modes(rev: u64, current: &str) -> Value {
    let available = json!([{"id": "plan", "name": "Plan"}, {"id": "code", "name": "Code"}]);
    kind("modes", rev, json!({"current": current, "available": available}))
}

fn waiting(rev: u64, prompts: &[(u64, &str)]) -> Value {
    let prompt = |(number, content): &(u64, &str)| json!({"id": id(*number), "content": content, "timestamp": AT});
    kind("queue", rev, json!({"prompts": prompts.iter().map(prompt).collect::<Vec<Value>>()}))
}
