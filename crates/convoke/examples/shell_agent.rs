//! An ACP agent that runs every prompt as a line for the shell and says what came out, for tests that attack the program
//! from inside of its sandbox. After `terminal: `, the line runs in a terminal of the client instead.

#![expect(clippy::indexing_slicing, reason = "what is not in a JSON value reads as null")]

use std::io::{self, BufRead, StdinLock, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut input = io::stdin().lock();
    while let Some(request) = read(&mut input)? {
        let (id, params) = (&request["id"], &request["params"]);
        let result = match request["method"].as_str().unwrap_or_default() {
            "initialize" => json!({"protocolVersion": 1, "agentCapabilities": {}}),
            "session/new" => json!({"sessionId": "s1"}),
            "session/prompt" => {
                let line = params["prompt"][0]["text"].as_str().unwrap_or_default();
                let said = match line.strip_prefix("terminal: ") {
                    Some(line) => in_terminal(line, &mut input)?,
                    None => in_shell(line)?,
                };
                let content = json!({"type": "text", "text": said});
                let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
                let params = json!({"sessionId": "s1", "update": update});
                say(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))?;
                json!({"stopReason": "end_turn"})
            }
            _ => continue,
        };
        say(&json!({"jsonrpc": "2.0", "id": id, "result": result}))?;
    }
    Ok(())
}

fn read(input: &mut StdinLock<'_>) -> io::Result<Option<Value>> {
    let mut line = String::new();
    Ok(if input.read_line(&mut line)? == 0 { None } else { Some(serde_json::from_str(&line)?) })
}

fn say(message: &Value) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{message}")?;
    output.flush()
}

/// What a line prints, on both of its outputs.
fn in_shell(line: &str) -> io::Result<String> {
    let line = format!("exec 2>&1\n{line}");
    let output = Command::new("/bin/bash").args(["-c", &line]).stdin(Stdio::null()).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The same in a terminal of the client.
fn in_terminal(line: &str, input: &mut StdinLock<'_>) -> io::Result<String> {
    let created = call("terminal/create", json!({"command": line}), input)?;
    let terminal = json!({"terminalId": created["terminalId"]});
    call("terminal/wait_for_exit", terminal.clone(), input)?;
    let output = call("terminal/output", terminal, input)?;
    Ok(output["output"].as_str().unwrap_or_default().to_owned())
}

/// Makes a request of the client, and waits for its result.
fn call(method: &str, mut params: Value, input: &mut StdinLock<'_>) -> io::Result<Value> {
    params["sessionId"] = json!("s1");
    say(&json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params}))?;
    while let Some(message) = read(input)? {
        if message["id"] == method {
            return Ok(message["result"].clone());
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}
