//! Vibe 3: generations of chunks, and a journal of what was said since.

use std::fs;

use convoke_histories::{Agent, Error, Reading};
use serde_json::{Value, json};

use crate::render::render;
use crate::scene::{Imported, Scene};

pub(crate) const ID: &str = "77777777-7777-4777-8777-777777777777";

/// A session of Vibe 3 as it is written: entries in chunks, the current generation, its journal.
pub(crate) struct Unified {
    pub(crate) scene: Scene,
}

fn second(second: i64) -> i64 {
    1_793_527_200_000 + second * 1000
}

fn entry(kind: &str, id: &str, at: i64, more: &Value) -> Value {
    let mut entry = json!({"type": kind, "id": id, "sessionId": ID, "turnId": "turn-1", "createdAt": second(at),
        "updatedAt": second(at), "generationStatus": "completed", "relatedEntryId": null, "inputEntryId": null});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

fn said(role: &str, id: &str, at: i64, text: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    entry("message", id, at, &json!({"role": role, "content": content, "source": "turn_start"}))
}

fn called(id: &str, at: i64, tool: &str, input: &Value, state: &Value) -> Value {
    let detail =
        json!({"kind": "tool", "toolName": tool, "input": input, "display": {"summary": tool}});
    let more =
        json!({"detail": detail, "state": state, "title": tool, "updatedAt": second(at + 1)});
    entry("effect", id, at, &more)
}

fn done(result: &Value, notes: &Value) -> Value {
    let output =
        json!({"type": "success", "content": [], "structured_content": result, "_meta": notes});
    json!({"status": "completed", "output": output, "outputText": "", "display": {"success": true}})
}

/// A record of the journal; most of them are for the model and are passed over.
fn record(kind: &str, payload: &Value) -> String {
    let record = json!({"payload": payload, "sequence": 1, "record_sha256": "-", "type": kind});
    format!("{record}\n")
}

fn added(entries: &[Value]) -> String {
    let delta: Vec<Value> =
        entries.iter().map(|entry| json!({"op": "append_entry", "entry": entry})).collect();
    record("projection_delta", &json!({"watermark": 1, "delta": delta}))
}

fn session(at: i64, input: u64) -> Value {
    let usage = json!({"inputTokens": input, "outputTokens": 20, "cachedInputTokens": 100, "totalTokens": input + 20});
    json!({"session": {"id": ID, "title": "The fix", "titleSource": "auto", "createdAt": second(0),
        "updatedAt": second(at), "tokenUsage": usage, "contextUsage": usage, "status": {"type": "idle"}}})
}

impl Unified {
    pub(crate) fn new() -> Self {
        let unified = Self { scene: Scene::new(Agent::Vibe) };
        unified.meta(&Value::Null);
        unified
    }

    fn path(path: &str) -> String {
        format!("logs/session/unified/{ID}/{path}")
    }

    fn meta(&self, parent: &Value) {
        let meta = json!({"session_id": ID, "parent_session_id": parent, "start_time": "2026-11-01T10:00:00+00:00",
            "end_time": "2026-11-01T10:00:09+00:00", "environment": {"working_directory": "/p"}, "title": null,
            "title_source": "auto", "config": {"active_model": "devstral", "model_name": "devstral-2"}});
        self.scene.write(&Self::path("meta.json"), meta.to_string());
    }

    /// Publishes a generation with an empty journal.
    fn publish(&self, generation: u32, chunks: &[Vec<Value>]) {
        let mut names = Vec::new();
        for chunk in chunks {
            let body = Value::Array(chunk.clone()).to_string();
            let name = format!(
                "{:064x}",
                body.bytes().fold(7_u64, |hash, byte| {
                    hash.wrapping_mul(31).wrapping_add(u64::from(byte))
                })
            );
            self.scene.write(&Self::path(&format!("chunks/{name}.json")), format!("{body}\n"));
            names.push(name);
        }
        let folder = format!("generations/{generation:016}");
        let journal = format!("journal/{generation:016}.jsonl");
        let manifest = json!({"manifest_version": 1, "generation": format!("{generation:016}"),
            "projection_state": {"path": "projection-state.json", "chunks": names, "sha256": "-"},
            "recovery_journal_segment": {"first_sequence": 1, "path": journal}});
        self.scene.write(&Self::path(&format!("{folder}/manifest.json")), manifest.to_string());
        let state =
            json!({"projection_state_version": 1, "session_id": ID, "snapshot": session(3, 1100)});
        self.scene
            .write(&Self::path(&format!("{folder}/projection-state.json")), state.to_string());
        self.scene.write(&Self::path(&format!("{folder}/runtime-state.json")), "{\"secret\":1}");
        self.scene.write(&Self::path(&journal), "");
        let current = json!({"generation": format!("{generation:016}"), "session_id": ID});
        self.scene.write(&Self::path("CURRENT.tmp"), current.to_string());
        let place = |name: &str| self.scene.path(&Self::path(name));
        fs::rename(place("CURRENT.tmp"), place("CURRENT")).unwrap();
    }

    fn append(&self, generation: u32, text: &str) {
        let path = Self::path(&format!("journal/{generation:016}.jsonl"));
        let before = fs::read_to_string(self.scene.path(&path)).unwrap();
        self.scene.write(&path, format!("{before}{text}"));
    }

    fn read(&self) -> Imported {
        let Reading::Whole(reader) = self.scene.reading(None) else { panic!("it was never read") };
        Imported::new(reader)
    }

    fn rest(&self, before: Imported) -> Imported {
        match self.scene.reading(Some(&before.cursor)) {
            Reading::Rest(reader) => before.then(reader),
            other @ (Reading::Unchanged | Reading::Whole(_) | Reading::Rewritten(_)) => {
                panic!("{other:?}")
            }
        }
    }

    /// What was read in parts is what is read at once.
    fn same(&self, imported: &Imported) {
        assert_eq!(render(&imported.conversation), render(&self.read().conversation));
        assert!(matches!(self.scene.reading(Some(&imported.cursor)), Reading::Unchanged));
    }
}

fn first_chunk() -> Vec<Value> {
    let before = json!({"vibe": {"previous_content": "x"}});
    vec![
        said("user", "u1", 1, "fix it"),
        entry("reasoning", "r1", 2, &json!({"text": "hm", "summary": []})),
        entry("reasoning", "r2", 2, &json!({"text": "[redacted]", "summary": []})),
        said("assistant", "a1", 2, "Looking"),
        called(
            "e1",
            3,
            "file_system.write_file",
            &json!({"path": "a", "content": "y"}),
            &done(&json!({"path": "/p/a", "bytes_written": 1}), &before),
        ),
        called(
            "e2",
            4,
            "file_system.search_replace",
            &json!({"file_path": "a", "content": [{"old_str": "y", "new_str": "z"}]}),
            &done(&json!({"file": "/p/a", "lines_changed": 1}), &json!({})),
        ),
    ]
}

fn second_chunk() -> Vec<Value> {
    let ran = json!({"command": "make", "returncode": 2, "stdout": "no rule", "stderr": "stop"});
    let todos =
        json!({"action": "write", "todos": [{"id": "1", "content": "look", "status": "pending"}]});
    vec![
        called("e3", 5, "file_system.bash", &json!({"command": "make"}), &done(&ran, &json!({}))),
        called("e4", 5, "vibe.todo", &todos, &done(&json!({"message": "ok"}), &json!({}))),
        entry("callback", "c1", 5, &json!({"state": {"status": "answered"}})),
        entry("notice", "n1", 5, &json!({"level": "info", "message": "Hooks completed"})),
        entry(
            "checkpoint",
            "k1",
            6,
            &json!({"kind": "compaction", "message": "Context compacted"}),
        ),
        entry("from_the_future", "f1", 6, &json!({})),
    ]
}

/// Everything that the format has, half of it in the journal.
pub(crate) fn story() -> Unified {
    let unified = Unified::new();
    unified.publish(1, &[first_chunk(), second_chunk()]);
    let mut typed = said("user", "u2", 7, "look at a\n<file>z</file>");
    typed["userDisplayContent"] = json!({"content": [{"type": "text", "text": "look at @a"}]});
    let running = json!({"status": "running", "outputText": ""});
    let failed =
        json!({"status": "failed", "error": {"message": "no such file"}, "outputText": ""});
    let input = json!({"path": "/p/b"});
    let call = |state: &Value| called("e5", 8, "file_system.read_file", &input, state);
    let settled = json!({"watermark": 3, "delta": [
        {"op": "replace_entry", "id": "e5", "entry": call(&failed)},
        {"op": "set_envelope", "state": session(9, 2100)},
    ]});
    unified.append(1, &record("command_reserved", &json!({"method": "turn/start"})));
    unified.append(1, &record("core_input", &json!({"secret": "the whole prompt of the system"})));
    unified.append(1, &added(&[typed, call(&running)]));
    unified.append(1, &record("projection_delta", &settled));
    unified.append(1, &record("unheard_of", &json!({})));
    unified
}

#[test]
fn h1_vibe_3_says_all_that_people_saw() {
    insta::assert_snapshot!(story().scene.render());
}

#[test]
fn h2_a_journal_and_the_generation_that_it_becomes_are_one_conversation() {
    let unified = Unified::new();
    unified.publish(1, &[vec![said("user", "u1", 1, "fix it")]]);
    let mut imported = unified.read();
    unified.append(1, &added(&[said("assistant", "a1", 2, "Looking")]));
    unified.append(1, &added(&[said("user", "u2", 3, "and that")]));
    imported = unified.rest(imported);
    unified.same(&imported);
    // The journal is folded into the last chunk, which is written anew under another name.
    let entries = vec![
        said("user", "u1", 1, "fix it"),
        said("assistant", "a1", 2, "Looking"),
        said("user", "u2", 3, "and that"),
    ];
    unified.publish(2, std::slice::from_ref(&entries));
    imported = unified.rest(imported);
    unified.same(&imported);
    assert_eq!(imported.conversation.items.len(), 3);
    // Another chunk follows; the first stays as it is.
    unified.publish(3, &[entries.clone(), vec![said("assistant", "a2", 4, "Done")]]);
    imported = unified.rest(imported);
    unified.publish(
        4,
        &[entries, vec![said("assistant", "a2", 4, "Done"), said("user", "u3", 5, "thanks")]],
    );
    imported = unified.rest(imported);
    let texts = render(&imported.conversation);
    assert_eq!(imported.conversation.items.len(), 5, "{texts}");
    unified.append(4, &added(&[said("assistant", "a3", 6, "You are welcome")]));
    imported = unified.rest(imported);
    assert_eq!(imported.conversation.items.len(), 6);
    assert_eq!(render(&imported.conversation), render(&unified.read().conversation));
}

#[test]
fn h2_what_a_journal_said_is_not_said_again_by_the_chunks_that_it_becomes() {
    let unified = Unified::new();
    let entries: Vec<Value> =
        (0..6).map(|number| said("user", &format!("u{number}"), number, "fix it")).collect();
    unified.publish(1, &[entries[..2].to_vec()]);
    unified.append(1, &added(&entries[2..5]));
    let imported = unified.read();
    unified.publish(2, &[entries[..3].to_vec(), entries[3..].to_vec()]);
    let Reading::Rest(mut reader) = unified.scene.reading(Some(&imported.cursor)) else { panic!() };
    let mut keys = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        keys.extend(batch.items.into_iter().map(|item| item.key));
    }
    assert_eq!(keys, ["u5"]);
}

