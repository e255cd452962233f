//! Tool calls: their names, arguments and results arrive in pieces, late, twice, or never.
//!
//! The session needs each update of a call to be complete, so earlier fields are stored here while
//! the call is open.

use std::collections::BTreeMap;

use convoke_core::bounds::{fit, fit_args, json_bytes};
use convoke_core::content::{Diff, ToolResult, ToolStatus};
use convoke_core::session::ToolUpdate;
use serde_json::Value;

use super::text::{self, TEXT_BYTES_MAX};

/// Open calls that are tracked; beyond that the oldest is evicted, and its earlier fields are not
/// repeated.
const CALLS_MAX: usize = 256;
/// The size of tracked open calls; beyond that the oldest are evicted in the same way.
const CALLS_BYTES_MAX: usize = 8 << 20;
/// The longest title, name or path; longer ones are cut.
const TITLE_BYTES_MAX: usize = 4 << 10;

/// The tool calls in progress.
#[derive(Debug, Default)]
pub(super) struct Tools {
    calls: BTreeMap<String, Call>,
}

/// The stored fields of an open call.
#[derive(Debug, Default)]
struct Call {
    /// Everything that was reported of it.
    known: ToolUpdate,
    text: Option<String>,
    diffs: Vec<Diff>,
    /// Terminals whose output belongs to it.
    terminals: Vec<String>,
    /// The output of a terminal of the agent's own.
    printed: String,
    /// The agent's raw output, used if there is no content.
    raw: Option<String>,
    /// The size of all of this.
    bytes: usize,
}

/// Looks up what a terminal has printed.
pub(super) type Screens<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Tools {
    /// The complete call after a `tool_call` or `tool_call_update`; `None` if it adds nothing, or
    /// has no id.
    pub(super) fn handle(&mut self, update: &Value, screens: Screens<'_>) -> Option<ToolUpdate> {
        let id = update.get("toolCallId")?.as_str()?;
        let reported = self.calls.get(id).map(|call| call.known.clone());
        self.open(id).handle(update);
        self.forget_beyond(CALLS_BYTES_MAX, id);
        let call = self.open(id);
        let known = match call.known.status {
            Some(ToolStatus::Complete | ToolStatus::Error) => self.calls.remove(id)?.ended(screens),
            Some(ToolStatus::Running) | None => {
                call.known.result = call.changes();
                call.known.clone()
            }
        };
        Some(known).filter(|known| reported.as_ref() != Some(known))
    }

    /// The stored fields of an open call.
    pub(super) fn known(&self, id: &str) -> Option<&ToolUpdate> {
        Some(&self.calls.get(id)?.known)
    }

    /// Drops the calls of an ended turn; some agents never report their end.
    pub(super) fn clear(&mut self) {
        self.calls.clear();
    }

    /// Evicts the oldest calls, except this one, until the others are within a limit.
    fn forget_beyond(&mut self, bytes_max: usize, id: &str) {
        let mut bytes: usize = self.calls.values().map(|call| call.bytes).sum();
        while bytes > bytes_max {
            let first = self.calls.iter().find(|(other, _)| other.as_str() != id);
            let Some((first, forgotten)) = first.map(|(id, call)| (id.clone(), call.bytes)) else {
                break;
            };
            self.calls.remove(&first);
            bytes -= forgotten;
        }
    }

    fn open(&mut self, id: &str) -> &mut Call {
        if !self.calls.contains_key(id) && self.calls.len() >= CALLS_MAX {
            self.calls.pop_first();
        }
        self.calls.entry(id.to_owned()).or_insert_with(|| {
            let known = ToolUpdate { tool_call_id: id.to_owned(), ..ToolUpdate::default() };
            Call { known, ..Call::default() }
        })
    }
}

impl Call {
    fn handle(&mut self, update: &Value) {
        let known = &mut self.known;
        let status = update.get("status").and_then(Value::as_str).and_then(status);
        known.tool = name(update).or_else(|| known.tool.take());
        known.title = field(update, "title").or_else(|| known.title.take());
        known.kind = field(update, "kind").or_else(|| known.kind.take());
        known.args = arguments(update).or_else(|| known.args.take());
        known.status = status.or(known.status);
        self.raw = update.get("rawOutput").and_then(words).or_else(|| self.raw.take());
        // More than the limit of a text is not stored.
        if self.printed.len() <= TEXT_BYTES_MAX {
            self.printed.extend(printed(update));
        }
        let content = update.get("content").and_then(Value::as_array).filter(|it| !it.is_empty());
        if let Some(blocks) = content {
            self.replace_content(blocks);
        }
        let texts = [self.text.as_ref(), self.raw.as_ref(), Some(&self.printed)];
        self.bytes = texts.iter().flatten().map(|text| text.len()).sum::<usize>()
            + self.known.args.as_ref().map_or(0, json_bytes)
            + 2 * json_bytes(&self.diffs);
    }

