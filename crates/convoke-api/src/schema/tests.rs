//! The schema says what the core writes, no more and no less.

use serde_json::{Value, json};
use utoipa::PartialSchema;

use super::*;

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
        json!({"type": "permission", "requestId": id, "title": "t", "options": [], "status": "answered", "optionId": "1"}),
        json!({"type": "permission", "requestId": id, "title": "t", "options": [], "status": "rejected", "reason": null}),
        json!({"type": "question", "requestId": id, "questions": [question], "status": "timed_out"}),
        json!({"type": "question", "requestId": id, "questions": [], "status": "answered", "answers": [answer]}),
        json!({"type": "question", "requestId": id, "questions": [], "status": "rejected", "reason": "no"}),
        json!({"type": "question", "requestId": id, "questions": [], "status": "abandoned"}),
        json!({"type": "notice", "event": "turn_ended", "turn": 3, "stopReason": "end_turn", "text": "The turn ended."}),
    ]
}

#[test]
fn s7_the_schema_of_messages_is_that_of_the_core() {
    for content in contents() {
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
        let core: convoke_core::message::Message = serde_json::from_value(message.clone()).unwrap();
        assert_eq!(json!(core), message, "the core writes something else");
        let here: Message = serde_json::from_value(message.clone()).unwrap();
        assert_eq!(json!(here), message, "the schema says something else");
    }
}

#[test]
fn the_document_names_every_kind_of_content() {
    let schema = json!(Content::schema());
    let kinds: Vec<&str> =
        schema["oneOf"].as_array().unwrap().iter().filter_map(|one| find(one, "type")).collect();
    insta::assert_snapshot!(kinds.join(" "), @"text thinking plan tool permission question notice");
}

/// The one value that a property may have.
fn find<'a>(schema: &'a Value, property: &str) -> Option<&'a str> {
    let parts = schema["allOf"].as_array().map_or_else(|| vec![schema], |all| all.iter().collect());
    parts.into_iter().find_map(|part| part["properties"][property]["enum"][0].as_str())
}
