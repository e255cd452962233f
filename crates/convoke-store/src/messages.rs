//! A session's messages, page by page, and what changed in it after a revision.
//!
//! Each page is read in one transaction, so that a message is never seen between its deltas and its
//! whole text. A message that cannot be parsed is skipped and logged, so that it does not hide the
//! others.

use std::sync::Arc;

use convoke_core::content::Content;
use convoke_core::id::{MessageId, SessionId};
use convoke_core::message::{Message, Rev, Seq};
use convoke_core::state::SessionState;
use convoke_core::time::Timestamp;
use convoke_core::turn::{Stop, Turn};
use convoke_core::update::{Update, append};
use serde::Deserialize;

use crate::db::{Db, Params, Row, SqlResult, params};
use crate::error::{Error, Fault, Result};
use crate::row;
use crate::store::Store;
use crate::write::generation::RecordBoot;
use crate::write::record::{ROLES, role_word};
use crate::write::sessions::number;

/// Messages in one page; a larger limit is cut to this, and `more` is set.
const PAGE_MESSAGES_MAX: u32 = 1000;
/// Bytes of content in one page, which ends before the message that would exceed them unless it is the first.
const PAGE_BYTES_MAX: usize = 256 * 1024;

/// Messages of a page that is read faster than the work is handed to another thread.
const READ_HERE_MAX: u32 = 20;
/// Bytes of such a page.
const READ_HERE_BYTES_MAX: i64 = 32 * 1024;

/// Open messages that are read besides the newest; a session has a few dozen.
const OPEN_MAX: u32 = 200;

/// Some messages of one session, by place.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagePage {
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// Whether there are more in the direction of reading.
    pub more: bool,
}

/// What changed in a session after a revision.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdatePage {
    /// Changed messages, whole, and changed state, by revision.
    pub updates: Vec<Update>,
    /// The revision up to which the page has everything.
    pub rev: Rev,
    /// Whether there is more after it.
    pub more: bool,
}

/// The state from which a reader begins to follow a session, at one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Open messages that are older than the newest ones, and then the newest, by place.
    pub messages: Vec<Message>,
    /// Whether there are older ones.
    pub more: bool,
    /// All state.
    pub state: Vec<(Rev, SessionState)>,
    /// The revision.
    pub rev: Rev,
}

impl Store {
    /// Reads the newest messages of a session, those that are open, and its state, as of one revision.
    pub async fn snapshot(
        &self,
        session: SessionId,
        limit: u32,
        bytes_max: usize,
    ) -> Result<Snapshot> {
        self.read_session(session, move |db, n| {
            let mut messages = Vec::new();
            let (mut bytes, mut before, mut more) = (0, u64::MAX >> 1, true);
            while more && bytes < bytes_max && messages.len() < limit as usize {
                let left = limit - u32::try_from(messages.len()).unwrap_or(limit);
                let sql =
                    format!("{SELECT} WHERE session = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3");
                let page = collect(db, session, n, &sql, params![n, before, left + 1], Some(left))?;
                more = page.more && page.last_seq.is_some();
                before = page.last_seq.map_or(before, Seq::get);
                for message in page.messages {
                    bytes += message.content.bytes();
                    messages.push(message);
                }
            }
            let sql = format!(
                "{SELECT} WHERE session = ?1 AND open = 1 AND seq < ?2
                 ORDER BY seq DESC LIMIT ?3"
            );
            let older = collect(db, session, n, &sql, params![n, before, OPEN_MAX], None)?;
            messages.extend(older.messages);
            messages.reverse();
            let state = states(db, session, n, Rev::START)?;
            let rev: u64 = db
                .prepare_cached("SELECT rev FROM agent_sessions WHERE n = ?1")?
                .query_row([n], |row| row.get(0))?;
            Ok(Snapshot { messages, more, state, rev: Rev::new(rev) })
        })
        .await
    }

