//! Vibe 3: `logs/session/unified/ID`, with the conversation in the chunks of a generation, and a
//! journal of later changes. `CURRENT` names the generation. Journal records for the model are
//! skipped: those of the projection have what people saw.

mod effect;

use convoke_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::assembly::{Assembly, Titled, digest};
use crate::importer::folder_name;
use crate::item::Tokens;
use crate::json::{count, field, list, path, plain, text, time, word};
use crate::raw::RawText;
use crate::store::SiblingFiles;

/// The file that names the generation; a conversation is known by its path.
pub(crate) const POINTER: &str = "/CURRENT";
/// Ids of entries that were copied from another session: the one that this one was forked from, or the session of Vibe 2
/// that it continues.
const INHERITED: &str = "imported-";

/// The parser's state between readings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notes {
    /// Hashes of the ids of prompts in the chunk that may still change, and in the journal.
    prompts: Vec<u64>,
    /// The same of all entries.
    seen: Vec<u64>,
    /// Those of the previous generation. Its last chunk and its journal are repeated in the chunks
    /// of this one.
    before: Vec<u64>,
    /// Whether entries that were copied from the session of Vibe 2 are left out, since they were read from its file.
    #[serde(default)]
    is_rest: bool,
}

impl Notes {
    /// Leaves out entries that were copied from the session of Vibe 2.
    pub(crate) const fn leave_out_copied(&mut self) {
        self.is_rest = true;
    }

    /// Another generation is about to be read; returns the prompts that must be in it.
    pub(crate) fn begin_generation(&mut self) -> Vec<u64> {
        self.before.append(&mut self.seen);
        std::mem::take(&mut self.prompts)
    }

    /// A chunk was read that will not change any more.
    pub(crate) fn seal(&mut self) {
        self.seen.clear();
        self.prompts.clear();
    }

    /// All chunks were read.
    pub(crate) fn begin_journal(&mut self) {
        self.before.clear();
    }
}

/// The role of a chunk's entry in checking whether the conversation is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A prompt of the user.
    Prompt(u64),
    /// The conversation went back to before this prompt.
    Rewind(u64),
    /// Nothing.
    Other,
}

/// Reads the metadata of the session in `meta.json`.
pub(crate) fn begin(assembly: &mut Assembly, file: &str, beside: &mut SiblingFiles<'_>) {
    let folder = file.trim_end_matches("CURRENT");
    let meta = beside.json(&format!("{folder}meta.json"));
    folder_name(file, 1).clone_into(&mut assembly.state.identity.id);
    title(assembly, word(&meta, "title"), word(&meta, "title_source"));
    assembly.cwd(path(&meta, &["environment", "working_directory"]).as_str().unwrap_or_default());
    assembly.model(path(&meta, &["config", "active_model"]).as_str().unwrap_or_default());
    assembly.seen_at(time(field(&meta, "start_time")));
    assembly.seen_at(time(field(&meta, "end_time")));
    let identity = &mut assembly.state.identity;
    if identity.forked_from.is_none() {
        // The first entry shows whether it is a subagent or a fork.
        identity.parent = text(&meta, "parent_session_id");
    }
}

/// The part of `runtime-state.json` that names the session from which this one was copied. Nothing
/// else of it is parsed.
#[derive(Debug, Default, Deserialize)]
struct Runtime {
    #[serde(default)]
    import_provenance: Value,
}

/// Which session of Vibe 2 this one continues. Vibe 3 copies it when it is resumed, early versions under the same id,
/// later ones under a new one.
pub(crate) fn continues(
    assembly: &mut Assembly,
    file: &str,
    generation: &str,
    beside: &SiblingFiles<'_>,
) {
    let folder = file.trim_end_matches("CURRENT");
    let state = beside.read(&format!("{folder}generations/{generation}/runtime-state.json"));
    let state: Runtime =
        state.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let source = field(&state.import_provenance, "source");
    let copied = (word(source, "backend") == "legacy").then(|| text(source, "session_id"));
    let identity = &mut assembly.state.identity;
    identity.continues = copied.flatten().or_else(|| Some(identity.id.clone()));
}

