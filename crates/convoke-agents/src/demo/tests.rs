//! The demo agent spoken to as a client does, over pipes in memory.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};

use super::*;
use crate::lines::Writer;

/// A client of the demo agent, in a temporary workspace.
struct Client {
    writer: Writer,
    reader: Reader,
    workspace: tempfile::TempDir,
    state: PathBuf,
    next: u64,
}

impl Client {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        Self::with_state(folder, state)
    }

    fn with_state(workspace: tempfile::TempDir, state: PathBuf) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        let folder = state.clone();
        tokio::spawn(async move { serve(input, output, &folder, || [7; 16]).await });
        let (reader, writer): (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>) =
            tokio::io::split(ours);
        let (writer, reader) = (Writer::new(writer), Reader::new(reader));
        Self { writer, reader, workspace, state, next: 0 }
    }

    async fn receive(&mut self) -> Value {
        let Some(Line::Json(message)) = self.reader.next().await.unwrap() else {
            panic!("it sent something else, or went away");
        };
        message
    }

    async fn send(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.writer.send(&message).await.unwrap();
        id
    }

    /// Sends a request; returns the updates that came before its answer, and the answer.
    async fn call(&mut self, method: &str, params: Value) -> (Vec<Value>, Value) {
        let id = self.send(method, params).await;
        self.until(id).await
    }

    async fn until(&mut self, id: u64) -> (Vec<Value>, Value) {
        let mut updates = Vec::new();
        loop {
            let message = self.receive().await;
            match message.get("method").and_then(Value::as_str) {
                Some("session/update") => updates.push(message["params"]["update"].clone()),
                Some(_) => updates.push(message),
                None => {
                    assert_eq!(message["id"], id);
                    return (updates, message);
                }
            }
        }
    }

    async fn new_session(&mut self) -> String {
        let params = json!({"cwd": self.workspace.path(), "mcpServers": []});
        let (_, answer) = self.call("session/new", params).await;
        answer["result"]["sessionId"].as_str().unwrap().to_owned()
    }

    fn prompt(session: &str, text: &str) -> Value {
        json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
    }
}

/// The words of an answer, joined.
fn said(updates: &[Value], kind: &str) -> String {
    let pieces = updates.iter().filter(|update| update["sessionUpdate"] == kind);
    pieces.filter_map(|update| update["content"]["text"].as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn it_shakes_hands_and_streams_an_answer() {
    let mut client = Client::start();
    let (_, hello) = client.call("initialize", json!({"protocolVersion": 1})).await;
    assert_eq!(hello["result"]["protocolVersion"], 1);
    let session = client.new_session().await;
    let (updates, answer) = client.call("session/prompt", Client::prompt(&session, "hello")).await;
    assert!(said(&updates, "agent_message_chunk").starts_with("You said: **hello**"));
    assert!(updates.len() > 10, "word by word");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
}

#[tokio::test(start_paused = true)]
async fn it_thinks_and_plans() {
    let mut client = Client::start();
    let session = client.new_session().await;
    let (updates, _) = client.call("session/prompt", Client::prompt(&session, "/think")).await;
    assert!(said(&updates, "agent_thought_chunk").starts_with("Let me see."));
    let (updates, _) = client.call("session/prompt", Client::prompt(&session, "/plan")).await;
    let mut plans = updates.iter().filter(|update| update["sessionUpdate"] == "plan");
    let last = plans.next_back().unwrap()["entries"].as_array().unwrap().clone();
    assert!(last.iter().all(|entry| entry["status"] == "completed"));
}

#[tokio::test(start_paused = true)]
async fn it_writes_a_file_only_when_it_may() {
    let mut client = Client::start();
    let session = client.new_session().await;
    let path = client.workspace.path().join("notes.txt");
    for (option, content) in [("reject", None), ("allow", Some("hello there\n"))] {
        let id = client
            .send("session/prompt", Client::prompt(&session, "write notes.txt hello there"))
            .await;
        let asked = loop {
            let message = client.receive().await;
            if message["method"] == "session/request_permission" {
                break message;
            }
        };
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": outcome});
        client.writer.send(&answer).await.unwrap();
        client.until(id).await;
        assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), content);
    }
}

#[tokio::test(start_paused = true)]
async fn it_does_not_leave_its_workspace() {
    let mut client = Client::start();
    let session = client.new_session().await;
    for path in ["../secret", "/etc/passwd", "a/../../b"] {
        let prompt = Client::prompt(&session, &format!("read {path}"));
        let (updates, _) = client.call("session/prompt", prompt).await;
        let text = said(&updates, "agent_message_chunk");
        assert!(text.ends_with("it is outside of the workspace"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_answer_can_be_stopped() {
    let mut client = Client::start();
    let session = client.new_session().await;
    let id = client.send("session/prompt", Client::prompt(&session, "long 100000")).await;
    client.receive().await;
    let cancel =
        json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
    client.writer.send(&cancel).await.unwrap();
    let (_, answer) =
        tokio::time::timeout(Duration::from_secs(60), client.until(id)).await.unwrap();
    assert_eq!(answer["result"]["stopReason"], "cancelled");
}

#[tokio::test(start_paused = true)]
async fn another_process_takes_a_session_up_again() {
    let mut first = Client::start();
    let session = first.new_session().await;
    first.call("session/prompt", Client::prompt(&session, "remember this")).await;
    let Client { workspace, state, .. } = first;
    let mut second = Client::with_state(workspace, state);
    let params = json!({"sessionId": session, "cwd": second.workspace.path(), "mcpServers": []});
    let (replayed, answer) = second.call("session/load", params).await;
    assert!(answer["result"].is_object());
    assert_eq!(said(&replayed, "user_message_chunk"), "remember this");
    assert!(said(&replayed, "agent_message_chunk").starts_with("You said: **remember this**"));
    let unknown = json!({"sessionId": "unknown", "cwd": second.workspace.path(), "mcpServers": []});
    let (_, answer) = second.call("session/load", unknown).await;
    assert_eq!(answer["error"]["code"], -32002);
}

#[tokio::test(start_paused = true)]
async fn what_it_does_not_know_is_refused() {
    let mut client = Client::start();
    let (_, answer) = client.call("session/dance", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601);
    let (_, answer) =
        client.call("session/new", json!({"cwd": "relative", "mcpServers": []})).await;
    assert_eq!(answer["error"]["code"], -32602);
    let (_, answer) = client.call("session/prompt", Client::prompt("unknown", "hello")).await;
    assert_eq!(answer["error"]["code"], -32002);
    let session = client.new_session().await;
    let (_, answer) = client.call("session/prompt", Client::prompt(&session, "fail")).await;
    assert_eq!(answer["error"]["code"], -32603);
}
