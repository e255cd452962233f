//! The contract: the JSON of every frame is pinned here, as it is written and as it is read.

use std::collections::BTreeSet;

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::*;
use crate::schema::tests::assert_fits;

const ID: &str = "00000000-0000-4000-8000-000000000001";
const AT: &str = "2026-11-15T10:00:00.000Z";

fn said_by_clients() -> Vec<Value> {
    let session = |kind: &str| json!({"type": kind, "sessionId": "codex:1"});
    vec![
        json!({"type": "project:list"}),
        json!({"type": "project:add", "path": "/home/me/web"}),
        json!({"type": "project:add", "path": "/home/me/web", "name": "web"}),
        json!({"type": "project:remove", "projectId": ID}),
        json!({"type": "folder:complete", "path": "/home/me/w"}),
        json!({"type": "file:complete", "projectId": ID, "query": "ma"}),
        json!({"type": "file:complete", "projectId": ID, "query": "", "limit": 5}),
        json!({"type": "file:open", "path": "/p/src/main.rs"}),
        json!({"type": "file:open", "path": "/p/src/main.rs", "line": 3, "column": 5}),
        json!({"type": "agent:list"}),
        json!({"type": "session:list", "projectId": ID}),
        json!({"type": "session:list", "projectId": ID, "archived": true}),
        json!({"type": "session:create", "projectId": ID}),
        json!({"type": "session:create", "projectId": ID, "cliType": "codex", "prompt": "hello"}),
        json!({"type": "session:create", "projectId": ID, "model": "m", "mode": "plan", "prompt": "see @a", "attachments": [{"hash": "00", "name": "a.png"}], "files": ["a"], "worktree": {"branch": "fix"}}),
        session("session:open"),
        json!({"type": "session:open", "sessionId": "codex:1", "after": 7, "generation": "1", "render": true, "limit": 50}),
        json!({"type": "session:open", "sessionId": "codex:1", "at": 7}),
        json!({"type": "session:page", "sessionId": "codex:1", "before": 7}),
        json!({"type": "session:page", "sessionId": "codex:1", "before": 7, "render": true, "limit": 50}),
        session("session:close"),
        json!({"type": "session:send", "sessionId": "codex:1", "content": "hello"}),
        json!({"type": "session:send", "sessionId": "codex:1", "content": "hello", "messageId": ID}),
        json!({"type": "session:send", "sessionId": "codex:1", "content": "see @a", "attachments": [{"hash": "00", "name": "a.png", "mediaType": "image/png", "size": 3}], "files": ["a"]}),
        json!({"type": "session:send", "sessionId": "codex:1", "content": "", "review": [{"path": "a", "side": "new", "startLine": 1, "endLine": 2, "quote": "x\ny", "comment": "why?"}]}),
        json!({"type": "queue:edit", "sessionId": "codex:1", "messageId": ID, "content": "hello"}),
        json!({"type": "queue:remove", "sessionId": "codex:1", "messageId": ID}),
        json!({"type": "queue:move", "sessionId": "codex:1", "messageId": ID, "to": 0}),
        json!({"type": "queue:send", "sessionId": "codex:1", "messageId": ID}),
        session("session:cancel"),
        json!({"type": "session:cancel", "sessionId": "codex:1", "queue": "send"}),
        json!({"type": "session:cancel", "sessionId": "codex:1", "queue": "keep"}),
        json!({"type": "session:cancel", "sessionId": "codex:1", "queue": "discard"}),
        session("session:seen"),
        session("session:erase"),
        session("session:archive"),
        session("session:unarchive"),
        json!({"type": "session:rename", "sessionId": "codex:1", "title": "Parser"}),
        session("session:resume"),
        json!({"type": "session:end", "sessionId": "codex:1", "how": "complete"}),
        json!({"type": "session:end", "sessionId": "codex:1", "how": "cancel"}),
        json!({"type": "session:mode", "sessionId": "codex:1", "mode": "plan"}),
        json!({"type": "session:setting", "sessionId": "codex:1", "setting": "model", "choice": "big"}),
        json!({"type": "permission:answer", "permissionId": ID, "optionId": "yes"}),
        json!({"type": "permission:answer", "permissionId": ID, "optionId": "yes", "rule": 1, "remember": true}),
        json!({"type": "rule:list"}),
        json!({"type": "rule:add", "effect": "allow", "matcher": {"kind": "edit", "glob": "src/**"}, "projectId": ID, "agent": "codex"}),
        json!({"type": "rule:remove", "ruleId": ID}),
        json!({"type": "question:answer", "questionId": ID, "answers": {"0": {"selectedOption": "A"}}}),
        json!({"type": "question:reject", "questionId": ID}),
        json!({"type": "question:reject", "questionId": ID, "reason": "not now"}),
        json!({"type": "inbox:list"}),
        json!({"type": "home:list"}),
        json!({"type": "search", "query": "roof agent:codex"}),
        json!({"type": "search", "query": "roof", "limit": 5, "before": 12}),
        json!({"type": "config:get"}),
        json!({"type": "config:set", "changes": {"pool.spare": false, "notify.command": null}}),
        json!({"type": "ping"}),
    ]
}

