//! Claude Code: `projects/<escaped cwd>/<session>.jsonl`, and a file for each subagent below a folder of that name.
//!
//! Each line is one block of a message; lines of one message repeat its id and its usage, and some
//! versions write a message repeatedly while it streams. Lines for the model rather than for people
//! are left out: meta lines, reminders, sidechains of the main file, and everything about requests.

mod user;

use std::path::PathBuf;

use convoke_core::content::Cost;
use convoke_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::assembly::{Assembly, Call, Titled, digest};
use crate::environment::Environment;
use crate::importer::{Form, Importer, Order, file_name, folder_name};
use crate::item::Tokens;
use crate::json::{count, field, is_set, list, time_in, word};
use crate::raw::{RawText, is_true, parse};
use crate::store::SiblingFiles;

pub(crate) static IMPORTER: Importer = Importer {
    roots,
    transcripts: &["projects/*/*.jsonl", "projects/*/*/subagents/agent-*.jsonl"],
    beside: &[],
    locks: &[],
    programs: &["claude"],
    form: Form::Lines { begin, line, order: Order::File },
    known: None,
};

/// Kinds of lines without content for people.
const IDLE: [&str; 24] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "file-history-delta",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "speculation-accept",
    "tag",
    "task-summary",
    "tools-used",
    "worktree-state",
];
/// Prompts whose position is stored, to detect a rewind.
const PROMPTS_MAX: usize = 64;

fn roots(environment: &Environment) -> Vec<PathBuf> {
    if let Some(folder) = environment.folder("CLAUDE_CONFIG_DIR") {
        return vec![folder];
    }
    let config = environment.folder("XDG_CONFIG_HOME");
    let config = config.unwrap_or_else(|| environment.in_home(".config"));
    vec![environment.in_home(".claude"), config.join("claude")]
}

fn begin(assembly: &mut Assembly, path: &str, _: &mut SiblingFiles<'_>) {
    let stem = file_name(path).trim_end_matches(".jsonl");
    assembly.state.identity.id = stem.to_owned();
    if folder_name(path, 1) == "subagents" {
        assembly.state.identity.parent = Some(folder_name(path, 2).to_owned());
    }
}

/// The parser's state between lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notes {
    /// The message that is being written.
    #[serde(default)]
    message: String,
    /// Its blocks so far.
    #[serde(default)]
    blocks: Vec<Block>,
    /// The part of its usage that is included in the totals.
    #[serde(default)]
    counted: [u64; 4],
    /// Hashes of the lines that prompts followed, the newest last.
    #[serde(default)]
    prompted_after: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Block {
    kind: char,
    bytes: usize,
    digest: u64,
}

/// The fields of a line that are always parsed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: RawText<'a>,
    #[serde(borrow, default)]
    subtype: RawText<'a>,
    #[serde(borrow, default)]
    uuid: RawText<'a>,
    #[serde(borrow, default)]
    parent_uuid: RawText<'a>,
    #[serde(borrow, default)]
    session_id: RawText<'a>,
    #[serde(borrow, default)]
    cwd: RawText<'a>,
    #[serde(borrow, default)]
    timestamp: RawText<'a>,
    /// The same, parsed once.
    #[serde(skip)]
    at: Option<Timestamp>,
    #[serde(borrow, default)]
    summary: RawText<'a>,
    #[serde(borrow, default)]
    custom_title: RawText<'a>,
    #[serde(borrow, default)]
    ai_title: RawText<'a>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    attachment: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_sidechain: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_meta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_compact_summary: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_api_error_message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    api_block_index: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "totalCostUSD")]
    total_cost_usd: Option<&'a RawValue>,
}

impl Head<'_> {
    const fn at(&self) -> Option<Timestamp> {
        self.at
    }
}

fn line(assembly: &mut Assembly, bytes: &[u8]) -> serde_json::Result<()> {
    let mut head: Head<'_> = serde_json::from_slice(bytes)?;
    head.at = time_in(head.timestamp.as_str());
    let is_subagent = assembly.state.identity.parent.is_some() || is_subagent_file(assembly, &head);
    assembly.cwd(head.cwd.as_str());
    match head.kind.as_str() {
        "user" | "assistant" | "system" if is_true(head.is_sidechain) && !is_subagent => {}
        "user" => user::add(assembly, &head)?,
        "assistant" => answer(assembly, &head)?,
        "system" if head.subtype.as_str() == "compact_boundary" => {
            assembly.compacted(head.uuid.as_str(), "", head.at());
        }
        "system" => assembly.seen_at(head.at()),
        "attachment" => user::attached(assembly, &head)?,
        "summary" => assembly.title(head.summary.as_str(), Titled::ByAgent),
        "ai-title" => assembly.title(head.ai_title.as_str(), Titled::ByAgent),
        "custom-title" => assembly.title(head.custom_title.as_str(), Titled::ByUser),
        "cost-state" => {
            let amount = parse(head.total_cost_usd)?.as_f64();
            let cost = amount.map(|amount| Cost { amount, currency: "USD".to_owned() });
            assembly.state.identity.usage.cost = cost;
        }
        kind if IDLE.contains(&kind) => {}
        kind => assembly.unknown(kind, bytes),
    }
    Ok(())
}

