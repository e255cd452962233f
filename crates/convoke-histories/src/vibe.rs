//! Mistral Vibe: `logs/session/session_*/messages.jsonl`, with metadata in `meta.json`. Messages
//! have no times. Since version 3 it writes another format, see `unified`.

pub(crate) mod unified;

use std::path::PathBuf;

use convoke_core::content::Cost;
use serde_json::Value;

use crate::assembly::{Assembly, Call, Outcome, Titled};
use crate::environment::Environment;
use crate::importer::{Form, Importer, Order, folder_name};
use crate::item::Tokens;
use crate::json::{arguments, count, field, is_set, list, path, plain, text, time, word};
use crate::store::SiblingFiles;
use crate::wrapped::between;

pub(crate) static IMPORTER: Importer = Importer {
    roots,
    transcripts: &[
        "logs/session/session_*/messages.jsonl",
        "logs/session/session_*/agents/*/messages.jsonl",
        "logs/session/unified/*/CURRENT",
    ],
    beside: &[
        "logs/session/session_*/meta.json",
        "logs/session/session_*/agents/*/meta.json",
        "logs/session/unified/*/meta.json",
        "logs/session/unified/*/generations/*/manifest.json",
        "logs/session/unified/*/generations/*/projection-state.json",
        "logs/session/unified/*/generations/*/runtime-state.json",
        "logs/session/unified/*/chunks/*.json",
        "logs/session/unified/*/journal/*.jsonl",
    ],
    locks: &["logs/session/active/{id}.lock"],
    programs: &["vibe", "vibe-acp", "vibe-rs", "vibe-app-server"],
    form: Form::Lines { begin, line, order: Order::File },
    known: None,
};

fn roots(environment: &Environment) -> Vec<PathBuf> {
    let moved = environment.folder("VIBE_HOME");
    vec![moved.unwrap_or_else(|| environment.in_home(".vibe"))]
}

fn begin(assembly: &mut Assembly, file: &str, beside: &mut SiblingFiles<'_>) {
    let folder = file.trim_end_matches("messages.jsonl");
    let meta = beside.json(&format!("{folder}meta.json"));
    let is_subagent = folder_name(file, 2) == "agents";
    assembly.title(
        word(&meta, "title"),
        match word(&meta, "title_source") {
            "manual" => Titled::ByUser,
            _ => Titled::ByAgent,
        },
    );
    assembly.cwd(path(&meta, &["environment", "working_directory"]).as_str().unwrap_or_default());
    assembly.cwd(word(&meta, "working_dir"));
    assembly.model(path(&meta, &["config", "active_model"]).as_str().unwrap_or_default());
    assembly.seen_at(time(field(&meta, "start_time")));
    assembly.seen_at(time(field(&meta, "end_time")));
    let identity = &mut assembly.state.identity;
    identity.id = text(&meta, "session_id").unwrap_or_else(|| folder_name(file, 1).to_owned());
    let parent = text(&meta, "parent_session_id");
    if is_subagent {
        identity.parent = parent.or_else(|| Some(folder_name(file, 3).to_owned()));
    } else {
        identity.forked_from = parent;
    }
    usage(assembly, field(&meta, "stats"));
}

fn usage(assembly: &mut Assembly, stats: &Value) {
    if stats.is_null() {
        return;
    }
    let (input, output) =
        (count(stats, "session_prompt_tokens"), count(stats, "session_completion_tokens"));
    let cached = count(stats, "session_cached_tokens");
    let tokens =
        Tokens { input: input.saturating_sub(cached), output, cache_read: cached, cache_write: 0 };
    let identity = &mut assembly.state.identity;
    identity.tokens = tokens;
    identity.usage.input_tokens = Some(count(stats, "last_turn_prompt_tokens"));
    identity.usage.output_tokens = Some(count(stats, "last_turn_completion_tokens"));
    identity.usage.context_used = Some(count(stats, "context_tokens"));
    let price = |key: &str| field(stats, key).as_f64().unwrap_or_default() / 1e6;
    let amount = input as f64 * price("input_price_per_million")
        + output as f64 * price("output_price_per_million");
    if amount > 0.0 {
        identity.usage.cost = Some(Cost { amount, currency: "USD".to_owned() });
    }
}

fn line(assembly: &mut Assembly, bytes: &[u8]) -> serde_json::Result<()> {
    let message: Value = serde_json::from_slice(bytes)?;
    let key = text(&message, "message_id").unwrap_or_else(|| assembly.line_key());
    let at = time(field(&message, "timestamp"));
    let content = plain(field(&message, "content"));
    match word(&message, "role") {
        "user" if !is_set(&message, "injected") => assembly.prompt(&key, &content, at),
        "assistant" => {
            let thought = plain(field(&message, "reasoning_content"));
            assembly.thought(&format!("{key}/thought"), &thought, at);
            assembly.answer(&key, &content, at);
            for call in list(&message, "tool_calls") {
                let function = field(call, "function");
                let (id, tool) = (word(call, "id"), word(function, "name"));
                let args = arguments(field(function, "arguments"));
                assembly.call(Call { id, tool, args, at, ..Call::default() });
            }
        }
        "tool" => {
            let error = between(&content, "tool_error").map(str::to_owned);
            let text = if error.is_some() { String::new() } else { content };
            let outcome = Outcome { text, error, at, ..Outcome::default() };
            assembly.settle(word(&message, "tool_call_id"), outcome);
        }
        "user" | "system" => {}
        kind => assembly.unknown(kind, bytes),
    }
    Ok(())
}
