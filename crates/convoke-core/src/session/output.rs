//! What the agent is in the middle of saying and doing: one stream of words, and its tool calls.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::bounds;
use crate::content::{Content, Tool, ToolResult, ToolStatus};
use crate::message::Draft;

use super::command::ToolUpdate;

/// Calls remembered in one turn; beyond that the first one is forgotten, and a late word about it starts anew.
const TOOLS_MAX: usize = 1024;
/// Bytes of tool calls that are remembered in one turn; beyond that the first ones are forgotten in the same way.
const TOOLS_BYTES_MAX: usize = 4 << 20;

/// The agent's unfinished output.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Output {
    stream: Option<Words>,
    tools: BTreeMap<String, Call>,
    /// How many bytes of tool calls are remembered.
    tool_bytes: usize,
}

/// The words that are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Words {
    stream: Stream,
    /// How many bytes they have so far.
    bytes: usize,
}

/// Which kind of words is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Text,
    Thinking,
}

impl Stream {
    pub(super) fn piece(self, text: String) -> Draft {
        self.draft(text, true)
    }

    /// The empty last piece, since nobody knows of a piece that it was the last before the next thing comes.
    pub(super) fn close(self) -> Draft {
        self.draft(String::new(), false)
    }

    fn draft(self, text: String, partial: bool) -> Draft {
        Draft::agent(match self {
            Self::Text => Content::Text { text, partial: Some(partial) },
            Self::Thinking => Content::Thinking { text, partial },
        })
    }
}

/// A tool call of this turn.
#[derive(Debug, Clone, PartialEq)]
enum Call {
    Open(Known),
    /// Nothing leaves a final status, so nothing more of it needs to be known.
    Settled,
}

/// What is known of an open call, so that each message about it can stand alone.
#[derive(Debug, Clone, PartialEq, Default)]
struct Known {
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

    /// The message that closes the open words, unless more of the same kind follow.
    pub(super) fn close_stream_before(&self, next: Option<Stream>) -> Option<Draft> {
        self.stream.filter(|open| Some(open.stream) != next).map(|open| open.stream.close())
    }

    /// How many bytes the open words of this kind have; none when there are no such words.
    pub(super) fn open_bytes(&self, stream: Stream) -> Option<usize> {
        self.stream.filter(|open| open.stream == stream).map(|open| open.bytes)
    }

    /// The messages that close what is open when a turn ends.
    pub(super) fn close_all(&self) -> impl Iterator<Item = Draft> {
        let unfinished = self.tools.iter().filter_map(|(id, call)| match call {
            Call::Open(known) => Some(Draft::system(Content::Tool(known.unfinished(id)))),
            Call::Settled => None,
        });
        self.close_stream_before(None).into_iter().chain(unfinished)
    }

    /// The message that an update of a tool call makes, or none when it says nothing new.
    pub(super) fn tool(&self, update: ToolUpdate) -> Option<Draft> {
        let known = match self.tools.get(&update.tool_call_id) {
            Some(Call::Settled) => return None,
            Some(Call::Open(known)) => known.clone(),
            None => Known::default(),
        };
        let is_new = !self.tools.contains_key(&update.tool_call_id);
        let (id, status, result) = (update.tool_call_id, update.status, update.result);
        let now = Known {
            tool: update.tool.or_else(|| known.tool.clone()),
            title: update.title.or_else(|| known.title.clone()),
            kind: update.kind.or_else(|| known.kind.clone()),
            args: update.args.or_else(|| known.args.clone()),
        };
        let status = status.unwrap_or(ToolStatus::Running);
        if !is_new && now == known && result.is_none() && status == ToolStatus::Running {
            return None;
        }
        Some(Draft::system(Content::Tool(now.message(id, status, result))))
    }

    /// Folds a message of the agent's into what is open.
    pub(super) fn apply(&mut self, content: &Content) {
        match content {
            Content::Text { text, partial: Some(true) } => self.go_on(Stream::Text, text),
            Content::Thinking { text, partial: true } => self.go_on(Stream::Thinking, text),
            Content::Text { .. } | Content::Thinking { .. } => self.stream = None,
            Content::Tool(tool) => self.apply_tool(tool),
            Content::Plan { .. }
            | Content::Permission(_)
            | Content::Question(_)
            | Content::Usage(_)
            | Content::Notice(_) => {}
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn go_on(&mut self, stream: Stream, text: &str) {
        let bytes = self.open_bytes(stream).unwrap_or_default() + text.len();
        self.stream = Some(Words { stream, bytes });
    }

    fn apply_tool(&mut self, tool: &Tool) {
        let id = &tool.tool_call_id;
        let call = match tool.status {
            ToolStatus::Running => Call::Open(Known::of(tool)),
            ToolStatus::Complete | ToolStatus::Error => Call::Settled,
        };
        let before = self.tools.remove(id);
        self.tool_bytes -= before.map_or(0, |before| before.bytes(id));
        self.tool_bytes += call.bytes(id);
        while self.tools.len() >= TOOLS_MAX || self.tool_bytes > TOOLS_BYTES_MAX {
            let Some((id, forgotten)) = self.tools.pop_first() else { break };
            self.tool_bytes -= forgotten.bytes(&id);
        }
        self.tools.insert(id.clone(), call);
    }
}

impl Call {
    fn bytes(&self, id: &str) -> usize {
        let known = match self {
            Self::Open(known) => {
                let texts = [&known.tool, &known.title, &known.kind];
                let texts: usize =
                    texts.iter().filter_map(|text| text.as_ref()).map(String::len).sum();
                texts + known.args.as_ref().map_or(0, bounds::json_bytes)
            }
            Self::Settled => 0,
        };
        id.len() + known
    }
}

impl Known {
    fn of(tool: &Tool) -> Self {
        Self {
            tool: Some(tool.tool.clone()),
            title: tool.title.clone(),
            kind: tool.kind.clone(),
            args: Some(tool.args.clone()),
        }
    }

    fn message(self, id: String, status: ToolStatus, result: Option<ToolResult>) -> Tool {
        // Agents that name no tool at least title the call, or say what sort it is.
        let named = self.tool.or_else(|| self.title.clone()).or_else(|| self.kind.clone());
        Tool {
            tool_call_id: id,
            tool: named.unwrap_or_else(|| "tool".to_owned()),
            title: self.title,
            kind: self.kind,
            args: self.args.unwrap_or_else(|| Value::Object(serde_json::Map::new())),
            status,
            result,
        }
    }

    fn unfinished(&self, id: &str) -> Tool {
        let error = Some("the turn ended before the tool did".to_owned());
        let result = ToolResult { error, ..ToolResult::default() };
        self.clone().message(id.to_owned(), ToolStatus::Error, Some(result))
    }
}
