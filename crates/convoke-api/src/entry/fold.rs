//! How messages become entries. Deterministic, and bounded by what is open: closed entries are given away.

use std::collections::{BTreeMap, VecDeque};

use convoke_core::bounds::{WORDS_BYTES_MAX, json_bytes};
use convoke_core::content::{Content, PlanStep, Tool, ToolResult, ToolStatus};
use convoke_core::id::RequestId;
use convoke_core::message::{Message, Role, Seq};
use convoke_core::notice::{Event, Notice};
use convoke_core::request::Status;
use convoke_core::time::Timestamp;
use convoke_core::turn::Stop;

use super::{
    Entry, EntryBody, Permission, PromptState, Prompted, QuestionSet, Standing, ToolCall, Words,
};

/// Open tool calls that are remembered; beyond that the first one is forgotten, and stays as it was last shown.
const TOOLS_MAX: usize = 1024;
/// The longest open tool call that is remembered whole; of a longer one only the names are.
const TOOL_BYTES_MAX: usize = 2 << 10;

/// What a message changes in the list of entries.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Put the entry in place of the one with its name, or at the end.
    Upsert(Box<Entry>),
    /// Append words to an entry.
    Append {
        /// Its name.
        entry_id: String,
        /// The words.
        content: String,
    },
    /// A turn has ended; nothing changes in the list.
    Completed {
        /// The name of the entry of its prompt.
        entry_id: String,
        /// How it ended.
        stop: Stop,
    },
    /// Somebody asked to stop the running turn; nothing changes in the list.
    Cancelling {
        /// The name of the entry of its prompt.
        entry_id: String,
    },
}

/// Folds a log into entries, one message at a time.
///
/// It begins with a log, or at a [`cut`](super::cut()) of it with what was unsettled there.
#[derive(Debug, Clone, Default)]
pub struct Fold {
    running: Option<Running>,
    queue: VecDeque<Entry>,
    /// The words that may go on.
    words: Option<Entry>,
    /// Open tool calls, by the agent's id of them.
    tools: BTreeMap<String, Entry>,
    plan: Option<Place>,
    waiting: Option<Place>,
    /// Pending requests; the core allows for a few dozen.
    requests: Vec<Asked>,
    standing: Standing,
}

/// The prompt that the agent works on.
#[derive(Debug, Clone)]
struct Running {
    /// The place where it was said, which names its turn.
    turn: Seq,
    /// As it is shown: one that waited stands where its turn began.
    prompt: Entry,
}

/// Where an entry began that is replaced as a whole.
#[derive(Debug, Clone)]
struct Place {
    entry_id: String,
    seq: Seq,
    timestamp: Timestamp,
}

/// A pending request.
#[derive(Debug, Clone)]
struct Asked {
    id: RequestId,
    place: Place,
    /// The tool that needs it: the call may be over before the request is.
    tool: Option<String>,
}

/// Which words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Text,
    Thinking,
}

impl Fold {
    /// A fold that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A fold that begins at a cut and knows how things stood there.
    pub fn with_standing(standing: Standing) -> Self {
        Self { standing, ..Self::default() }
    }

    /// How things stand.
    pub const fn standing(&self) -> &Standing {
        &self.standing
    }

    /// The prompt that the agent works on, by the name of its entry.
    pub fn running(&self) -> Option<&str> {
        self.running.as_ref().map(|running| running.prompt.entry_id.as_str())
    }

    /// The prompts that wait, by the names of their entries.
    pub fn queue(&self) -> impl ExactSizeIterator<Item = &str> {
        self.queue.iter().map(|entry| entry.entry_id.as_str())
    }