    /// Reads the messages after a place; `Seq::START` is before the first.
    pub async fn messages(
        &self,
        session: SessionId,
        after: Seq,
        limit: u32,
    ) -> Result<MessagePage> {
        let limit = limit.min(PAGE_MESSAGES_MAX);
        if limit <= READ_HERE_MAX {
            let read = move |db: Db<'_>, n| match is_small(db, n, after, limit)? {
                true => page_after(db, session, n, after, limit).map(Some),
                false => Ok(None),
            };
            if let Some(page) = self.read(of_session(session, read)).await? {
                return Ok(page);
            }
        }
        self.read_session(session, move |db, n| page_after(db, session, n, after, limit)).await
    }

    /// Reads the messages just before a place, oldest first; `more` are those before them.
    pub async fn messages_before(
        &self,
        session: SessionId,
        before: Seq,
        limit: u32,
    ) -> Result<MessagePage> {
        let limit = limit.min(PAGE_MESSAGES_MAX);
        self.read_session(session, move |db, n| {
            let sql =
                format!("{SELECT} WHERE session = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3");
            let mut page: MessagePage =
                collect(db, session, n, &sql, params![n, before.get(), limit + 1], Some(limit))?
                    .into();
            page.messages.reverse();
            Ok(page)
        })
        .await
    }

    /// Reads what changed after a revision: each changed message once, whole, however often it changed.
    pub async fn updates_after(
        &self,
        session: SessionId,
        after: Rev,
        limit: u32,
    ) -> Result<UpdatePage> {
        let limit = limit.min(PAGE_MESSAGES_MAX);
        self.read_session(session, move |db, n| updates_after(db, session, n, after, limit)).await
    }

    /// The revision after which everything changed later than a time.
    pub async fn rev_at(&self, session: SessionId, time: Timestamp) -> Result<Rev> {
        self.read_session(session, move |db, n| {
            // Timestamps never decrease from one revision to the next, so revisions are read newest
            // first until one is old enough.
            let rows = "SELECT rev, updated_at FROM messages WHERE session = ?1 ORDER BY rev DESC";
            let deltas = "SELECT rev, at FROM deltas WHERE session = ?1 ORDER BY rev DESC";
            Ok(newest_at(db, n, rows, time)?.max(newest_at(db, n, deltas, time)?))
        })
        .await
    }

    /// All messages of a session that are open, by place. Their number and size is bounded by the session itself.
    pub async fn open_messages(&self, session: SessionId) -> Result<Vec<Message>> {
        self.read_session(session, move |db, n| {
            let sql = format!("{SELECT} WHERE session = ?1 AND open = 1 ORDER BY seq");
            Ok(collect(db, session, n, &sql, params![n], None)?.messages)
        })
        .await
    }

    /// The message at a place.
    pub async fn message(&self, session: SessionId, seq: Seq) -> Result<Option<Message>> {
        self.read_session(session, move |db, n| {
            let sql = format!("{SELECT} WHERE session = ?1 AND seq = ?2");
            Ok(collect(db, session, n, &sql, params![n, seq.get()], None)?.messages.pop())
        })
        .await
    }

    /// The newest prompt of a session, or the one with an id.
    pub async fn prompt(
        &self,
        session: SessionId,
        id: Option<MessageId>,
    ) -> Result<Option<Message>> {
        self.read_session(session, move |db, n| {
            let found = match id {
                Some(id) => {
                    let sql = format!("{SELECT} WHERE id = ?2 AND role = 'user' AND session = ?1");
                    collect(db, session, n, &sql, params![n, id.as_bytes()], None)
                }
                None => {
                    let sql = format!(
                        "{SELECT} WHERE session = ?1 AND role = 'user' ORDER BY seq DESC LIMIT 1"
                    );
                    collect(db, session, n, &sql, params![n], None)
                }
            };
            Ok(found?.messages.pop())
        })
        .await
    }

    /// All state of a session, by revision.
    pub async fn session_state(&self, session: SessionId) -> Result<Vec<(Rev, SessionState)>> {
        self.read_session(session, move |db, n| states(db, session, n, Rev::START)).await
    }

    /// How many bytes the messages of a session have.
    pub async fn session_bytes(&self, session: SessionId) -> Result<u64> {
        self.read_session(session, move |db, n| {
            let sql = "SELECT CAST(
                (SELECT coalesce(sum(octet_length(content)), 0) FROM messages WHERE session = ?1)
                + (SELECT coalesce(sum(octet_length(text)), 0) FROM deltas WHERE session = ?1)
                AS BIGINT)";
            let bytes: i64 = db.prepare_cached(sql)?.query_row([n], |row| row.get(0))?;
            Ok(bytes.unsigned_abs())
        })
        .await
    }

    /// Records the boot of the operating system in which the store is opened. A new boot begins a
    /// new generation: revisions that readers have seen may have been lost before they were synced.
    pub async fn booted(&self, boot: String) -> Result<()> {
        self.make(RecordBoot(boot)).await
    }

    /// The generation of all revisions: a migration that renumbers them, a restored backup and a restart of the system
    /// begin a new one.
    pub async fn generation(&self) -> Result<u64> {
        self.read(move |db| {
            let mut statement = db.prepare_cached("SELECT value FROM generation")?;
            let value: i64 = statement.query_row(params![], |row| row.get(0))?;
            Ok(value.unsigned_abs())
        })
        .await
    }

    pub(crate) async fn read_session<T: Send + 'static>(
        &self,
        session: SessionId,
        read: impl FnOnce(Db<'_>, i64) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        self.read_aside(of_session(session, read)).await
    }
}

