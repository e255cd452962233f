//! Files that are broken, huge, or nothing at all.

use std::fs;

use convoke_histories::{Agent, Error, Reading};
use proptest::prelude::*;

use crate::render::{Conversation, render};
use crate::scene::Scene;
use crate::stories::{CLINE, GOOSE, LINES, OPENCODE, story};

const CLAUDE: &str = "projects/-p/77777777-7777-4777-8777-777777777777.jsonl";

fn prompt(id: &str, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{id}","timestamp":"2026-11-01T10:00:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

#[test]
fn h6_broken_lines_are_counted_named_and_passed_by() {
    let scene = Scene::new(Agent::Claude);
    let deep =
        format!("{{\"type\":\"user\",\"message\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
    let mut text = Vec::new();
    let lines: [Vec<u8>; 9] = [
        prompt("u1", "first").into_bytes(),
        b"not json".to_vec(),
        b"{\"type\":\"user\",".to_vec(),
        Vec::new(),
        [b"\0\0\0\0".to_vec(), prompt("u2", "after zeros").into_bytes()].concat(),
        prompt("u3", "bad \u{1}").replace('\u{1}', "\u{fffd}").into_bytes(),
        deep.into_bytes(),
        [
            b"{\"type\":\"user\",\"uuid\":\"u4\",\"message\":{\"content\":\"caf".to_vec(),
            vec![0xe9],
            b"\"}}".to_vec(),
        ]
        .concat(),
        b"[]".to_vec(),
    ];
    for line in lines {
        text.extend(line);
        text.push(b'\n');
    }
    text.extend(prompt("u5", "last").as_bytes());
    scene.write(CLAUDE, text);
    insta::assert_snapshot!(scene.render());
}

#[test]
fn h6_a_huge_line_is_named_and_the_rest_is_read() {
    let scene = Scene::new(Agent::Claude);
    let huge = prompt("u2", &"x".repeat(9 << 20));
    scene.lines(CLAUDE, &[&prompt("u1", "first"), &huge, &prompt("u3", "last")]);
    let text = scene.render();
    assert!(text.contains("broken line 2 at 111: it is too long"), "{text}");
    assert!(text.contains("first") && text.contains("last"));
}

#[test]
fn h6_counts_that_cannot_be_do_not_overflow() {
    let scene = Scene::new(Agent::Claude);
    let line = |id: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{id}","apiBlockIndex":18446744073709551615,"message":{{"id":"{id}","content":[{{"type":"text","text":"a"}},{{"type":"text","text":"b"}}],"usage":{{"input_tokens":18446744073709551615,"output_tokens":1e300,"cache_read_input_tokens":-1}}}}}}"#
        )
    };
    scene.lines(CLAUDE, &[&line("m1"), &line("m2")]);
    let conversation = Conversation::read(scene.reading(None));
    assert_eq!(conversation.tally.broken, 0);
    assert_eq!(conversation.identity.tokens.input, 2 << 40);
}

#[test]
fn h6_a_tool_call_that_is_longer_than_a_message_is_shortened() {
    let scene = Scene::new(Agent::Claude);
    let long = "x".repeat(700 << 10);
    let call = format!(
        r#"{{"type":"assistant","uuid":"a1","message":{{"id":"m1","content":[{{"type":"tool_use","id":"t1","name":"Write","input":{{"file_path":"/p/a","content":"{long}"}}}}]}}}}"#
    );
    let result = format!(
        r#"{{"type":"user","uuid":"u1","message":{{"content":[{{"type":"tool_result","tool_use_id":"t1","content":"{long}"}}]}}}}"#
    );
    scene.lines(CLAUDE, &[&call, &result]);
    let conversation = Conversation::read(scene.reading(None));
    for item in &conversation.items {
        assert!(serde_json::to_vec(&item.content).unwrap().len() <= 512 << 10);
    }
}

