//! Continues a session's log, and keeps what is derived from it in step: lists, requests and search.

use convoke_core::content::Content;
use convoke_core::id::SessionId;
use convoke_core::message::{Message, Role, Seq};
use convoke_core::notice::Event;
use convoke_core::session::Summary;
use convoke_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::requests::RequestRow;
use super::search::Searchable;
use super::{Change, Durability};
use crate::error::{Error, Fault, Result};
use crate::row;

/// Messages that follow the last one of a session, and what lists show after them.
#[derive(Debug)]
pub(crate) struct Append {
    session: SessionId,
    first: Seq,
    messages: Vec<MessageRow>,
    summary: Summary,
    durability: Durability,
}

/// A message as it will lie in the table. Made by the caller, so that no big text is encoded while others wait.
#[derive(Debug)]
struct MessageRow {
    seq: Seq,
    id: [u8; 16],
    role: &'static str,
    content: String,
    timestamp: Timestamp,
    request: Option<RequestRow>,
    searchable: Option<Searchable>,
}

impl Append {
    /// Refuses messages that do not follow each other or belong elsewhere.
    pub(crate) fn new(session: SessionId, messages: &[Message], summary: Summary) -> Result<Self> {
        let Some(first) = messages.first().map(|message| message.seq) else {
            return Err(Error::Misuse { what: "there is no message to append" });
        };
        let mut expected = first;
        for message in messages {
            if message.session_id != session {
                return Err(Error::Misuse { what: "the message belongs to another session" });
            }
            if message.seq != expected {
                return Err(Error::OutOfOrder { session, expected, got: message.seq });
            }
            expected = expected.next();
        }
        if summary.last_seq.next() != expected || summary.settled_seq > summary.last_seq {
            return Err(Error::Misuse { what: "the summary does not fit the messages" });
        }
        let durability = messages.iter().map(durability).max().unwrap_or(Durability::Soon);
        let messages = messages.iter().map(MessageRow::encode).collect::<Result<_>>()?;
        Ok(Self { session, first, messages, summary, durability })
    }
}

/// Agents' words can be told again, and a turn whose end is lost counts as cut off. What people said and decided cannot be
/// had again.
fn durability(message: &Message) -> Durability {
    let is_decision = match &message.content {
        Content::Notice(notice) => match notice.event {
            Event::CancelAsked { .. }
            | Event::Completed { .. }
            | Event::Cancelled { .. }
            | Event::Failed { .. }
            | Event::Reopened
            | Event::Renamed { .. }
            | Event::Archived
            | Event::Unarchived
            | Event::RuleMade { .. }
            | Event::Continues { .. }
            | Event::ContinuedIn { .. }
            | Event::Imported { .. } => true,
            Event::TurnEnded { .. }
            | Event::Resumed { .. }
            | Event::ProcessExited { .. }
            | Event::TurnLimit { .. }
            | Event::Compacted
            | Event::Commands { .. }
            | Event::Modes { .. }
            | Event::Settings { .. }
            | Event::Waiting { .. }
            | Event::Unconfined
            | Event::RuleApplied { .. }
            | Event::RuleDropped { .. }
            | Event::Advice { .. }
            | Event::Unknown { .. } => false,
        },
        Content::Text { .. }
        | Content::Thinking { .. }
        | Content::Plan { .. }
        | Content::Tool(_)
        | Content::Permission(_)
        | Content::Question(_)
        | Content::Usage(_) => false,
    };
    if message.is_human() || is_decision { Durability::Acknowledged } else { Durability::Soon }
}

impl Change for Append {
    type Outcome = ();

    fn durability(&self) -> Durability {
        self.durability
    }

    fn apply(&self, db: &Connection) -> Result<(), Fault> {
        let (session, summary) = (self.session, &self.summary);
        let standing =
            standing(db, session, summary)?.ok_or(Error::UnknownSession { id: session })?;
        let expected = standing.last_seq.next();
        if self.first != expected {
            return Err(Error::OutOfOrder { session, expected, got: self.first }.into());
        }
        let n = standing.n;
        for message in &self.messages {
            let message_n = message.insert(db, n)?;
            if let Some(request) = &message.request {
                request.store(db, n, message.timestamp)?;
            }
            if let Some(searchable) = &message.searchable {
                searchable.index(db, n, message.seq, message_n)?;
            }
        }
        match standing.change {
            SummaryChange::Progress => store_progress(db, n, summary)?,
            SummaryChange::Activity => store_activity(db, n, summary)?,
            SummaryChange::Whole => store_summary(db, n, summary)?,
        }
        Ok(())
    }
}

