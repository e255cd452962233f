//! Sessions of Vibe 2 that Vibe 3 continues: it copies them into a journal of its own, and leaves the old files there.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use convoke_testkit::wait::until;
use serde_json::{Value, json};

use crate::histories::{Store, import, sessions, words};
use crate::serve_scene::Daemon;

const OLD: &str = "77777777-7777-4777-8777-777777777777";
const NEW: &str = "88888888-8888-4888-8888-888888888888";

/// The home of Vibe.
struct Vibe(PathBuf);

impl Vibe {
    fn new(store: &Store) -> Self {
        Self(store.machine.path().join(".vibe/logs/session"))
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A session as Vibe 2 writes it.
    fn talk(&self, said: &[(&str, &str)]) {
        let folder = "session_20261101_100000_77777777";
        let meta = json!({"session_id": OLD, "environment": {"working_directory": "/gone/vibe"}});
        self.write(&format!("{folder}/meta.json"), &meta.to_string());
        let line = |(number, (role, text)): (usize, &(&str, &str))| {
            json!({"role": role, "content": text, "message_id": format!("m{number}")}).to_string()
        };
        let lines = said.iter().enumerate().map(line).map(|line| line + "\n");
        let path = self.0.join(folder).join("messages.jsonl");
        let known = fs::metadata(&path).map_or(0, |file| file.len());
        let text: String = lines.collect();
        // Vibe appends to it.
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(&text.as_bytes()[usize::try_from(known).unwrap()..]).unwrap();
    }

    /// The same as Vibe 3 copies it, under an id, with what was said since.
    fn copy(&self, id: &str, copied: &[(&str, &str)], since: &[(&str, &str)]) {
        let entry = |key: String, (role, text): &(&str, &str)| {
            json!({"type": "message", "id": key, "role": role, "createdAt": 1_793_527_201_000_i64,
                "content": [{"type": "text", "text": text}]})
        };
        let copied =
            copied.iter().enumerate().map(|(at, said)| entry(format!("imported-{}", at + 1), said));
        let since = since.iter().enumerate().map(|(at, said)| entry(format!("e{at}"), said));
        let entries: Vec<Value> = copied.chain(since).collect();
        let manifest = json!({"projection_state": {"chunks": ["c1"]},
            "recovery_journal_segment": {"path": "journal/1.jsonl"}});
        let source = json!({"backend": "legacy", "session_id": OLD, "store_revision": "-"});
        let state = json!({"session_id": id, "import_provenance": {"source": source}});
        let meta = json!({"environment": {"working_directory": "/gone/vibe"}});
        let files = [
            ("meta.json", meta.to_string()),
            ("generations/1/manifest.json", manifest.to_string()),
            ("generations/1/projection-state.json", "{}".to_owned()),
            ("generations/1/runtime-state.json", state.to_string()),
            ("chunks/c1.json", Value::Array(entries).to_string()),
            ("journal/1.jsonl", String::new()),
            ("CURRENT", json!({"generation": "1"}).to_string()),
        ];
        for (name, text) in files {
            self.write(&format!("unified/{id}/{name}"), &text);
        }
    }

    /// Something more is said to Vibe 3.
    fn say(&self, id: &str, text: &str) {
        let entry = json!({"type": "message", "id": "later", "role": "user",
            "content": [{"type": "text", "text": text}]});
        let payload = json!({"delta": [{"op": "append_entry", "entry": entry}]});
        let record = json!({"payload": payload, "type": "projection_delta"});
        self.write(&format!("unified/{id}/journal/1.jsonl"), &format!("{record}\n"));
    }
}

const TALK: [(&str, &str); 2] =
    [("user", "Where is the larkspur?"), ("assistant", "Behind the wall.")];

fn all_words(daemon: &Daemon) -> Vec<String> {
    let listed = sessions(daemon);
    let [session] = listed.as_slice() else { panic!("one session is expected: {listed:?}") };
    words(daemon, session)
}

#[test]
fn h2_a_session_of_vibe_2_and_its_copy_by_vibe_3_are_imported_once() {
    for id in [OLD, NEW] {
        let store = Store::new();
        let vibe = Vibe::new(&store);
        vibe.talk(&TALK);
        vibe.copy(id, &TALK, &[("user", "And the rose?")]);
        let (daemon, _) = store.daemon();
        let dry = import(&daemon, &json!({"sources": ["vibe"], "dryRun": true}));
        let counted =
            |of: &Value| (of["sources"][0]["added"].clone(), of["sources"][0]["grown"].clone());
        assert_eq!(counted(&dry), (json!(1), json!(1)));
        let done = import(&daemon, &json!({"sources": ["vibe"]}));
        assert_eq!(counted(&done), (json!(1), json!(1)));
        let expected = ["Where is the larkspur?", "Behind the wall.", "And the rose?"];
        assert_eq!(all_words(&daemon), expected);
        let again = import(&daemon, &json!({"sources": ["vibe"]}));
        assert_eq!(again["sources"], json!([]));
        // The daemon follows the new file from now on.
        vibe.say(id, "And the yew?");
        until("the new file is followed", || all_words(&daemon).last().unwrap() == "And the yew?");
        assert_eq!(all_words(&daemon).len(), 4);
    }
}

#[test]
fn h2_an_imported_session_of_vibe_2_goes_on_when_vibe_3_continues_it() {
    for id in [OLD, NEW] {
        let store = Store::new();
        let vibe = Vibe::new(&store);
        vibe.talk(&TALK[..1]);
        let (mut daemon, _) = store.daemon();
        import(&daemon, &json!({"sources": ["vibe"]}));
        assert_eq!(all_words(&daemon), ["Where is the larkspur?"]);
        daemon.kill_and_start();
        // What was said to Vibe 2 since is read from its own file, before what was said to Vibe 3.
        vibe.talk(&TALK);
        vibe.copy(id, &TALK, &[("user", "And the rose?")]);
        until("both files are read", || all_words(&daemon).len() == 3);
        import(&daemon, &json!({"sources": ["vibe"]}));
        let expected = ["Where is the larkspur?", "Behind the wall.", "And the rose?"];
        assert_eq!(all_words(&daemon), expected);
    }
}

#[test]
fn h2_a_deleted_session_of_vibe_2_does_not_come_back_with_vibe_3() {
    let store = Store::new();
    let vibe = Vibe::new(&store);
    vibe.talk(&TALK);
    let (daemon, _) = store.daemon();
    import(&daemon, &json!({"sources": ["vibe"]}));
    let id = sessions(&daemon)[0]["id"].as_str().unwrap().to_owned();
    let erased = daemon.post(&format!("/api/sessions/{id}/erase"), &json!({}));
    assert!(erased.status < 300, "{erased:?}");
    vibe.copy(NEW, &TALK, &[]);
    import(&daemon, &json!({"sources": ["vibe"]}));
    vibe.say(NEW, "And the yew?");
    import(&daemon, &json!({"sources": ["vibe"]}));
    assert_eq!(sessions(&daemon), Vec::<Value>::new());
}
