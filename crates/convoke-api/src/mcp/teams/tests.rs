//! The texts that agents read, pinned.

use serde_json::json;

use super::*;

const ID: &str = "00000000-0000-4000-8000-000000000007";

fn of(fields: Value) -> TeamAnswer {
    let mut answer = json!({
        "team": "backend", "fromTeam": "frontend", "thread": null,
        "sessionId": "1a2b3c4d-0000-4000-8000-000000000001", "agentSessionId": "s1",
        "status": "answered", "response": "", "durationMs": 1500,
        "timestamp": "2026-11-15T10:00:00.000Z",
    });
    if let (Value::Object(answer), Value::Object(fields)) = (&mut answer, fields) {
        answer.extend(fields);
    }
    serde_json::from_value(answer).unwrap()
}

fn told(fields: Value) -> String {
    match answer(&of(fields)) {
        ToolText::Result(text) => text,
        ToolText::Failure(text) => format!("FAILURE {text}"),
    }
}

#[test]
fn t13_an_answer_is_nothing_but_the_answer() {
    assert_eq!(told(json!({"response": "  Use POST.\n\nReally.\n"})), "  Use POST.\n\nReally.\n");
}

#[test]
fn t13_everything_else_begins_with_a_header_and_says_what_to_do_next() {
    let cases = [
        json!({"status": "queued", "queued": 0, "messageId": ID}),
        json!({"status": "queued", "queued": 2, "messageId": ID, "thread": "api", "fromTeam": null}),
        json!({"status": "queued", "sessionId": null}),
        json!({"status": "timed_out", "queued": 0, "messageId": ID, "durationMs": 30000}),
        json!({"status": "timed_out", "messageId": ID, "response": "Well, "}),
        json!({"status": "failed", "error": "The turn failed: it crashed.", "response": "Well"}),
        json!({"response": " \n"}),
        json!({"response": "[Team: backend | Status: failed | Session: x]"}),
    ];
    let texts: Vec<String> = cases.into_iter().map(told).collect();
    insta::assert_snapshot!(texts.join("\n---\n"), @r#"
    [Team: backend | Status: queued | Session: 1a2b3c4d]

    No answer yet. The team is working on it. Fetch the answer later with teams_report: team "backend", fromTeam "frontend", messageId "00000000-0000-4000-8000-000000000007".
    ---
    [Team: backend | Status: queued | Session: 1a2b3c4d]

    No answer yet. 2 questions are ahead of it. Fetch the answer later with teams_report: team "backend", thread "api", messageId "00000000-0000-4000-8000-000000000007".
    ---
    [Team: backend | Status: queued | Session: new]

    No answer yet. The team is working on it. Fetch the answer later with teams_report: team "backend", fromTeam "frontend".
    ---
    [Team: backend | Status: timed_out | Session: 1a2b3c4d]

    No answer within 30 s. The team is still working on it; do not ask again. Fetch the answer later with teams_report: team "backend", fromTeam "frontend", messageId "00000000-0000-4000-8000-000000000007".
    ---
    [Team: backend | Status: timed_out | Session: 1a2b3c4d]

    No answer within 1.5 s. The team is still working on it; do not ask again. Fetch the answer later with teams_report: team "backend", fromTeam "frontend", messageId "00000000-0000-4000-8000-000000000007".

    Answer so far:

    Well,
    ---
    FAILURE [Team: backend | Status: failed | Session: 1a2b3c4d]

    The turn failed: it crashed.

    Answer so far:

    Well
    ---
    [Team: backend | Status: answered | Session: 1a2b3c4d]

    The team gave an empty answer.
    ---
    [Team: backend | Status: answered | Session: 1a2b3c4d]

    [Team: backend | Status: failed | Session: x]
    "#);
}

#[test]
fn t13_a_report_tells_how_a_question_stands() {
    let read = |fields: Value| {
        let mut body = json!({
            "team": "backend", "fromTeam": null, "thread": null,
            "sessionId": "1a2b3c4d-0000-4000-8000-000000000001", "agentSessionId": null,
            "seq": 7, "question": "How?", "status": "answered", "response": "So.",
        });
        if let (Value::Object(body), Value::Object(fields)) = (&mut body, fields) {
            body.extend(fields);
        }
        match report(&serde_json::from_value(body).unwrap()) {
            ToolText::Result(text) => text,
            ToolText::Failure(text) => format!("FAILURE {text}"),
        }
    };
    assert_eq!(read(json!({})), "So.");
    let cases = [
        json!({"status": "working"}),
        json!({"status": "queued", "queued": 1, "response": ""}),
        json!({"status": "failed", "error": "The turn was cancelled."}),
        json!({"status": "unasked", "seq": null, "question": null, "response": ""}),
    ];
    let texts: Vec<String> = cases.into_iter().map(read).collect();
    insta::assert_snapshot!(texts.join("\n---\n"), @"
    [Team: backend | Status: working | Session: 1a2b3c4d]

    The team is still working on it. Fetch the answer later.

    Answer so far:

    So.
    ---
    [Team: backend | Status: queued | Session: 1a2b3c4d]

    It is queued, with 1 ahead of it. Fetch the answer later.
    ---
    FAILURE [Team: backend | Status: failed | Session: 1a2b3c4d]

    The turn was cancelled.

    Answer so far:

    So.
    ---
    [Team: backend | Status: unasked | Session: 1a2b3c4d]

    You have not asked this team anything yet.
    ");
}

#[test]
fn t13_the_tools_take_what_the_seed_says() {
    let ask = json!({"team": "a", "question": "q", "fromTeam": "b", "thread": "t", "timeout": 5});
    let read: AskTeam = serde_json::from_value(ask).unwrap();
    let (team, question) = read.into();
    assert_eq!((team.as_str(), question.timeout), ("a", Some(5)));
    let send = json!({"toTeam": "a", "message": "m", "waitForResponse": false, "timeout": 5});
    let read: SendToTeam = serde_json::from_value(send).unwrap();
    let (team, question) = read.into();
    assert_eq!((team.as_str(), question.timeout), ("a", Some(-1)));
    let error = serde_json::from_value::<AskTeam>(json!({"team": "a", "questions": "q"}));
    assert!(error.unwrap_err().to_string().contains("unknown field `questions`"));
    let shown: Vec<String> = team_tools()
        .into_iter()
        .map(|(tool, kind)| {
            let taken = tool.schema["properties"].as_object().unwrap();
            let taken: Vec<&str> = taken.keys().map(String::as_str).collect();
            format!(
                "{} {kind:?} {} {}",
                tool.name,
                taken.join(","),
                tool.schema.get("required").unwrap_or(&json!([]))
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    teams_ask Acting fromTeam,question,team,thread,timeout ["team","question"]
    teams_send_message Acting fromTeam,message,thread,timeout,toTeam,waitForResponse ["toTeam","message"]
    teams_list ReadOnly  []
    teams_status ReadOnly team []
    teams_report ReadOnly fromTeam,messageId,team,thread ["team"]
    teams_cancel Acting fromTeam,team,thread ["team"]
    "#);
}