impl MessageRow {
    fn encode(message: &Message) -> Result<Self> {
        let content = serde_json::to_string(&message.content)
            .map_err(|_| Error::Misuse { what: "the message cannot be written as JSON" })?;
        Ok(Self {
            seq: message.seq,
            id: *message.id.as_bytes(),
            role: role_word(message.role),
            content,
            timestamp: message.timestamp,
            request: RequestRow::of(&message.content)?,
            searchable: Searchable::of(message),
        })
    }

    fn insert(&self, db: &Connection, session: i64) -> rusqlite::Result<i64> {
        db.prepare_cached(
            "INSERT INTO agent_messages (session, seq, id, role, content, timestamp)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .insert(params![
            session,
            self.seq.get(),
            self.id,
            self.role,
            self.content,
            self.timestamp.as_millis(),
        ])
    }
}

/// Every role, for reading them back.
pub(crate) const ROLES: [Role; 3] = [Role::User, Role::Agent, Role::System];

/// The word for a role in the table.
pub(crate) const fn role_word(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Agent => "agent",
        Role::System => "system",
    }
}

/// How a session stands before an append.
struct Standing {
    n: i64,
    last_seq: Seq,
    change: SummaryChange,
}

/// How much of a session's row an append changes. The less is said to change, the fewer indexes are written.
enum SummaryChange {
    /// Only how far the log is. The usual case, and the cheap one: no list is sorted by it.
    Progress,
    /// That, and when it was last active.
    Activity,
    Whole,
}

fn standing(
    db: &Connection,
    session: SessionId,
    summary: &Summary,
) -> rusqlite::Result<Option<Standing>> {
    db.prepare_cached(
        "SELECT n, last_seq, status, reason, archived, title, last_active_at
         FROM agent_sessions WHERE id = ?1",
    )?
    .query_row([session.to_string()], |row| {
        let change = match is_shown_alike(row, summary)? {
            true if row::moment(row, 6)? == summary.last_active_at => SummaryChange::Progress,
            true => SummaryChange::Activity,
            false => SummaryChange::Whole,
        };
        Ok(Standing { n: row.get(0)?, last_seq: row::seq(row, 1)?, change })
    })
    .optional()
}

fn is_shown_alike(row: &Row<'_>, summary: &Summary) -> rusqlite::Result<bool> {
    Ok(row.get_ref(2)?.as_str()? == summary.status.as_str()
        && row.get_ref(3)?.as_str_or_null()? == summary.reason.as_deref()
        && row.get::<_, bool>(4)? == summary.archived
        && row.get_ref(5)?.as_str_or_null()? == summary.title.as_deref())
}

fn store_progress(db: &Connection, n: i64, summary: &Summary) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE agent_sessions SET last_seq = ?2, settled_seq = ?3, updated_at = ?4 WHERE n = ?1",
    )?
    .execute(params![
        n,
        summary.last_seq.get(),
        summary.settled_seq.get(),
        summary.updated_at.as_millis(),
    ])?;
    Ok(())
}

fn store_activity(db: &Connection, n: i64, summary: &Summary) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE agent_sessions
         SET last_seq = ?2, settled_seq = ?3, updated_at = ?4, last_active_at = ?5 WHERE n = ?1",
    )?
    .execute(params![
        n,
        summary.last_seq.get(),
        summary.settled_seq.get(),
        summary.updated_at.as_millis(),
        summary.last_active_at.as_millis(),
    ])?;
    Ok(())
}

fn store_summary(db: &Connection, n: i64, summary: &Summary) -> rusqlite::Result<()> {
    db.prepare_cached(
        "UPDATE agent_sessions
         SET last_seq = ?2, settled_seq = ?3, updated_at = ?4, last_active_at = ?5,
             status = ?6, reason = ?7, archived = ?8, title = ?9
         WHERE n = ?1",
    )?
    .execute(params![
        n,
        summary.last_seq.get(),
        summary.settled_seq.get(),
        summary.updated_at.as_millis(),
        summary.last_active_at.as_millis(),
        summary.status.as_str(),
        summary.reason,
        summary.archived,
        summary.title,
    ])?;
    Ok(())
}
