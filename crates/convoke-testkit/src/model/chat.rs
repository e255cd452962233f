//! Answers in the shape of OpenAI's chat completions.

use std::io;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::http::{Events, Response};
use super::reply::{Reply, fresh_id, pieces};

/// Answers a request for a completion.
pub(super) async fn answer(response: Response, body: &Value, reply: &Reply) -> io::Result<()> {
    let mut frame = json!({"id": fresh_id("chatcmpl-"), "created": 1, "model": body["model"]});
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 17});
    let finish = match reply {
        Reply::Call { .. } => "tool_calls",
        Reply::Say { .. } => "stop",
    };
    if body["stream"] != true {
        let message = message(reply);
        frame["object"] = "chat.completion".into();
        frame["choices"] = json!([{"index": 0, "message": message, "finish_reason": finish}]);
        frame["usage"] = usage;
        return response.json(200, &frame).await;
    }
    frame["object"] = "chat.completion.chunk".into();
    let mut events = response.events().await?;
    send(&mut events, &frame, json!({"role": "assistant", "content": ""}), None).await?;
    match reply {
        Reply::Say { text, pace } => {
            for piece in pieces(text, *pace) {
                send(&mut events, &frame, json!({"content": piece}), None).await?;
                sleep(pace.pause).await;
            }
        }
        Reply::Call { .. } => send(&mut events, &frame, message(reply), None).await?,
    }
    send(&mut events, &frame, json!({}), Some(finish)).await?;
    frame["choices"] = json!([]);
    frame["usage"] = usage;
    events.send(&frame.to_string()).await?;
    events.send("[DONE]").await?;
    events.end().await
}

fn message(reply: &Reply) -> Value {
    match reply {
        Reply::Say { text, .. } => json!({"role": "assistant", "content": text}),
        Reply::Call { id, name, args, .. } => {
            let function = json!({"name": name, "arguments": args.to_string()});
            let call = json!({"index": 0, "id": id, "type": "function", "function": function});
            json!({"role": "assistant", "tool_calls": [call]})
        }
    }
}

async fn send(
    events: &mut Events,
    frame: &Value,
    delta: Value,
    finish: Option<&str>,
) -> io::Result<()> {
    let mut chunk = frame.clone();
    chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    events.send(&chunk.to_string()).await
}