/// Older versions have the files of subagents beside those of sessions, where only their lines name the session.
fn is_subagent_file(assembly: &mut Assembly, head: &Head<'_>) -> bool {
    let identity = &mut assembly.state.identity;
    let (id, session) = (identity.id.as_str(), head.session_id.as_str());
    if !id.starts_with("agent-") || session.is_empty() || session == id {
        return false;
    }
    identity.parent = Some(session.to_owned());
    true
}

fn answer(assembly: &mut Assembly, head: &Head<'_>) -> serde_json::Result<()> {
    let message = parse(head.message)?;
    assembly.seen_at(head.at());
    if is_true(head.is_api_error_message) {
        let texts = list(&message, "content").iter().map(|block| word(block, "text"));
        assembly.advice(head.uuid.as_str(), "error", &texts.collect::<String>(), head.at());
        return Ok(());
    }
    if word(&message, "model") != "<synthetic>" {
        assembly.model(word(&message, "model"));
    }
    let id = match word(&message, "id") {
        "" => head.uuid.as_str(),
        id => id,
    };
    let index = parse(head.api_block_index)?.as_u64();
    let mut notes = std::mem::take(&mut assembly.state.claude);
    if notes.message != id {
        let prompted_after = notes.prompted_after;
        notes = Notes { message: id.to_owned(), prompted_after, ..Notes::default() };
    }
    for (place, block) in list(&message, "content").iter().enumerate() {
        let index = index.map(|index| (index as usize).saturating_add(place));
        add_block(assembly, &mut notes, block, (index, head.at()));
    }
    if let Some(text) = field(&message, "content").as_str() {
        assembly.answer(&format!("{id}/0"), text, head.at());
    }
    add_usage(assembly, &mut notes, field(&message, "usage"));
    assembly.state.claude = notes;
    Ok(())
}

fn add_block(
    assembly: &mut Assembly,
    notes: &mut Notes,
    block: &Value,
    (index, at): (Option<usize>, Option<Timestamp>),
) {
    match word(block, "type") {
        "text" => {
            let text = word(block, "text");
            let key = notes.key('t', text, index);
            assembly.answer(&key, text, at);
        }
        "thinking" => {
            let text = word(block, "thinking");
            let key = notes.key('h', text, index);
            assembly.thought(&key, text, at);
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" => assembly.call(Call {
            id: word(block, "id"),
            tool: word(block, "name"),
            args: field(block, "input").clone(),
            at,
            ..Call::default()
        }),
        kind if kind.ends_with("_tool_result") => user::settle(assembly, block, None, at),
        _ => {}
    }
}

impl Notes {
    /// The key of a block of the message. A block that repeats or extends an earlier one has the
    /// same key.
    fn key(&mut self, kind: char, text: &str, index: Option<usize>) -> String {
        let place = index.unwrap_or_else(|| {
            let known = self.blocks.iter().position(|block| {
                let before = text.as_bytes().get(..block.bytes);
                block.kind == kind && before.is_some_and(|before| digest(before) == block.digest)
            });
            let place = known.unwrap_or(self.blocks.len());
            let block = Block { kind, bytes: text.len(), digest: digest(text.as_bytes()) };
            match self.blocks.get_mut(place) {
                Some(known) => *known = block,
                None => self.blocks.push(block),
            }
            place
        });
        format!("{}/{place}", self.message)
    }
}

/// Adds the usage of a line beyond that of earlier lines of the same message.
fn add_usage(assembly: &mut Assembly, notes: &mut Notes, usage: &Value) {
    if usage.is_null() {
        return;
    }
    let fields =
        ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    let mut added = [0; 4];
    for ((counted, added), key) in notes.counted.iter_mut().zip(&mut added).zip(fields) {
        let now = count(usage, key).max(*counted);
        *added = now - *counted;
        *counted = now;
    }
    let [input, output, cache_read, cache_write] = added;
    let identity = &mut assembly.state.identity;
    identity.tokens.add(Tokens { input, output, cache_read, cache_write });
    let [input, output, cache_read, cache_write] = notes.counted;
    let read = input + cache_read + cache_write;
    identity.usage.input_tokens = Some(read);
    identity.usage.output_tokens = Some(output);
    identity.usage.context_used = Some(read + output);
}

/// Detects a rewind: a prompt that follows the same line as an earlier prompt.
fn notice_rewinding(assembly: &mut Assembly, head: &Head<'_>) {
    if head.parent_uuid.as_str().is_empty() {
        return;
    }
    let after = digest(head.parent_uuid.as_str().as_bytes());
    let prompts = &mut assembly.state.claude.prompted_after;
    if prompts.contains(&after) {
        assembly.rewound(head.at());
        return;
    }
    if prompts.len() >= PROMPTS_MAX {
        prompts.remove(0);
    }
    prompts.push(after);
}

/// Whether a line is meant for the model alone.
fn is_meta(head: &Head<'_>) -> bool {
    is_true(head.is_meta)
}

/// Whether a value marks a failed call.
fn is_error(block: &Value) -> bool {
    is_set(block, "is_error")
}