#[test]
fn h6_an_answer_that_is_longer_than_a_message_is_split_and_nothing_of_it_is_lost() {
    let scene = Scene::new(Agent::Claude);
    let long = "wörter ".repeat(100_000);
    let line = format!(
        r#"{{"type":"assistant","uuid":"a1","message":{{"id":"m1","content":[{{"type":"text","text":"{long}"}}]}}}}"#
    );
    scene.lines(CLAUDE, &[&line]);
    let conversation = Conversation::read(scene.reading(None));
    assert!(conversation.items.len() > 2);
    let said: String = conversation
        .items
        .iter()
        .map(|item| {
            serde_json::to_value(&item.content).unwrap()["text"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(said, long);
}

#[test]
fn h6_a_broken_document_gives_what_it_has() {
    let scene = story(Agent::Cline);
    let text = fs::read_to_string(scene.path(CLINE)).unwrap();
    scene.write(CLINE, &text[..text.find("{\"id\":\"m3\"").unwrap() + 30]);
    let text = scene.render();
    assert!(text.contains("1 broken") && text.contains("Looking"), "{text}");
}

#[test]
fn h6_a_database_that_is_none_is_an_error_that_names_it() {
    for (agent, path) in [(Agent::Opencode, "opencode.db"), (Agent::Goose, "sessions/sessions.db")]
    {
        let scene = Scene::new(agent);
        scene.write(path, "not a database, but long enough to have a header of its own, or so it seems to be here");
        let error = scene.store().scan().unwrap_err();
        assert!(error.to_string().contains(path), "{error}");
    }
    // Titles alone are not worth an error.
    let scene = story(Agent::Codex);
    scene.write("state_5.sqlite", "nothing");
    assert!(scene.render().starts_with("# fix it\n"));
}

/// Something between a valid line and noise: a line of a story with some bytes replaced, cut or repeated.
/// A store whose tables are views, one of which never ends.
#[test]
fn h6_a_view_in_place_of_a_table_is_refused_and_named() {
    let endless = "AS WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n)
         SELECT n AS id, n AS updated_at, n AS session_id, 'user' AS session_type FROM n";
    for (agent, path, table) in [
        (Agent::Goose, GOOSE, "sessions"),
        (Agent::Goose, GOOSE, "messages"),
        (Agent::Opencode, OPENCODE, "session"),
        (Agent::Opencode, OPENCODE, "part"),
    ] {
        let scene = story(agent);
        scene.sql(path, &format!("DROP TABLE {table}; CREATE VIEW {table} {endless}"));
        let error = scene.store().scan().unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{error}");
        assert!(error.to_string().contains(path), "{error}");
        // As if the schema said that the view is a table.
        let lie = format!(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET type = 'table' WHERE name = '{table}'"
        );
        scene.sql(path, &lie);
        let error = scene.store().scan().unwrap_err();
        assert!(error.to_string().contains(path), "{error}");
    }
}

#[test]
fn h6_a_virtual_table_in_place_of_a_table_is_refused() {
    let scene = story(Agent::Goose);
    scene.sql(GOOSE, "DROP TABLE messages; CREATE VIRTUAL TABLE messages USING fts5(session_id)");
    let error = scene.store().scan().unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
}

#[test]
fn h6_an_endless_view_beside_transcripts_costs_only_titles() {
    let scene = story(Agent::Codex);
    let endless = "DROP TABLE threads; CREATE VIEW threads AS
         WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n)
         SELECT n AS id, '' AS title, '' AS cwd, '' AS name FROM n";
    scene.sql("state_5.sqlite", endless);
    assert!(scene.render().contains("fix it"));
}

#[test]
fn h6_a_row_that_is_longer_than_any_message_is_named_and_the_rest_is_read() {
    let scene = story(Agent::Goose);
    let rows = "INSERT INTO messages (session_id, role, content_json, created_timestamp)
         VALUES ('20261101_1', 'user', printf('%.*c', 20000000, 'x'), 1793527208),
             ('20261101_1', 'user', '[{\"type\":\"text\",\"text\":\"the last\"}]', 1793527209);
         INSERT INTO sessions (id, working_dir, updated_at)
         VALUES (printf('%.*c', 20000000, 'x'), '/p', '2026-11-01 10:00:09')";
    scene.sql(GOOSE, rows);
    assert_eq!(scene.histories().len(), 1);
    let text = scene.render();
    assert!(text.contains("it is too long") && text.contains("the last"), "{text}");
}

fn mutated() -> impl Strategy<Value = (usize, Vec<(prop::sample::Index, u8, u8)>)> {
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..4_u8);
    (0..LINES.len() + 1, prop::collection::vec(change, 1..12))
}

fn mutate(text: &mut Vec<u8>, changes: &[(prop::sample::Index, u8, u8)]) {
    const TOKENS: [&[u8]; 10] =
        [b"null", b"{}", b"[]", b"\"\"", b"-1", b"1e999", b"\n", b"\"id\":", b"\xff", b"\\u0000"];
    for (place, byte, kind) in changes {
        if text.is_empty() {
            return;
        }
        let at = place.index(text.len());
        match kind {
            0 => text[at] = *byte,
            1 => text.truncate(at),
            2 => {
                let token = TOKENS[usize::from(*byte) % TOKENS.len()];
                text.splice(at..at, token.iter().copied());
            }
            _ => {
                let end = (at + usize::from(*byte)).min(text.len());
                let piece = text[at..end].to_vec();
                text.splice(at..at, piece);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn h6_no_change_of_a_file_panics_or_hides_an_error((which, changes) in mutated()) {
        let (agent, path) = LINES.get(which).copied().unwrap_or((Agent::Cline, CLINE));
        let scene = story(agent);
        let mut text = fs::read(scene.path(path)).unwrap();
        mutate(&mut text, &changes);
        scene.write(path, &text);
        let conversation = Conversation::read(scene.reading(None));
        prop_assert!(!render(&conversation).is_empty());
        for item in &conversation.items {
            prop_assert!(!item.key.is_empty());
        }
    }

    #[test]
    fn h6_noise_is_no_conversation(which in 0..LINES.len(), noise in prop::collection::vec(any::<u8>(), 0..2000)) {
        let (agent, path) = LINES[which];
        let scene = Scene::new(agent);
        scene.write(path, &noise);
        let reading = scene.reading(None);
        prop_assert!(matches!(reading, Reading::Whole(_)));
        Conversation::read(reading);
    }
}