#[test]
fn w5_what_clients_say_keeps_its_shape() {
    let mut types = BTreeSet::new();
    for said in said_by_clients() {
        let frame = ClientFrame::read(&said.to_string());
        assert_eq!(frame.request_id, None);
        assert_eq!(json!(frame.frame.unwrap()), said);
        assert_fits::<ClientFrame>(SchemaSettings::default().for_deserialize(), &said);
        types.insert(said["type"].as_str().unwrap().to_owned());
    }
    assert_eq!(types, ClientFrame::TYPES.map(str::to_owned).into());
}

#[test]
fn w5_a_request_id_is_kept_whatever_else_is_wrong() {
    let said = [
        r#"{"type":"ping","requestId":"r1"}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"ping","requestId":null}"#,
        r#"{"type":"ping","requestId":7}"#,
        r#"{"type":"sesion:open","requestId":"r1"}"#,
        r#"{"requestId":"r1"}"#,
        r#"{"type":7,"requestId":"r1"}"#,
        r#"{"type":"session:open","requestId":"r1"}"#,
        r#"{"type":"session:open","requestId":"r1","sessionId":7}"#,
        r#"{"type":"session:open","requestId":"r1","sessionId":"x","aftre":1}"#,
        r#"{"type":"session:end","requestId":"r1","sessionId":"x","how":"gladly"}"#,
        r#"{"type":"question:answer","requestId":"r1","questionId":"x","answers":["A"]}"#,
        r#"["ping"]"#,
        r#""ping""#,
        "{\"type\":\"ping\"",
        "",
    ];
    let read = said.map(|text| {
        let frame = ClientFrame::read(text);
        let heard = match frame.frame {
            Ok(frame) => format!("{frame:?}"),
            Err(malformed) => malformed.to_string(),
        };
        format!("{} {heard}", frame.request_id.as_deref().unwrap_or("-"))
    });
    insta::assert_snapshot!(read.join("\n"), @r"
    r1 Ping
    - Ping
    - Ping
    - `requestId` must be a string
    r1 unknown message type: sesion:open
    r1 a message is a JSON object with a `type`
    r1 a message is a JSON object with a `type`
    r1 session:open: missing field `sessionId`
    r1 session:open: invalid type: integer `7`, expected a string
    r1 session:open: unknown field `aftre`, expected one of `sessionId`, `after`, `generation`, `at`, `render`, `limit`
    r1 session:end: unknown variant `gladly`, expected `complete` or `cancel`
    r1 question:answer: invalid type: sequence, expected a map
    - a message is a JSON object with a `type`
    - a message is a JSON object with a `type`
    - not JSON: EOF while parsing an object at line 1 column 14
    - not JSON: EOF while parsing a value at line 1 column 0
    ");
}

fn session() -> Value {
    json!({
        "id": "codex:1",
        "uid": ID,
        "projectId": ID,
        "cliType": "codex",
        "title": "New Session",
        "lastActiveAt": AT,
        "createdAt": AT,
        "status": "active",
        "acceptsPrompts": true,
        "archived": false,
        "activity": "running",
        "messageCount": 3,
        "attention": "working",
        "unseen": false,
    })
}

fn entry(entry_id: &str, kind: &str, fields: Value) -> Value {
    let entry = json!({"entryId": entry_id, "type": kind, "seq": 1, "rev": 2, "timestamp": AT});
    extended(entry, fields)
}

fn extended(mut object: Value, fields: Value) -> Value {
    if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields) {
        object.extend(fields);
    }
    object
}

