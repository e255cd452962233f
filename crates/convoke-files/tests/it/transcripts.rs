//! Making transcripts, adding to them, and taking them up again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use convoke_files::transcripts::{AgentSession, End, Error, Record, Role, Status, Turn};

use crate::transcript_scene::{Folder, PLENTY, at, id, status, turn};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn r1_r7_a_new_transcript_begins_with_its_metadata_and_is_private() {
    let folder = Folder::new();
    let writer = folder.create("session-123");
    assert_eq!(writer.path(), folder.path("session-123.jsonl"));
    insta::assert_snapshot!(folder.text("session-123.jsonl"), @r#"{"type":"metadata","session_id":"session-123","agent":"demo","created_at":"2026-11-15T10:00:00.000Z","status":"active"}"#);
    assert_eq!(mode(writer.path()), 0o600);
    assert_eq!((mode(folder.transcripts.dir()), mode(&folder.above())), (0o700, 0o700));
    drop(writer);
    assert_eq!(folder.names(), ["session-123.jsonl"]);
}

#[test]
fn r1_a_transcript_never_takes_the_place_of_another() {
    let folder = Folder::new();
    folder.talk("mine");
    let before = folder.text("mine.jsonl");
    let error = folder.transcripts.create(&id("mine"), "other", at(9)).unwrap_err();
    assert_eq!(error.to_string(), "there is a session mine already");
    assert_eq!(folder.text("mine.jsonl"), before);
    assert_eq!(folder.names(), ["mine.jsonl"]);
}

#[test]
fn r2_r7_every_turn_is_one_more_line_and_nothing_before_it_changes() {
    let folder = Folder::new();
    let mut writer = folder.create("s");
    let mut before = folder.text("s.jsonl");
    for record in [
        turn(Role::User, "two\nlines, \"quotes\" and ä"),
        turn(Role::Assistant, "an answer"),
        status(Status::Completed),
    ] {
        writer.append(&record).unwrap();
        let after = folder.text("s.jsonl");
        let added = after.strip_prefix(&before).unwrap();
        assert!(added.ends_with('\n') && added.lines().count() == 1, "{added}");
        before = after;
    }
    insta::assert_snapshot!(before.lines().skip(1).collect::<Vec<_>>().join("\n"), @r#"
    {"type":"turn","role":"user","content":"two\nlines, \"quotes\" and ä","timestamp":"2026-11-15T10:00:01.000Z","tokens":7}
    {"type":"turn","role":"assistant","content":"an answer","timestamp":"2026-11-15T10:00:01.000Z","tokens":3}
    {"type":"status","status":"completed","timestamp":"2026-11-15T10:00:02.000Z"}
    "#);
}

#[test]
fn r3_a_resumed_transcript_has_every_turn_in_order() {
    let folder = Folder::new();
    let mut writer = folder.create("s");
    for number in 0..20 {
        writer.append(&turn(Role::User, &format!("question {number}"))).unwrap();
        writer.append(&turn(Role::Assistant, &format!("answer {number}"))).unwrap();
    }
    let session = AgentSession {
        agent: "demo".to_owned(),
        agent_session_id: "own-1".to_owned(),
        timestamp: at(3),
    };
    writer.append(&Record::AgentSession(session.clone())).unwrap();
    drop(writer);
    let opened = folder.transcripts.open(&id("s"), PLENTY).unwrap();
    assert_eq!(opened.end, End::Whole);
    let recall = opened.recall;
    assert_eq!((recall.turn_count, recall.agent.as_str()), (40, "demo"));
    assert_eq!(recall.agent_session, Some(session));
    let window = recall.window.first().iter().chain(recall.window.last());
    let said: Vec<&str> = window.map(|turn| turn.content.as_str()).collect();
    let expected: Vec<String> =
        (0..20).flat_map(|n| [format!("question {n}"), format!("answer {n}")]).collect();
    assert_eq!(said, expected);
    assert_eq!(recall.window.left_out(), 0);
}

#[test]
fn r3_only_the_first_and_the_last_turns_are_carried_along_within_the_budget() {
    let folder = Folder::new();
    let mut writer = folder.create("s");
    for number in 0..1000 {
        writer.append(&turn(Role::User, &format!("turn {number:03} {}", "x".repeat(31)))).unwrap();
    }
    drop(writer);
    let window = folder.transcripts.recall(&id("s"), 100).unwrap().window;
    let number = |turn: &Turn| turn.content[5..8].parse::<u32>().unwrap();
    assert_eq!(window.first().iter().map(number).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(window.last().map(number).collect::<Vec<_>>(), (992..1000).collect::<Vec<_>>());
    assert_eq!(window.left_out(), 990);
}

#[test]
fn r3_an_agents_id_is_forgotten_when_it_has_not_heard_everything() {
    let session = |agent: &str| {
        Record::AgentSession(AgentSession {
            agent: agent.to_owned(),
            agent_session_id: format!("{agent}-1"),
            timestamp: at(3),
        })
    };
    let known = |records: &[Record]| {
        let folder = Folder::new();
        let mut writer = folder.create("s");
        writer.append(&turn(Role::User, "before")).unwrap();
        records.iter().for_each(|record| writer.append(record).unwrap());
        let recall = folder.transcripts.recall(&id("s"), PLENTY).unwrap();
        let session = recall.agent_session.map(|session| session.agent_session_id);
        (recall.agent, session.unwrap_or_default(), recall.window.len())
    };
    let reported =
        |agent: &str, session: &str, turns| (agent.to_owned(), session.to_owned(), turns);
    let cleared = Record::Cleared { timestamp: at(4) };
    let imported = Record::Imported { from: "x.jsonl".to_owned(), timestamp: at(4) };
    let other = Record::Agent { agent: "codex".to_owned(), timestamp: at(4) };
    assert_eq!(known(&[session("demo")]), reported("demo", "demo-1", 1));
    assert_eq!(known(&[session("demo"), cleared]), reported("demo", "", 0));
    assert_eq!(known(&[session("demo"), imported.clone()]), reported("demo", "", 1));
    assert_eq!(known(&[session("demo"), imported, session("demo")]), reported("demo", "demo-1", 1));
    assert_eq!(known(&[session("demo"), other]), reported("codex", "", 1));
    assert_eq!(known(&[session("demo"), session("codex")]), reported("codex", "codex-1", 1));
}

#[test]
fn r7_lines_of_unknown_types_are_kept_and_passed_over() {
    let folder = Folder::new();
    folder.talk("s");
    let strange = "{\"type\":\"mood\",\"content\":{\"good\":true}}\n";
    let text = folder.text("s.jsonl") + strange;
    folder.leave("s", &text);
    let mut opened = folder.transcripts.open(&id("s"), PLENTY).unwrap();
    assert_eq!(opened.recall.turn_count, 2);
    opened.writer.append(&turn(Role::User, "more")).unwrap();
    assert!(folder.text("s.jsonl").starts_with(&text));
    assert_eq!(folder.said("s"), ["hello", "hi", "more"]);
}

#[test]
fn r7_a_transcript_that_another_program_wrote_can_be_resumed() {
    let folder = Folder::new();
    folder.leave(
        "spawn-123",
        r#"{"type": "metadata", "session_id": "spawn-123", "agent": "qa-test", "created_at": "2026-01-14T10:00:00Z"}
{"type": "turn", "role": "user", "content": "Analyze coverage", "timestamp": "2026-01-14T10:00:05Z"}
{"type": "turn", "role": "assistant", "content": "87%", "timestamp": "2026-01-14T10:00:12Z", "tokens": 245}
"#,
    );
    assert_eq!(folder.listed(), ["spawn-123 qa-test 2 interrupted"]);
    let opened = folder.transcripts.open(&id("spawn-123"), PLENTY).unwrap();
    assert_eq!((opened.recall.turn_count, opened.recall.tokens), (2, 249));
}

#[test]
fn a_transcript_is_found_by_the_beginning_of_its_name() {
    let folder = Folder::new();
    for name in ["alpha-1", "alpha-2", "alpha", "beta"] {
        folder.talk(name);
    }
    let find = |text: &str| match folder.transcripts.find(text) {
        Ok(id) => id.to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(find("alpha"), "alpha");
    assert_eq!(find("alpha-1"), "alpha-1");
    assert_eq!(find("alph"), "alph matches several sessions: alpha, alpha-1, alpha-2");
    assert_eq!(find("beta"), "beta");
    assert_eq!(find("bet"), "Session not found: bet");
    assert_eq!(find("gamma"), "Session not found: gamma");
    assert_eq!(find("../beta"), "not a session id: \"../beta\"");
}

#[test]
fn a_missing_transcript_is_reported() {
    let folder = Folder::new();
    let error = folder.transcripts.open(&id("nobody"), PLENTY).unwrap_err();
    assert_eq!(error.to_string(), "Session not found: nobody");
    assert!(folder.transcripts.turns(&id("nobody")).is_err());
    assert_eq!(folder.listed(), [""; 0]);
    assert!(!folder.transcripts.dir().exists());
}

#[test]
fn a_turn_after_the_file_was_deleted_is_refused_and_not_lost_in_silence() {
    let folder = Folder::new();
    let mut writer = folder.create("s");
    fs::remove_file(folder.path("s.jsonl")).unwrap();
    let error = writer.append(&turn(Role::User, "into the void")).unwrap_err();
    assert!(matches!(error, Error::Deleted { .. }), "{error}");
}

#[test]
fn a_turn_that_is_too_long_to_be_read_again_is_refused() {
    let folder = Folder::new();
    let mut writer = folder.create("s");
    let before = folder.text("s.jsonl");
    let error = writer.append(&turn(Role::User, &"x".repeat(70 << 20))).unwrap_err();
    assert!(matches!(error, Error::TooLong { .. }), "{error}");
    assert_eq!(folder.text("s.jsonl"), before);
}

#[test]
fn many_turns_are_added_together_or_not_at_all() {
    let folder = Folder::new();
    folder.talk("old");
    let mut writer = folder.create("new");
    let turns = folder.transcripts.turns(&id("old")).unwrap();
    assert_eq!(writer.append_all(turns.map(|turn| turn.map(Record::Turn))).unwrap(), 2);
    assert_eq!(folder.said("new"), ["hello", "hi"]);
    let refused = Err(Error::NotFound { id: "x".to_owned() });
    writer.append_all([Ok(turn(Role::User, "half")), refused]).unwrap_err();
    assert_eq!(folder.said("new"), ["hello", "hi"]);
}
