//! A session's log, page by page.

use convoke_core::content::Content;
use convoke_core::id::{MessageId, SessionId};
use convoke_core::message::{Message, Seq};
use convoke_core::session::Unsettled;
use convoke_core::time::Timestamp;
use rusqlite::{Connection, Params, Row, params};

use crate::error::{Error, Fault, Result};
use crate::row;
use crate::store::Store;
use crate::write::append::{ROLES, role_word};
use crate::write::sessions::number;

/// Messages in one page; asked for more, a page has as many and says that there are more.
const PAGE_MESSAGES_MAX: u32 = 1000;
/// Bytes of content in one page, which ends before the message that would exceed them unless it is the first.
const PAGE_BYTES_MAX: usize = 256 * 1024;

/// Messages that are looked through for one that matters; about a tenth of a second's work.
const LOOK_MAX: u32 = 100_000;
/// Where in its JSON a notice names its event.
const WORD_CHARS: u32 = 64;

/// Some messages of one session, oldest first, without a gap.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagePage {
    /// The messages.
    pub messages: Vec<Message>,
    /// Whether there are more in the direction of reading.
    pub more: bool,
}

/// Which messages a page is of.
enum Part {
    After(Seq),
    Before(Seq),
    Since { since: Timestamp, after: Seq },
}

impl Store {
    /// Reads the messages after a place; `Seq::START` is before the first.
    ///
    /// A message that cannot be read ends the page before it. The page that begins with it fails with
    /// `UnreadableMessage`, whose place is where to read on.
    pub async fn messages(
        &self,
        session: SessionId,
        after: Seq,
        limit: u32,
    ) -> Result<MessagePage> {
        self.page(session, Part::After(after), limit).await
    }

    /// Reads the messages just before a place, oldest first; `more` are those before them.
    pub async fn messages_before(
        &self,
        session: SessionId,
        before: Seq,
        limit: u32,
    ) -> Result<MessagePage> {
        self.page(session, Part::Before(before), limit).await
    }

    /// Reads the messages that are later than a moment and after a place.
    pub async fn messages_since(
        &self,
        session: SessionId,
        since: Timestamp,
        after: Seq,
        limit: u32,
    ) -> Result<MessagePage> {
        self.page(session, Part::Since { since, after }, limit).await
    }

    /// The newest notices of an event, by the word that the log has for it, the newest first. Only the last messages of a
    /// long log are looked at, and one that cannot be read is left out.
    pub async fn newest_notices(
        &self,
        session: SessionId,
        event: &str,
        limit: u32,
    ) -> Result<Vec<Message>> {
        let word = format!("\"event\":\"{event}\"");
        self.read_aside(move |db| newest_notices(db, session, &word, limit)).await
    }

    /// The prompts and requests that were not over at a place, oldest first. Only the last messages of a very long turn
    /// are looked at, and one that cannot be read is left out.
    pub async fn unsettled(&self, session: SessionId, before: Seq) -> Result<Vec<Message>> {
        self.read_aside(move |db| unsettled(db, session, before)).await
    }

    /// How many bytes the messages of a session have.
    pub async fn session_bytes(&self, session: SessionId) -> Result<u64> {
        self.read_aside(move |db| {
            let n = number(db, session)?.ok_or(Error::UnknownSession { id: session })?;
            let sql = "SELECT coalesce(sum(octet_length(content)), 0) FROM agent_messages
                       WHERE session = ?1";
            let bytes: i64 = db.prepare_cached(sql)?.query_row([n], |row| row.get(0))?;
            Ok(bytes.unsigned_abs())
        })
        .await
    }

    async fn page(&self, session: SessionId, part: Part, limit: u32) -> Result<MessagePage> {
        // Nobody knows how long a message is before reading it.
        self.read_aside(move |db| page(db, session, &part, limit.min(PAGE_MESSAGES_MAX))).await
    }
}

fn page(
    db: &Connection,
    session: SessionId,
    part: &Part,
    limit: u32,
) -> Result<MessagePage, Fault> {
    let n = number(db, session)?.ok_or(Error::UnknownSession { id: session })?;
    let first = match part {
        Part::After(after) => after.next(),
        Part::Since { since, after } => first_later(db, n, *since, *after)?,
        Part::Before(before) => {
            let sql =
                format!("{SELECT} WHERE session = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3");
            let params = params![n, before.get(), limit + 1];
            let mut page = collect(db, session, &sql, params, limit)?;
            page.messages.reverse();
            return Ok(page);
        }
    };
    let sql = format!("{SELECT} WHERE session = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3");
    collect(db, session, &sql, params![n, first.get(), limit + 1], limit)
}