    /// Content is always sent as a whole, and replaces the previous content.
    fn replace_content(&mut self, blocks: &[Value]) {
        let texts = blocks.iter().filter_map(|block| text::of_block(block.get("content")?));
        self.text = joined(texts).map(|text| text::cut(&text));
        self.diffs = fit(blocks.iter().filter_map(diff).collect());
        let terminals = blocks.iter().filter_map(|block| field(block, "terminalId"));
        self.terminals = terminals.collect();
    }

    /// The changes that a running call is about to make. Its output is only reported when it has
    /// ended: some agents repeat all of it with every addition.
    fn changes(&self) -> Option<ToolResult> {
        let diffs = self.diffs.clone();
        (!diffs.is_empty()).then(|| ToolResult { diffs, ..ToolResult::default() })
    }

    /// The call with its result.
    fn ended(self, screens: Screens<'_>) -> ToolUpdate {
        let printed = self.terminals.iter().filter_map(|id| screens(id));
        let mut text = joined(self.text.into_iter().chain(printed).chain([self.printed]));
        if text.is_none() && self.diffs.is_empty() {
            text = self.raw;
        }
        let text = text.map(|text| text::cut(&text));
        let (text, error) = match self.known.status {
            Some(ToolStatus::Error) => (None, text),
            Some(ToolStatus::Running | ToolStatus::Complete) | None => (text, None),
        };
        let result = ToolResult { text, diffs: self.diffs, error };
        let result = Some(result).filter(|result| *result != ToolResult::default());
        ToolUpdate { result, ..self.known }
    }
}

fn status(word: &str) -> Option<ToolStatus> {
    match word {
        "pending" | "in_progress" => Some(ToolStatus::Running),
        "completed" => Some(ToolStatus::Complete),
        "failed" | "cancelled" => Some(ToolStatus::Error),
        _ => None,
    }
}

/// The tool's name, which Claude, qwen and vibe each put into a different field.
pub(super) fn name(call: &Value) -> Option<String> {
    let at = |place: &str| call.pointer(place).unwrap_or(&Value::Null);
    let meta = at("/_meta");
    field(call, "name")
        .or_else(|| field(at("/_meta/claudeCode"), "toolName"))
        .or_else(|| field(meta, "toolName"))
        .or_else(|| field(meta, "tool_name"))
}

/// The output of Codex's own terminal since the last update.
fn printed(update: &Value) -> Option<&str> {
    let places = ["/_meta/terminal_output_delta/data", "/_meta/terminal_output/data"];
    places.iter().find_map(|place| update.pointer(place)?.as_str())
}

fn arguments(update: &Value) -> Option<Value> {
    // Incomplete arguments are often sent as an empty object.
    let is_there =
        |args: &&Value| !args.is_null() && args.as_object().is_none_or(|fields| !fields.is_empty());
    let args = update.get("rawInput").filter(is_there)?;
    Some(fit_args(args.clone()))
}

fn diff(block: &Value) -> Option<Diff> {
    let text_of = |name: &str| block.get(name).and_then(Value::as_str).map(text::cut);
    let path = field(block, "path")?;
    Some(Diff { path, old_text: text_of("oldText"), new_text: text_of("newText")? })
}

/// The text of a tool's result, if the agent does not show it as content.
fn words(output: &Value) -> Option<String> {
    let words = match output {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            joined(blocks.iter().filter_map(text::of_block)).unwrap_or_else(|| output.to_string())
        }
        Value::Object(fields) => {
            let known = ["formatted_output", "output", "stdout", "text", "content", "error"];
            let text = known.iter().find_map(|key| fields.get(*key)?.as_str());
            text.map_or_else(|| output.to_string(), str::to_owned)
        }
        Value::Bool(_) | Value::Number(_) => output.to_string(),
    };
    Some(text::cut(&words)).filter(|words| !words.is_empty())
}

fn joined(texts: impl Iterator<Item = String>) -> Option<String> {
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn field(value: &Value, name: &str) -> Option<String> {
    let text = value.get(name)?.as_str().filter(|text| !text.is_empty())?;
    Some(text::cut_to(text, TITLE_BYTES_MAX))
}

#[cfg(test)]
mod tests;