/// A read of one session, by its number.
fn of_session<T>(
    session: SessionId,
    read: impl FnOnce(Db<'_>, i64) -> Result<T, Fault>,
) -> impl FnOnce(Db<'_>) -> Result<T, Fault> {
    move |db| {
        let _snapshot = db.snapshot()?;
        let n = number(db, session)?.ok_or(Error::UnknownSession { id: session })?;
        read(db, n)
    }
}

fn page_after(db: Db<'_>, id: SessionId, n: i64, seq: Seq, max: u32) -> Result<MessagePage, Fault> {
    let sql = format!("{SELECT} WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3");
    Ok(collect(db, id, n, &sql, params![n, seq.get(), max + 1], Some(max))?.into())
}

/// Whether the messages after a place are read in microseconds: they are short and complete. An agent decides how long
/// its messages are, and must not keep the threads busy that handle all requests.
fn is_small(db: Db<'_>, n: i64, after: Seq, limit: u32) -> SqlResult<bool> {
    let sql = "SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT), CAST(coalesce(max(open), 0) AS BIGINT) FROM (
                   SELECT octet_length(content) AS bytes, open FROM messages
                   WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3
               ) AS page";
    let (bytes, open): (i64, i64) = db
        .prepare_cached(sql)?
        .query_row(params![n, after.get(), limit + 1], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(bytes <= READ_HERE_BYTES_MAX && open == 0)
}

/// The first revision in the rows of a statement that is not later than a time.
fn newest_at(db: Db<'_>, n: i64, sql: &str, time: Timestamp) -> SqlResult<Rev> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([n])?;
    while let Some(row) = rows.next()? {
        if row::timestamp(&row, 1)? <= time {
            return Ok(Rev::new(row.get(0)?));
        }
    }
    Ok(Rev::START)
}

const SELECT: &str = "SELECT seq, rev, id, role, content, turn, created_at, updated_at, open
    FROM messages";

fn updates_after(
    db: Db<'_>,
    session: SessionId,
    n: i64,
    after: Rev,
    limit: u32,
) -> Result<UpdatePage, Fault> {
    let sql = format!("{SELECT} WHERE session = ?1 AND rev > ?2 ORDER BY rev LIMIT ?3");
    let changed = collect(db, session, n, &sql, params![n, after.get(), limit + 1], Some(limit))?;
    let (mut messages, mut more) = (changed.messages, changed.more);
    // The row of an open message keeps its old revision while text is appended; the deltas have the
    // newer ones.
    let grown = "SELECT DISTINCT seq FROM deltas WHERE session = ?1 AND rev > ?2";
    let mut statement = db.prepare_cached(grown)?;
    let grown = statement.query_map(params![n, after.get()], |row| row::seq(row, 0))?;
    for seq in grown.collect::<SqlResult<Vec<Seq>>>()? {
        if !messages.iter().any(|message| message.seq == seq) {
            let sql = format!("{SELECT} WHERE session = ?1 AND seq = ?2");
            messages.extend(collect(db, session, n, &sql, params![n, seq.get()], None)?.messages);
        }
    }
    let mut updates: Vec<Update> =
        messages.into_iter().map(|message| Update::Message(Arc::new(message))).collect();
    for (rev, state) in states(db, session, n, after)? {
        updates.push(Update::State { rev, state: Arc::new(state) });
    }
    updates.sort_by_key(Update::rev);
    let newest: u64 = db
        .prepare_cached("SELECT rev FROM agent_sessions WHERE n = ?1")?
        .query_row([n], |row| row.get(0))?;
    if changed.more {
        // Updates after the last row of this page belong to the next one, which keeps the order.
        let last = changed.last.unwrap_or(after);
        updates.retain(|update| update.rev() <= last);
    }
    if updates.len() > limit as usize {
        updates.truncate(limit as usize);
        more = true;
    }
    let rev = match updates.last().filter(|_| more) {
        Some(last) => last.rev(),
        None if more => changed.last.unwrap_or(after),
        None => Rev::new(newest).max(after),
    };
    Ok(UpdatePage { updates, rev, more })
}

fn states(
    db: Db<'_>,
    session: SessionId,
    n: i64,
    after: Rev,
) -> Result<Vec<(Rev, SessionState)>, Fault> {
    let sql = "SELECT rev, body FROM session_state WHERE session = ?1 AND rev > ?2 ORDER BY rev";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![n, after.get()])?;
    let mut states = Vec::new();
    while let Some(row) = rows.next()? {
        match serde_json::from_str(row.str(1)?) {
            Ok(state) => states.push((Rev::new(row.get(0)?), state)),
            Err(error) => {
                tracing::error!(session.id = %session, "state of a session cannot be read: {error}");
            }
        }
    }
    Ok(states)
}

