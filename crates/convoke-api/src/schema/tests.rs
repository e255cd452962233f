//! The schemas describe exactly the JSON that the types write, and the page's declarations are made from them.

mod fit;
mod typescript;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::*;

/// Checks JSON that a type reads or writes against the type's schema: everything required is there, and nothing else.
pub(crate) fn assert_fits<T: JsonSchema>(settings: SchemaSettings, value: &Value) {
    let mut generator = settings.into_generator();
    let schema = generator.subschema_for::<T>().to_value();
    let definitions = generator.take_definitions(true);
    if let Err(fault) = fit::check(&definitions, &schema, value) {
        panic!("{fault}, in {value}");
    }
}

/// One of every kind of content, and of every field.
fn contents() -> Vec<Value> {
    let id = "00000000-0000-4000-8000-000000000001";
    let at = "2026-11-15T10:00:00.000Z";
    let options = json!([
        {"optionId": "1", "name": "Allow", "kind": "allow_once"},
        {"optionId": "2", "name": "Always", "kind": "allow_always"},
        {"optionId": "3", "name": "Deny", "kind": "reject_once"},
        {"optionId": "4", "name": "Never", "kind": "reject_always"},
    ]);
    let question = json!({"prompt": "Which?", "title": "Which", "options": [{"label": "A", "description": "a"}, {"label": "B"}], "multiSelect": true});
    let answer = json!({"questionIndex": 0, "selectedOption": "A", "selectedOptions": ["A"], "customText": "x", "timestamp": at});
    let result = json!({"text": "done", "diffs": [{"path": "a", "oldText": "a", "newText": "b"}], "error": "e"});
    vec![
        json!({"type": "text", "text": "hello"}),
        json!({"type": "text", "text": "hello", "partial": true}),
        json!({"type": "thinking", "text": "hm"}),
        json!({"type": "plan", "steps": [{"content": "a", "status": "pending", "priority": "high"}, {"content": "b", "status": "in_progress", "priority": "medium"}, {"content": "c", "status": "completed", "priority": "low"}]}),
        json!({"type": "tool", "toolCallId": "c1", "tool": "Bash", "title": "t", "kind": "execute", "args": {}, "status": "complete", "result": result}),
        json!({"type": "tool", "toolCallId": "c1", "tool": "Bash", "args": [1], "status": "running"}),
        json!({"type": "permission", "requestId": id, "toolCallId": "c1", "tool": "Bash", "title": "t", "options": options, "status": "pending"}),
        json!({"type": "permission", "requestId": id, "title": "t", "evidence": {"kind": "command", "command": "ls", "workingDirectory": "/", "arguments": {"env": {}}, "omittedBytes": 1}, "rules": [{"label": "l", "matcher": {"kind": "command", "words": ["ls"], "more": true}, "everywhere": true}, {"label": "l", "matcher": {"kind": "tool", "server": "s", "tool": "t"}}], "options": [], "status": "pending"}),
        json!({"type": "permission", "requestId": id, "title": "t", "evidence": {"kind": "changes", "diffs": [{"path": "a", "newText": "b"}]}, "rules": [{"label": "l", "matcher": {"kind": "edit", "glob": "a"}}], "options": [], "status": "pending"}),
        json!({"type": "permission", "requestId": id, "title": "t", "evidence": {"kind": "read", "paths": ["a"]}, "rules": [{"label": "l", "matcher": {"kind": "read", "glob": "a"}}], "options": [], "status": "pending"}),
        json!({"type": "permission", "requestId": id, "title": "t", "evidence": {"kind": "fetch", "url": "https://a.b"}, "rules": [{"label": "l", "matcher": {"kind": "fetch", "domain": "a.b"}}], "options": [], "status": "pending"}),
        json!({"type": "permission", "requestId": id, "title": "t", "evidence": {"kind": "tool", "server": "s", "tool": "t", "args": [1]}, "options": [], "status": "pending"}),
        json!({"type": "permission", "requestId": id, "title": "t", "options": [], "status": "answered", "optionId": "1"}),
        json!({"type": "permission", "requestId": id, "title": "t", "options": [], "status": "rejected", "reason": null}),
        json!({"type": "question", "requestId": id, "questions": [question], "status": "timed_out"}),
        json!({"type": "question", "requestId": id, "questions": [], "status": "answered", "answers": [answer]}),
        json!({"type": "question", "requestId": id, "questions": [], "status": "rejected", "reason": "no"}),
        json!({"type": "question", "requestId": id, "questions": [], "status": "abandoned"}),
        json!({"type": "notice", "event": "turn_ended", "turn": 3, "stopReason": "end_turn", "text": "The turn ended."}),
    ]
}