    /// Takes the next message of the log; gives what it changes, in order.
    pub fn apply(&mut self, message: &Message) -> Vec<Change> {
        let mut changes = Vec::new();
        if let Some(entry) = self.standing.apply(message) {
            changes.push(Change::upsert(entry));
            return changes;
        }
        match &message.content {
            Content::Text { text, .. } if message.role == Role::User => {
                self.prompted(text, message, &mut changes);
            }
            Content::Text { text, partial } => {
                let partial = partial.unwrap_or_default();
                self.said(Stream::Text, &Piece { text, partial, message }, &mut changes);
            }
            Content::Thinking { text, partial } => {
                let piece = Piece { text, partial: *partial, message };
                self.said(Stream::Thinking, &piece, &mut changes);
            }
            Content::Plan { steps } => changes.push(self.planned(steps, message)),
            Content::Tool(tool) => changes.push(self.called(tool, message)),
            Content::Permission(record) => {
                let body = EntryBody::Permission(Permission::from(record));
                changes.push(self.asked(record.request_id, record.state.status(), body, message));
            }
            Content::Question(record) => {
                let body = EntryBody::Question(QuestionSet::from(record));
                changes.push(self.asked(record.request_id, record.state.status(), body, message));
            }
            Content::Notice(notice) => self.noticed(notice, message, &mut changes),
            // The standing entries have taken it.
            Content::Usage(_) => {}
        }
        changes
    }

    fn prompted(&mut self, text: &str, message: &Message, changes: &mut Vec<Change>) {
        let state = match self.running {
            None => PromptState::Running,
            Some(_) => PromptState::Queued,
        };
        let body = EntryBody::User(Prompted { content: text.to_owned(), html: None, state });
        let entry = Place::of(message).entry(body);
        if state == PromptState::Running {
            self.close(changes);
            self.running = Some(Running { turn: message.seq, prompt: entry.clone() });
        } else {
            self.queue.push_back(entry.clone());
        }
        changes.push(Change::upsert(entry));
    }

    fn said(&mut self, stream: Stream, piece: &Piece<'_>, changes: &mut Vec<Change>) {
        let must_close =
            |open: &Entry| stream_of(open) != Some(stream) || !has_room(open, piece.text.len());
        if self.words.as_ref().is_some_and(must_close) {
            self.close_words(changes);
        }
        let text = piece.text;
        match &mut self.words {
            Some(open) => {
                if !text.is_empty() {
                    words_mut(open, |words| words.content.push_str(text));
                    let entry_id = open.entry_id.clone();
                    changes.push(Change::Append { entry_id, content: text.to_owned() });
                }
                if !piece.partial {
                    self.close_words(changes);
                }
            }
            // The end of words that were empty, or that a closed entry has.
            None if text.is_empty() && !piece.partial => {}
            None => {
                let content = text.to_owned();
                let words = Words { content, html: None, partial: piece.partial };
                let entry = Place::of(piece.message).entry(match stream {
                    Stream::Text => EntryBody::Assistant(words),
                    Stream::Thinking => EntryBody::Thinking(words),
                });
                changes.push(Change::upsert(entry.clone()));
                self.words = Some(entry).filter(|_| piece.partial);
            }
        }
    }

    fn planned(&mut self, steps: &[PlanStep], message: &Message) -> Change {
        let entry_id = format!("p{}", self.turn_or(message));
        let place = self.plan.get_or_insert_with(|| Place::named(entry_id, message));
        Change::upsert(place.clone().entry(EntryBody::Plan { steps: steps.to_vec() }))
    }

    fn called(&mut self, tool: &Tool, message: &Message) -> Change {
        let id = &tool.tool_call_id;
        let place = match self.tools.remove(id) {
            Some(Entry { entry_id, seq, timestamp, .. }) => Place { entry_id, seq, timestamp },
            None => Place::named(format!("t{}-{id}", self.turn_or(message)), message),
        };
        let entry = place.entry(EntryBody::ToolCall(ToolCall::from(tool)));
        match tool.status {
            ToolStatus::Running => {
                if self.tools.len() >= TOOLS_MAX {
                    self.tools.pop_first();
                }
                self.tools.insert(id.clone(), remembered(&entry, tool));
            }
            ToolStatus::Complete | ToolStatus::Error => {}
        }
        Change::upsert(entry)
    }

    fn asked(
        &mut self,
        id: RequestId,
        status: Status,
        mut body: EntryBody,
        message: &Message,
    ) -> Change {
        let known = self.requests.iter().position(|asked| asked.id == id);
        let asked = match known {
            Some(at) => self.requests.remove(at),
            None => {
                let place = Place::named(format!("r{id}"), message);
                Asked { id, place, tool: self.tool_behind(&body) }
            }
        };
        if let EntryBody::Permission(permission) = &mut body {
            permission.tool = permission.tool.take().or_else(|| asked.tool.clone());
        }
        let entry = asked.place.clone().entry(body);
        if status == Status::Pending {
            self.requests.push(asked);
        }
        Change::upsert(entry)
    }