fn title(assembly: &mut Assembly, title: &str, source: &str) {
    let titled = if source == "manual" { Titled::ByUser } else { Titled::ByAgent };
    assembly.title(title, titled);
}

/// Parses the state of a session without its entries: in a generation, and in the journal whenever
/// it changes.
pub(crate) fn envelope(assembly: &mut Assembly, snapshot: &Value) {
    let session = field(snapshot, "session");
    title(assembly, word(session, "title"), word(session, "titleSource"));
    assembly.seen_at(time(field(session, "createdAt")));
    assembly.seen_at(time(field(session, "updatedAt")));
    let used = |usage: &Value| {
        let cached = count(usage, "cachedInputTokens");
        let input = count(usage, "inputTokens").saturating_sub(cached);
        Tokens { input, output: count(usage, "outputTokens"), cache_read: cached, cache_write: 0 }
    };
    let identity = &mut assembly.state.identity;
    let (all, last) = (field(session, "tokenUsage"), field(session, "contextUsage"));
    if all.is_object() {
        identity.tokens = used(all);
    }
    if last.is_object() {
        identity.usage.input_tokens = Some(count(last, "inputTokens"));
        identity.usage.output_tokens = Some(count(last, "outputTokens"));
        identity.usage.context_used = Some(count(last, "totalTokens"));
    }
}

#[derive(Debug, Deserialize)]
struct Record<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: RawText<'a>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

/// Reads one record of the journal.
pub(crate) fn record(assembly: &mut Assembly, bytes: &[u8]) -> serde_json::Result<()> {
    let record: Record<'_> = serde_json::from_slice(bytes)?;
    match record.kind.as_str() {
        "projection_delta" | "session_relocated" => {
            let payload = crate::raw::parse(record.payload)?;
            for change in list(&payload, "delta") {
                apply(assembly, change, bytes);
            }
        }
        "projection_advanced" => {
            let payload = crate::raw::parse(record.payload)?;
            let snapshot = field(&payload, "snapshot");
            replace_all(assembly, list(field(snapshot, "history"), "entries"));
            envelope(assembly, snapshot);
        }
        "command_reserved"
        | "core_input"
        | "action_intent"
        | "action_result"
        | "process_operation_dispatched"
        | "process_state_changed"
        | "process_notification_submitted"
        | "callback_registered"
        | "callback_resolved"
        | "receipt_succeeded"
        | "receipt_failed" => {}
        kind => assembly.unknown(kind, bytes),
    }
    Ok(())
}

fn apply(assembly: &mut Assembly, change: &Value, bytes: &[u8]) {
    match word(change, "op") {
        "append_entry" | "replace_entry" => show(assembly, field(change, "entry")),
        "set_history_entries" => replace_all(assembly, list(change, "entries")),
        "set_envelope" => envelope(assembly, field(change, "state")),
        // Entries that were shown stay; most removed ones are appended again later.
        "remove_entry" => {}
        kind => assembly.unknown(kind, bytes),
    }
}

fn replace_all(assembly: &mut Assembly, entries: &[Value]) {
    for entry in entries {
        show(assembly, entry);
    }
}

/// Parses one entry of a chunk, unless it was read before: messages of agents that Convoke drives
/// are stored already, and only the position up to which they were read is known.
pub(crate) fn entry(assembly: &mut Assembly, bytes: &[u8]) -> serde_json::Result<()> {
    let entry: Value = serde_json::from_slice(bytes)?;
    let id = word(&entry, "id");
    let is_known = assembly.state.vibe.before.contains(&digest(id.as_bytes()));
    if is_known && !assembly.is_open(id) {
        note(assembly, &entry);
    } else {
        show(assembly, &entry);
    }
    Ok(())
}

