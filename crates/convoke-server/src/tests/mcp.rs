//! Agents and others that ask their human.

use std::net::SocketAddr;

use convoke_engine::Change;
use convoke_testkit::agent::Script;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::scene::Scene;

/// A call that has been sent; dropping it hangs up.
struct Call {
    stream: TcpStream,
    heard: String,
}

impl Call {
    async fn new(address: SocketAddr, token: &str, name: &str, arguments: Value) -> Self {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments, "_meta": {"progressToken": "p"}},
        })
        .to_string();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).await.unwrap();
        Self { stream, heard: String::new() }
    }

    /// The result's text, and whether it is an error.
    async fn result(&mut self) -> (String, bool) {
        let mut bytes = [0; 4096];
        loop {
            let events = self.heard.lines().filter_map(|line| line.strip_prefix("data: "));
            let result = events
                .filter_map(|data| serde_json::from_str::<Value>(data).ok())
                .find(|message| message["id"] == 1);
            if let Some(message) = result {
                let text = message["result"]["content"][0]["text"].as_str();
                let text = text.unwrap_or_else(|| panic!("{message}")).to_owned();
                return (text, message["result"]["isError"] == true);
            }
            let count = self.stream.read(&mut bytes).await.unwrap();
            assert_ne!(count, 0, "{}", self.heard);
            self.heard.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
        }
    }
}

fn questions() -> Value {
    let option = |label: &str| json!({"label": label});
    json!({"questions": [
        {"prompt": "Which colour?", "title": "Colour", "options": [option("Red"), option("Blue")], "multiSelect": false}
    ]})
}

/// Waits until something in the inbox is as it should be.
async fn inbox(scene: &Scene, is_it: impl Fn(&Value) -> bool) -> Value {
    let mut changes = scene.app.engine.follow();
    loop {
        let items = scene.get("/api/inbox").await.json();
        if let Some(item) = items["items"].as_array().unwrap().iter().find(|item| is_it(item)) {
            return item.clone();
        }
        while !matches!(changes.recv().await.unwrap(), Change::Inbox { .. }) {}
    }
}

fn short(item: &Value) -> String {
    item["id"].as_str().unwrap()[..8].to_owned()
}

#[tokio::test]
async fn q19_an_agent_of_a_session_asks_in_its_session_and_is_answered_from_the_inbox() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let session = scene.session().await;
    let key = scene.keys.issue(session.parse().unwrap());
    let mut call = Call::new(address, key.token(), "ask_user_questions", questions()).await;
    let item = inbox(&scene, |item| item["status"] == "pending").await;
    assert_eq!((&item["kind"], &item["uid"]), (&json!("questions"), &json!(session)));
    let path = format!("/api/inbox/{}/answer", item["id"].as_str().unwrap());
    let wrong = scene.post(&path, json!({"answers": {"0": {"selectedOption": "Green"}}})).await;
    assert_eq!((wrong.status, &wrong.json()["code"]), (422, &json!("invalid_answer")));
    assert_eq!(
        scene.post(&path, json!({"answers": {"0": {"selectedOption": "Red"}}})).await.status,
        204
    );
    let (text, is_error) = call.result().await;
    assert!(!is_error);
    let header = format!("[Session: {} | Questions: 1]", short(&item));
    assert_eq!(
        text,
        format!("{header}\n\nHere are the user's answers:\n\n1. Which colour?\n→ Red")
    );
    let fetch = json!({"session_id": short(&item)});
    let mut call = Call::new(address, key.token(), "get_answered_questions", fetch.clone()).await;
    assert_eq!(call.result().await, (text, false));
    let mut stranger =
        Call::new(address, scene.token.as_str(), "get_answered_questions", fetch).await;
    assert!(stranger.result().await.1, "another one's questions");
}