#[test]
fn h2_a_reader_that_stops_anywhere_goes_on_from_there() {
    let unified = story();
    let path = Unified::path("journal/0000000000000001.jsonl");
    let text = fs::read_to_string(unified.scene.path(&path)).unwrap();
    let whole = unified.read();
    // Every line feed with what is around it, and some places within lines.
    let feeds = text.match_indices('\n').flat_map(|(at, _)| [at, at + 1, at + 2]);
    for cut in feeds.filter(|cut| *cut < text.len()).chain((0..text.len()).step_by(97)) {
        unified.scene.write(&path, text.get(..cut).unwrap());
        let first = unified.read();
        unified.scene.write(&path, &text);
        let both = unified.rest(first);
        assert_eq!(render(&both.conversation), render(&whole.conversation), "{cut}");
    }
}

#[test]
fn h2_a_session_that_holds_another_conversation_is_not_mixed_with_the_first() {
    let unified = Unified::new();
    let first = vec![said("user", "u1", 1, "fix it"), said("assistant", "a1", 2, "Looking")];
    unified.publish(1, &[first.clone(), vec![said("user", "u2", 3, "and that")]]);
    let imported = unified.read();
    let others = [
        vec![vec![said("user", "u8", 1, "fix it")], vec![said("user", "u2", 3, "and that")]],
        vec![first.clone(), vec![said("user", "u9", 3, "and that")]],
        vec![first.clone()],
        Vec::new(),
    ];
    for (generation, chunks) in (2..).zip(others) {
        unified.publish(generation, &chunks);
        let reading = unified.scene.reading(Some(&imported.cursor));
        assert!(matches!(reading, Reading::Rewritten(_)), "{generation}: {reading:?}");
    }
    // One that went back says so, and is the same.
    let rewind =
        json!({"kind": "rewind", "message": "Conversation rewound", "details": {"entryId": "u2"}});
    let again = vec![entry("checkpoint", "k", 4, &rewind), said("user", "u3", 5, "or this")];
    unified.publish(9, &[first, again]);
    let imported = unified.rest(imported);
    let text = render(&imported.conversation);
    assert!(text.contains("Conversation rewound") && text.contains("or this"), "{text}");
    assert!(text.contains("and that"), "what was seen stays: {text}");
}