/// The role of an entry in checking whether the conversation is the same.
pub(crate) fn mark(entry: &Value) -> Mark {
    let hash = |id: &Value| digest(id.as_str().unwrap_or_default().as_bytes());
    match (word(entry, "type"), word(entry, "role"), word(entry, "kind")) {
        ("message", "user", _) => Mark::Prompt(hash(field(entry, "id"))),
        ("checkpoint", _, "rewind") => Mark::Rewind(hash(path(entry, &["details", "entryId"]))),
        _ => Mark::Other,
    }
}

/// Remembers that an entry was read.
fn note(assembly: &mut Assembly, entry: &Value) {
    let Notes { prompts, seen, .. } = &mut assembly.state.vibe;
    match mark(entry) {
        Mark::Prompt(id) if !prompts.contains(&id) => prompts.push(id),
        Mark::Rewind(id) => {
            let kept = prompts.iter().position(|prompt| *prompt == id).unwrap_or(prompts.len());
            prompts.truncate(kept);
        }
        Mark::Prompt(_) | Mark::Other => {}
    }
    let id = digest(word(entry, "id").as_bytes());
    if word(entry, "generationStatus") != "in_progress" && !seen.contains(&id) {
        seen.push(id);
    }
}

fn show(assembly: &mut Assembly, entry: &Value) {
    note(assembly, entry);
    let key = text(entry, "id").unwrap_or_else(|| assembly.line_key());
    if is_inherited(assembly, &key) {
        return;
    }
    let at = time(field(entry, "createdAt"));
    assembly.seen_at(time(field(entry, "updatedAt")));
    match word(entry, "type") {
        "message" => message(assembly, &key, entry, at),
        "reasoning" => {
            let text = match word(entry, "text") {
                // The provider did not return the thought.
                "" | "[redacted]" => plain(field(entry, "summary")),
                text => text.to_owned(),
            };
            assembly.thought(&key, &text, at);
        }
        "effect" => effect::show(assembly, &key, entry, at),
        "checkpoint" => checkpoint(assembly, &key, entry, at),
        "notice" => match word(entry, "level") {
            // Hooks that ran.
            "info" => {}
            level => assembly.advice(&key, level, word(entry, "message"), at),
        },
        // A permission or a question; its outcome is in the call.
        "callback" => {}
        kind => assembly.unknown(kind, entry.to_string().as_bytes()),
    }
}

/// Whether an entry is from the session that this one was forked from, or continues.
fn is_inherited(assembly: &mut Assembly, key: &str) -> bool {
    let is_rest = assembly.state.vibe.is_rest;
    let identity = &mut assembly.state.identity;
    if !key.starts_with(INHERITED) {
        return false;
    }
    if is_rest {
        return true;
    }
    if identity.forked_from.is_none() {
        identity.forked_from = identity.parent.take();
    }
    identity.forked_from.is_some()
}

fn message(assembly: &mut Assembly, key: &str, entry: &Value, at: Option<Timestamp>) {
    let content = plain(field(entry, "content"));
    match word(entry, "role") {
        "user" => {
            // The text that the user typed, if the model was given more.
            let typed = list(field(entry, "userDisplayContent"), "content").iter();
            let typed: Vec<&str> = typed.map(|block| word(block, "text")).collect();
            let typed = typed.concat();
            assembly.prompt(key, if typed.trim().is_empty() { &content } else { &typed }, at);
        }
        "assistant" => assembly.answer(key, &content, at),
        _ => {}
    }
}

fn checkpoint(assembly: &mut Assembly, key: &str, entry: &Value, at: Option<Timestamp>) {
    match word(entry, "kind") {
        "compaction" if word(entry, "generationStatus") == "completed" => {
            assembly.compacted(key, "", at);
        }
        "compaction" | "agent_change" => {}
        "model_change" => {
            assembly.model(path(entry, &["details", "model"]).as_str().unwrap_or_default());
        }
        _ => assembly.advice(key, "info", word(entry, "message"), at),
    }
}