fn entries() -> Vec<Value> {
    [words_and_tools(), requests(), notices_and_state()].concat()
}

fn requests() -> Vec<Value> {
    let options = json!([{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]);
    let question = json!({"prompt": "Which?", "title": "Which", "options": [{"label": "A"}], "multiSelect": false, "html": "<p>Which?</p>"});
    let answer = json!({"questionIndex": 0, "selectedOption": "A", "timestamp": AT});
    vec![
        entry(
            "r1",
            "permission",
            json!({"permissionId": ID, "title": "Run", "toolCallId": "c1", "tool": "Bash", "evidence": {"kind": "command", "command": "ls"}, "rules": [{"label": "l", "matcher": {"kind": "command", "words": ["ls"]}}], "options": options, "status": "pending"}),
        ),
        entry(
            "r1",
            "permission",
            json!({"permissionId": ID, "title": "Run", "options": options, "status": "answered", "optionId": "yes"}),
        ),
        entry(
            "r1",
            "permission",
            json!({"permissionId": ID, "title": "Run", "options": options, "status": "rejected", "reason": "no"}),
        ),
        entry(
            "r1",
            "question",
            json!({"questionId": ID, "questions": [question], "status": "pending"}),
        ),
        entry(
            "r1",
            "question",
            json!({"questionId": ID, "questions": [], "status": "answered", "answers": [answer]}),
        ),
    ]
}

fn words_and_tools() -> Vec<Value> {
    vec![
        entry("m1", "user", json!({"content": "hello", "state": "done"})),
        entry(
            "m1",
            "user",
            json!({"content": "hello", "html": "<p>hello</p>", "state": "running"}),
        ),
        entry("m2", "assistant", json!({"content": "hi", "partial": true})),
        entry("m3", "thinking", json!({"content": "hm", "html": "<p>hm</p>", "partial": false})),
        entry(
            "t1-c1",
            "tool-call",
            json!({"toolCallId": "c1", "name": "Read", "status": "running", "args": {}}),
        ),
        entry(
            "t1-c1",
            "tool-call",
            json!({
                "toolCallId": "c1",
                "name": "Edit",
                "title": "Edit a.txt",
                "kind": "edit",
                "status": "complete",
                "args": {"path": "a.txt"},
                "result": "done",
                "diffs": [{"path": "a.txt", "oldText": "a", "newText": "b"}],
            }),
        ),
        entry(
            "t1-c1",
            "tool-call",
            json!({"toolCallId": "c1", "name": "Read", "status": "error", "args": {}, "error": "no such file"}),
        ),
        entry(
            "p1",
            "plan",
            json!({"steps": [{"content": "read", "status": "in_progress", "priority": "high"}]}),
        ),
    ]
}

fn notices_and_state() -> Vec<Value> {
    let choice = json!({"id": "plan", "name": "Plan", "description": "think first"});
    let waiting = json!({"id": ID, "content": "next", "timestamp": AT});
    let rendered = json!({"id": ID, "content": "next", "html": "<p>next</p>", "timestamp": AT});
    vec![
        entry("queue", "queue", json!({"prompts": [waiting, rendered]})),
        entry("queue", "queue", json!({"prompts": [waiting], "held": true})),
        entry(
            "m4",
            "notice",
            json!({"event": "resumed", "how": "native", "text": "The agent resumed its own session."}),
        ),
        entry(
            "m5",
            "notice",
            json!({"event": "turn_ended", "turn": 1, "stopReason": "failed", "why": "process_exited", "detail": "boom", "text": "The turn failed: boom"}),
        ),
        entry(
            "commands",
            "commands",
            json!({"commands": [{"name": "compact", "description": "make room", "hint": "[focus]"}]}),
        ),
        entry("modes", "modes", json!({"current": "plan", "available": [choice]})),
        entry(
            "settings",
            "settings",
            json!({"settings": [{"id": "model", "name": "Model", "category": "model", "current": "plan", "choices": [choice]}]}),
        ),
        entry(
            "usage",
            "usage",
            json!({"inputTokens": 1, "outputTokens": 2, "contextUsed": 3, "contextSize": 4, "cost": {"amount": 0.14, "currency": "USD"}}),
        ),
    ]
}

fn said_of_sessions() -> Vec<Value> {
    let of = |kind: &str| json!({"type": kind, "sessionId": "codex:1", "uid": ID});
    let with = |kind: &str, fields: Value| extended(of(kind), fields);
    let failure = json!({"why": "agent_error", "detail": "boom"});
    vec![
        json!({"type": "session:list", "projectId": ID, "sessions": [session()]}),
        with("session:created", json!({"projectId": ID, "session": session()})),
        with(
            "session:created",
            json!({"projectId": ID, "session": session(), "refused": "the session is full"}),
        ),
        json!({"type": "session:changed", "session": session()}),
        with("session:opened", json!({"rev": 7, "generation": "1"})),
        with(
            "session:history",
            json!({"rev": 7, "generation": "1", "entries": entries(), "more": true, "session": session()}),
        ),
        with(
            "session:history",
            json!({"rev": 7, "generation": "1", "entries": [], "more": true, "newer": true, "session": session()}),
        ),
        with("session:page", json!({"entries": [], "more": false})),
        with("session:update", json!({"rev": 7, "entry": entries()[0]})),
        with("session:chunk", json!({"rev": 7, "entryId": "m2", "content": "more"})),
        with(
            "session:chunk",
            json!({"rev": 7, "entryId": "m2", "content": "more", "html": {"from": 1, "html": "<p>more</p>"}}),
        ),
        with("session:complete", json!({"rev": 7, "entryId": "m1", "stopReason": "end_turn"})),
        with(
            "session:complete",
            json!({"rev": 7, "entryId": "m1", "stopReason": "failed", "failure": failure}),
        ),
        of("session:cancelled"),
        with("session:error", json!({"message": "gone"})),
        json!({"type": "session:closed", "sessionId": "codex:1"}),
        with("session:sent", json!({"messageId": ID, "seq": 7, "queued": false})),
        with("session:sent", json!({"messageId": ID, "queued": true})),
        of("session:seen"),
        of("session:erased"),
        of("session:archived"),
        with("session:unarchived", json!({"session": session()})),
        with(
            "changes:updated",
            json!({"turn": 7, "changes": {"files": 2, "added": 9, "removed": 4}}),
        ),
        of("changes:updated"),
        with("session:title-updated", json!({"title": "Parser"})),
    ]
}

fn said_of_the_rest() -> Vec<Value> {
    let rule = json!({"id": ID, "effect": "deny", "matcher": {"kind": "tool", "server": "s", "tool": "t"}, "agent": "codex", "projectId": ID, "project": "web", "text": "Deny", "createdAt": AT, "requestId": ID, "sessionId": ID, "usedCount": 1, "lastUsedAt": AT});
    let project = json!({"id": ID, "name": "web", "path": "/home/me/web", "addedAt": AT});
    let item = json!({"id": ID, "kind": "questions", "title": "Which", "createdAt": AT, "status": "pending"});
    let found = json!({"id": "codex:1", "uid": ID, "title": "Parser", "agent": "codex", "projectId": ID, "project": "web", "archived": false});
    let hit = json!({"sessionId": ID, "session": found, "messageId": ID, "seq": 7, "role": "user", "timestamp": AT, "excerpt": [{"text": "roof", "matched": true}]});
    let setting = json!({"key": "pool.spare", "value": false, "default": true, "source": "config.toml:2", "kind": "switch", "description": "whether a process is kept ready", "restart": true});
    vec![
        json!({"type": "project:list", "projects": [project]}),
        json!({"type": "project:list", "projects": [], "editor": "vscode"}),
        json!({"type": "project:added", "project": project}),
        json!({"type": "project:removed", "projectId": ID}),
        json!({"type": "folder:completions", "path": "/home/me/w", "folders": ["/home/me/web"]}),
        json!({"type": "file:completions", "projectId": ID, "query": "ma", "files": ["src/main.rs", "src/"]}),
        json!({"type": "file:opened", "path": "/p/src/main.rs"}),
        json!({"type": "agent:list", "agents": [{"cliType": "codex", "title": "Codex", "badge": "CX", "installed": false, "login": {"state": "logged_out", "hint": "run `codex login`"}, "install": "npm i"}]}),
        json!({"type": "agent:status", "cliType": "codex", "status": "starting"}),
        json!({"type": "agent:status", "cliType": "codex", "status": "exited", "sessionId": "codex:1", "uid": ID}),
        json!({"type": "inbox:list", "items": [item]}),
        json!({"type": "home:list", "needsYou": [item], "working": [session()], "finished": [], "failed": [], "recent": []}),
        json!({"type": "search:hits", "query": "roof", "hits": [hit], "next": 12}),
        json!({"type": "config", "path": "/home/me/.convoke/config.toml", "settings": [setting]}),
        json!({"type": "inbox:changed", "count": 1}),
        json!({"type": "inbox:settled", "id": ID}),
        json!({"type": "rule:list", "rules": [rule]}),
        json!({"type": "rule:added", "rule": rule}),
        json!({"type": "rule:removed", "ruleId": ID}),
        json!({"type": "rule:changed"}),
        json!({"type": "comparison:changed", "comparisonId": "c1"}),
        json!({"type": "history:import", "import": {"number": 1, "running": true, "sources": [], "failed": []}}),
        json!({"type": "team:changed"}),
        json!({"type": "pong", "requestId": "r1"}),
        json!({"type": "error", "requestId": "r1", "message": "Could not load session", "hint": "see the log"}),
        json!({"type": "error", "message": "not JSON"}),
    ]
}

#[test]
fn w5_what_the_server_says_keeps_its_shape() {
    for said in said_of_sessions().into_iter().chain(said_of_the_rest()) {
        let frame = Envelope::<ServerFrame>::read(&said.to_string()).unwrap();
        let written: Value = serde_json::from_str(&frame.to_text().unwrap()).unwrap();
        assert_eq!(written, said);
        let frame = json!(frame.frame);
        assert_fits::<ServerFrame>(SchemaSettings::default().for_serialize(), &frame);
    }
}

#[test]
fn a_frame_says_first_what_it_is() {
    let frame = ServerFrame::Error { message: "no".to_owned(), hint: None };
    let frame = Envelope { request_id: Some("r1".to_owned()), frame };
    let text = frame.to_text().unwrap();
    assert_eq!(text, r#"{"requestId":"r1","type":"error","message":"no"}"#);
    assert_eq!(
        Envelope::push(()).with(ServerFrame::Pong {}).to_text().unwrap(),
        r#"{"type":"pong"}"#
    );
}

/// The frames in the block of the page below this heading.
fn examples(heading: &str) -> Vec<Value> {
    const PAGE: &str = include_str!("../../../../docs/interfaces/websocket.md");
    let (_, below) = PAGE.split_once(&format!("### {heading}\n\n```json\n")).unwrap();
    let (block, _) = below.split_once("```").unwrap();
    block.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn types(frames: &[Value]) -> BTreeSet<&str> {
    frames.iter().map(|frame| frame["type"].as_str().unwrap()).collect()
}

#[test]
fn w5_the_examples_of_the_page_are_frames_of_every_type() {
    let client = examples("A client says");
    for said in &client {
        let Envelope { request_id, frame } = ClientFrame::read(&said.to_string());
        let frame = Envelope { request_id, frame: frame.unwrap() };
        assert_eq!(json!(frame), *said);
    }
    assert_eq!(types(&client), ClientFrame::TYPES.into());

    let server = examples("The server says");
    for said in &server {
        assert_eq!(json!(Envelope::<ServerFrame>::read(&said.to_string()).unwrap()), *said);
    }
    let pinned = [said_of_sessions(), said_of_the_rest()].concat();
    assert_eq!(types(&server), types(&pinned));
}