#[test]
fn h1_vibe_3_forks_do_not_repeat_their_parent_and_subagents_belong_to_theirs() {
    let unified = Unified::new();
    unified.meta(&json!("parent"));
    let own = vec![said("user", "u1", 3, "in the fork")];
    let inherited = vec![said("user", "imported-1", 1, "in the parent")];
    unified.publish(1, &[inherited, own.clone()]);
    let about = |imported: &Imported| {
        let identity = imported.conversation.identity.clone();
        (identity.parent, identity.forked_from, imported.conversation.items.len())
    };
    let parent = Some("parent".to_owned());
    let imported = unified.read();
    assert_eq!(about(&imported), (None, parent.clone(), 1));
    unified.append(1, &added(&[said("assistant", "a1", 4, "Done")]));
    assert_eq!(about(&unified.rest(imported)), (None, parent.clone(), 2));
    unified.publish(2, &[own]);
    assert_eq!(about(&unified.read()), (parent, None, 1));
}

#[test]
fn h6_damage_in_chunks_and_journals_is_counted_and_the_rest_is_read() {
    let unified = story();
    let folder = unified.scene.path(&Unified::path("chunks"));
    let mut chunks: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    chunks.sort_by_key(|path| !fs::read_to_string(path).unwrap().contains("fix it"));
    let text = fs::read_to_string(&chunks[0]).unwrap();
    fs::write(&chunks[0], &text[..text.len() - 200]).unwrap();
    unified.append(1, "{broken\n");
    unified.append(1, &added(&[said("user", "u9", 9, "still here")]));
    let read = render(&unified.read().conversation);
    assert!(read.contains("2 broken") && read.contains("the document breaks off"), "{read}");
    assert!(read.contains("\"Looking\"") && read.contains("still here"), "{read}");
    assert!(read.contains("no rule"), "the other chunk: {read}");
}

