//! The contract: the JSON of every body is pinned here, as it is written and as it is read.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

/// Reads a body and writes it again: nothing is lost, added or renamed.
#[track_caller]
fn pin<T: Serialize + DeserializeOwned>(body: Value) {
    let expected = body.clone();
    let read: T = serde_json::from_value(body).unwrap();
    assert_eq!(json!(read), expected);
}

/// What a request is refused for.
#[track_caller]
fn refusal<T: DeserializeOwned + std::fmt::Debug>(body: Value) -> String {
    serde_json::from_value::<T>(body).unwrap_err().to_string()
}

const ID: &str = "00000000-0000-4000-8000-000000000001";
const AT: &str = "2026-11-15T10:00:00.000Z";

fn repo() -> Value {
    json!({"id": ID, "name": "web", "path": "/home/me/web", "addedAt": AT})
}

fn session() -> Value {
    json!({
        "id": ID,
        "repoId": ID,
        "agent": "claude-code",
        "agentSessionId": "ses_1",
        "title": "New Session",
        "status": "active",
        "acceptsPrompts": true,
        "archived": false,
        "createdAt": AT,
        "updatedAt": AT,
        "lastActiveAt": AT,
        "messageCount": 3,
        "metadata": {},
        "activity": "idle",
        "attention": "idle",
        "unseen": false,
    })
}

fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

#[test]
fn s8_projects_keep_their_shape() {
    pin::<Repo>(repo());
    pin::<Repos>(json!({"repos": [repo()]}));
    pin::<NewRepo>(json!({"path": "/home/me/web"}));
    pin::<NewRepo>(json!({"path": "/home/me/web", "name": "web"}));
}

#[test]
fn s4_s8_sessions_keep_their_shape() {
    pin::<Session>(session());
    pin::<Session>(with(session(), "agentSessionId", Value::Null));
    pin::<Session>(with(session(), "metadata", json!({"reason": "idle_timeout"})));
    for status in ["active", "completed", "cancelled", "error"] {
        pin::<Session>(with(session(), "status", json!(status)));
    }
    for activity in ["idle", "running", "waiting"] {
        pin::<Session>(with(session(), "activity", json!(activity)));
    }
    for attention in ["needs_you", "working", "failed", "idle", "ended"] {
        pin::<Session>(with(session(), "attention", json!(attention)));
    }
    let work = [
        ("unseen", json!(true)),
        ("failure", json!({"why": "process_exited", "detail": "boom"})),
        ("runningSince", json!(AT)),
        ("step", json!("Read the parser")),
        ("lastLine", json!("All tests pass.")),
        ("cost", json!({"amount": 0.14, "currency": "USD"})),
    ];
    for (field, value) in work {
        pin::<Session>(with(session(), field, value));
    }
    pin::<SessionDetail>(with(session(), "repo", repo()));
    pin::<Sessions>(json!({"sessions": [session()], "total": 1, "limit": 20, "offset": 0}));
    pin::<NewSession>(json!({"repoId": "0000"}));
    pin::<NewSession>(json!({"repoId": ID, "agent": "codex", "prompt": "hello"}));
    pin::<CreatedSession>(session());
    pin::<CreatedSession>(with(session(), "refused", json!("the session is full")));
    pin::<Prompt>(json!({"text": "hello"}));
    pin::<Prompted>(
        json!({"accepted": true, "messageId": ID, "seq": 4, "queued": false, "rev": 9}),
    );
    for patch in [json!({}), json!({"title": "Parser"}), json!({"archived": true})] {
        pin::<SessionPatch>(patch);
    }
    for patch in [json!({"text": "x"}), json!({"position": 0})] {
        pin::<QueuePatch>(patch);
    }
    for cancel in [json!({}), json!({"queue": "keep"})] {
        pin::<CancelTurn>(cancel);
    }
    let groups =
        json!({"needsYou": [], "working": [session()], "finished": [], "failed": [], "recent": []});
    pin::<Home>(groups);
}

#[test]
fn p9_settings_keep_their_shape() {
    let setting = json!({
        "key": "sandbox.network",
        "value": "open",
        "default": "open",
        "source": "default",
        "kind": "choice",
        "choices": ["open", "off"],
        "description": "what agents may reach",
        "restart": true,
    });
    pin::<Config>(json!({"path": "/home/me/.convoke/config.toml", "settings": [setting]}));
    pin::<ConfigPatch>(json!({"changes": {"sandbox.network": "off", "pool.spare": null}}));
}

