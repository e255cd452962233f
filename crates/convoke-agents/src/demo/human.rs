//! How the demo agent asks the human: through the MCP server of its session, as any agent does.

use std::collections::BTreeMap;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::process::Command;

use crate::lines::{Line, Reader, Writer};

/// An MCP server on standard input and output.
#[derive(Debug, Clone)]
pub(super) struct Server {
    command: String,
    args: Vec<String>,
    env: BTreeMap<String, String>,
}

impl Server {
    /// Parses one of `mcpServers`; those without a command are ignored.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let word = |value: &Value| value.as_str().map(str::to_owned);
        let list = |key: &str| value.get(key).and_then(Value::as_array).into_iter().flatten();
        let variable = |pair: &Value| Some((word(pair.get("name")?)?, word(pair.get("value")?)?));
        Some(Self {
            command: word(value.get("command")?)?,
            args: list("args").filter_map(word).collect(),
            env: list("env").filter_map(variable).collect(),
        })
    }

    /// Asks a question and waits for the answer; the server ends with the question.
    pub(super) async fn ask(&self) -> Result<String, String> {
        let mut child = Command::new(&self.command)
            .args(&self.args)
            .envs(&self.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", self.command))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("its MCP server has no pipes".to_owned());
        };
        let mut call = Call { writer: Writer::new(input), reader: Reader::new(output) };
        call.request(
            0,
            "initialize",
            json!({
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "convoke-demo", "version": env!("CARGO_PKG_VERSION")},
            }),
        )
        .await?;
        call.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        let arguments = json!({"questions": [{
            "prompt": "What should the demo agent do next?", "title": "Next", "multiSelect": false,
            "options": [
                {"label": "Carry on (recommended)", "description": "It has all the time in the world"},
                {"label": "Stop", "description": "It has shown enough"},
            ],
        }]});
        let params = json!({"name": "ask_user_questions", "arguments": arguments});
        let result = call.request(1, "tools/call", params).await?;
        let text = result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
        match result.get("isError").and_then(Value::as_bool) {
            Some(true) => Err(text.to_owned()),
            Some(false) | None => Ok(text.to_owned()),
        }
    }
}

/// A conversation with the server.
struct Call {
    writer: Writer,
    reader: Reader,
}

impl Call {
    async fn send(&mut self, message: Value) -> Result<(), String> {
        self.writer.send(&message).await.map_err(|error| format!("its MCP server exited: {error}"))
    }

    async fn request(&mut self, id: u64, method: &str, params: Value) -> Result<Value, String> {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        loop {
            let line = self.reader.next().await.map_err(|error| error.to_string())?;
            let message = match line {
                Some(Line::Json(message)) => message,
                Some(Line::Junk(_) | Line::TooLong { .. }) => continue,
                None => return Err("its MCP server exited".to_owned()),
            };
            if message.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            if let Some(error) = message.pointer("/error/message").and_then(Value::as_str) {
                return Err(error.to_owned());
            }
            return Ok(message.get("result").cloned().unwrap_or_default());
        }
    }
}
