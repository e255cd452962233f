//! Assembles messages from the lines of a store: one message may be spread over many lines, and one
//! line may hold many messages.
//!
//! All parsers write through this; state that must survive until the file has grown is in `State`,
//! which is part of the cursor.

mod tools;

use std::collections::HashMap;
use std::mem;

use convoke_core::bounds::{MESSAGE_BYTES_MAX, PROMPT_BYTES_MAX, WORDS_BYTES_MAX, clip};
use convoke_core::content::{Content, PlanStep, Tool, ToolStatus};
use convoke_core::message::Role;
use convoke_core::notice::{AgentEvent, Notice};
use convoke_core::time::Timestamp;
use convoke_core::title;
use serde::{Deserialize, Serialize};

use crate::item::{Batch, BrokenLine, Identity, Item, Tally, Tokens, UnknownLine};
use crate::vibe::unified;
use crate::{claude, codex};

pub(crate) use tools::{Call, Outcome};

/// Messages and bytes of a batch; one that is reached ends it.
const BATCH_ITEMS: usize = 2048;
const BATCH_BYTES: u64 = 1 << 20;
/// Lines up to this length cannot make a message too long, even if it consists of several.
const SHORT_BYTES: u64 = 64 << 10;
/// Ids that are remembered so that their usage is counted once.
const COUNTED_MAX: usize = 512;
/// How much of an unknown line is stored.
const UNKNOWN_BYTES_MAX: usize = 64 << 10;

/// The state between two lines, and between two readings of a growing file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub identity: Identity,
    pub tally: Tally,
    /// How good the title is.
    #[serde(default)]
    pub titled: Titled,
    /// Calls without a result that were returned already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    open: Vec<OpenCall>,
    /// Hashes of calls that have their result, the newest last; agents write some of them twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    settled: Vec<u64>,
    /// Hashes of ids whose usage is included in the totals, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counted: Vec<u64>,
    /// The state of the parser for Claude's lines.
    #[serde(default, skip_serializing_if = "is_default")]
    pub claude: claude::Notes,
    /// The state of the parser for Codex's lines.
    #[serde(default, skip_serializing_if = "is_default")]
    pub codex: codex::Notes,
    /// The state of the parser for Vibe's journals.
    #[serde(default, skip_serializing_if = "is_default")]
    pub vibe: unified::Notes,
    /// The id of the last line, for formats whose lines form a chain.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub last: String,
}

/// Where a title comes from, the worst first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Titled {
    /// There is none.
    #[default]
    Not,
    /// The first prompt.
    ByPrompt,
    /// The agent.
    ByAgent,
    /// The user.
    ByUser,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct OpenCall {
    at: Option<Timestamp>,
    tool: Tool,
}

/// The conversation that is being read.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    pub state: State,
    /// The number of the line that is being read, and where it begins.
    pub line: u64,
    pub offset: u64,
    /// The length of the line. A short line needs no further bound.
    line_bytes: u64,
    batch: Batch,
    /// Bytes of the lines of this batch.
    bytes: u64,
    places: HashMap<String, usize>,
}

impl Assembly {
    pub(crate) fn new(state: State) -> Self {
        Self { state, ..Self::default() }
    }

    /// The next line, or row, is about to be read.
    pub(crate) const fn begin_line(&mut self, line: u64, offset: u64, bytes: u64) {
        (self.line, self.offset, self.line_bytes) = (line, offset, bytes);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Whether all messages of this line are within the bounds of a message.
    const fn is_short(&self) -> bool {
        self.line_bytes <= SHORT_BYTES
    }

    /// A key for an item of this line without an id of its own.
    pub(crate) fn line_key(&self) -> String {
        format!("at/{}", self.offset)
    }

    /// Whether something with this id is met for the first time; the last few hundred are remembered.
    pub(crate) fn is_first(&mut self, id: &str) -> bool {
        let id = digest(id.as_bytes());
        if self.state.counted.contains(&id) {
            return false;
        }
        if self.state.counted.len() >= COUNTED_MAX {
            self.state.counted.drain(..COUNTED_MAX / 2);
        }
        self.state.counted.push(id);
        true
    }

    /// Tokens of one more request.
    pub(crate) fn used(&mut self, tokens: Tokens) {
        let identity = &mut self.state.identity;
        identity.tokens.add(tokens);
        let read = tokens.input + tokens.cache_read + tokens.cache_write;
        identity.usage.input_tokens = Some(read);
        identity.usage.output_tokens = Some(tokens.output);
        identity.usage.context_used = Some(read + tokens.output);
    }

    /// Whether the batch is large enough to be returned.
    pub(crate) fn is_full(&self) -> bool {
        self.batch.items.len() >= BATCH_ITEMS || self.bytes >= BATCH_BYTES
    }

    /// Takes the batch so far. Open calls are stored, so that later results find them.
    pub(crate) fn take(&mut self) -> Batch {
        let batch = mem::take(&mut self.batch);
        self.bytes = 0;
        self.places.clear();
        for item in &batch.items {
            if let Content::Tool(tool) = &item.content
                && tool.status == ToolStatus::Running
            {
                self.remember_open(item.at, tool);
            }
        }
        batch
    }

    /// Adds a prompt of the user.
    pub(crate) fn prompt(&mut self, key: &str, text: &str, at: Option<Timestamp>) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if self.state.titled == Titled::Not {
            let line = text.lines().next().unwrap_or(text);
            self.title(title::from_prompt(line), Titled::ByPrompt);
        }
        self.words(key, Role::User, text, at, Content::text);
    }

