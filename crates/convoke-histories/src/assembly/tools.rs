//! Tool calls and their results, which are on different lines and may be read at different times.

use convoke_core::bounds::{MESSAGE_BYTES_MAX, WORDS_BYTES_MAX, clip, fit, fit_args};
use convoke_core::call;
use convoke_core::content::{Content, Diff, Tool, ToolResult, ToolStatus};
use convoke_core::message::Role;
use convoke_core::time::Timestamp;
use serde_json::Value;

use super::{Assembly, OpenCall, digest};
use crate::edits;

/// Open calls that are remembered; beyond that the oldest is forgotten, and its result comes without its arguments.
const OPEN_MAX: usize = 256;
/// Calls with results that are remembered, for results that are written twice.
const SETTLED_MAX: usize = 512;

/// Bytes of a message's names, marks and paths.
const SLACK: usize = 8 << 10;

/// A call as a line announces it.
#[derive(Debug, Default)]
pub(crate) struct Call<'a> {
    pub id: &'a str,
    pub tool: &'a str,
    pub title: Option<String>,
    pub args: Value,
    pub at: Option<Timestamp>,
}

/// The result of a call.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub text: String,
    /// Why it failed, if it did.
    pub error: Option<String>,
    /// The changes that it made, if the line has more than the arguments.
    pub diffs: Vec<Diff>,
    /// The previous text of the file, for a call that wrote a whole one.
    pub before: Option<String>,
    pub at: Option<Timestamp>,
}

impl Assembly {
    /// A call, unless its result is known already.
    pub(crate) fn call(&mut self, call: Call<'_>) {
        if call.id.is_empty() {
            return;
        }
        let key = key_of(call.id);
        if let Some(steps) = edits::plan(call.tool, &call.args) {
            self.settle_known(call.id);
            self.plan(&key, steps, call.at);
            return;
        }
        if self.is_settled(call.id) || self.has_result(&key) {
            return;
        }
        let tool = if call.tool.is_empty() { Tool::UNNAMED } else { call.tool };
        let tool = Tool {
            tool_call_id: call.id.to_owned(),
            tool: tool.to_owned(),
            title: call.title.or_else(|| call::summary(&call.args)),
            kind: Some(edits::kind_of(tool).to_owned()),
            args: if self.is_short() { call.args } else { fit_args(call.args) },
            status: ToolStatus::Running,
            result: None,
        };
        let content = Content::Tool(tool);
        let content = if self.is_short() { content } else { content.bounded() };
        self.put(key, Role::System, content, call.at);
    }

    /// A result. The first one counts.
    pub(crate) fn settle(&mut self, id: &str, outcome: Outcome) {
        if id.is_empty() || self.is_settled(id) {
            return;
        }
        self.settle_known(id);
        let key = key_of(id);
        let place = self.places.get(&key).copied();
        let at = outcome.at;
        if let Some(item) = place.and_then(|place| self.batch.items.get_mut(place)) {
            if let Content::Tool(tool) = &mut item.content {
                complete(tool, outcome);
                if is_long(tool) {
                    *tool = fit(tool.clone());
                }
                item.updated_at = item.updated_at.max(at);
            }
            self.seen_at(at);
            return;
        }
        let open = self.state.open.iter().position(|open| open.tool.tool_call_id == id);
        let (began, mut tool) = match open.map(|place| self.state.open.remove(place)) {
            Some(OpenCall { at, tool }) => (at, tool),
            None => (at, unnamed(id)),
        };
        complete(&mut tool, outcome);
        self.put(key, Role::System, Content::Tool(tool).bounded(), began);
        self.touch_last(at);
    }

    /// Whether a call with this id was announced and waits for its result.
    pub(crate) fn is_open(&self, id: &str) -> bool {
        let in_batch = self.places.contains_key(&key_of(id)) && !self.is_settled(id);
        in_batch || self.state.open.iter().any(|open| open.tool.tool_call_id == id)
    }

    pub(super) fn remember_open(&mut self, at: Option<Timestamp>, tool: &Tool) {
        self.state.open.retain(|open| open.tool.tool_call_id != tool.tool_call_id);
        if self.state.open.len() >= OPEN_MAX {
            self.state.open.remove(0);
        }
        self.state.open.push(OpenCall { at, tool: tool.clone() });
    }

    fn touch_last(&mut self, at: Option<Timestamp>) {
        if let Some(item) = self.batch.items.last_mut() {
            item.updated_at = item.updated_at.max(at);
        }
        self.seen_at(at);
    }

    fn is_settled(&self, id: &str) -> bool {
        self.state.settled.contains(&digest(id.as_bytes()))
    }

    fn settle_known(&mut self, id: &str) {
        if self.state.settled.len() >= SETTLED_MAX {
            self.state.settled.drain(..SETTLED_MAX / 2);
        }
        self.state.settled.push(digest(id.as_bytes()));
    }

    fn has_result(&self, key: &str) -> bool {
        let item = self.places.get(key).and_then(|place| self.batch.items.get(*place));
        matches!(item.map(|item| &item.content), Some(Content::Tool(tool)) if tool.status != ToolStatus::Running)
    }
}

fn key_of(id: &str) -> String {
    format!("tool/{id}")
}

/// A call of which only the result is known.
fn unnamed(id: &str) -> Tool {
    Tool {
        tool_call_id: id.to_owned(),
        tool: Tool::UNNAMED.to_owned(),
        title: None,
        kind: None,
        args: Value::Null,
        status: ToolStatus::Running,
        result: None,
    }
}

/// Whether a result may make the message too long. Arguments take at most a quarter of the limit.
fn is_long(tool: &Tool) -> bool {
    let Some(result) = &tool.result else { return false };
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let diffs = result.diffs.iter().map(|it| it.new_text.len() + text(&it.old_text)).sum::<usize>();
    // Escaping makes a text at most six times as long.
    text(&result.text) + text(&result.error) + diffs > (MESSAGE_BYTES_MAX / 4 * 3 - SLACK) / 6
}

fn complete(tool: &mut Tool, outcome: Outcome) {
    let text = Some(cut(outcome.text)).filter(|text| !text.trim().is_empty());
    if let Some(error) = outcome.error {
        tool.status = ToolStatus::Error;
        let error = Some(cut(error)).filter(|error| !error.trim().is_empty());
        tool.result = Some(ToolResult { text, error, diffs: Vec::new() });
        return;
    }
    let mut diffs = outcome.diffs;
    // Some results have the name of the file alone.
    if let ([diff], Some(path)) = (diffs.as_mut_slice(), edits::path_of(&tool.args))
        && path.ends_with(&format!("/{}", diff.path))
    {
        path.clone_into(&mut diff.path);
    }
    if diffs.is_empty() {
        diffs = edits::diffs(&tool.tool, &tool.args);
        if let ([diff], Some(before)) = (diffs.as_mut_slice(), outcome.before)
            && diff.old_text.is_none()
        {
            diff.old_text = Some(before);
        }
    }
    for diff in &mut diffs {
        diff.new_text = cut(std::mem::take(&mut diff.new_text));
        diff.old_text = diff.old_text.take().map(cut);
    }
    tool.status = ToolStatus::Complete;
    tool.result = Some(ToolResult { text, diffs, error: None });
}

/// The text, or the head and the tail of one that is too long for a message.
fn cut(text: String) -> String {
    if text.len() <= WORDS_BYTES_MAX / 2 { text } else { clip(&text, WORDS_BYTES_MAX / 2) }
}