#[test]
fn w1_a_session_has_a_canonical_id_once_its_agent_gave_it_one() {
    let read = |value| serde_json::from_value::<Session>(value).unwrap().canonical_id();
    assert_eq!(read(session()).unwrap().to_string(), "claude-code:ses_1");
    assert_eq!(read(with(session(), "agentSessionId", Value::Null)), None);
}

#[test]
fn the_inbox_keeps_its_shape() {
    let item = json!({"id": ID, "kind": "questions", "title": "Which", "createdAt": AT, "status": "pending"});
    pin::<InboxItem>(item.clone());
    let permission = json!({
        "permissionId": ID,
        "title": "Run tests",
        "toolCallId": "call_1",
        "tool": "Bash",
        "options": [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}],
        "status": "pending",
    });
    let of_session = json!({
        "id": ID,
        "kind": "permission",
        "sessionId": "claude-code:ses_1",
        "uid": ID,
        "title": "Run tests",
        "createdAt": AT,
        "agent": "claude-code",
        "project": "web",
        "projectId": ID,
        "permission": permission,
        "status": "pending",
    });
    pin::<InboxItem>(of_session);
    let questions = json!([{"prompt": "Which?", "title": "Which", "options": [{"label": "A"}, {"label": "B", "description": "b"}], "multiSelect": false}]);
    let of_files =
        json!({"questions": questions, "askedBy": "claude 2", "workingDirectory": "/home/me/web"});
    let mut item = item;
    item.as_object_mut().unwrap().extend(of_files.as_object().unwrap().clone());
    pin::<InboxItem>(item.clone());
    pin::<Inbox>(json!({"items": [item]}));
    pin::<Rejection>(json!({}));
    pin::<Rejection>(json!({"reason": "not now"}));
}

