//! An ACP agent that asks other teams when it is told to: `ask TEAM: QUESTION`, through the server of tools that it was
//! given. `betray` makes it tell the key of those tools, and `leave` makes it end. Told `pong TEAM OWN`, it ends its turn
//! and only then asks `TEAM` to `pong` back. Told `after FILE: WORDS`, it reads that file of its workspace, which may be a
//! pipe, before it follows the words. Told `times N: WORDS`, it follows them so often. Everything else it repeats.

#![expect(clippy::indexing_slicing, reason = "what is not in a JSON value reads as null")]

use std::collections::BTreeMap;
use std::io;

use convoke_api::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut door = BTreeMap::new();
    while let Some(line) = lines.next_line().await? {
        let request: Value = serde_json::from_str(&line)?;
        let (id, params) = (&request["id"], &request["params"]);
        let mut afterwards = None;
        let result = match request["method"].as_str().unwrap_or_default() {
            "initialize" => {
                json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}})
            }
            "session/new" | "session/load" => {
                door = variables(&params["mcpServers"][0]["env"]);
                json!({"sessionId": params["sessionId"].as_str().unwrap_or("s1")})
            }
            "session/prompt" => {
                let prompt = params["prompt"][0]["text"].as_str().unwrap_or_default();
                if prompt == "leave" {
                    break;
                }
                let (times, wish) = times(after(prompt).await?);
                for _ in 0..times {
                    say_words(&params["sessionId"], &answer(wish, &door).await).await?;
                }
                afterwards = pong(prompt);
                json!({"stopReason": "end_turn"})
            }
            _ => continue,
        };
        say(&json!({"jsonrpc": "2.0", "id": id, "result": result})).await?;
        if let Some(wish) = afterwards {
            // A conversation between teams may not listen any more, so what came of it lies in the workspace.
            std::fs::write("afterwards.txt", answer(&wish, &door).await)?;
        }
    }
    Ok(())
}

/// What is to be done once the file can be read that the prompt names.
async fn after(prompt: &str) -> io::Result<&str> {
    let Some((file, rest)) = prompt.strip_prefix("after ").and_then(|it| it.split_once(": "))
    else {
        return Ok(prompt);
    };
    tokio::fs::read(file).await?;
    Ok(rest)
}

/// How often the words are to be followed that the prompt has.
fn times(prompt: &str) -> (u32, &str) {
    let words = prompt.strip_prefix("times ").and_then(|rest| rest.split_once(": "));
    words.and_then(|(times, rest)| Some((times.parse().ok()?, rest))).unwrap_or((1, prompt))
}

/// What is asked after the turn.
fn pong(prompt: &str) -> Option<String> {
    let (team, own) = prompt.strip_prefix("pong ")?.split_once(' ')?;
    Some(format!("ask {team}: pong {own} {team}"))
}

async fn say_words(session: &Value, words: &str) -> io::Result<()> {
    let content = json!({"type": "text", "text": words});
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
    let params = json!({"sessionId": session, "update": update});
    say(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params})).await
}

async fn say(message: &Value) -> io::Result<()> {
    let mut output = tokio::io::stdout();
    output.write_all(format!("{message}\n").as_bytes()).await?;
    output.flush().await
}

/// ACP gives variables as a list of names and values.
fn variables(list: &Value) -> BTreeMap<String, String> {
    let all = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    all.iter().map(|one| (text(&one["name"]), text(&one["value"]))).collect()
}

/// Handles a prompt: asks, or echoes.
async fn answer(prompt: &str, door: &BTreeMap<String, String>) -> String {
    if prompt == "betray" {
        return format!("key {}", door.get("CONVOKE_MCP_TOKEN").map_or("", String::as_str));
    }
    let wish = prompt.strip_prefix("ask ").and_then(|rest| rest.split_once(": "));
    let Some((team, question)) = wish else { return prompt.to_owned() };
    match call(team, question, door).await {
        Ok((text, false)) => format!("{team} says <{text}>"),
        Ok((text, true)) => format!("{team} fails <{text}>"),
        Err(error) => format!("{team} cannot be asked <{error}>"),
    }
}

/// Calls `teams_ask`, and tells its text, and whether it is a failure.
async fn call(
    team: &str,
    question: &str,
    door: &BTreeMap<String, String>,
) -> Result<(String, bool), Box<dyn std::error::Error>> {
    let variable = |name| door.get(name).ok_or("no way to the daemon");
    let client = Client::connect(variable("CONVOKE_MCP_URL")?, variable("CONVOKE_MCP_TOKEN")?)?;
    let arguments = json!({"team": team, "question": question});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "teams_ask", "arguments": arguments}});
    let version = [("mcp-protocol-version", "2025-06-18".to_owned())];
    let mut reply = client.post_raw(&version, call.to_string()).await?;
    let answer: Value = if reply.is_event_stream() {
        loop {
            let text = reply.next_event().await?.ok_or("no answer")?;
            match serde_json::from_str::<Value>(&text) {
                Ok(answer) if answer["id"] == 1 => break answer,
                Ok(_) | Err(_) => {}
            }
        }
    } else {
        serde_json::from_str(&reply.text().await?)?
    };
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().ok_or_else(|| answer.to_string())?;
    Ok((text.to_owned(), result["isError"] == true))
}
