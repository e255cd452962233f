//! `convoke import spawn` and `convoke session export`: transcripts become sessions, and sessions transcripts.

use std::fs;

use serde_json::{Value, json};

use crate::daemon_scene::Scene;

/// A transcript with odd turns: decreasing times, unusual token counts, two answers in a row.
fn talk() -> String {
    let turn = |role: &str, content: &str, second: u32, tokens: u64| {
        let timestamp = format!("2025-03-01T10:00:{second:02}.000Z");
        json!({"type": "turn", "role": role, "content": content, "timestamp": timestamp, "tokens": tokens})
    };
    let lines = [
        json!({"type": "metadata", "session_id": "try-out", "agent": "demo", "created_at": "2025-03-01T10:00:00.000Z", "status": "active"}),
        turn("assistant", "Welcome.", 1, 2),
        turn("user", "Where is the heliotrope?", 9, 600),
        turn("user", "Are you there?", 10, 4),
        turn("assistant", "In the \"garden\".\nBehind\tthe wall.\n", 5, 0),
        json!({"type": "cleared", "timestamp": "2025-03-01T10:00:06.000Z"}),
        turn("assistant", "", 11, 0),
        turn("assistant", "Or not. 🌻", 12, 3),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The lines of a transcript that are turns.
fn turns(text: &str) -> Vec<Value> {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["type"] == "turn").collect()
}

/// What a command prints; it must succeed.
fn stdout(scene: &Scene, line: &str) -> String {
    let args: Vec<&str> = line.split_whitespace().collect();
    let output = scene.machine.command(&args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn scene() -> Scene {
    let scene = Scene::new();
    fs::write(scene.machine.path().join("try-out.jsonl"), talk()).unwrap();
    scene
}

#[test]
fn r7_what_was_said_in_a_role_goes_on_with_the_agent_that_plays_it() {
    let scene = scene();
    let home = scene.machine.home();
    fs::create_dir_all(home.join("agents")).unwrap();
    fs::write(home.join("agents/gardener.md"), "---\nagent: demo\n---\nYou garden.").unwrap();
    for (role, agent) in [("gardener", "demo"), ("florist", "florist")] {
        let text = talk().replace("demo", role).replace("try-out", role);
        fs::write(scene.machine.path().join(format!("{role}.jsonl")), text).unwrap();
        stdout(&scene, &format!("import spawn {role}.jsonl --project web"));
        let listed = scene.machine.json("session list --json");
        assert_eq!(
            listed["sessions"][0]["agent"], agent,
            "a role that nobody knows keeps its name"
        );
    }
}

#[test]
fn r7_a_transcript_becomes_a_session_and_comes_out_as_it_was() {
    let scene = scene();
    insta::assert_snapshot!(scene.run("import spawn try-out.jsonl --project web"), @r"
    exit 0
    --- stdout
    1 transcript imported, 6 turns
    --- stderr
    [tmp]/web is now the project web
    ");
    let listed = scene.machine.json("session list --json");
    let session = &listed["sessions"][0];
    let about = ["status", "title", "createdAt", "agent", "lastActiveAt"].map(|key| &session[key]);
    let moment = "2025-03-01T10:00:12.000Z";
    let wanted =
        ["completed", "Where is the heliotrope?", "2025-03-01T10:00:00.000Z", "demo", moment];
    assert_eq!(about, wanted.each_ref());
    let id = session["id"].as_str().unwrap();
    let exported = stdout(&scene, &format!("session export {id}"));
    assert_eq!(turns(&exported), turns(&talk()));
    let list = scene.machine.json(&format!("session export {id} --json"));
    assert_eq!(list.as_array().unwrap().len(), 6);

    // On another machine, the transcript of the session is the same session again.
    let other = Scene::new();
    fs::write(other.machine.path().join("again.jsonl"), &exported).unwrap();
    let report = other.machine.json("import spawn again.jsonl --project web --json");
    assert_eq!(report["sessions"][0]["sessionId"], *id);
    let again = stdout(&other, &format!("session export {id} --format jsonl"));
    assert_eq!(turns(&again), turns(&exported));
}

#[test]
fn what_is_imported_twice_is_there_once_and_what_was_said_since_is_added() {
    let scene = scene();
    let import = "import spawn try-out.jsonl --project web";
    scene.run(import);
    insta::assert_snapshot!(scene.run(import), @"
    exit 0
    --- stdout
    0 transcripts imported, 0 turns
    1 transcript imported before
    ");
    let more = talk()
        + r#"{"type":"turn","role":"user","content":"Thanks","timestamp":"2025-03-01T11:00:00.000Z","tokens":2}"#;
    fs::write(scene.machine.path().join("try-out.jsonl"), &more).unwrap();
    let report = scene.machine.json(&format!("{import} --json"));
    let session = &report["sessions"][0];
    assert_eq!((&session["added"], &session["turns"]), (&json!(1), &json!(7)));
    let id = session["sessionId"].as_str().unwrap();
    assert_eq!(turns(&stdout(&scene, &format!("session export {id}"))), turns(&more));
    // A session that goes on has a life of its own.
    scene.run(&format!("session resume {id}"));
    scene.say(id, "hello");
    insta::assert_snapshot!(scene.run(import), @r"
    exit 0
    --- stdout
    0 transcripts imported, 0 turns
    1 transcript skipped: the session exists already and has continued
    ");
    let exported = stdout(&scene, &format!("session export {id}"));
    let said = turns(&exported);
    assert_eq!(said[..7], turns(&more));
    assert_eq!((&said[7]["content"], &said[8]["role"]), (&json!("hello"), &json!("assistant")));
    // Importing what is this very session changes nothing.
    fs::write(scene.machine.path().join("own.jsonl"), exported).unwrap();
    let report = scene.machine.json("import spawn own.jsonl --project web --json");
    assert_eq!(report["sessions"][0]["outcome"], "continued");
}

#[test]
fn a_transcript_that_says_something_else_than_before_is_refused_and_nothing_is_mixed() {
    let scene = scene();
    let import = "import spawn try-out.jsonl --project web";
    scene.run(import);
    let other = talk().replace("Are you there?", "Is anybody there?")
        + r#"{"type":"turn","role":"user","content":"Thanks","timestamp":"2025-03-01T11:00:00.000Z","tokens":2}"#;
    fs::write(scene.machine.path().join("try-out.jsonl"), &other).unwrap();
    insta::assert_snapshot!(scene.run(import), @r"
    exit 1
    --- stdout
    0 transcripts imported, 0 turns
    --- stderr
    try-out.jsonl: turn 3 of this transcript is not the one that the session has
    error: 1 file could not be imported
    hint: the skipped lines are listed above
    ");
    let listed = scene.machine.json("session list --json");
    let id = listed["sessions"][0]["id"].as_str().unwrap();
    assert_eq!(turns(&stdout(&scene, &format!("session export {id}"))), turns(&talk()));
}

#[test]
fn an_import_does_not_change_a_resumed_session() {
    let scene = scene();
    let import = "import spawn try-out.jsonl --project web";
    // Its agent never comes.
    let text = talk().replace("\"demo\"", "\"codex\"");
    fs::write(scene.machine.path().join("try-out.jsonl"), &text).unwrap();
    scene.run(import);
    let listed = scene.machine.json("session list --json");
    let id = listed["sessions"][0]["id"].as_str().unwrap().to_owned();
    scene.run(&format!("session resume {id}"));
    scene.run(&format!("session send {id} hello --wait"));
    let before = stdout(&scene, &format!("session export {id}"));
    assert_eq!(turns(&before).last().unwrap()["content"], "hello");
    let more = text
        + r#"{"type":"turn","role":"user","content":"Thanks","timestamp":"2025-03-01T11:00:00.000Z","tokens":2}"#;
    fs::write(scene.machine.path().join("try-out.jsonl"), &more).unwrap();
    let report = scene.machine.json(&format!("{import} --json"));
    assert_eq!(report["sessions"][0]["outcome"], "continued");
    assert_eq!(turns(&stdout(&scene, &format!("session export {id}"))), turns(&before));
}

#[test]
fn r8_damaged_lines_are_named_and_all_else_is_imported() {
    let scene = Scene::new();
    let folder = scene.machine.path().join("talks");
    fs::create_dir(&folder).unwrap();
    let talk = talk();
    let (head, tail) = talk.split_at(talk.find("{\"content\":\"Are you").unwrap());
    fs::write(folder.join("a.jsonl"), format!("{head}{{\"type\":\"turn\",\n{tail}")).unwrap();
    fs::write(folder.join("b.jsonl"), "nonsense\n").unwrap();
    fs::write(folder.join("c.jsonl"), &talk[talk.find('\n').unwrap() + 1..]).unwrap();
    fs::write(folder.join("d.jsonl.bad"), "{").unwrap();
    insta::assert_snapshot!(scene.run("import spawn talks --project web"), @r"
    exit 1
    --- stdout
    2 transcripts imported, 12 turns
    --- stderr
    [tmp]/web is now the project web
    talks/a.jsonl:4: EOF while parsing a value at column 15
    talks/b.jsonl:1: expected ident at column 2
    error: 2 lines could not be imported
    hint: the skipped lines are listed above
    ");
    insta::assert_snapshot!(scene.run("import spawn nowhere --project web"), @r"
    exit 1
    --- stderr
    error: cannot read nowhere
      No such file or directory (os error 2)
    ");
}

#[test]
fn a_long_transcript_is_imported_page_by_page_and_goes_on_after_a_crash() {
    let scene = Scene::new();
    let mut text = talk();
    for number in 0..700 {
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        let turn = json!({"type": "turn", "role": role, "content": format!("turn {number}"), "timestamp": "2025-03-01T12:00:00.000Z", "tokens": number});
        text += &format!("{turn}\n");
    }
    let path = scene.machine.path().join("long.jsonl");
    // As if the first import had been cut off: only so much of it is there.
    let cut = text.match_indices('\n').nth(300).unwrap().0;
    fs::write(&path, &text[..=cut]).unwrap();
    scene.run("import spawn long.jsonl --project web");
    fs::write(&path, &text).unwrap();
    let report = scene.machine.json("import spawn long.jsonl --project web --json");
    let session = &report["sessions"][0];
    assert_eq!((&session["added"], &session["turns"]), (&json!(407), &json!(706)));
    let id = session["sessionId"].as_str().unwrap();
    assert_eq!(turns(&stdout(&scene, &format!("session export {id}"))), turns(&text));
}

#[test]
fn a_session_is_exported_as_a_page_and_as_a_list() {
    let scene = scene();
    scene.run("import spawn try-out.jsonl --project web");
    let id = scene.machine.json("session list --json")["sessions"][0]["id"].clone();
    let id = id.as_str().unwrap();
    let page = scene.run(&format!("session export {id} --format markdown"));
    let begin = "exit 0\n--- stdout\n# Where is the heliotrope?\n\n";
    assert!(page.starts_with(begin), "{page}");
    assert!(page.contains("\n\n## User, [time]\n\nAre you there?\n\n## Assistant,"), "{page}");
    assert!(page.ends_with("\n\nOr not. 🌻\n"), "{page}");
    let wrong = scene.run(&format!("session export {id} --format yaml"));
    assert!(wrong.starts_with("exit 2\n--- stderr\nerror: invalid value 'yaml'"), "{wrong}");
    let unknown = scene.run("session export 00000000");
    assert!(unknown.starts_with("exit 1\n--- stderr\nerror: "), "{unknown}");
}