    /// Adds an answer of the agent.
    pub(crate) fn answer(&mut self, key: &str, text: &str, at: Option<Timestamp>) {
        self.words(key, Role::Agent, text, at, Content::text);
    }

    /// Adds a thought of the agent.
    pub(crate) fn thought(&mut self, key: &str, text: &str, at: Option<Timestamp>) {
        self.words(key, Role::Agent, text, at, |text| Content::Thinking { text, partial: false });
    }

    /// Adds a plan of the agent.
    pub(crate) fn plan(&mut self, key: &str, steps: Vec<PlanStep>, at: Option<Timestamp>) {
        if !steps.is_empty() {
            self.put(key.to_owned(), Role::System, Content::Plan { steps }.bounded(), at);
        }
    }

    /// Adds a compaction; `summary` is the context with which the agent continued.
    pub(crate) fn compacted(&mut self, key: &str, summary: &str, at: Option<Timestamp>) {
        let notice = match summary.trim() {
            "" => Notice::new(AgentEvent::Compacted),
            summary => Notice::worded(AgentEvent::Compacted, clip(summary, MESSAGE_BYTES_MAX / 4)),
        };
        self.put(key.to_owned(), Role::System, Content::Notice(notice), at);
    }

    /// Adds a notice of the agent to its user.
    pub(crate) fn advice(&mut self, key: &str, severity: &str, text: &str, at: Option<Timestamp>) {
        if !text.trim().is_empty() {
            let event = AgentEvent::Advice { severity: severity.to_owned() };
            let notice = Notice::worded(event, clip(text.trim(), MESSAGE_BYTES_MAX / 4));
            self.put(key.to_owned(), Role::System, Content::Notice(notice), at);
        }
    }

    /// Adds a rewind: the conversation continued from an earlier point, and the messages since are
    /// no longer part of it.
    pub(crate) fn rewound(&mut self, at: Option<Timestamp>) {
        let text = "The conversation went back to an earlier message and goes on from there";
        self.advice(&self.line_key(), "info", text, at);
    }

    /// A line of an unknown kind.
    pub(crate) fn unknown(&mut self, kind: &str, line: &[u8]) {
        self.state.tally.unknown += 1;
        let json = String::from_utf8_lossy(line.get(..UNKNOWN_BYTES_MAX).unwrap_or(line));
        let (kind, json) = (kind.to_owned(), json.into_owned());
        self.batch.unknown.push(UnknownLine { kind, line: self.line, json });
    }

    /// A line that cannot be read.
    pub(crate) fn broken(&mut self, line: BrokenLine) {
        self.state.tally.add_broken(line);
    }

    /// A title, unless there is a better one.
    pub(crate) fn title(&mut self, title: impl Into<String>, titled: Titled) {
        let title: String = title.into();
        let title = title.trim();
        if !title.is_empty() && titled >= self.state.titled {
            self.state.identity.title = Some(clip(title, TITLE_BYTES_MAX));
            self.state.titled = titled;
        }
    }

    /// Something happened at this time.
    pub(crate) fn seen_at(&mut self, at: Option<Timestamp>) {
        let identity = &mut self.state.identity;
        identity.created_at = earlier(identity.created_at, at);
        identity.updated_at = identity.updated_at.max(at);
    }

    /// The folder in which the agent works, unless it is known.
    pub(crate) fn cwd(&mut self, cwd: &str) {
        if self.state.identity.cwd.is_none() && !cwd.is_empty() {
            self.state.identity.cwd = Some(cwd.to_owned());
        }
    }

    /// The model that answers from here on.
    pub(crate) fn model(&mut self, model: &str) {
        if !model.is_empty() && self.state.identity.model.as_deref() != Some(model) {
            self.state.identity.model = Some(model.to_owned());
        }
    }

    fn words(
        &mut self,
        key: &str,
        role: Role,
        text: &str,
        at: Option<Timestamp>,
        content: impl Fn(String) -> Content,
    ) {
        if text.trim().is_empty() {
            return;
        }
        let bytes_max = if role == Role::User { PROMPT_BYTES_MAX } else { WORDS_BYTES_MAX };
        let mut rest = text;
        let mut piece = 0;
        while !rest.is_empty() {
            let (words, later) = rest.split_at(rest.floor_char_boundary(bytes_max));
            let key = if piece == 0 { key.to_owned() } else { format!("{key}/{piece}") };
            self.put(key, role, content(words.to_owned()), at);
            (rest, piece) = (later, piece + 1);
        }
    }

    /// Adds a message, or replaces the one with its key.
    fn put(&mut self, key: String, role: Role, content: Content, at: Option<Timestamp>) {
        self.seen_at(at);
        // A line without an id is identified by its position.
        let key = match key.strip_prefix('/') {
            Some(rest) => format!("{}/{rest}", self.line_key()),
            None if key.is_empty() => self.line_key(),
            None => key,
        };
        if let Some(item) = self.places.get(&key).and_then(|place| self.batch.items.get_mut(*place))
        {
            item.content = content;
            item.updated_at = item.updated_at.max(at);
            return;
        }
        self.places.insert(key.clone(), self.batch.items.len());
        self.batch.items.push(Item { key, at, updated_at: at, role, content });
    }
}

/// The longest title.
const TITLE_BYTES_MAX: usize = 400;

fn earlier(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// A hash that stays the same across versions and machines; FNV-1a.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