#[test]
fn an_answer_is_an_option_or_answers() {
    pin::<Answer>(json!({"optionId": "yes"}));
    pin::<Answer>(json!({"optionId": "yes", "rule": 1}));
    let first: Answer =
        serde_json::from_value(json!({"optionId": "yes", "remember": true})).unwrap();
    assert_eq!(first, Answer::Option { option_id: "yes".to_owned(), rule: Some(0) });
    pin::<Answer>(
        json!({"answers": {"0": {"selectedOption": "A"}, "1": {"selectedOptions": ["X"], "customText": "y"}}}),
    );
    let refused = [
        json!({}),
        json!({"remember": true}),
        json!({"optionId": "yes", "answers": {}}),
        json!({"optionID": "yes"}),
        json!({"answers": {"first": {"selectedOption": "A"}}}),
        json!({"answers": {"0": {"selected": "A"}}}),
    ];
    insta::assert_snapshot!(refused.map(refusal::<Answer>).join("\n"), @r"
    missing field `optionId` (of a permission) or `answers` (of questions)
    rule and remember go with optionId only
    give either optionId or answers, not both
    unknown field `optionID`, expected one of `optionId`, `rule`, `remember`, `answers`
    invalid value: expected key to be a number in quotes
    unknown field `selected`, expected one of `selectedOption`, `selectedOptions`, `customText`
    ");
}

#[test]
fn k8_backups_keep_their_shape() {
    pin::<NewBackup>(json!({}));
    pin::<NewBackup>(json!({"to": "/mnt/disk", "keep": 3}));
    pin::<Backups>(json!({"begun": 0}));
    let running = json!({"doneBytes": 1, "totalBytes": 2});
    let failed = json!({"number": 1, "error": "the disk is full"});
    pin::<Backups>(json!({"begun": 2, "running": running, "last": failed}));
    let backup = json!({
        "path": "/home/me/.convoke/backups/convoke-2026-11-16T15-01-13.000Z",
        "createdAt": "2026-11-16T15:01:13.000Z",
        "bytes": 4096,
        "files": 2,
        "sessions": 3,
        "messages": 4,
        "removed": ["/home/me/.convoke/backups/convoke-2026-11-15T15-01-13.000Z"],
    });
    pin::<Backups>(json!({"begun": 1, "last": {"number": 1, "backup": backup}}));
}

#[test]
fn agents_and_the_daemon_keep_their_shape() {
    let missing = json!({"name": "codex", "title": "Codex", "badge": "CX", "protocol": "acp", "installed": false, "login": {"state": "unknown", "hint": "run `codex login`"}, "resume": "native", "layers": ["bwrap", "seccomp"], "missingLayers": [{"layer": "landlock", "why": "the agent's own sandbox uses mounts"}], "install": "npm install -g codex"});
    let installed = json!({"name": "demo", "title": "Demo", "badge": "DM", "protocol": "acp", "installed": true, "path": "/usr/bin/convoke", "version": "0.1.0", "login": {"state": "not_needed"}, "resume": "native", "layers": [], "modes": [{"id": "ask", "name": "Ask"}], "mode": "ask", "models": [{"id": "m", "name": "M"}], "model": "m"});
    pin::<Agents>(json!({"agents": [missing, installed]}));
    pin::<Health>(json!({"status": "ok"}));
    let lost = json!({"code": "database_lost", "text": "the database is gone", "hint": "restart"});
    pin::<Health>(json!({"status": "failing", "problems": [lost]}));
    pin::<Daemon>(
        json!({"pid": 4711, "url": "http://127.0.0.1:7717", "token": "secret", "version": "0.1.0"}),
    );
    pin::<Status>(json!({
        "version": "0.1.0",
        "pid": 4711,
        "uptimeMs": 1000,
        "url": "http://127.0.0.1:7717",
        "home": "/home/me/.convoke",
        "activeSessions": 2,
        "processes": 2,
        "busy": 1,
        "waiting": 0,
        "inbox": 1,
        "working": 1,
        "unseen": 2,
        "failed": 0,
    }));
}

#[test]
fn a_token_is_not_printed_for_debugging() {
    let daemon = json!({"pid": 1, "url": "http://127.0.0.1:1", "token": "secret", "version": "0"});
    let daemon: Daemon = serde_json::from_value(daemon).unwrap();
    assert!(!format!("{daemon:?}").contains("secret"));
}

#[test]
fn hits_keep_their_shape() {
    let excerpt = json!([{"text": "the ", "matched": false}, {"text": "word", "matched": true}]);
    let session = json!({"id": "codex:1", "uid": ID, "title": "Parser", "agent": "codex", "projectId": ID, "project": "web", "archived": false});
    let hit = json!({"sessionId": ID, "session": session, "messageId": ID, "seq": 7, "role": "agent", "timestamp": AT, "excerpt": excerpt});
    pin::<Hits>(json!({"hits": []}));
    pin::<Hits>(json!({"hits": [hit], "next": 12}));
}

#[test]
fn problems_keep_their_shape() {
    let problem = json!({"type": "about:blank", "title": "Not Found", "status": 404, "detail": "no session 1234", "code": "session_not_found"});
    pin::<Problem>(problem.clone());
    pin::<Problem>(with(problem.clone(), "hint", json!("see `convoke session list`")));
    pin::<Problem>(with(problem.clone(), "instance", json!("urn:uuid:1")));
    pin::<Problem>(with(problem, "candidates", json!([{"id": ID, "title": "Parser"}])));
    // Other servers' problems may say less.
    let problem: Problem = serde_json::from_value(json!({"status": 502})).unwrap();
    assert_eq!((&*problem.kind, &*problem.code), ("about:blank", ""));
}

#[test]
fn requests_refuse_what_they_do_not_know() {
    let refused = [
        refusal::<NewRepo>(json!({"path": "/", "title": "x"})),
        refusal::<NewSession>(json!({"repo": ID})),
        refusal::<Prompt>(json!({"text": "x", "wait": true})),
        refusal::<SessionPatch>(json!({"status": "completed"})),
        refusal::<Rejection>(json!({"why": "x"})),
    ];
    insta::assert_snapshot!(refused.join("\n"), @"
    unknown field `title`, expected `path` or `name`
    unknown field `repo`, expected one of `repoId`, `agent`, `model`, `mode`, `prompt`, `attachments`, `files`, `worktree`
    unknown field `wait`, expected one of `text`, `attachments`, `files`, `review`, `messageId`
    unknown field `status`, expected `title` or `archived`
    unknown field `why`, expected `reason`
    ");
}

#[test]
fn t13_a_time_to_wait_is_a_whole_number_however_it_is_written() {
    let wait = |timeout: Value| json!({"question": "q", "timeout": timeout});
    for (written, read) in [(json!(5), 5), (json!(5.0), 5), (json!(-1), -1), (json!(2e3), 2000)] {
        let question: TeamQuestion = serde_json::from_value(wait(written)).unwrap();
        assert_eq!(question.timeout, Some(read));
    }
    let question: TeamQuestion = serde_json::from_value(wait(Value::Null)).unwrap();
    assert_eq!(question.timeout, None);
    assert!(refusal::<TeamQuestion>(wait(json!(0.5))).contains("0.5 is not a whole number"));
}