    fn noticed(&mut self, notice: &Notice, message: &Message, changes: &mut Vec<Change>) {
        let place = match &notice.event {
            Event::TurnEnded { turn, stop } => {
                return self.ended(*turn, stop, notice, message, changes);
            }
            Event::CancelAsked { turn } => {
                changes.push(Change::Cancelling { entry_id: prompt_id(*turn) });
                return;
            }
            // A queue that moves up is one thing to see, not a thing for every step.
            Event::Waiting { .. } => {
                let entry_id = format!("w{}", self.turn_or(message));
                self.waiting.get_or_insert_with(|| Place::named(entry_id, message)).clone()
            }
            Event::Resumed { .. }
            | Event::ProcessExited { .. }
            | Event::TurnLimit { .. }
            | Event::Compacted
            | Event::Completed { .. }
            | Event::Cancelled { .. }
            | Event::Failed { .. }
            | Event::Reopened
            | Event::Renamed { .. }
            | Event::Archived
            | Event::Unarchived
            | Event::Commands { .. }
            | Event::Modes { .. }
            | Event::Settings { .. }
            | Event::Unconfined
            | Event::RuleMade { .. }
            | Event::RuleApplied { .. }
            | Event::RuleDropped { .. }
            | Event::Continues { .. }
            | Event::ContinuedIn { .. }
            | Event::Imported { .. }
            | Event::Advice { .. }
            | Event::Unknown { .. } => Place::of(message),
        };
        changes.push(Change::upsert(place.entry(EntryBody::Notice(notice.clone()))));
    }

    fn ended(
        &mut self,
        turn: Seq,
        stop: &Stop,
        notice: &Notice,
        message: &Message,
        changes: &mut Vec<Change>,
    ) {
        let was_running = self.running.as_ref().is_some_and(|running| running.turn == turn);
        let prompt = if was_running {
            self.close(changes);
            self.running.take().map(|running| running.prompt)
        } else {
            let waiting = self.queue.iter().position(|entry| entry.seq == turn);
            waiting.and_then(|at| self.queue.remove(at)).map(|entry| moved(entry, message))
        };
        changes.extend(prompt.map(|entry| Change::upsert(in_state(entry, PromptState::Done))));
        // That a turn ended well shows by itself.
        if *stop != Stop::EndTurn {
            let entry = Place::of(message).entry(EntryBody::Notice(notice.clone()));
            changes.push(Change::upsert(entry));
        }
        changes.push(Change::Completed { entry_id: prompt_id(turn), stop: stop.clone() });
        if was_running && let Some(next) = self.queue.pop_front() {
            let turn = next.seq;
            let prompt = in_state(moved(next, message), PromptState::Running);
            changes.push(Change::upsert(prompt.clone()));
            self.running = Some(Running { turn, prompt });
        }
    }

    /// Closes what belongs to one turn, when it ends and when the next begins.
    ///
    /// The core closes what is open before it ends a turn; what is left is of an agent that works between turns.
    fn close(&mut self, changes: &mut Vec<Change>) {
        self.close_words(changes);
        for (_, mut entry) in std::mem::take(&mut self.tools) {
            if let EntryBody::ToolCall(call) = &mut entry.body {
                call.status = ToolStatus::Error;
                call.error = Some("the turn ended before the tool did".to_owned());
            }
            changes.push(Change::upsert(entry));
        }
        self.plan = None;
        self.waiting = None;
    }

    fn close_words(&mut self, changes: &mut Vec<Change>) {
        if let Some(mut entry) = self.words.take() {
            words_mut(&mut entry, |words| words.partial = false);
            changes.push(Change::upsert(entry));
        }
    }

    /// What the names of a turn's entries hold: its place, or between turns that of the message.
    fn turn_or(&self, message: &Message) -> Seq {
        self.running.as_ref().map_or(message.seq, |running| running.turn)
    }

