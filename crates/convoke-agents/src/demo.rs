//! The demo agent: a small scripted ACP agent, so that everything can be tried without an installed
//! agent or a key.
//!
//! It is the other end of the protocol and does not depend on Convoke. It does what a prompt asks
//! for in plain text, and otherwise explains what it can do.

mod human;
mod memory;
mod peer;
mod script;
mod turn;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::lines::{Line, Reader};
use human::Server;
use memory::Memory;
use peer::Peer;
use turn::Turn;

/// Serves one client until its input ends. `state` is the folder for sessions; `random` generates
/// their ids.
pub async fn serve(
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    state: &Path,
    random: crate::driver::Random,
) -> std::io::Result<()> {
    let mut reader = Reader::new(input);
    let mut demo = Demo {
        peer: Peer::start(output),
        memory: Memory::new(state.to_owned()),
        random,
        sessions: BTreeMap::new(),
    };
    while let Some(line) = reader.next().await? {
        match line {
            Line::Json(message) => demo.receive(message).await,
            Line::Junk(_) | Line::TooLong { .. } => {}
        }
    }
    Ok(())
}

struct Demo {
    peer: Peer,
    memory: Memory,
    random: crate::driver::Random,
    sessions: BTreeMap<String, Session>,
}

/// A session of this process.
struct Session {
    workspace: PathBuf,
    /// The first MCP server of the session, through which it asks the human.
    server: Option<Server>,
    /// Cancelled when the running turn is to stop.
    cancel: CancellationToken,
    mode: String,
}

/// A request that is refused.
struct Refusal {
    code: i64,
    message: String,
}

impl Demo {
    async fn receive(&mut self, message: Value) {
        let id = message.get("id").cloned();
        let params = message.get("params").cloned().unwrap_or_default();
        match (message.get("method").and_then(Value::as_str), id) {
            (Some("session/prompt"), Some(id)) => self.prompt(id, &params).await,
            (Some(method), Some(id)) => {
                let answer = self.answer(method, &params).await;
                self.peer
                    .answer(id, answer.map_err(|refusal| (refusal.code, refusal.message)))
                    .await;
            }
            (Some("session/cancel"), None) => {
                if let Some(session) = self.sessions.get(session_of(&params)) {
                    session.cancel.cancel();
                }
            }
            (Some(_), None) => {}
            (None, Some(id)) => self.peer.settle(&id, message),
            (None, None) => {}
        }
    }

    async fn answer(&mut self, method: &str, params: &Value) -> Result<Value, Refusal> {
        match method {
            "initialize" => Ok(json!({
                "protocolVersion": 1,
                "agentInfo": {"name": "convoke-demo", "title": "Demo", "version": env!("CARGO_PKG_VERSION")},
                "agentCapabilities": {"loadSession": true, "promptCapabilities": {"embeddedContext": true}},
                "authMethods": [],
            })),
            "session/new" => {
                let id = uuid::Builder::from_random_bytes((self.random)()).into_uuid().to_string();
                self.open(&id, params)?;
                self.offer(&id).await;
                Ok(json!({"sessionId": id, "modes": modes("ask")}))
            }
            "session/load" => {
                let id = session_of(params).to_owned();
                let turns = self.memory.turns(&id).ok_or_else(|| not_found(&id))?;
                self.open(&id, params)?;
                for (who, text) in turns {
                    let update =
                        json!({"sessionUpdate": who, "content": {"type": "text", "text": text}});
                    self.peer.update(&id, update).await;
                }
                self.offer(&id).await;
                Ok(json!({"modes": modes("ask")}))
            }
            "session/set_mode" => {
                let mode = params.get("modeId").and_then(Value::as_str).unwrap_or_default();
                let id = session_of(params).to_owned();
                let session = self.sessions.get_mut(&id).ok_or_else(|| not_found(&id))?;
                session.mode = mode.to_owned();
                let update = json!({"sessionUpdate": "current_mode_update", "currentModeId": mode});
                self.peer.update(&id, update).await;
                Ok(json!({}))
            }
            other => Err(Refusal { code: -32601, message: format!("method not found: {other}") }),
        }
    }

    fn open(&mut self, id: &str, params: &Value) -> Result<(), Refusal> {
        let cwd = params.get("cwd").and_then(Value::as_str).unwrap_or_default();
        let workspace = PathBuf::from(cwd);
        if !workspace.is_absolute() || !workspace.is_dir() {
            let message = format!("the working directory does not exist: {cwd}");
            return Err(Refusal { code: -32602, message });
        }
        let servers = params.get("mcpServers").and_then(Value::as_array);
        let server = servers.into_iter().flatten().find_map(Server::read);
        let cancel = CancellationToken::new();
        let session = Session { workspace, server, cancel, mode: "ask".to_owned() };
        self.sessions.insert(id.to_owned(), session);
        Ok(())
    }

    /// Announces the commands that people may type.
    async fn offer(&self, id: &str) {
        let commands: Vec<Value> = script::COMMANDS
            .iter()
            .map(|(name, description)| json!({"name": name, "description": description}))
            .collect();
        let update =
            json!({"sessionUpdate": "available_commands_update", "availableCommands": commands});
        self.peer.update(id, update).await;
    }

    /// Starts a turn, which runs while the next messages are read.
    async fn prompt(&mut self, id: Value, params: &Value) {
        let session_id = session_of(params).to_owned();
        let Some(session) = self.sessions.get_mut(&session_id) else {
            let refusal = not_found(&session_id);
            self.peer.answer(id, Err((refusal.code, refusal.message))).await;
            return;
        };
        session.cancel = CancellationToken::new();
        let turn = Turn {
            peer: self.peer.clone(),
            session: session_id,
            workspace: session.workspace.clone(),
            server: session.server.clone(),
            asks: session.mode != "auto",
            cancel: session.cancel.clone(),
        };
        let (memory, peer, text) = (self.memory.clone(), self.peer.clone(), text_of(params));
        tokio::spawn(async move {
            let (said, answer) = turn.perform(&text).await;
            memory.keep(&turn.session, &text, &said);
            peer.answer(id, answer).await;
        });
    }
}

fn modes(current: &str) -> Value {
    json!({"currentModeId": current, "availableModes": [
        {"id": "ask", "name": "Ask", "description": "Asks before it writes"},
        {"id": "auto", "name": "Auto", "description": "Writes without asking"},
    ]})
}

fn not_found(id: &str) -> Refusal {
    Refusal { code: -32002, message: format!("no such session: {id}") }
}

fn session_of(params: &Value) -> &str {
    params.get("sessionId").and_then(Value::as_str).unwrap_or_default()
}

/// The whole text of a prompt.
fn text_of(params: &Value) -> String {
    let blocks = params.get("prompt").and_then(Value::as_array);
    let texts = blocks.into_iter().flatten().filter_map(|block| block.get("text")?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
