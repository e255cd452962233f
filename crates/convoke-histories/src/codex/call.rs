//! Items of the model's context.

use convoke_core::time::Timestamp;
use serde_json::{Value, json};

use super::{flush, own_words, said};
use crate::assembly::{Assembly, Call, Outcome};
use crate::json::{arguments, field, list, plain, text, word};

pub(super) fn add(assembly: &mut Assembly, item: &Value, at: Option<Timestamp>) {
    let kind = word(item, "type");
    if (kind, word(item, "role")) == ("message", "user") {
        let words = own_words(item);
        if !words.trim().is_empty() {
            said(assembly, key_of(assembly, item), words, at);
        }
        return;
    }
    flush(assembly);
    match kind {
        "message" if word(item, "role") == "assistant" => {
            let texts: Vec<&str> =
                list(item, "content").iter().map(|block| word(block, "text")).collect();
            assembly.answer(&key_of(assembly, item), &texts.join("\n"), at);
        }
        "reasoning" => {
            let blocks = list(item, "summary").iter().chain(list(item, "content"));
            let texts: Vec<&str> = blocks.map(|block| word(block, "text")).collect();
            assembly.thought(&key_of(assembly, item), &texts.join("\n\n"), at);
        }
        "function_call" => begin(assembly, item, arguments(field(item, "arguments")), at),
        "custom_tool_call" => begin(assembly, item, json!({"input": field(item, "input")}), at),
        "local_shell_call" => begin(assembly, item, field(item, "action").clone(), at),
        "web_search_call" => {
            let id = key_of(assembly, item);
            let args = field(item, "action").clone();
            assembly.call(Call { id: &id, tool: "web_search", args, at, ..Call::default() });
            assembly.settle(&id, Outcome { at, ..Outcome::default() });
        }
        "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
            assembly.settle(word(item, "call_id"), outcome(field(item, "output"), at));
        }
        // Messages between agents, images, searches for tools, and items without text.
        _ => {}
    }
}

fn begin(assembly: &mut Assembly, item: &Value, args: Value, at: Option<Timestamp>) {
    let tool = match word(item, "name") {
        "" => "shell",
        name => name,
    };
    assembly.call(Call { id: word(item, "call_id"), tool, args, at, ..Call::default() });
}

/// The item's own id, or its line's.
fn key_of(assembly: &Assembly, item: &Value) -> String {
    text(item, "id").unwrap_or_else(|| assembly.line_key())
}

/// A result: a text with a heading for the model, a text of JSON, or a list of blocks.
fn outcome(output: &Value, at: Option<Timestamp>) -> Outcome {
    let parsed = arguments(output);
    let (text, code) = match &parsed {
        Value::Object(_) if parsed.get("output").is_some() => {
            let code = field(field(&parsed, "metadata"), "exit_code").as_i64();
            (word(&parsed, "output").to_owned(), code)
        }
        Value::Object(_) if parsed.get("content").is_some() => {
            let failed = field(&parsed, "success") == &Value::Bool(false);
            (plain(field(&parsed, "content")), failed.then_some(1))
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => of_heading(&plain(output)),
    };
    match code {
        Some(code) if code != 0 => failure(text, code, at),
        Some(_) | None => Outcome { text, at, ..Outcome::default() },
    }
}

pub(super) fn failure(text: String, code: i64, at: Option<Timestamp>) -> Outcome {
    Outcome { text, error: Some(format!("exit code {code}")), at, ..Outcome::default() }
}

/// Parses `Exit code: 1`, `Wall time: …`, `Output:` and the output.
fn of_heading(text: &str) -> (String, Option<i64>) {
    let Some((heading, printed)) = text.split_once("Output:\n") else {
        return (text.to_owned(), None);
    };
    let is_heading = heading.lines().all(|line| {
        ["Chunk ID", "Wall time", "Process ", "Original token", "Exit code", "Total output"]
            .iter()
            .any(|start| line.starts_with(start))
    });
    if !is_heading {
        return (text.to_owned(), None);
    }
    let code = heading.lines().find_map(|line| {
        let line = line.strip_prefix("Process exited with code ");
        line.or_else(|| heading.lines().find_map(|line| line.strip_prefix("Exit code: ")))
    });
    (printed.to_owned(), code.and_then(|code| code.trim().parse().ok()))
}