fn newest_notices(
    db: &Connection,
    session: SessionId,
    word: &str,
    limit: u32,
) -> Result<Vec<Message>, Fault> {
    let n = number(db, session)?.ok_or(Error::UnknownSession { id: session })?;
    let sql = format!(
        "SELECT * FROM ({SELECT} WHERE session = ?1 ORDER BY seq DESC LIMIT {LOOK_MAX})
         WHERE role = 'system' AND instr(substr(content, 1, {WORD_CHARS}), ?2) > 0 LIMIT ?3"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let found = statement.query_map(params![n, word, limit], |row| Ok(message(row, session)))?;
    Ok(found.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn unsettled(db: &Connection, session: SessionId, before: Seq) -> Result<Vec<Message>, Fault> {
    let n = number(db, session)?.ok_or(Error::UnknownSession { id: session })?;
    // What is left out here does not matter to `Unsettled`, and reading its JSON would take longer than finding it.
    let sql = format!(
        "SELECT * FROM ({SELECT} WHERE session = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT {LOOK_MAX})
         WHERE role = 'user' OR role = 'system' AND (
             substr(content, 1, 20) = '{{\"type\":\"permission\"'
             OR substr(content, 1, 18) = '{{\"type\":\"question\"'
             OR instr(substr(content, 1, {WORD_CHARS}), '\"event\":\"turn_ended\"') > 0)"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query(params![n, before.get()])?;
    let mut unsettled = Unsettled::default();
    while let Some(row) = rows.next()? {
        let Ok(message) = message(row, session) else { continue };
        if unsettled.take(message).is_break() {
            break;
        }
    }
    Ok(unsettled.into_messages())
}

const SELECT: &str = "SELECT seq, id, role, content, timestamp FROM agent_messages";

/// The first place after `after` whose message is later than a moment, or the place after the last one.
///
/// Halves the rest of the log again and again, since no message is earlier than the one before it.
fn first_later(
    db: &Connection,
    session: i64,
    since: Timestamp,
    after: Seq,
) -> rusqlite::Result<Seq> {
    let last = db
        .prepare_cached("SELECT coalesce(max(seq), 0) FROM agent_messages WHERE session = ?1")?
        .query_row([session], |row| row::seq(row, 0))?;
    let mut probe =
        db.prepare_cached("SELECT timestamp FROM agent_messages WHERE session = ?1 AND seq = ?2")?;
    let (mut low, mut high) = (after.next().get(), last.next().get());
    while low < high {
        let middle = low.midpoint(high);
        if probe.query_row(params![session, middle], |row| row::moment(row, 0))? > since {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(Seq::new(low))
}

/// Reads rows until the page is full. The statement returns one row more than that.
fn collect(
    db: &Connection,
    session: SessionId,
    sql: &str,
    params: impl Params,
    limit: u32,
) -> Result<MessagePage, Fault> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let (mut messages, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        bytes += row.get_ref(3)?.as_bytes().map_or(0, <[u8]>::len);
        let is_first = messages.is_empty();
        let is_full = messages.len() >= limit as usize || (bytes > PAGE_BYTES_MAX && !is_first);
        if is_full {
            return Ok(MessagePage { messages, more: true });
        }
        match message(row, session) {
            Ok(message) => messages.push(message),
            Err(_) if !is_first => return Ok(MessagePage { messages, more: true }),
            Err(cause) => {
                let (seq, source) = (row::seq(row, 0)?, cause.into());
                return Err(Error::UnreadableMessage { session, seq, source }.into());
            }
        }
    }
    Ok(MessagePage { messages, more: false })
}

fn message(row: &Row<'_>, session_id: SessionId) -> rusqlite::Result<Message> {
    let content = row.get_ref(3)?.as_str()?;
    Ok(Message {
        session_id,
        seq: row::seq(row, 0)?,
        id: MessageId::from_bytes(row.get(1)?).ok_or_else(|| row::unreadable(1, "not an id"))?,
        role: row::word(row, 2, &ROLES, role_word)?,
        content: serde_json::from_str::<Content>(content)
            .map_err(|error| row::unreadable(3, error))?,
        timestamp: row::moment(row, 4)?,
    })
}
