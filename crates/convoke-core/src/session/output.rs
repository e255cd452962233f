//! The agent's unfinished output: the open text, and tool calls.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::bounds;
use crate::content::{Content, Tool, ToolResult, ToolStatus};
use crate::message::{Draft, Seq};

use super::Change;
use super::command::ToolUpdate;

/// Tool calls that are tracked in one turn; beyond that finished ones are evicted, then open ones are closed.
const TOOLS_MAX: usize = 1024;
/// The size of open tool calls in one turn; beyond that the oldest are closed.
const TOOLS_BYTES_MAX: usize = 4 << 20;

const TURN_ENDED: &str = "the turn ended before the tool did";
const TOO_MANY: &str = "too many tool calls were open at once";

/// The agent's unfinished output.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Output {
    stream: Option<OpenStream>,
    tools: BTreeMap<String, Call>,
    /// The size of all tracked tool calls.
    tool_bytes: usize,
    /// The seq of the running turn's plan.
    plan: Option<Seq>,
    /// The seq of the notice that the running turn waits for a process.
    waiting: Option<Seq>,
}

/// The open answer or thought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenStream {
    pub(super) stream: Stream,
    /// The seq of its message.
    pub(super) seq: Seq,
    /// Its size so far.
    pub(super) bytes: usize,
}

/// Whether an answer or a thought is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Text,
    Thinking,
}

impl Stream {
    /// A message that begins with this text.
    pub(super) fn draft(self, text: String) -> Draft {
        Draft::agent(match self {
            Self::Text => Content::partial_text(text),
            Self::Thinking => Content::Thinking { text, partial: true },
        })
    }
}

/// A tool call of this turn.
#[derive(Debug, Clone, PartialEq)]
enum Call {
    Open {
        seq: Seq,
        known: ToolCallFields,
        /// The size of what is known.
        bytes: usize,
    },
    /// A call with a final status, which cannot change any more.
    Settled,
}

/// What is known of an open call, so that each message about it is complete.
#[derive(Debug, Clone, PartialEq, Default)]
struct ToolCallFields {
    tool: Option<String>,
    title: Option<String>,
    kind: Option<String>,
    args: Option<Value>,
}

impl Output {
    /// Whether nothing is open.
    pub(super) fn is_quiet(&self) -> bool {
        self.stream.is_none() && self.tools.values().all(|call| *call == Call::Settled)
    }

    /// The open answer or thought.
    pub(super) const fn stream(&self) -> Option<OpenStream> {
        self.stream
    }

    /// Whether this message is the open answer.
    pub(super) fn is_answer(&self, seq: Seq) -> bool {
        self.stream.is_some_and(|open| open.seq == seq && open.stream == Stream::Text)
    }

    /// The change that closes the open text.
    pub(super) fn close_stream(&self) -> Option<Change> {
        self.stream.map(|open| Change::Close { seq: open.seq })
    }

    /// The seq of the running turn's plan.
    pub(super) const fn plan(&self) -> Option<Seq> {
        self.plan
    }

    /// The seq of the notice that the running turn waits.
    pub(super) const fn waiting(&self) -> Option<Seq> {
        self.waiting
    }

    /// The changes that close everything when a turn ends.
    pub(super) fn close_all(&self) -> impl Iterator<Item = Change> {
        let unfinished = self.tools.iter().filter_map(|(id, call)| match call {
            Call::Open { seq, known, .. } => Some(known.unfinished(*seq, id, TURN_ENDED)),
            Call::Settled => None,
        });
        self.close_stream().into_iter().chain(unfinished)
    }

    /// The changes that close open calls until another one of this size fits.
    pub(super) fn make_room(&self, more: usize) -> Vec<Change> {
        let (mut bytes, mut closed) = (self.tool_bytes + more, Vec::new());
        let mut open = self.tools.values().filter(|call| **call != Call::Settled).count();
        for (id, call) in &self.tools {
            if bytes <= TOOLS_BYTES_MAX && open < TOOLS_MAX {
                break;
            }
            if let Call::Open { seq, known, .. } = call {
                closed.push(known.unfinished(*seq, id, TOO_MANY));
                bytes -= call.bytes(id) - Call::Settled.bytes(id);
                open -= 1;
            }
        }
        closed
    }

    /// The tool call after an update, with the seq of its message if it has one; `None` if the update changes
    /// nothing.
    pub(super) fn tool(&self, update: ToolUpdate) -> Option<(Option<Seq>, Tool)> {
        let (seq, known) = match self.tools.get(&update.tool_call_id) {
            Some(Call::Settled) => return None,
            Some(Call::Open { seq, known, .. }) => (Some(*seq), known.clone()),
            None => (None, ToolCallFields::default()),
        };
        let (id, status, result) = (update.tool_call_id, update.status, update.result);
        let now = ToolCallFields {
            tool: update.tool.or_else(|| known.tool.clone()),
            title: update.title.or_else(|| known.title.clone()),
            kind: update.kind.or_else(|| known.kind.clone()),
            args: update.args.or_else(|| known.args.clone()),
        };
        let status = status.unwrap_or(ToolStatus::Running);
        if seq.is_some() && now == known && result.is_none() && status == ToolStatus::Running {
            return None;
        }
        Some((seq, now.message(id, status, result)))
    }

