//! An agent for benchmarks: answers with a word or with the time, or streams at a given rate.

use std::io::{self, BufRead as _, Write};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use convoke_testkit::bench::Result;
use serde_json::{Value, json};

/// What every update of a flood says.
pub(crate) const PIECE: &str = "0123456789";
/// Updates that are written at once when there are many in a second.
const BURST: usize = 100;

/// Serves the agent's side of ACP until the input ends.
pub(crate) fn serve() -> Result<()> {
    let mut output = io::stdout().lock();
    let mut sessions = 0;
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id") else { continue };
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let result = match method {
            "initialize" => json!({"protocolVersion": 1, "agentCapabilities": {}}),
            "session/new" => {
                sessions += 1;
                json!({"sessionId": format!("s{sessions}")})
            }
            "session/prompt" => {
                let params = message.get("params").cloned().unwrap_or_default();
                turn(&mut output, &params)?;
                json!({"stopReason": "end_turn"})
            }
            _ => json!({}),
        };
        writeln!(output, "{}", json!({"jsonrpc": "2.0", "id": id, "result": result}))?;
        output.flush()?;
    }
    Ok(())
}

/// `tick COUNT MILLIS` tells the time so often, with pauses; `flood COUNT RATE` says so much, so many times a second.
fn turn(output: &mut impl Write, params: &Value) -> Result<()> {
    let session = params.get("sessionId").cloned().unwrap_or_default();
    let prompt = params.pointer("/prompt/0/text").and_then(Value::as_str).unwrap_or_default();
    let words: Vec<&str> = prompt.split_whitespace().collect();
    match *words.as_slice() {
        ["tick", count, millis] => {
            let pause = Duration::from_millis(millis.parse()?);
            for _ in 0..count.parse::<usize>()? {
                thread::sleep(pause);
                say(output, &session, &now_nanos().to_string())?;
                output.flush()?;
            }
        }
        ["flood", count, rate] => flood(output, &session, count.parse()?, rate.parse()?)?,
        _ => say(output, &session, "hello")?,
    }
    Ok(())
}

fn flood(output: &mut impl Write, session: &Value, count: usize, rate: usize) -> Result<()> {
    let begun = Instant::now();
    for burst in 0..count / BURST {
        let due = Duration::from_secs_f64((burst * BURST) as f64 / rate as f64);
        thread::sleep(due.saturating_sub(begun.elapsed()));
        for _ in 0..BURST {
            say(output, session, PIECE)?;
        }
        output.flush()?;
    }
    Ok(())
}

fn say(output: &mut impl Write, session: &Value, text: &str) -> Result<()> {
    let content = json!({"type": "text", "text": text});
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
    let params = json!({"sessionId": session, "update": update});
    let message = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
    Ok(writeln!(output, "{message}")?)
}

/// The time of this machine, which all its processes agree on.
pub(crate) fn now_nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or_default()
}
