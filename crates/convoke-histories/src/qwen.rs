//! Qwen Code: `projects/<escaped cwd>/chats/<session>.jsonl`. Lines form a chain; telemetry and
//! messages between helper agents are left out.

use std::path::PathBuf;

use convoke_core::content::Diff;
use convoke_core::time::Timestamp;
use serde_json::Value;

use crate::assembly::{Assembly, Call, Outcome, Titled};
use crate::environment::Environment;
use crate::importer::{Form, Importer, Order, file_name};
use crate::item::Tokens;
use crate::json::{count, field, is_set, list, path, plain, time, word};
use crate::store::SiblingFiles;

pub(crate) static IMPORTER: Importer = Importer {
    roots,
    transcripts: &["projects/*/chats/*.jsonl", "tmp/*/chats/*.jsonl"],
    beside: &[],
    locks: &[],
    programs: &["qwen", "qwen-code"],
    form: Form::Lines { begin, line, order: Order::Chain },
    known: None,
};

fn roots(environment: &Environment) -> Vec<PathBuf> {
    let moved = environment.folder("QWEN_RUNTIME_DIR").or_else(|| environment.folder("QWEN_HOME"));
    vec![moved.unwrap_or_else(|| environment.in_home(".qwen"))]
}

fn begin(assembly: &mut Assembly, path: &str, _: &mut SiblingFiles<'_>) {
    assembly.state.identity.id = file_name(path).trim_end_matches(".jsonl").to_owned();
}

fn line(assembly: &mut Assembly, bytes: &[u8]) -> serde_json::Result<()> {
    let record: Value = serde_json::from_slice(bytes)?;
    let (id, parent) = (word(&record, "uuid"), word(&record, "parentUuid"));
    let at = time(field(&record, "timestamp"));
    assembly.cwd(word(&record, "cwd"));
    assembly.seen_at(at);
    let last = std::mem::replace(&mut assembly.state.last, id.to_owned());
    // Lines that were rewound before this file was first read are left out; those that were read
    // already stay.
    let went_back = !last.is_empty() && !parent.is_empty() && parent != last;
    if went_back && word(&record, "type") == "user" {
        assembly.rewound(at);
    }
    if !word(&record, "agentId").is_empty() || is_set(&record, "isSidechain") {
        return Ok(());
    }
    let parts = list(field(&record, "message"), "parts");
    match word(&record, "type") {
        "user" => {
            if ["", "real_user"].contains(&word(&record, "provenance")) {
                let texts: Vec<&str> = parts.iter().map(|part| word(part, "text")).collect();
                assembly.prompt(id, &texts.join("\n"), at);
            }
        }
        "assistant" => answer(assembly, &record, parts, at),
        "tool_result" => parts.iter().for_each(|part| settle(assembly, &record, part, at)),
        "system" => system(assembly, &record, bytes, at),
        kind => assembly.unknown(kind, bytes),
    }
    Ok(())
}

fn answer(assembly: &mut Assembly, record: &Value, parts: &[Value], at: Option<Timestamp>) {
    let id = word(record, "uuid");
    for (place, part) in parts.iter().enumerate() {
        let key = format!("{id}/{place}");
        let text = word(part, "text");
        if is_set(part, "thought") {
            assembly.thought(&key, text, at);
        } else {
            assembly.answer(&key, text, at);
        }
        if let Some(call) = part.get("functionCall") {
            let (id, tool) = (word(call, "id"), word(call, "name"));
            let args = field(call, "args").clone();
            assembly.call(Call { id, tool, args, at, ..Call::default() });
        }
    }
    assembly.model(word(record, "model"));
    let usage = field(record, "usageMetadata");
    if !usage.is_null() {
        let cached = count(usage, "cachedContentTokenCount");
        assembly.used(Tokens {
            input: count(usage, "promptTokenCount").saturating_sub(cached),
            output: count(usage, "candidatesTokenCount"),
            cache_read: cached,
            cache_write: 0,
        });
    }
}

fn settle(assembly: &mut Assembly, record: &Value, part: &Value, at: Option<Timestamp>) {
    let Some(response) = part.get("functionResponse") else { return };
    let result = field(response, "response");
    let display = path(record, &["toolCallResult", "resultDisplay"]);
    let error = result.get("error").map(plain);
    // The output, without the heading for the model.
    let printed = display.get("output").and_then(Value::as_str);
    let text = printed.map_or_else(|| plain(field(result, "output")), str::to_owned);
    let outcome = match error {
        Some(error) => Outcome { error: Some(error), at, ..Outcome::default() },
        None => Outcome { text, diffs: changed(display), at, ..Outcome::default() },
    };
    assembly.settle(word(response, "id"), outcome);
}

fn changed(display: &Value) -> Vec<Diff> {
    let Some(new) = display.get("newContent").and_then(Value::as_str) else { return Vec::new() };
    let old = display.get("originalContent").and_then(Value::as_str);
    vec![Diff {
        path: word(display, "fileName").to_owned(),
        old_text: old.filter(|old| !old.is_empty()).map(str::to_owned),
        new_text: new.to_owned(),
    }]
}

fn system(assembly: &mut Assembly, record: &Value, bytes: &[u8], at: Option<Timestamp>) {
    let payload = field(record, "systemPayload");
    match word(record, "subtype") {
        "chat_compression" => assembly.compacted(word(record, "uuid"), "", at),
        "custom_title" => assembly.title(word(payload, "customTitle"), Titled::ByUser),
        "slash_command" if word(payload, "phase") == "invocation" => {
            assembly.prompt(word(record, "uuid"), word(payload, "rawCommand"), at);
        }
        "ui_telemetry"
        | "file_history_snapshot"
        | "branch_checkpoint"
        | "slash_command"
        | "at_command"
        | "notification"
        | "cron"
        | "rewind"
        | "" => {}
        kind => assembly.unknown(kind, bytes),
    }
}
