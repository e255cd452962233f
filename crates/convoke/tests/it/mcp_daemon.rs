//! `convoke mcp` with the real daemon behind it.

use std::time::{Duration, Instant};

use convoke_testkit::wait;
use serde_json::{Value, json};

use crate::daemon_scene::Scene;
use crate::mcp_proxy::{Agent, SOON};

fn ask(id: u32) -> Value {
    let options = json!([{"label": "Yes", "description": "now"}, {"label": "No"}]);
    let question =
        json!({"prompt": "Ship it?", "title": "Ship", "options": options, "multiSelect": false});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": "ask_user_questions", "arguments": {"questions": [question]}, "_meta": {"progressToken": id},
    }})
}

/// A machine with a daemon, and an agent that has introduced itself to it.
fn introduced() -> (Scene, Agent) {
    let scene = Scene::new();
    scene.run("project list");
    let daemon = std::fs::read(scene.machine.home().join("run/daemon.json")).unwrap();
    let daemon: Value = serde_json::from_slice(&daemon).unwrap();
    let (url, token) = (daemon["url"].as_str().unwrap(), daemon["token"].as_str().unwrap());
    let mut agent = Agent::on(&scene.machine, &format!("{url}/mcp"), token);
    agent.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"},
    }}));
    assert_eq!(agent.receives()["result"]["serverInfo"]["name"], "convoke");
    agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    (scene, agent)
}

/// Waits until the newest questions stand so, and tells their id and how long that took.
fn until(scene: &Scene, status: &str) -> (String, Duration) {
    let start = Instant::now();
    let id = wait::until_some(&format!("a set of questions is {status}"), || {
        let items = scene.machine.json("inbox list --json")["items"].clone();
        let item = items.as_array().unwrap().iter().find(|item| item["status"] == status)?;
        Some(item["id"].as_str().unwrap().to_owned())
    });
    (id, start.elapsed())
}

#[test]
fn q19_a_question_through_the_daemon_is_answered_from_the_inbox() {
    let (scene, mut agent) = introduced();
    agent.send(&ask(1));
    let (id, _) = until(&scene, "pending");
    let answers = json!({"0": {"selectedOption": "Yes"}}).to_string();
    scene.run_args(&["inbox", "answer", &id, "--answers", &answers]);
    let heard = agent.receives();
    assert_eq!(heard["id"], 1);
    let text = heard["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.ends_with("1. Ship it?\n→ Yes — now"), "{text}");
    assert_eq!(agent.leaves(), (0, vec![]));
}

#[test]
fn q4_a_call_that_is_cancelled_abandons_its_questions_soon() {
    let (scene, mut agent) = introduced();
    agent.send(&ask(1));
    until(&scene, "pending");
    agent.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    let (_, after) = until(&scene, "abandoned");
    assert!(after < SOON, "{after:?}");
    agent.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}));
    assert_eq!(agent.receives(), json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
}

#[test]
fn q4_an_agent_that_leaves_abandons_its_questions_soon() {
    let (scene, mut agent) = introduced();
    agent.send(&ask(1));
    until(&scene, "pending");
    let start = Instant::now();
    assert_eq!(agent.leaves(), (0, vec![]));
    until(&scene, "abandoned");
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}
