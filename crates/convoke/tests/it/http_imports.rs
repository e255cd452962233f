//! Transcripts over HTTP: searched, without gaps or doubles, even if several clients import at
//! once.

use std::thread;

use convoke_testkit::agent::Script;
use serde_json::{Value, json};

use crate::serve_scene::Daemon;

/// Some turns of the same transcript.
fn page(daemon: &Daemon, after: u64, count: u64) -> Value {
    let turn = |number: u64| {
        let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
        json!({"role": role, "content": format!("heliotrope {number}"), "timestamp": "2025-03-01T10:00:00.000Z", "tokens": number})
    };
    json!({
        "repoId": daemon.project(),
        "transcript": "talk",
        "agent": "scripted",
        "createdAt": "2025-03-01T10:00:00.000Z",
        "after": after,
        "turns": (after..after + count).map(turn).collect::<Vec<_>>(),
    })
}

/// What came of importing a page: its status, and how many turns are there and new.
fn import(daemon: &Daemon, page: &Value) -> (u16, Value, Value) {
    let answer = daemon.post("/api/imports", page);
    let body = answer.json();
    (answer.status, body["turns"].clone(), body["added"].clone())
}

#[test]
fn imported_turns_are_found_and_neither_doubled_nor_left_out() {
    let daemon = Daemon::new(&Script::new());
    assert_eq!(import(&daemon, &page(&daemon, 5, 3)).0, 409, "five turns are missing");
    assert_eq!(import(&daemon, &page(&daemon, 0, 4)), (200, json!(4), json!(4)));
    assert_eq!(import(&daemon, &page(&daemon, 2, 4)), (200, json!(6), json!(2)));
    assert_eq!(import(&daemon, &page(&daemon, 0, 6)), (200, json!(6), json!(0)));
    let found = daemon.get("/api/search?q=heliotrope&limit=100").json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 6);
    let session = found["hits"][0]["sessionId"].as_str().unwrap();
    let messages = daemon.messages(session);
    let seqs: Vec<u64> = messages.iter().map(|message| message["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=messages.len() as u64).collect::<Vec<_>>());
    for wrong in [json!({"turns": []}), json!({"transcript": " "}), json!({"agent": "a/b"})] {
        let mut odd = page(&daemon, 0, 1);
        odd.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        assert_eq!(daemon.post("/api/imports", &odd).status, 422, "{wrong}");
    }
}

#[test]
fn concurrent_imports_make_one_session() {
    let daemon = Daemon::new(&Script::new());
    let page = page(&daemon, 0, 50);
    let statuses: Vec<u16> = thread::scope(|scope| {
        let importers: Vec<_> = (0..8).map(|_| scope.spawn(|| import(&daemon, &page).0)).collect();
        importers.into_iter().map(|importer| importer.join().unwrap()).collect()
    });
    assert_eq!(statuses, [200; 8]);
    let listed = daemon.get("/api/sessions").json();
    assert_eq!(listed["total"], 1);
    let found = daemon.get("/api/search?q=heliotrope&limit=100").json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 50);
}