    fn tool_behind(&self, body: &EntryBody) -> Option<String> {
        let EntryBody::Permission(permission) = body else { return None };
        let call = self.tools.get(permission.tool_call_id.as_deref()?)?;
        let EntryBody::ToolCall(call) = &call.body else { return None };
        Some(call.name.clone())
    }
}

/// A piece of words.
struct Piece<'a> {
    text: &'a str,
    partial: bool,
    message: &'a Message,
}

impl Change {
    fn upsert(entry: Entry) -> Self {
        Self::Upsert(Box::new(entry))
    }
}

impl Place {
    fn of(message: &Message) -> Self {
        Self::named(prompt_id(message.seq), message)
    }

    fn named(entry_id: String, message: &Message) -> Self {
        Self { entry_id, seq: message.seq, timestamp: message.timestamp }
    }

    fn entry(self, body: EntryBody) -> Entry {
        Entry { entry_id: self.entry_id, seq: self.seq, timestamp: self.timestamp, body }
    }
}

impl From<&Tool> for ToolCall {
    fn from(tool: &Tool) -> Self {
        let ToolResult { text, diffs, error } = tool.result.clone().unwrap_or_default();
        Self {
            tool_call_id: tool.tool_call_id.clone(),
            name: tool.tool.clone(),
            title: tool.title.clone(),
            kind: tool.kind.clone(),
            status: tool.status,
            args: tool.args.clone(),
            result: text,
            diffs,
            error,
        }
    }
}

/// The name of the entry of the prompt at this place, as of anything that a single message tells.
pub fn prompt_id(seq: Seq) -> String {
    format!("m{seq}")
}

/// An entry that leaves the queue: it stands where that happened, below what was said while it waited.
fn moved(entry: Entry, to: &Message) -> Entry {
    Entry { seq: to.seq, timestamp: to.timestamp, ..entry }
}

fn in_state(mut entry: Entry, state: PromptState) -> Entry {
    if let EntryBody::User(prompted) = &mut entry.body {
        prompted.state = state;
    }
    entry
}

fn stream_of(entry: &Entry) -> Option<Stream> {
    match &entry.body {
        EntryBody::Assistant(_) => Some(Stream::Text),
        EntryBody::Thinking(_) => Some(Stream::Thinking),
        EntryBody::User(_)
        | EntryBody::ToolCall(_)
        | EntryBody::Plan { .. }
        | EntryBody::Permission(_)
        | EntryBody::Question(_)
        | EntryBody::Notice(_)
        | EntryBody::Commands { .. }
        | EntryBody::Modes { .. }
        | EntryBody::Settings { .. }
        | EntryBody::Usage(_) => None,
    }
}

/// Whether words can go on in an entry. The session begins a new run of words early enough, but logs of older versions
/// hold longer ones.
fn has_room(entry: &Entry, bytes: usize) -> bool {
    match &entry.body {
        EntryBody::Assistant(words) | EntryBody::Thinking(words) => {
            words.content.len() + bytes <= WORDS_BYTES_MAX
        }
        EntryBody::User(_)
        | EntryBody::ToolCall(_)
        | EntryBody::Plan { .. }
        | EntryBody::Permission(_)
        | EntryBody::Question(_)
        | EntryBody::Notice(_)
        | EntryBody::Commands { .. }
        | EntryBody::Modes { .. }
        | EntryBody::Settings { .. }
        | EntryBody::Usage(_) => true,
    }
}

/// What is remembered of an open tool call, in case that the agent never closes it.
fn remembered(entry: &Entry, tool: &Tool) -> Entry {
    let mut entry = entry.clone();
    if json_bytes(tool) > TOOL_BYTES_MAX
        && let EntryBody::ToolCall(call) = &mut entry.body
    {
        call.args = serde_json::Value::Null;
        call.result = None;
        call.diffs = Vec::new();
        call.error = None;
    }
    entry
}

fn words_mut(entry: &mut Entry, change: impl FnOnce(&mut Words)) {
    if let EntryBody::Assistant(words) | EntryBody::Thinking(words) = &mut entry.body {
        change(words);
    }
}
