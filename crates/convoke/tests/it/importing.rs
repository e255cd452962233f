//! Imports that something interrupts: a crash, a full disk, another import. Nothing is lost, and nothing is there twice.

use std::fs;
use std::process::Stdio;

use convoke_testkit::wait::{until, until_some};
use serde_json::{Value, json};

use crate::daemon_scene::Scene;
use crate::histories::{ID, Store, import, line, sessions};
use crate::serve_scene::Daemon;

/// Messages of a conversation that is stored in several changes, each of which takes a mebibyte of its file.
const MESSAGES: usize = 6000;

/// A machine with one long conversation.
fn long() -> Store {
    let store = Store::new();
    let text = "x".repeat(2000);
    let said = |number| line(&format!("u{number}"), "user", &format!("{number} {text}"), 0);
    fs::write(store.file(ID), (0..MESSAGES).map(said).collect::<String>()).unwrap();
    store
}

/// Starts an import, and waits until a part of the conversation is stored.
fn import_some(daemon: &Daemon) {
    let begun = daemon.post("/api/histories/import", &json!({}));
    assert_eq!(begun.status, 202, "{begun:?}");
    let stored = until_some("a part is stored", || {
        sessions(daemon).first().map(|it| it["messageCount"].clone())
    });
    assert!(stored.as_u64().unwrap() < MESSAGES as u64, "the import was over at once: {stored}");
}

/// All of the conversation is there, once and in its order.
fn check(daemon: &Daemon) {
    let listed = sessions(daemon);
    let [session] = listed.as_slice() else { panic!("{listed:?}") };
    let expected: Vec<usize> = (0..MESSAGES).collect();
    let stored = numbers(daemon, session);
    let first_gap = stored.iter().zip(&expected).position(|(one, other)| one != other);
    assert_eq!((stored.len(), first_gap), (MESSAGES, None));
    let again = import(daemon, &json!({}));
    assert_eq!(again["sources"], json!([]), "nothing is left to import");
    assert_eq!(numbers(daemon, session).len(), MESSAGES);
}

/// The numbers with which the messages begin.
fn numbers(daemon: &Daemon, session: &Value) -> Vec<usize> {
    let messages = daemon.messages(session["id"].as_str().unwrap());
    let texts = messages.iter().filter(|message| message["role"] == "user");
    let texts = texts.filter_map(|message| message["content"]["text"].as_str());
    texts.map(|text| text.split(' ').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn h2_an_import_that_is_killed_in_the_middle_of_a_conversation_continues() {
    let (mut daemon, _) = long().daemon();
    import_some(&daemon);
    daemon.kill_and_start();
    import(&daemon, &json!({}));
    check(&daemon);
}

#[test]
fn h2_an_import_that_fills_the_disk_says_so_and_continues_when_there_is_room() {
    let (daemon, _) = long().daemon();
    import_some(&daemon);
    daemon.limit(Some(0));
    let run = until_some("the import is over", || {
        let run = daemon.get("/api/histories/import").json();
        (run["running"] == false).then_some(run)
    });
    assert!(run["error"].as_str().is_some_and(|error| !error.is_empty()), "{run}");
    assert_eq!(daemon.get("/healthz").status, 200);
    daemon.limit(None);
    import(&daemon, &json!({}));
    check(&daemon);
}

#[test]
fn h2_two_imports_at_once_import_every_conversation_once() {
    let store = Store::new();
    for number in 0..200 {
        let id = format!("22222222-2222-4222-8222-{number:012}");
        let talk = line("u1", "user", &format!("Question {number}"), 0).replace(ID, &id);
        fs::write(store.file(&id), talk).unwrap();
    }
    let scene = Scene::on(store.machine);
    // Each of them starts a daemon, unless there is one; only one daemon has the home.
    let start = || {
        let mut command = scene.machine.command(&["import", "--all"]);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [start(), start()].map(|child| child.wait_with_output().unwrap());
    assert!(both.iter().any(|output| output.status.success()), "{both:?}");
    let listed = scene.machine.json("session list --limit 1000 --json");
    let mut titles: Vec<&str> = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["title"].as_str().unwrap())
        .collect();
    titles.sort_unstable();
    titles.dedup();
    assert_eq!((titles.len(), &listed["total"]), (201, &json!(201)));
    let second = scene.run("serve");
    assert!(second.contains("already running"), "{second}");
}

#[test]
fn h2_sessions_of_found_projects_are_listed_with_their_names() {
    let scene = Scene::on(Store::new().machine);
    scene.run("import --all");
    let listed = scene.run("session list");
    let row: Vec<&str> = listed
        .lines()
        .find(|line| line.contains("heliotrope"))
        .unwrap()
        .split_whitespace()
        .collect();
    assert!(row.contains(&"app"), "{listed}");
    let of_project = scene.machine.json("session list --project app --json");
    assert_eq!(of_project["total"], 1);
}

#[test]
fn h3_what_is_said_to_vibe_3_in_a_terminal_appears_while_it_goes_on() {
    let store = Store::new();
    let id = "77777777-7777-4777-8777-777777777777";
    let folder = store.machine.path().join(".vibe/logs/session/unified").join(id);
    let said = |id: &str, text: &str| {
        json!({"type": "message", "id": id, "role": "user", "createdAt": 1_793_527_201_000_i64,
            "content": [{"type": "text", "text": text}]})
    };
    let manifest = json!({"projection_state": {"chunks": ["c1"]},
        "recovery_journal_segment": {"path": "journal/1.jsonl"}});
    let files = [
        ("meta.json", json!({"environment": {"working_directory": "/gone/vibe"}}).to_string()),
        ("generations/1/manifest.json", manifest.to_string()),
        ("generations/1/projection-state.json", "{}".to_owned()),
        ("chunks/c1.json", json!([said("u1", "Where is the larkspur?")]).to_string()),
        ("journal/1.jsonl", String::new()),
        ("CURRENT", json!({"generation": "1"}).to_string()),
    ];
    for (name, text) in files {
        fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        fs::write(folder.join(name), text).unwrap();
    }
    let (daemon, _) = store.daemon();
    import(&daemon, &json!({"sources": ["vibe"]}));
    let session = sessions(&daemon)[0].clone();
    assert_eq!(
        (&session["agent"], &session["title"]),
        (&json!("vibe"), &json!("Where is the larkspur?"))
    );
    let delta = json!([{"op": "append_entry", "entry": said("u2", "Behind the wall?")}]);
    let record = json!({"payload": {"delta": delta}, "type": "projection_delta"});
    fs::write(folder.join("journal/1.jsonl"), format!("{record}\n")).unwrap();
    until("the journal is read", || {
        let words = crate::histories::words(&daemon, &session);
        words == ["Where is the larkspur?", "Behind the wall?"]
    });
}

#[test]
fn h6_a_store_that_cannot_be_listed_is_named_and_the_others_are_imported() {
    let store = Store::new();
    let file = store.machine.path().join(".local/share/goose/sessions/sessions.db");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, "not a database, but long enough to have a header of its own").unwrap();
    let (daemon, _) = store.daemon();
    let run = import(&daemon, &json!({}));
    assert!(run["failed"][0]["file"].as_str().unwrap().ends_with("sessions.db"), "{run}");
    assert_eq!(sessions(&daemon).len(), 1);
}
