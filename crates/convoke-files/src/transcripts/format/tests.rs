//! The lines as they are written, and what is read from lines that others wrote.

use super::*;

const NOON: &str = "2026-11-15T12:00:00.000Z";

fn noon() -> Timestamp {
    NOON.parse().unwrap()
}

fn turn(role: Role, content: &str, tokens: u64) -> Record {
    Record::Turn(Turn { role, content: content.to_owned(), timestamp: noon(), tokens })
}

#[test]
fn r7_every_line_is_written_in_the_documented_form_and_reads_back() {
    let records = [
        Record::Metadata(Metadata {
            session_id: "s".to_owned(),
            agent: "demo".to_owned(),
            created_at: noon(),
            status: Status::Active,
        }),
        turn(Role::User, "line\nbreak \u{1b} ä", 4),
        turn(Role::Assistant, "", 0),
        Record::Status { status: Status::Completed, timestamp: noon() },
        Record::Agent { agent: "demo".to_owned(), timestamp: noon() },
        Record::AgentSession(AgentSession {
            agent: "demo".to_owned(),
            agent_session_id: "a:1".to_owned(),
            timestamp: noon(),
        }),
        Record::Cleared { timestamp: noon() },
        Record::Imported { from: "old.jsonl".to_owned(), timestamp: noon() },
    ];
    let mut text = String::new();
    for record in &records {
        let line = line(record).unwrap();
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert_eq!(parse(line.strip_suffix(b"\n").unwrap()), Parsed::Known(record.clone()));
        text += &String::from_utf8(line).unwrap();
    }
    insta::assert_snapshot!(text, @r#"
    {"type":"metadata","session_id":"s","agent":"demo","created_at":"2026-11-15T12:00:00.000Z","status":"active"}
    {"type":"turn","role":"user","content":"line\nbreak \u001b ä","timestamp":"2026-11-15T12:00:00.000Z","tokens":4}
    {"type":"turn","role":"assistant","content":"","timestamp":"2026-11-15T12:00:00.000Z","tokens":0}
    {"type":"status","status":"completed","timestamp":"2026-11-15T12:00:00.000Z"}
    {"type":"agent","agent":"demo","timestamp":"2026-11-15T12:00:00.000Z"}
    {"type":"agent_session","agent":"demo","agent_session_id":"a:1","timestamp":"2026-11-15T12:00:00.000Z"}
    {"type":"cleared","timestamp":"2026-11-15T12:00:00.000Z"}
    {"type":"imported","from":"old.jsonl","timestamp":"2026-11-15T12:00:00.000Z"}
    "#);
}

#[test]
fn r7_what_other_programs_leave_out_is_made_up_for() {
    let metadata = format!(r#" {{"created_at": "{NOON}", "type": "metadata", "agent": null}} "#);
    let Parsed::Known(Record::Metadata(read)) = parse(metadata.as_bytes()) else { panic!() };
    assert_eq!((&*read.agent, read.status), (UNKNOWN_AGENT, Status::Active));
    let said = format!(
        r#"{{"type": "turn", "role": "user", "content": "Analyze coverage", "timestamp": "{NOON}", "mood": 1}}"#
    );
    assert_eq!(parse(said.as_bytes()), Parsed::Known(turn(Role::User, "Analyze coverage", 4)));
}

#[test]
fn r7_lines_of_unknown_types_are_passed_over_whatever_is_in_them() {
    for line in [
        r#"{"type":"mood","content":{"deep":[1]},"status":7}"#,
        r#"{"status":7,"type":"x"}"#,
        "",
        " \t\r",
    ] {
        assert_eq!(parse(line.as_bytes()), Parsed::Other, "{line}");
    }
}

#[test]
fn r8_what_is_wrong_with_a_line_is_said() {
    let said: Vec<String> = [
        &b"garbage"[..],
        b"{\"type\":\"turn\",\"role\":\"us",
        b"{\"type\":\"turn\"",
        b"\0\0\0",
        b"[1]",
        b"1",
        b"{\"a\":1}",
        b"{\"type\":\"turn\",\"content\":5}",
        b"{\"type\":\"turn\",\"content\":\"\xff\"}",
        b"{\"type\":\"turn\",\"role\":\"cat\"}",
        b"{\"type\":\"turn\",\"role\":\"user\",\"content\":\"x\"}",
        b"{\"type\":\"turn\",\"role\":\"user\",\"timestamp\":\"2026-11-15T12:00:00Z\"}",
        b"{\"type\":\"turn\",\"role\":\"user\",\"timestamp\":\"noon\"}",
        b"{\"type\":\"metadata\"}",
        b"{\"type\":\"status\",\"status\":\"asleep\"}",
        b"{\"type\":\"turn\"} {\"type\":\"turn\"}",
    ]
    .iter()
    .map(|line| match parse(line) {
        Parsed::Known(_) | Parsed::Other => panic!("{}", String::from_utf8_lossy(line)),
        Parsed::Cut(problem) => format!("cut: {problem}\n"),
        Parsed::Bad(problem) => format!("bad: {problem}\n"),
    })
    .collect();
    insta::assert_snapshot!(said.concat(), @r#"
    bad: expected value at column 1
    cut: EOF while parsing a string at column 25
    cut: EOF while parsing an object at column 14
    cut: only zero bytes
    bad: a list instead of an object
    bad: invalid type: integer `1`, expected an object at column 1
    bad: missing field `type` at column 7
    bad: invalid type: integer `5`, expected a string at column 26
    bad: invalid unicode code point at column 27
    bad: the role "cat" is unknown
    bad: the turn has no timestamp
    bad: the turn has no content
    bad: not an RFC 3339 timestamp: noon at column 48
    bad: the metadata has no created_at
    bad: the status "asleep" is unknown
    bad: trailing characters at column 17
    "#);
}

#[test]
fn r7_tokens_are_estimated_at_four_characters_each() {
    assert_eq!(["", "a", "abcd", "abcde", "ääää"].map(estimate), [0, 1, 1, 2, 1]);
}
