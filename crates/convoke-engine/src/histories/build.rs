//! Builds sessions from conversations of other programs.

use std::path::{Path, PathBuf};

use convoke_core::content::{Content, ToolStatus, Usage};
use convoke_core::id::{MessageId, ProjectId, SessionId};
use convoke_core::message::{Draft, Role};
use convoke_core::notice::{AgentEvent, LifecycleEvent, Notice};
use convoke_core::session::{Change, Session};
use convoke_core::state::SessionState;
use convoke_core::time::Timestamp;
use convoke_core::turn::{Stop, Turn};
use convoke_core::update::{OpenMessages, Update, UpdateStamp};
use convoke_histories::{Batch, History, Identity, Item, Reader, UnknownLine};
use convoke_store::{FoundProject, HistoryMark, HistoryRecord, NewHistorySession};
use serde_json::Value;

use super::scan::Changed;
use super::{GrownItem, HistoryGrowth};
use crate::sessions::import::fingerprint;

/// A conversation that has not changed for this long is not waiting for the result of a tool.
const TOOL_TIMEOUT_MS: i64 = 5 * 60 * 1000;

/// The next part of a conversation.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    items: Vec<Item>,
    unknown: Vec<UnknownLine>,
    pub(super) is_last: bool,
}

impl Chunk {
    /// Reads one batch of the reader, a mebibyte, which is stored in one change. A larger one would
    /// need more memory.
    pub(super) fn read(reader: &mut Reader) -> convoke_histories::Result<Self> {
        let batch = reader.next_batch()?;
        // Most conversations are read whole at once, and stored together with others.
        let is_last = reader.is_over();
        let Batch { items, unknown } = batch.unwrap_or_default();
        Ok(Self { items, unknown, is_last })
    }

    /// Whether it has a message of the user or the agent.
    pub(super) fn has_words(&self) -> bool {
        self.items.iter().any(|item| item.role != Role::System)
    }

    pub(super) const fn unknown_lines(&self) -> u64 {
        self.unknown.len() as u64
    }

    /// The messages of a session. Their ids are derived from the conversation, so that they are the
    /// same whenever it is read.
    fn grown(self, session: SessionId, is_waiting: bool, now: Timestamp) -> Vec<GrownItem> {
        let mut items: Vec<GrownItem> = self
            .items
            .into_iter()
            .map(|item| {
                let Item { key, at, role, mut content, .. } = item;
                if let Content::Tool(tool) = &mut content
                    && tool.status == ToolStatus::Running
                    && !is_waiting
                {
                    tool.status = ToolStatus::Error;
                }
                let turn = (role == Role::User).then_some(Turn::Ended(Stop::EndTurn));
                let id = Some(message_id(session, &key));
                let at = at.map(|at| plausible(at, now));
                GrownItem { draft: Draft { id, role, content, turn }, at }
            })
            .collect();
        items.extend(self.unknown.into_iter().map(|line| {
            let key = format!("unknown/{}", line.line);
            let payload = serde_json::from_str(&line.json).unwrap_or(Value::String(line.json));
            let notice = Notice::new(AgentEvent::Unknown { kind: line.kind, payload });
            let draft = Draft { id: Some(message_id(session, &key)), ..Draft::system(notice) };
            GrownItem { draft, at: None }
        }));
        items
    }
}

/// The time nearest to one from a file that can be true. Messages of the future would stay the newest
/// for ever, and all later messages of their session would get the same time.
fn plausible(at: Timestamp, now: Timestamp) -> Timestamp {
    at.min(now).max(Timestamp::from_millis(0))
}

fn message_id(session: SessionId, key: &str) -> MessageId {
    let bytes = [session.as_bytes().as_slice(), key.as_bytes()].concat();
    MessageId::from_random(fingerprint(&bytes).to_be_bytes())
}

/// The mark of a conversation that is read up to a cursor, but not to its end. It has no stamp, so
/// that the next scan finds the conversation changed and continues at the cursor if this import is
/// interrupted.
pub(super) fn mark_part(changed: &Changed, cursor: &convoke_histories::Cursor) -> HistoryMark {
    HistoryMark { stamp: String::new(), ..mark(changed, cursor) }
}

/// The mark of a conversation that was read to its end.
pub(super) fn mark(changed: &Changed, cursor: &convoke_histories::Cursor) -> HistoryMark {
    let Identity { id, parent, tokens, .. } = cursor.identity();
    let id = if id.is_empty() { &changed.history.path } else { id };
    let read = tokens.input.saturating_add(tokens.cache_read).saturating_add(tokens.cache_write);
    HistoryMark {
        key: changed.key.clone(),
        agent_session_id: id.clone(),
        parent: parent.clone(),
        stamp: changed.stamp.clone(),
        cursor: serde_json::to_string(cursor).unwrap_or_default(),
        input_tokens: read,
        output_tokens: tokens.output,
    }
}

