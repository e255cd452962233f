//! Answers in the shape of Anthropic's messages.

use std::io;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::http::{Events, Response};
use super::reply::{Reply, fresh_id, pieces};

/// Answers a request for messages.
pub(super) async fn answer(response: Response, body: &Value, reply: &Reply) -> io::Result<()> {
    let block = block(reply);
    let stop = match reply {
        Reply::Call { .. } => "tool_use",
        Reply::Say { .. } => "end_turn",
    };
    if body["stream"] != true {
        return response.json(200, &message(body, &json!([block]), Some(stop))).await;
    }
    let mut events = response.events().await?;
    let start = message(body, &json!([]), None);
    send(&mut events, json!({"type": "message_start", "message": start})).await?;
    send_block(&mut events, reply, block).await?;
    let delta = json!({"stop_reason": stop, "stop_sequence": null});
    let usage = json!({"output_tokens": 7});
    send(&mut events, json!({"type": "message_delta", "delta": delta, "usage": usage})).await?;
    send(&mut events, json!({"type": "message_stop"})).await?;
    events.end().await
}

async fn send_block(events: &mut Events, reply: &Reply, mut block: Value) -> io::Result<()> {
    let delta = |delta: Value| json!({"type": "content_block_delta", "index": 0, "delta": delta});
    // A streamed block is empty at first.
    match reply {
        Reply::Say { .. } => block["text"] = "".into(),
        Reply::Call { .. } => block["input"] = json!({}),
    }
    let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
    send(events, start).await?;
    match reply {
        Reply::Say { text, pace } => {
            for piece in pieces(text, *pace) {
                send(events, delta(json!({"type": "text_delta", "text": piece}))).await?;
                sleep(pace.pause).await;
            }
        }
        Reply::Call { args, .. } => {
            let args = json!({"type": "input_json_delta", "partial_json": args.to_string()});
            send(events, delta(args)).await?;
        }
    }
    send(events, json!({"type": "content_block_stop", "index": 0})).await
}

fn block(reply: &Reply) -> Value {
    match reply {
        Reply::Say { text, .. } => json!({"type": "text", "text": text}),
        Reply::Call { id, name, args, .. } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": args})
        }
    }
}

fn message(body: &Value, content: &Value, stop: Option<&str>) -> Value {
    json!({
        "id": fresh_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": stop,
        "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 7},
    })
}

/// Sends an event, which is named after its type.
async fn send(events: &mut Events, event: Value) -> io::Result<()> {
    events.send_named(event["type"].as_str().unwrap_or_default(), &event).await
}