    /// Records a new message.
    pub(super) fn begin(&mut self, seq: Seq, content: &Content) {
        match content {
            Content::Text { text, partial: true, .. } => self.open(Stream::Text, seq, text),
            Content::Thinking { text, partial: true } => self.open(Stream::Thinking, seq, text),
            Content::Tool(tool) => self.apply_tool(seq, tool),
            Content::Plan { .. } => self.plan = Some(seq),
            Content::Notice(notice) if notice.event.is_replaceable() => self.waiting = Some(seq),
            Content::Text { .. }
            | Content::Thinking { .. }
            | Content::Permission(_)
            | Content::Question(_)
            | Content::Notice(_) => {}
        }
    }

    /// Records appended text.
    pub(super) fn append(&mut self, seq: Seq, bytes: usize) {
        if let Some(open) = self.stream.as_mut().filter(|open| open.seq == seq) {
            open.bytes += bytes;
        }
    }

    /// Records closed text.
    pub(super) fn close(&mut self, seq: Seq) {
        self.stream.take_if(|open| open.seq == seq);
    }

    /// Records a replaced message.
    pub(super) fn replace(&mut self, seq: Seq, content: &Content) {
        if let Content::Tool(tool) = content {
            self.apply_tool(seq, tool);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    const fn open(&mut self, stream: Stream, seq: Seq, text: &str) {
        self.stream = Some(OpenStream { stream, seq, bytes: text.len() });
    }

    fn apply_tool(&mut self, seq: Seq, tool: &Tool) {
        let id = &tool.tool_call_id;
        let call = match tool.status {
            ToolStatus::Running => Call::open(seq, ToolCallFields::of(tool)),
            ToolStatus::Complete | ToolStatus::Error => Call::Settled,
        };
        let before = self.tools.remove(id);
        self.tool_bytes -= before.map_or(0, |before| before.bytes(id));
        self.tool_bytes += call.bytes(id);
        if self.tools.len() >= TOOLS_MAX {
            self.tools.retain(|_, call| *call != Call::Settled);
            self.tool_bytes = self.tools.iter().map(|(id, call)| call.bytes(id)).sum();
            self.tool_bytes += call.bytes(id);
        }
        self.tools.insert(id.clone(), call);
    }
}

#[cfg(test)]
impl Output {
    /// Without what matters only during the turn.
    pub(super) fn without_memory_of_turn(&self) -> Self {
        let mut output = Self { plan: None, waiting: None, ..self.clone() };
        output.tools.retain(|_, call| *call != Call::Settled);
        output.tool_bytes = output.tools.iter().map(|(id, call)| call.bytes(id)).sum();
        output
    }
}

impl Call {
    fn open(seq: Seq, known: ToolCallFields) -> Self {
        let texts = [&known.tool, &known.title, &known.kind];
        let texts: usize = texts.iter().filter_map(|text| text.as_ref()).map(String::len).sum();
        let bytes = texts + known.args.as_ref().map_or(0, bounds::json_bytes);
        Self::Open { seq, known, bytes }
    }

    const fn bytes(&self, id: &str) -> usize {
        match self {
            Self::Open { bytes, .. } => id.len() + *bytes,
            Self::Settled => id.len(),
        }
    }
}

impl ToolCallFields {
    fn of(tool: &Tool) -> Self {
        Self {
            tool: Some(tool.tool.clone()),
            title: tool.title.clone(),
            kind: tool.kind.clone(),
            args: Some(tool.args.clone()),
        }
    }

    fn message(self, id: String, status: ToolStatus, result: Option<ToolResult>) -> Tool {
        // If the agent names no tool, the title of the call or its kind is used.
        let named = self.tool.or_else(|| self.title.clone()).or_else(|| self.kind.clone());
        Tool {
            tool_call_id: id,
            tool: named.unwrap_or_else(|| Tool::UNNAMED.to_owned()),
            title: self.title,
            kind: self.kind,
            args: self.args.unwrap_or_else(|| Value::Object(serde_json::Map::new())),
            status,
            result,
        }
    }

    /// The change that closes a call that has not finished.
    fn unfinished(&self, seq: Seq, id: &str, why: &str) -> Change {
        let result = ToolResult { error: Some(why.to_owned()), ..ToolResult::default() };
        let tool = self.clone().message(id.to_owned(), ToolStatus::Error, Some(result));
        Change::Replace { seq, content: Content::Tool(tool).bounded() }
    }
}
