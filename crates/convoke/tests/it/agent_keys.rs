//! The key by which an agent's tools speak for its session, in the hands of an accomplice that outlives the agent.

use std::time::{Duration, Instant};

use convoke_testkit::agent::Script;
use convoke_testkit::host::example;
use serde_json::{Value, json};

use crate::serve_scene::Daemon;

/// How long a process may take to be gone.
const TIMEOUT: Duration = Duration::from_secs(10);

fn daemon() -> Daemon {
    let config =
        format!("[agents.asking]\ncommand = {:?}\nsandbox = \"off\"\n", example("asking_agent"));
    Daemon::with(&Script::new(), &config)
}

/// Has the agent of a session betray its key.
fn key(daemon: &Daemon, session: &str) -> String {
    let messages = daemon.turn(session, "betray");
    let betrayed = |message: &Value| {
        Some(message["content"]["text"].as_str()?.strip_prefix("key ")?.to_owned())
    };
    messages.iter().rev().find_map(betrayed).expect("the agent has a key")
}

/// What the accomplice gets from the endpoint of the tools, and from the rest of the API.
fn attempt(daemon: &Daemon, key: &str) -> (u16, u16) {
    let address = daemon.address();
    let head = |method: &str, path: &str| {
        format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n")
    };
    let tools = head("POST", "/mcp")
        + "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let tools = daemon.send(&tools, &list.to_string()).status;
    (tools, daemon.send(&head("GET", "/api/sessions"), "").status)
}

/// A living key: the tools, and nothing else.
const VALID: (u16, u16) = (200, 403);
/// A dead one.
const REVOKED: (u16, u16) = (401, 401);

#[test]
fn k3_an_agents_key_is_worth_nothing_once_its_session_has_ended() {
    let daemon = daemon();
    for end in [
        |daemon: &Daemon, id: &str| {
            daemon.call("DELETE", &format!("/api/sessions/{id}"), &json!({}))
        },
        |daemon: &Daemon, id: &str| {
            daemon.post(&format!("/api/sessions/{id}/complete"), &json!({}))
        },
        |daemon: &Daemon, _: &str| daemon.post("/api/agents/stop", &json!({})),
    ] {
        let session = daemon.session_with("asking");
        let key = key(&daemon, &session);
        assert_eq!(attempt(&daemon, &key), VALID, "the control");
        assert_eq!(end(&daemon, &session).status, 200);
        // No waiting: a caller that was answered relies on it.
        assert_eq!(attempt(&daemon, &key), REVOKED);
    }
}

#[test]
fn k3_every_process_of_a_session_has_a_key_of_its_own() {
    let mut daemon = daemon();
    let session = daemon.session_with("asking");
    let first = key(&daemon, &session);
    assert_eq!(key(&daemon, &session), first, "the same process");
    daemon.prompt(&session, "leave");
    let start = Instant::now();
    while attempt(&daemon, &first) != REVOKED {
        assert!(start.elapsed() < TIMEOUT, "the key outlives its process");
    }
    let second = key(&daemon, &session);
    assert_ne!(second, first);
    assert_eq!((attempt(&daemon, &first), attempt(&daemon, &second)), (REVOKED, VALID));
    daemon.kill_and_start();
    assert_eq!(attempt(&daemon, &second), REVOKED, "another daemon");
}