/// The current time and the source of randomness of an import.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImportContext {
    pub(super) now: Timestamp,
    pub(super) random: fn() -> [u8; 16],
}

/// The new session of a conversation, with its first chunk.
pub(super) fn record(
    changed: &Changed,
    identity: &Identity,
    chunk: Chunk,
    mark: HistoryMark,
    replaces: Option<SessionId>,
    context: ImportContext,
) -> HistoryRecord {
    let ImportContext { now, random } = context;
    let id = SessionId::from_random(random());
    let changed_at = changed.history.stamp.changed_at();
    let first = chunk.items.iter().find_map(|item| item.at);
    let created_at = identity.created_at.or(first).or(changed_at).unwrap_or(now);
    let created_at = plausible(created_at, now);
    let mut building = Building::new(id, created_at);
    let notice = Notice::new(LifecycleEvent::ImportedFrom {
        agent: changed.history.agent.name().to_owned(),
        file: changed.history.file().display().to_string(),
        before: replaces,
        parent: identity.parent.clone(),
    });
    let draft = Draft { id: Some(message_id(id, "")), ..Draft::system(notice) };
    building.begin(draft, Some(created_at));
    for GrownItem { draft, at } in chunk.grown(id, is_waiting(&changed.history, now), now) {
        building.begin(draft, at);
    }
    if let Some(usage) = usage_of(identity) {
        building.change(Change::State(SessionState::Usage(usage)), created_at);
    }
    let active_at = plausible(identity.updated_at.or(changed_at).unwrap_or(created_at), now);
    building.change(Change::Described { title: identity.title.clone(), active_at }, active_at);
    let project = project_of(changed, identity, context);
    let Building { session, updates, .. } = building;
    let summary = session.summary().clone();
    let session = NewHistorySession { id, created_at, project, updates, summary };
    HistoryRecord { mark, session, replaces }
}

/// The next chunk of a conversation that has a session already.
pub(super) fn growth(
    changed: &Changed,
    session: SessionId,
    identity: &Identity,
    chunk: Chunk,
    mark: HistoryMark,
    now: Timestamp,
) -> HistoryGrowth {
    let active_at = identity.updated_at.or(changed.history.stamp.changed_at()).unwrap_or(now);
    HistoryGrowth {
        items: chunk.grown(session, is_waiting(&changed.history, now), now),
        mark,
        title: identity.title.clone(),
        usage: usage_of(identity),
        active_at: plausible(active_at, now),
    }
}

fn usage_of(identity: &Identity) -> Option<Usage> {
    (identity.usage != Usage::default()).then(|| identity.usage.clone())
}

/// Whether results of running tools may still be appended.
fn is_waiting(history: &History, now: Timestamp) -> bool {
    let changed = history.stamp.changed_at();
    changed.is_some_and(|changed| now.millis_since(changed) < TOOL_TIMEOUT_MS)
}

/// The project of the folder in which the agent worked; the folder of the store if that is unknown.
fn project_of(changed: &Changed, identity: &Identity, context: ImportContext) -> FoundProject {
    let cwd = identity.cwd.as_deref().map(Path::new).filter(|path| path.is_absolute());
    let path = cwd.unwrap_or(&changed.history.root);
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let path = if path.to_str().is_some() { path } else { PathBuf::from("/") };
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("/").to_owned();
    let id = ProjectId::from_random((context.random)());
    FoundProject { id, name, path, found_at: context.now }
}

/// A session that is being made.
struct Building {
    id: SessionId,
    session: Session,
    open: OpenMessages,
    updates: Vec<Update>,
}

impl Building {
    fn new(id: SessionId, created_at: Timestamp) -> Self {
        let session = Session::new(created_at);
        Self { id, session, open: OpenMessages::default(), updates: Vec::new() }
    }

    fn begin(&mut self, draft: Draft, at: Option<Timestamp>) {
        let last = self.session.summary().updated_at;
        self.change(Change::Begin(draft), at.unwrap_or(last).max(last));
    }

    fn change(&mut self, change: Change, at: Timestamp) {
        let at = at.max(self.session.summary().updated_at);
        self.session.apply(&change, at);
        let summary = self.session.summary();
        let stamp = UpdateStamp {
            session_id: self.id,
            // Every message has its own already.
            id: MessageId::from_random(*self.id.as_bytes()),
            seq: summary.last_seq,
            rev: summary.rev,
            at,
        };
        self.updates.extend(self.open.apply(change, stamp));
    }
}
