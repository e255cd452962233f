//! Events for the user interface.

use convoke_core::content::Diff;
use convoke_core::time::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{call, flush, typed};
use crate::assembly::{Assembly, Outcome, Titled};
use crate::edits::patch::from_unified;
use crate::item::Tokens;
use crate::json::{count, field, list, plain, text, word};
use crate::raw::parse;

pub(super) fn add(
    assembly: &mut Assembly,
    kind: &str,
    raw: Option<&RawValue>,
    at: Option<Timestamp>,
) -> serde_json::Result<()> {
    match kind {
        "user_message" => {
            let event = parse(raw)?;
            let key = assembly.line_key();
            typed(assembly, &key, word(&event, "message"), at);
        }
        "item_completed" => item(assembly, field(&parse(raw)?, "item"), at),
        "exec_command_end" => command(assembly, &parse(raw)?, at),
        "patch_apply_end" => patched(assembly, &parse(raw)?, at),
        "token_count" => usage(assembly, field(&parse(raw)?, "info")),
        "thread_name_updated" => {
            let name = text(&parse(raw)?, "thread_name").unwrap_or_default();
            assembly.title(name, Titled::ByUser);
        }
        "error" | "warning" | "stream_error" => {
            flush(assembly);
            let key = assembly.line_key();
            let severity = if kind == "warning" { "warning" } else { "error" };
            assembly.advice(&key, severity, word(&parse(raw)?, "message"), at);
        }
        "turn_aborted" => {
            flush(assembly);
            let key = assembly.line_key();
            assembly.advice(&key, "info", "The turn was interrupted", at);
        }
        // The other events repeat items of the context, or are transient.
        _ => {}
    }
    Ok(())
}

/// Something that is complete: the newer form of the other events.
fn item(assembly: &mut Assembly, item: &Value, at: Option<Timestamp>) {
    let id = word(item, "id");
    match word(item, "type") {
        "UserMessage" => typed(assembly, id, &texts(item), at),
        "AgentMessage" => {
            flush(assembly);
            assembly.answer(id, &texts(item), at);
        }
        "CommandExecution" => command(assembly, item, at),
        "FileChange" => patched(assembly, item, at),
        "McpToolCall" => {
            let error = text(field(item, "error"), "message");
            let printed = plain(field(field(item, "result"), "content"));
            assembly.settle(id, Outcome { text: printed, error, at, ..Outcome::default() });
        }
        "ContextCompaction" => assembly.compacted(id, "", at),
        _ => {}
    }
}

fn texts(item: &Value) -> String {
    let texts: Vec<&str> = list(item, "content").iter().map(|block| word(block, "text")).collect();
    texts.join("\n")
}

/// A command that ended. Its output is here without the heading that the model is sent.
fn command(assembly: &mut Assembly, event: &Value, at: Option<Timestamp>) {
    let id = call_id(event);
    if !assembly.is_open(id) {
        return;
    }
    let printed = word(event, "aggregated_output").to_owned();
    let outcome = match field(event, "exit_code").as_i64() {
        Some(code) if code != 0 => call::failure(printed, code, at),
        Some(_) | None => Outcome { text: printed, at, ..Outcome::default() },
    };
    assembly.settle(id, outcome);
}

fn patched(assembly: &mut Assembly, event: &Value, at: Option<Timestamp>) {
    let id = call_id(event);
    if !assembly.is_open(id) {
        return;
    }
    let failed =
        field(event, "success") == &Value::Bool(false) || word(event, "status") == "failed";
    let text = word(event, "stdout").to_owned();
    let error = failed.then(|| word(event, "stderr").to_owned());
    let diffs = field(event, "changes").as_object().into_iter().flatten();
    let diffs = diffs.map(|(path, change)| diff(path, change)).collect();
    assembly.settle(id, Outcome { text, error, diffs, at, before: None });
}

fn call_id(event: &Value) -> &str {
    match word(event, "call_id") {
        "" => word(event, "id"),
        id => id,
    }
}

fn diff(path: &str, change: &Value) -> Diff {
    // Older versions use the kind as the key of the other fields.
    let (kind, change) = match change.as_object().and_then(|it| it.iter().next()) {
        Some((kind, inner)) if inner.is_object() => (kind.as_str(), inner),
        Some(_) | None => (word(change, "type"), change),
    };
    let whole = |old: Option<&str>, new: &str| Diff {
        path: path.to_owned(),
        old_text: old.map(str::to_owned),
        new_text: new.to_owned(),
    };
    match kind {
        "add" => whole(None, word(change, "content")),
        "delete" => whole(Some(word(change, "content")), ""),
        _ => from_unified(path, word(change, "unified_diff")),
    }
}

/// The counts of the session and of its last request.
fn usage(assembly: &mut Assembly, info: &Value) {
    if info.is_null() {
        return;
    }
    totals(assembly, field(info, "total_token_usage"), field(info, "last_token_usage"));
    if let Some(size) = field(info, "model_context_window").as_u64() {
        assembly.state.identity.usage.context_size = Some(size);
    }
}

pub(super) fn record_usage(assembly: &mut Assembly, record: &Value) {
    totals(assembly, field(record, "thread_token_usage"), field(record, "usage"));
}

fn totals(assembly: &mut Assembly, total: &Value, last: &Value) {
    let identity = &mut assembly.state.identity;
    let cached = count(total, "cached_input_tokens");
    identity.tokens = Tokens {
        input: count(total, "input_tokens").saturating_sub(cached),
        output: count(total, "output_tokens"),
        cache_read: cached,
        cache_write: count(total, "cache_write_input_tokens"),
    };
    identity.usage.input_tokens = Some(count(last, "input_tokens"));
    identity.usage.output_tokens = Some(count(last, "output_tokens"));
    identity.usage.context_used = Some(count(last, "total_tokens"));
}