#[test]
fn h6_a_session_without_its_generation_says_what_is_missing() {
    let unified = story();
    let mut store = unified.scene.store();
    let history = store.scan().unwrap().remove(0);
    let current = Unified::path("CURRENT");
    for (text, is_gone) in [
        ("{\"generation\":\"0000000000000009\"}", true),
        ("{}", false),
        ("not json", false),
        ("{\"generation\":\"../../../..\"}", false),
    ] {
        unified.scene.write(&current, text);
        let error = store.read(&history, None).unwrap_err();
        assert_eq!(error.is_gone(), is_gone, "{text}: {error}");
    }
    let error = store.read(&history, None).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
}

#[test]
fn h3_what_is_said_to_vibe_3_changes_the_stamp() {
    let unified = Unified::new();
    unified.publish(1, &[vec![said("user", "u1", 1, "fix it")]]);
    let mut stamps = vec![unified.scene.histories().remove(0)];
    unified.append(1, &added(&[said("assistant", "a1", 2, "Looking")]));
    stamps.push(unified.scene.histories().remove(0));
    unified.publish(2, &[vec![said("user", "u1", 1, "fix it")]]);
    stamps.push(unified.scene.histories().remove(0));
    assert_ne!(stamps[0].stamp, stamps[1].stamp);
    assert_ne!(stamps[1].stamp, stamps[2].stamp);
    let folder = unified.scene.path(&Unified::path("journal"));
    assert_eq!(stamps.iter().map(|it| it.folder()).collect::<Vec<_>>(), vec![folder; 3]);
    assert_eq!(stamps[0].file(), unified.scene.path(&Unified::path("CURRENT")));
}

#[test]
fn h2_a_session_of_vibe_2_is_left_out_where_its_own_file_was_read() {
    let unified = Unified::new();
    let copied =
        [said("user", "imported-1", 1, "fix it"), said("assistant", "imported-2", 1, "Done")];
    unified.publish(1, &[copied.to_vec(), vec![said("user", "u1", 2, "and that")]]);
    assert_eq!(unified.read().conversation.identity.continues.as_deref(), Some(ID));
    let source = json!({"backend": "legacy", "session_id": "old", "store_revision": "-"});
    let state = json!({"import_provenance": {"source": source, "imported_at": "-"}});
    let path = Unified::path("generations/0000000000000001/runtime-state.json");
    unified.scene.write(&path, state.to_string());
    let imported = Imported::new(unified.scene.continuation());
    assert_eq!(imported.conversation.identity.continues.as_deref(), Some("old"));
    let keys = |imported: &Imported| -> Vec<String> {
        imported.conversation.items.iter().map(|item| item.key.clone()).collect()
    };
    assert_eq!(keys(&imported), ["u1"]);
    // That it is left out is part of the cursor, also when everything is written anew.
    unified.publish(
        2,
        &[copied.to_vec(), vec![said("user", "u1", 2, "and that"), said("user", "u2", 3, "on")]],
    );
    assert_eq!(keys(&unified.rest(imported)), ["u1", "u2"]);
}
