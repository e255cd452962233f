//! Messages whose content is a list of blocks in the format of Anthropic's API, which other agents
//! use as well.

use convoke_core::time::Timestamp;
use serde_json::Value;

use crate::assembly::{Assembly, Call, Outcome};
use crate::json::{arguments, field, is_set, list, plain, word};

/// Parses one message. `said` extracts the text that the user typed from a prompt.
pub(crate) fn add(
    assembly: &mut Assembly,
    message: &Value,
    key: &str,
    at: Option<Timestamp>,
    said: impl Fn(&str) -> String,
) {
    let is_user = word(message, "role") == "user";
    let mut prompt = Vec::new();
    if let Some(text) = field(message, "content").as_str() {
        if is_user {
            prompt.push(said(text));
        } else {
            assembly.answer(key, text, at);
        }
    }
    for (place, block) in list(message, "content").iter().enumerate() {
        let key = format!("{key}/{place}");
        match word(block, "type") {
            "text" if is_user => prompt.push(said(word(block, "text"))),
            "text" => assembly.answer(&key, word(block, "text"), at),
            "thinking" => assembly.thought(&key, word(block, "thinking"), at),
            "tool_use" => assembly.call(Call {
                id: word(block, "id"),
                tool: word(block, "name"),
                args: field(block, "input").clone(),
                at,
                ..Call::default()
            }),
            "tool_result" => settle(assembly, block, at),
            "image" if is_user => prompt.push("[image]".to_owned()),
            _ => {}
        }
    }
    prompt.retain(|text| !text.trim().is_empty());
    assembly.prompt(key, &prompt.join("\n"), at);
}

fn settle(assembly: &mut Assembly, block: &Value, at: Option<Timestamp>) {
    let content = arguments(field(block, "content"));
    let (text, has_failed) = match &content {
        Value::Array(results) if results.iter().all(|it| it.get("success").is_some()) => {
            let texts: Vec<String> = results.iter().map(reported).collect();
            let has_failed = results.iter().any(|it| field(it, "success") == &Value::Bool(false));
            (texts.join("\n"), has_failed && !results.is_empty())
        }
        Value::Object(_) if content.get("success").is_some() => {
            (reported(&content), field(&content, "success") == &Value::Bool(false))
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => (plain(field(block, "content")), false),
    };
    let outcome = if has_failed || is_set(block, "is_error") {
        Outcome { error: Some(text), at, ..Outcome::default() }
    } else {
        Outcome { text, at, ..Outcome::default() }
    };
    assembly.settle(word(block, "tool_use_id"), outcome);
}

/// A result with its question: `{"query":…,"result":…,"success":…}`.
fn reported(result: &Value) -> String {
    result.get("result").or_else(|| result.get("error")).map_or_else(String::new, plain)
}
