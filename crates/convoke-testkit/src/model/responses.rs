//! Answers in the shape of OpenAI's responses.

use std::io;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::http::{Events, Response};
use super::reply::{Reply, fresh_id, pieces};

/// Answers a request for a response.
pub(super) async fn answer(response: Response, body: &Value, reply: &Reply) -> io::Result<()> {
    let item = item(reply);
    let id = fresh_id("resp_");
    let begun = json!({"id": id, "object": "response", "model": body["model"], "status": "in_progress", "output": []});
    let usage = json!({"input_tokens": 10, "output_tokens": 7, "total_tokens": 17});
    let done = json!({"id": id, "object": "response", "model": body["model"], "status": "completed", "output": [item], "usage": usage});
    if body["stream"] != true {
        return response.json(200, &done).await;
    }
    let mut events = Numbered { events: response.events().await?, sent: 0 };
    events.send(json!({"type": "response.created", "response": begun})).await?;
    let added = match reply {
        Reply::Say { .. } => {
            json!({"id": item["id"], "type": "message", "role": "assistant", "status": "in_progress", "content": []})
        }
        Reply::Call { .. } => item.clone(),
    };
    events
        .send(json!({"type": "response.output_item.added", "output_index": 0, "item": added}))
        .await?;
    if let Reply::Say { text, pace } = reply {
        for piece in pieces(text, *pace) {
            let delta = json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0,
                "item_id": item["id"], "delta": piece});
            events.send(delta).await?;
            sleep(pace.pause).await;
        }
    }
    events
        .send(json!({"type": "response.output_item.done", "output_index": 0, "item": item}))
        .await?;
    events.send(json!({"type": "response.completed", "response": done})).await?;
    events.events.end().await
}

fn item(reply: &Reply) -> Value {
    match reply {
        Reply::Say { text, .. } => {
            let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
            json!({"id": fresh_id("msg_"), "type": "message", "role": "assistant", "status": "completed", "content": content})
        }
        Reply::Call { id, name, args, namespace } => {
            let mut call = json!({"id": fresh_id("fc_"), "type": "function_call", "call_id": id, "name": name,
                "arguments": args.to_string(), "status": "completed"});
            if let Some(namespace) = namespace {
                call["namespace"] = namespace.as_str().into();
            }
            call
        }
    }
}

/// Events, each with its number and named after its type.
struct Numbered {
    events: Events,
    sent: u64,
}

impl Numbered {
    async fn send(&mut self, mut event: Value) -> io::Result<()> {
        self.sent += 1;
        event["sequence_number"] = self.sent.into();
        let name = event["type"].as_str().unwrap_or_default().to_owned();
        self.events.send_named(&name, &event).await
    }
}