/// A page with the revision and the seq of its last row, even if that row could not be parsed.
struct Collected {
    messages: Vec<Message>,
    more: bool,
    last: Option<Rev>,
    last_seq: Option<Seq>,
}

impl From<Collected> for MessagePage {
    fn from(collected: Collected) -> Self {
        Self { messages: collected.messages, more: collected.more }
    }
}

/// Reads rows until the page is full. The statement returns one row more than `limit`; `None` reads
/// all rows.
fn collect(
    db: Db<'_>,
    session: SessionId,
    n: i64,
    sql: &str,
    params: impl Params,
    limit: Option<u32>,
) -> Result<Collected, Fault> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let (mut messages, mut bytes, mut count) = (Vec::new(), 0, 0);
    let (mut last, mut last_seq) = (None, None);
    while let Some(row) = rows.next()? {
        bytes += row.str(4)?.len();
        let is_full = |limit| count >= limit || (bytes > PAGE_BYTES_MAX && count > 0);
        if limit.is_some_and(is_full) {
            return Ok(Collected { messages, more: true, last, last_seq });
        }
        count += 1;
        (last, last_seq) = (Some(Rev::new(row.get(1)?)), Some(row::seq(&row, 0)?));
        match message(&row, session).and_then(|message| with_deltas(db, n, message)) {
            Ok(message) => messages.push(message),
            Err(error) => {
                let seq = row::seq(&row, 0)?;
                tracing::error!(session.id = %session, "message {seq} cannot be read: {error}");
            }
        }
    }
    Ok(Collected { messages, more: false, last, last_seq })
}

fn message(row: &Row<'_>, session_id: SessionId) -> SqlResult<Message> {
    let content = row.str(4)?;
    let turn = row.optional_str(5)?.map(turn_of).transpose();
    Ok(Message {
        session_id,
        seq: row::seq(row, 0)?,
        rev: Rev::new(row.get(1)?),
        id: MessageId::from_bytes(row.get(2)?).ok_or_else(|| row::unreadable(2, "not an id"))?,
        role: row::word(row, 3, &ROLES, role_word)?,
        content: content_of(content).map_err(|error| row::unreadable(4, error))?,
        turn: turn.map_err(|error| row::unreadable(5, error))?,
        timestamp: row::timestamp(row, 6)?,
        updated_at: row::timestamp(row, 7)?,
    })
}

/// The content of a prompt, an answer or a thought. Serde reads these fields directly; an
/// internally tagged enum is buffered into a tree of values first, which takes three times as long.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    r#type: WordsKind,
    text: String,
    #[serde(default)]
    partial: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum WordsKind {
    Text,
    Thinking,
}

fn content_of(json: &str) -> serde_json::Result<Content> {
    // Other kinds fail at their first field, and prompts with attachments or comments at their last
    // one.
    match serde_json::from_str(json) {
        Ok(Words { r#type: WordsKind::Text, text, partial: false }) => Ok(Content::text(text)),
        Ok(Words { r#type: WordsKind::Text, text, partial: true }) => {
            Ok(Content::partial_text(text))
        }
        Ok(Words { r#type: WordsKind::Thinking, text, partial }) => {
            Ok(Content::Thinking { text, partial })
        }
        Err(_) => serde_json::from_str(json),
    }
}

/// The stored JSON of the most common end of a turn.
const END_TURN: &str = r#"{"status":"ended","stopReason":"end_turn"}"#;

/// The turn of a prompt. It is internally tagged as well, so the most common value is compared
/// instead of parsed.
fn turn_of(json: &str) -> serde_json::Result<Turn> {
    if json == END_TURN { Ok(Turn::Ended(Stop::EndTurn)) } else { serde_json::from_str(json) }
}

/// Adds the text of the deltas of an open message.
fn with_deltas(db: Db<'_>, n: i64, mut message: Message) -> SqlResult<Message> {
    let is_partial = matches!(
        message.content,
        Content::Text { partial: true, .. } | Content::Thinking { partial: true, .. }
    );
    if !is_partial {
        return Ok(message);
    }
    // The row has all text up to its own revision, so only later deltas are read.
    let sql = "SELECT rev, at, text FROM deltas
               WHERE session = ?1 AND rev > ?2 AND seq = ?3 ORDER BY rev";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![n, message.rev.get(), message.seq.get()])?;
    while let Some(row) = rows.next()? {
        append(&mut message.content, row.str(2)?);
        (message.rev, message.updated_at) = (Rev::new(row.get(0)?), row::timestamp(&row, 1)?);
    }
    Ok(message)
}

#[cfg(test)]
mod tests;
