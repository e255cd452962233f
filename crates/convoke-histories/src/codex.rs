//! Codex: `sessions/YYYY/MM/DD/rollout-*.jsonl`, with the titles in a database beside them.
//!
//! Lines are items of the model's context (`response_item`), and events for the user interface
//! (`event_msg`); much is written as both. A fork begins with a copy of its parent's lines, which
//! are left out.

mod call;
mod event;
mod thread;

use std::path::PathBuf;

use convoke_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::assembly::{Assembly, digest};
use crate::environment::Environment;
use crate::importer::{Form, Importer, LoadKnown, Order, file_name};
use crate::json::{list, path, text, time_in, word};
use crate::raw::{RawText, parse};
use crate::store::SiblingFiles;

pub(crate) use thread::threads;

pub(crate) static IMPORTER: Importer = Importer {
    roots,
    transcripts: &["sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"],
    beside: &["state_*.sqlite"],
    locks: &[],
    programs: &["codex", "codex-acp"],
    form: Form::Lines { begin, line, order: Order::File },
    known: Some(LoadKnown { table: "threads", load: threads }),
};

fn roots(environment: &Environment) -> Vec<PathBuf> {
    let folder = environment.folder("CODEX_HOME");
    vec![folder.unwrap_or_else(|| environment.in_home(".codex"))]
}

fn begin(assembly: &mut Assembly, path: &str, beside: &mut SiblingFiles<'_>) {
    // The id is the last 36 characters of the name: `rollout-2026-11-16T07-17-19-<id>.jsonl`.
    let stem = file_name(path).trim_end_matches(".jsonl");
    let start = stem.len().saturating_sub(36);
    let id = stem.get(start..).unwrap_or(stem).to_owned();
    beside.apply_known(&id, assembly);
    assembly.state.identity.id = id;
}

/// The parser's state between lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notes {
    /// Whether the file's own beginning was read; a second one is its parent's, copied.
    began: bool,
    /// Whether the lines are copies of the parent's.
    replaying: bool,
    /// The last user message in the model's context, until an event shows what the user typed.
    said: Option<Said>,
    /// The hash of the last typed prompt.
    typed: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    key: String,
    text: String,
    at: Option<Timestamp>,
}

#[derive(Debug, Deserialize)]
struct Head<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: RawText<'a>,
    #[serde(borrow, default)]
    timestamp: RawText<'a>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Payload<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: RawText<'a>,
    #[serde(borrow, default)]
    turn_id: RawText<'a>,
    #[serde(borrow, default)]
    role: RawText<'a>,
}

fn line(assembly: &mut Assembly, bytes: &[u8]) -> serde_json::Result<()> {
    let head: Head<'_> = serde_json::from_slice(bytes)?;
    let at = time_in(head.timestamp.as_str());
    let Some(raw) = head.payload.filter(|raw| raw.get().starts_with('{')) else {
        return early(assembly, bytes, at);
    };
    let payload: Payload<'_> = serde_json::from_str(raw.get())?;
    match head.kind.as_str() {
        "session_meta" => return meta(assembly, &parse(head.payload)?, at),
        "turn_context" => {
            notice_turn(assembly, payload.turn_id.as_str());
            let context = parse(head.payload)?;
            if !assembly.state.codex.replaying {
                assembly.model(word(&context, "model"));
                assembly.cwd(word(&context, "cwd"));
            }
            return Ok(());
        }
        "event_msg" if payload.kind.as_str() == "task_started" => {
            notice_turn(assembly, payload.turn_id.as_str());
        }
        _ => {}
    }
    if assembly.state.codex.replaying {
        return Ok(());
    }
    assembly.seen_at(at);
    match head.kind.as_str() {
        "response_item" if payload.role.as_str() == "developer" => {}
        "response_item" => call::add(assembly, &parse(head.payload)?, at),
        "event_msg" => event::add(assembly, payload.kind.as_str(), head.payload, at)?,
        "compacted" => {
            flush(assembly);
            let compacted = parse(head.payload)?;
            let key = assembly.line_key();
            assembly.compacted(&key, word(&compacted, "message"), at);
        }
        "token_usage_record" => event::record_usage(assembly, &parse(head.payload)?),
        "world_state" | "inter_agent_communication" => {}
        kind => assembly.unknown(kind, bytes),
    }
    Ok(())
}