/// A notice of every event.
fn notices() -> Vec<Value> {
    let id = "00000000-0000-4000-8000-000000000001";
    let turn = json!({"seq": 1, "timestamp": "2026-11-15T10:00:00.000Z", "tokens": 2});
    let events = [
        json!({"event": "turn_ended", "turn": 3, "stopReason": "failed", "why": "interrupted", "detail": "d"}),
        json!({"event": "turn_ended", "turn": 3, "stopReason": "cancelled"}),
        json!({"event": "resumed", "how": "afresh"}),
        json!({"event": "process_exited", "exitCode": 1, "stderrTail": "boom"}),
        json!({"event": "process_exited", "signal": 9}),
        json!({"event": "compacted"}),
        json!({"event": "completed", "reason": "user"}),
        json!({"event": "cancelled", "reason": "user"}),
        json!({"event": "failed", "error": "e"}),
        json!({"event": "reopened"}),
        json!({"event": "renamed", "title": "t"}),
        json!({"event": "archived"}),
        json!({"event": "unarchived"}),
        json!({"event": "waiting", "place": 2}),
        json!({"event": "turn_limit", "max": 1024}),
        json!({"event": "prompt_refused", "prompt": "p", "why": "w"}),
        json!({"event": "unconfined"}),
        json!({"event": "rule_made", "ruleId": id, "rule": "r"}),
        json!({"event": "rule_applied", "ruleId": id, "rule": "r", "what": "w"}),
        json!({"event": "rule_applied", "rule": "r", "what": "w"}),
        json!({"event": "rule_denied", "ruleId": id, "rule": "r", "what": "w"}),
        json!({"event": "rule_dropped", "tool": "Bash"}),
        json!({"event": "continues", "session": id}),
        json!({"event": "continued_in", "session": id}),
        json!({"event": "moved", "from": "a", "to": "b", "by": "ada", "leftBehind": ["f"],
            "files": {"outcome": "written", "written": 1, "removed": 0},
            "memory": {"by": "record"}}),
        json!({"event": "moved", "from": "a", "to": "b", "files": {"outcome": "left", "why": "w"},
            "memory": {"by": "transcript", "why": "w"}}),
        json!({"event": "moved", "from": "a", "to": "b", "memory": {"by": "record"},
            "files": {"outcome": "worktree", "path": "p", "branch": "b"}}),
        json!({"event": "moved", "from": "b", "to": "a", "memory": {"by": "record"},
            "files": {"outcome": "stayed", "path": "p", "why": "w"}}),
        json!({"event": "imported", "transcript": "t", "after": 0, "turns": [turn]}),
        json!({"event": "advice", "severity": "info"}),
        json!({"event": "unknown", "kind": "k", "payload": {"any": ["thing"]}}),
    ];
    let notice = |mut event: Value| {
        event["type"] = json!("notice");
        event["text"] = json!("A sentence.");
        event
    };
    events.map(notice).into()
}

#[test]
fn s7_the_schema_of_messages_is_that_of_the_core() {
    for content in contents().into_iter().chain(notices()) {
        let message = json!({
            "id": "00000000-0000-4000-8000-000000000001",
            "sessionId": "00000000-0000-4000-8000-000000000002",
            "seq": 1,
            "rev": 2,
            "role": "system",
            "content": content,
            "turn": {"status": "ended", "stopReason": "failed", "why": "internal", "detail": "d"},
            "timestamp": "2026-11-15T10:00:00.000Z",
            "updatedAt": "2026-11-15T10:00:00.000Z",
        });
        let core: Message = serde_json::from_value(message.clone()).unwrap();
        assert_eq!(json!(core), message);
        assert_fits::<Message>(SchemaSettings::default().for_serialize(), &message);
    }
}

