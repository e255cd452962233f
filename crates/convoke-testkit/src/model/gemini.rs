//! Answers in the shape of Gemini's `generateContent`.

use std::io;

use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::http::{Request, Response};
use super::reply::{Reply, fresh_id, pieces};

/// Answers a request for content.
pub(super) async fn answer(response: Response, request: &Request, reply: &Reply) -> io::Result<()> {
    let is_stream = request.path().contains(":stream");
    // Agents also send other requests, such as who speaks next: any object of the requested shape
    // will do.
    if let Some(object) = side_answer(&request.body["generationConfig"]) {
        let body = candidate(&json!([{"text": object.to_string()}]), true);
        if !is_stream {
            return response.json(200, &body).await;
        }
        let mut events = response.events().await?;
        events.send(&body.to_string()).await?;
        return events.end().await;
    }
    let part = match reply {
        Reply::Say { text, .. } => json!({"text": text}),
        Reply::Call { name, args, .. } => json!({"functionCall": {"name": name, "args": args}}),
    };
    if !is_stream {
        return response.json(200, &candidate(&json!([part]), true)).await;
    }
    let mut events = response.events().await?;
    match reply {
        Reply::Say { text, pace } => {
            for piece in pieces(text, *pace) {
                events.send(&candidate(&json!([{"text": piece}]), false).to_string()).await?;
                sleep(pace.pause).await;
            }
            events.send(&candidate(&json!([{"text": ""}]), true).to_string()).await?;
        }
        Reply::Call { .. } => {
            events.send(&candidate(&json!([part]), true).to_string()).await?;
        }
    }
    events.end().await
}

fn candidate(parts: &Value, is_last: bool) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if is_last {
        candidate["finishReason"] = "STOP".into();
    }
    let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 7, "totalTokenCount": 17});
    json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake", "responseId": fresh_id("r")})
}

/// An object that matches the requested schema, if there is one.
fn side_answer(settings: &Value) -> Option<Value> {
    let schema = settings.get("responseJsonSchema").or_else(|| settings.get("responseSchema"))?;
    let value = |(name, schema): (&String, &Value)| {
        let offered = schema["enum"].as_array().and_then(|values| values.first()).cloned();
        let kind = schema["type"].as_str().unwrap_or("string").to_ascii_lowercase();
        let plain = match kind.as_str() {
            "boolean" => json!(false),
            "number" | "integer" => json!(1),
            "array" => json!([]),
            "object" => json!({}),
            _ => json!("x"),
        };
        let value = if name == "next_speaker" { json!("user") } else { offered.unwrap_or(plain) };
        (name.clone(), value)
    };
    let fields: Map<String, Value> = schema["properties"].as_object()?.iter().map(value).collect();
    Some(fields.into())
}
