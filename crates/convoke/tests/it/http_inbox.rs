//! An agent that asks its human, through the tools that the daemon gives it.

use convoke_testkit::agent::Script;
use serde_json::{Value, json};

use crate::serve_scene::{Daemon, has_ended};

/// Lets the demo agent ask, and waits until it has.
fn asked(daemon: &Daemon, session: &str) -> Value {
    daemon.prompt(session, "/ask");
    daemon.follow(session, 0).until(|message| {
        message["content"]["type"] == "question" && message["content"]["status"] == "pending"
    })
}

/// The first option of the first question.
fn first_option(question: &Value) -> Value {
    question["content"]["questions"][0]["options"][0]["label"].clone()
}

#[test]
fn q19_an_agent_asks_its_human_and_goes_on_with_the_answer() {
    let daemon = Daemon::new(&Script::new());
    let session = daemon.session_with("demo");
    let question = asked(&daemon, &session);
    let item = daemon.get("/api/inbox").json()["items"][0].clone();
    assert_eq!((&item["id"], &item["uid"]), (&question["content"]["requestId"], &json!(session)));
    let label = first_option(&question);
    let path = format!("/api/inbox/{}/answer", item["id"].as_str().unwrap());
    let answers = json!({"answers": {"0": {"selectedOption": label}}});
    assert_eq!(daemon.post(&path, &answers).status, 204);
    assert_eq!(daemon.post(&path, &answers).status, 409, "the first answer counts");
    daemon.follow(&session, question["rev"].as_u64().unwrap()).until(has_ended);
    let said: String = daemon
        .messages(&session)
        .iter()
        .filter(|message| message["role"] == "agent")
        .map(|message| message["content"]["text"].as_str().unwrap())
        .collect();
    assert!(said.contains(label.as_str().unwrap()), "{said}");
}

#[test]
fn an_answer_that_comes_after_the_daemon_was_killed_is_the_next_turn() {
    let mut daemon = Daemon::new(&Script::new());
    let session = daemon.session_with("demo");
    let question = asked(&daemon, &session);
    daemon.kill_and_start();
    let id = question["content"]["requestId"].as_str().unwrap();
    let item = daemon.get("/api/inbox").json()["items"][0].clone();
    assert_eq!((&item["id"], &item["status"]), (&json!(id), &json!("abandoned")));
    let label = first_option(&question);
    let before =
        daemon.get(&format!("/api/sessions/{session}/state")).json()["rev"].as_u64().unwrap();
    let answers = json!({"answers": {"0": {"selectedOption": label}}});
    assert_eq!(daemon.post(&format!("/api/inbox/{id}/answer"), &answers).status, 204);
    let prompt = daemon.follow(&session, before).until(|message| message["role"] == "user");
    let text = prompt["content"]["text"].as_str().unwrap();
    assert!(text.contains(label.as_str().unwrap()), "{text}");
    assert!(
        text.contains(question["content"]["questions"][0]["prompt"].as_str().unwrap()),
        "{text}"
    );
}