#[test]
fn a_value_that_does_not_fit_is_found() {
    let schema = components();
    let fault = |value: Value| {
        fit::check(&schema, &json!({"$ref": "#/components/schemas/PlanStep"}), &value).unwrap_err()
    };
    let faults = [
        json!({"content": "a"}),
        json!({"content": 1, "status": "pending"}),
        json!({"content": "a", "status": "done"}),
        json!({"content": "a", "status": "pending", "colour": "red"}),
    ];
    insta::assert_snapshot!(faults.map(fault).join("\n"), @r#"
    `status` is missing
    1 is no "string"
    "done" is not "pending"; "done" is not "in_progress"; "done" is not "completed"
    `colour` is not in the schema
    "#);
}

/// Two types with one name would hide each other.
#[test]
fn every_schema_has_a_name_of_its_own() {
    let names: BTreeSet<String> = components().into_iter().map(|(name, _)| name).collect();
    let numbered: Vec<&String> =
        names.iter().filter(|name| name.ends_with(|last: char| last.is_ascii_digit())).collect();
    assert_eq!(numbered, Vec::<&String>::new());
}

#[test]
fn the_limits_of_bodies_are_in_their_schemas() {
    const LIMITS: [&str; 7] =
        ["pattern", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"];
    let mut lines = Vec::new();
    for (name, schema) in components() {
        for (property, schema) in schema["properties"].as_object().into_iter().flatten() {
            let limits = LIMITS.iter().filter_map(|limit| Some((limit, schema.get(*limit)?)));
            // Every unsigned number has this one.
            let limits = limits.filter(|limit| *limit != (&"minimum", &json!(0)));
            let limits: String = limits.map(|(limit, value)| format!(" {limit}={value}")).collect();
            lines.extend((!limits.is_empty()).then(|| format!("{name}.{property}{limits}")));
        }
    }
    lines.sort();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Answer.rule maximum=4294967295
    FinishWorktree.message pattern="\\S"
    Fork.turn minimum=1 maximum=9007199254740991
    GivenAttachment.hash pattern="^[0-9a-f]{64}$"
    GivenComment.comment pattern="\\S"
    GivenComment.endLine minimum=1
    GivenComment.path pattern="\\S"
    GivenComment.startLine minimum=1
    Import.after maximum=9007199254740991
    Import.agent pattern="^[A-Za-z0-9_.-]+$"
    Import.repoId minLength=4
    Import.transcript pattern="\\S" maxLength=200
    Import.turns minItems=1 maxItems=1000
    ImportTurn.tokens maximum=9007199254740991
    KeepEntry.message pattern="\\S"
    KeepEntry.sessionId minLength=4
    MoveSession.project pattern="\\S"
    MoveSession.to pattern="\\S"
    NewBackup.keep minimum=1 maximum=1000000
    NewBackup.to pattern="^/[^\\x00]*$"
    NewComparison.entries minItems=1 maxItems=10
    NewComparison.prompt pattern="\\S"
    NewComparison.repoId minLength=4
    NewComparison.test pattern="\\S"
    NewComparisonEntry.agent pattern="^[A-Za-z0-9_.-]+$"
    NewComparisonEntry.mode pattern="\\S"
    NewComparisonEntry.model pattern="\\S"
    NewHistoryImport.folder pattern="^/[^\\x00]*$"
    NewHistoryImport.sources maxItems=20
    NewRepo.path pattern="^/"
    NewSession.agent pattern="^[A-Za-z0-9_.-]+$"
    NewSession.attachments maxItems=16
    NewSession.files maxItems=64
    NewSession.mode pattern="\\S"
    NewSession.model pattern="\\S"
    NewSession.prompt pattern="\\S"
    NewSession.repoId minLength=4
    NewToken.label pattern="\\S" maxLength=200
    NewUser.name pattern="^[A-Za-z0-9][A-Za-z0-9@_.-]{0,63}$"
    NewWorktree.branch pattern="\\S"
    Problem.status maximum=65535
    Prompt.attachments maxItems=16
    Prompt.files maxItems=64
    Prompt.review maxItems=200
    Prompt.text pattern="\\S"
    QueuePatch.position maximum=4294967295
    QueuePatch.text pattern="\\S"
    Restore.turn minimum=1 maximum=9007199254740991
    Revert.hunk maximum=4294967295
    Revert.path pattern="\\S"
    Revert.turn minimum=1 maximum=9007199254740991
    SessionPatch.title pattern="\\S" maxLength=200
    TeamCancel.fromTeam pattern="^[A-Za-z0-9-]+$"
    TeamCancel.thread pattern="^[A-Za-z0-9_.-]{1,64}$"
    TeamMessage.fromTeam pattern="^[A-Za-z0-9-]+$"
    TeamMessage.message pattern="\\S"
    TeamMessage.thread pattern="^[A-Za-z0-9_.-]{1,64}$"
    TeamMessage.timeout minimum=-1 maximum=9007199254740991
    TeamQuestion.fromTeam pattern="^[A-Za-z0-9-]+$"
    TeamQuestion.question pattern="\\S"
    TeamQuestion.thread pattern="^[A-Za-z0-9_.-]{1,64}$"
    TeamQuestion.timeout minimum=-1 maximum=9007199254740991
    "#);
}
