//! Talks to an agent directly: lines into its pipe, lines out of it.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::Result;

/// An agent, and its pipes.
#[derive(Debug)]
pub struct Direct {
    _agent: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    next: u64,
    session: Value,
}

impl Direct {
    /// Starts this program with these arguments, which make it an ACP agent, and opens a session.
    pub async fn start(words: [&str; 2]) -> Result<Self> {
        let mut agent = Command::new(std::env::current_exe()?)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let input = agent.stdin.take().ok_or("no pipe")?;
        let lines = BufReader::new(agent.stdout.take().ok_or("no pipe")?).lines();
        let mut direct = Self { _agent: agent, input, lines, next: 0, session: Value::Null };
        direct.call("initialize", json!({"protocolVersion": 1})).await?;
        direct.new_session().await?;
        Ok(direct)
    }

    /// How long a new session takes.
    pub async fn new_session(&mut self) -> Result<Duration> {
        let begun = Instant::now();
        let params = json!({"cwd": std::env::temp_dir(), "mcpServers": []});
        let (answer, _) = self.call("session/new", params).await?;
        self.session = answer.pointer("/result/sessionId").cloned().unwrap_or_default();
        Ok(begun.elapsed())
    }

    /// How long a turn takes, and how many updates come with it.
    pub async fn turn(&mut self, text: &str) -> Result<(Duration, usize)> {
        let begun = Instant::now();
        let prompt = json!([{"type": "text", "text": text}]);
        let params = json!({"sessionId": self.session, "prompt": prompt});
        let (_, updates) = self.call("session/prompt", params).await?;
        Ok((begun.elapsed(), updates))
    }

    async fn call(&mut self, method: &str, params: Value) -> Result<(Value, usize)> {
        let id = self.next;
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.input.write_all(format!("{message}\n").as_bytes()).await?;
        let mut updates = 0;
        loop {
            let line = self.lines.next_line().await?.ok_or("the agent went away")?;
            let message: Value = serde_json::from_str(&line)?;
            if message.get("id").and_then(Value::as_u64) == Some(id) {
                return Ok((message, updates));
            }
            updates += 1;
        }
    }
}