#[tokio::test]
async fn a_call_that_hangs_up_abandons_its_questions_and_a_late_answer_is_the_next_turn() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let session = scene.session().await;
    let key = scene.keys.issue(session.parse().unwrap());
    let call = Call::new(address, key.token(), "ask_user_questions", questions()).await;
    inbox(&scene, |item| item["status"] == "pending").await;
    drop(call);
    let item = inbox(&scene, |item| item["status"] == "abandoned").await;
    let path = format!("/api/inbox/{}/answer", item["id"].as_str().unwrap());
    assert_eq!(
        scene.post(&path, json!({"answers": {"0": {"selectedOption": "Blue"}}})).await.status,
        204
    );
    let mut watcher = scene
        .app
        .engine
        .sessions()
        .watch(session.parse().unwrap(), Default::default())
        .await
        .unwrap();
    loop {
        let published = watcher.next().await.unwrap();
        let message: Value = serde_json::from_str(published.json()).unwrap();
        if message["role"] == "user" {
            let text = message["content"]["text"].as_str().unwrap();
            assert!(text.contains("Which colour?") && text.contains("→ Blue"), "{text}");
            return;
        }
    }
}

#[tokio::test]
async fn q19_a_caller_without_a_session_asks_in_files() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let mut asked = questions();
    asked["nonBlocking"] = json!(true);
    let mut call = Call::new(address, scene.token.as_str(), "ask_user_questions", asked).await;
    let (text, is_error) = call.result().await;
    assert!(!is_error && text.contains("Status: pending"), "{text}");
    let item = inbox(&scene, |item| item["status"] == "pending").await;
    assert_eq!(item.get("uid"), None);
    let path = format!("/api/inbox/{}/reject", item["id"].as_str().unwrap());
    assert_eq!(scene.post(&path, json!({"reason": "no time"})).await.status, 204);
    let fetch = json!({"session_id": item["id"], "blocking": true});
    let mut call = Call::new(address, scene.token.as_str(), "get_answered_questions", fetch).await;
    assert!(call.result().await.0.contains("Rejection reason: \"no time\""));
}

#[tokio::test]
async fn a_permission_is_asked_for_as_claude_does() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let session = scene.session().await;
    let key = scene.keys.issue(session.parse().unwrap());
    let input = json!({"command": "ls"});
    for (option, expected) in [
        ("allow", r#"{"behavior":"allow","updatedInput":{"command":"ls"}}"#.to_owned()),
        ("reject", r#"{"behavior":"deny","message":"The user said no."}"#.to_owned()),
    ] {
        let arguments = json!({"tool_name": "Bash", "input": input});
        let mut call = Call::new(address, key.token(), "permissions__approve", arguments).await;
        let item = inbox(&scene, |item| item["kind"] == "permission").await;
        let options = item["permission"]["options"].as_array().unwrap();
        let chosen =
            options.iter().find(|it| it["kind"].as_str().unwrap().starts_with(option)).unwrap();
        let path = format!("/api/inbox/{}/answer", item["id"].as_str().unwrap());
        assert_eq!(scene.post(&path, json!({"optionId": chosen["optionId"]})).await.status, 204);
        assert_eq!(call.result().await, (expected, false));
    }
}

#[tokio::test]
async fn wrong_tool_arguments_are_reported_to_the_agent() {
    let (scene, address) = Scene::listening(&Script::new()).await;
    let token = scene.token.as_str();
    let mut told = Vec::new();
    for (name, arguments) in [
        ("ask_user_questions", json!({"questions": []})),
        ("ask_user_questions", json!({"questions": [{"prompt": "x", "options": [], "extra": 1}]})),
        ("get_answered_questions", json!({"session_id": "12345678"})),
        ("get_answered_questions", json!({})),
    ] {
        let (text, is_error) = Call::new(address, token, name, arguments).await.result().await;
        assert!(is_error);
        told.push(text);
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    At least one question is required to create a session
    the arguments do not fit the tool's schema: unknown field `extra`, expected one of `prompt`, `title`, `options`, `multiSelect`
    Session not found: 12345678
    the arguments do not fit the tool's schema: missing field `session_id`
    ");
}