/// The first versions wrote items without an envelope, and the beginning without a type.
fn early(assembly: &mut Assembly, bytes: &[u8], at: Option<Timestamp>) -> serde_json::Result<()> {
    let value: Value = serde_json::from_slice(bytes)?;
    match word(&value, "type") {
        "" if value.get("record_type").is_some() => {}
        "" if value.get("id").is_some() => return meta(assembly, &value, at),
        "message" | "reasoning" | "function_call" | "function_call_output" | "local_shell_call" => {
            call::add(assembly, &value, at);
        }
        kind => assembly.unknown(kind, bytes),
    }
    Ok(())
}

fn meta(assembly: &mut Assembly, meta: &Value, at: Option<Timestamp>) -> serde_json::Result<()> {
    if assembly.state.codex.began {
        // The copied beginning of the parent: its conversation follows, until a turn of this
        // session begins.
        if word(meta, "id") != assembly.state.identity.id {
            assembly.state.codex.replaying = true;
        }
        return Ok(());
    }
    assembly.state.codex.began = true;
    assembly.seen_at(time_in(word(meta, "timestamp")).or(at));
    assembly.cwd(word(meta, "cwd"));
    let identity = &mut assembly.state.identity;
    if let Some(id) = text(meta, "id") {
        identity.id = id;
    }
    let spawned = path(meta, &["source", "subagent", "thread_spawn", "parent_thread_id"]);
    identity.parent = spawned.as_str().map(str::to_owned);
    if identity.parent.is_none() && word(meta, "thread_source") == "subagent" {
        identity.parent = text(meta, "parent_thread_id");
    }
    identity.forked_from = text(meta, "forked_from_id");
    assembly.state.codex.replaying = assembly.state.identity.forked_from.is_some();
    Ok(())
}

/// A turn begins. Turns have ids that begin with their time, and those of the parent are older than a fork's own id.
fn notice_turn(assembly: &mut Assembly, turn: &str) {
    let began = assembly.state.identity.id.as_str();
    let replayed = match (millis_of(turn), millis_of(began)) {
        (Some(turn), Some(began)) => turn < began,
        // Without such ids copies cannot be recognised: they are read twice rather than not at all.
        _ => false,
    };
    if !replayed {
        assembly.state.codex.replaying = false;
    }
}

/// The time in a UUID of version 7.
fn millis_of(id: &str) -> Option<u64> {
    let (millis, version) = (id.get(..13)?, id.get(14..15)?);
    (version == "7").then_some(())?;
    u64::from_str_radix(&millis.replace('-', ""), 16).ok()
}

/// The user's own text in a message, as far as it can be recognised.
fn own_words(item: &Value) -> String {
    /// How texts begin that Codex writes in the user's name for the model.
    const NOT_SAID: [&str; 12] = [
        "<environment_context>",
        "<user_instructions>",
        "<permissions instructions>",
        "<skills_instructions>",
        "<turn_aborted>",
        "<subagent_notification>",
        "<skill>",
        "<INSTRUCTIONS>",
        "<user_shell_command>",
        "<recommended_plugins>",
        "# AGENTS.md instructions for",
        "Another language model started to solve this problem",
    ];
    let texts = list(item, "content").iter().map(|block| word(block, "text"));
    let said: Vec<&str> = texts
        .filter(|text| !NOT_SAID.iter().any(|start| text.trim_start().starts_with(start)))
        .collect();
    said.join("\n")
}

/// Stores a user message of the model's context. Most versions then write an event with what the
/// user typed.
fn said(assembly: &mut Assembly, key: String, text: String, at: Option<Timestamp>) {
    flush(assembly);
    if assembly.state.codex.typed.take() == Some(digest(text.trim().as_bytes())) {
        return;
    }
    assembly.state.codex.said = Some(Said { key, text, at });
}

/// Adds a prompt that the user typed.
fn typed(assembly: &mut Assembly, key: &str, text: &str, at: Option<Timestamp>) {
    match assembly.state.codex.said.take() {
        Some(said) => assembly.prompt(&said.key, text, said.at.or(at)),
        None => {
            assembly.state.codex.typed = Some(digest(text.trim().as_bytes()));
            assembly.prompt(key, text, at);
        }
    }
}

/// Adds the stored user message, since no event followed.
fn flush(assembly: &mut Assembly) {
    if let Some(said) = assembly.state.codex.said.take() {
        assembly.prompt(&said.key, &said.text, said.at);
    }
}

/// Ends a reading. An event with the typed text may still follow, and then replaces the message.
pub(crate) fn end(assembly: &mut Assembly) {
    if let Some(said) = assembly.state.codex.said.clone() {
        assembly.prompt(&said.key, &said.text, said.at);
    }
}
