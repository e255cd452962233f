//! A store of another agent with one file of arbitrary content.

use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;

use convoke_histories::{Agent, Cursor, History, Reader, Reading, Store};
use tempfile::TempDir;

use crate::folder;

/// Reads a file of an agent's store, whole and in two parts.
pub fn read(agent: Agent, path: &str, file: &[u8]) {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let root = FOLDER.get_or_init(folder).path();
    let place = root.join(path);
    std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
    grow(agent, root, &place, file);
}

/// Reads a session of Vibe 3 with one chunk, whose journal grows.
pub fn read_journal(chunk: &[u8], journal: &[u8]) {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let root = FOLDER.get_or_init(folder).path();
    let session = root.join("logs/session/unified/7");
    let current = r#"{"generation":"1"}"#;
    let manifest = r#"{"projection_state":{"chunks":["c"]},"recovery_journal_segment":{"path":"journal/1.jsonl"}}"#;
    let files = [
        ("CURRENT", current.as_bytes()),
        ("generations/1/manifest.json", manifest.as_bytes()),
        ("chunks/c.json", chunk),
    ];
    for folder in ["generations/1", "chunks", "journal"] {
        std::fs::create_dir_all(session.join(folder)).expect("a folder");
    }
    for (name, bytes) in files {
        std::fs::write(session.join(name), bytes).expect("a file");
    }
    grow(Agent::Vibe, root, &session.join("journal/1.jsonl"), journal);
}

/// Reads a conversation with half of a file, and then with all of it.
fn grow(agent: Agent, root: &Path, place: &Path, file: &[u8]) {
    let (first, _) = file.split_at(file.len() / 2);
    std::fs::write(place, first).expect("a file");
    let Reading::Whole(reader) = open(agent, root, None) else { panic!("it was never read") };
    let cursor = read_all(reader);
    std::fs::write(place, file).expect("a file");
    match open(agent, root, Some(&cursor)) {
        Reading::Unchanged => {}
        Reading::Rest(reader) | Reading::Whole(reader) | Reading::Rewritten(reader) => {
            let cursor = read_all(reader);
            let again = open(agent, root, Some(&cursor));
            // A line that is not finished is read again.
            assert!(!matches!(again, Reading::Rewritten(_)), "nothing changed");
        }
    }
}

fn open(agent: Agent, root: &Path, cursor: Option<&Cursor>) -> Reading {
    let mut store = Store::open_at(agent, root).expect("a folder").expect("a store");
    let found: Vec<History> = store.scan().expect("a list");
    let history = found.first().expect("the file is found");
    store.identify(history).expect("damage is no error");
    store.read(history, cursor).expect("damage is no error")
}

/// Reads to the end; the cursor survives JSON.
fn read_all(mut reader: Reader) -> Cursor {
    while let Some(batch) = reader.next_batch().expect("damage is no error") {
        let keys: HashSet<&str> = batch.items.iter().map(|item| item.key.as_str()).collect();
        assert_eq!(keys.len(), batch.items.len(), "a key stands twice in a batch");
        assert!(!keys.contains(""), "a key is empty");
    }
    let cursor = reader.cursor().expect("a cursor");
    let json = serde_json::to_string(&cursor).expect("it can be written");
    let read: Cursor = serde_json::from_str(&json).expect("it can be read");
    assert_eq!(read, cursor);
    read
}

/// Reads databases whose rows hold this JSON.
pub fn read_rows(json: &str) {
    let opencode = "CREATE TABLE IF NOT EXISTS session (id, parent_id, directory, title, time_created, time_updated);
        CREATE TABLE IF NOT EXISTS message (id, session_id, time_created, time_updated, data);
        CREATE TABLE IF NOT EXISTS part (id, message_id, session_id, time_created, time_updated, data);
        DELETE FROM session; DELETE FROM message; DELETE FROM part;
        INSERT INTO session VALUES ('s', NULL, '/p', 't', 1, 2);
        INSERT INTO message VALUES ('m', 's', 1, 2, '{\"role\":\"assistant\"}');";
    let rows = "INSERT INTO message VALUES ('n', 's', 2, 2, ?1)";
    let parts = "INSERT INTO part VALUES ('p', 'm', 's', 1, 2, ?1)";
    read_database(Agent::Opencode, "opencode.db", opencode, &[rows, parts], json);
    let goose = "CREATE TABLE IF NOT EXISTS sessions (id, working_dir, created_at, updated_at);
        CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, session_id, role, content_json, created_timestamp);
        DELETE FROM sessions; DELETE FROM messages;
        INSERT INTO sessions VALUES ('s', '/p', '2026-11-01 10:00:00', 5);";
    let rows = "INSERT INTO messages VALUES (NULL, 's', 'assistant', ?1, 1)";
    read_database(Agent::Goose, "sessions/sessions.db", goose, &[rows], json);
}

fn read_database(agent: Agent, path: &str, script: &str, inserts: &[&str], json: &str) {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let root = FOLDER.get_or_init(folder).path().join(agent.as_str());
    let place = root.join(path);
    std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
    let database = rusqlite::Connection::open(place).expect("a database");
    database.execute_batch("PRAGMA synchronous = OFF").expect("a pragma");
    database.execute_batch(script).expect("a script");
    for insert in inserts {
        database.execute(insert, [json]).expect("a row");
    }
    drop(database);
    let Reading::Whole(reader) = open(agent, &root, None) else { panic!("it was never read") };
    read_all(reader);
}
