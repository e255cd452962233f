//! Appending with nothing but statements: what the store cannot be faster than.

use std::path::Path;
use std::time::Instant;

use convoke_core::content::Content;
use convoke_testkit::bench::Result;
use rusqlite::{Connection, Statement, params};

use crate::database::{scope, session_number};
use crate::speech::{Said, Speaker};

/// The row of a message.
const INSERT: &str = "INSERT INTO agent_messages (session, seq, id, role, content, timestamp)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
/// The row that makes it findable.
const INDEX: &str = "INSERT INTO message_search (rowid, text, scope) VALUES (?1, ?2, ?3)";
/// The session's row after a prompt.
const SUMMARISE: &str = "UPDATE agent_sessions
    SET last_seq = ?2, settled_seq = ?3, updated_at = ?4, last_active_at = ?5,
        status = ?6, reason = ?7, archived = ?8, title = ?9
    WHERE n = ?1";
/// The session's row after a piece of an answer.
const PROGRESS: &str =
    "UPDATE agent_sessions SET last_seq = ?2, settled_seq = ?3, updated_at = ?4 WHERE n = ?1";

/// A message as its rows will be, encoded before the clock runs.
pub(crate) struct Row {
    session: i64,
    said: Said,
    role: &'static str,
    content: String,
    scope: String,
    speaker: Speaker,
}

impl Row {
    pub(crate) fn of(said: Said, speaker: Speaker) -> Result<Self> {
        Ok(Self {
            session: session_number(said.at)?,
            content: serde_json::to_string(&said.message.content)?,
            role: match speaker {
                Speaker::Human => "user",
                Speaker::Agent => "agent",
            },
            scope: scope(said.at),
            said,
            speaker,
        })
    }

    fn text(&self) -> &str {
        match &self.said.message.content {
            Content::Text { text, .. } => text,
            Content::Thinking { .. }
            | Content::Plan { .. }
            | Content::Tool(_)
            | Content::Permission(_)
            | Content::Question(_)
            | Content::Usage(_)
            | Content::Notice(_) => "",
        }
    }
}

/// A connection that writes, set up as the store's is, with its statements at hand.
pub(crate) fn connect(path: &Path, speaker: Speaker) -> Result<Connection> {
    let db = Connection::open(path)?;
    let synchronous = match speaker {
        Speaker::Human => "FULL",
        Speaker::Agent => "NORMAL",
    };
    db.execute_batch(&format!(
        "PRAGMA foreign_keys = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -8192;
         PRAGMA synchronous = {synchronous}; PRAGMA wal_autocheckpoint = 4096;"
    ))?;
    Ok(db)
}

/// Appends rows, so many in one transaction, and returns how long each transaction took.
pub(crate) fn append(db: &Connection, rows: &[Row], batch: usize) -> Result<Vec<f64>> {
    let (mut begin, mut commit) = (db.prepare("BEGIN IMMEDIATE")?, db.prepare("COMMIT")?);
    let (mut insert, mut index) = (db.prepare(INSERT)?, db.prepare(INDEX)?);
    let (mut summarise, mut progress) = (db.prepare(SUMMARISE)?, db.prepare(PROGRESS)?);
    let mut times = Vec::new();
    for rows in rows.chunks(batch) {
        let start = Instant::now();
        begin.execute([])?;
        for row in rows {
            let n = insert_message(&mut insert, row)?;
            match row.speaker {
                Speaker::Human => {
                    index.execute(params![n, row.text(), row.scope])?;
                    store_summary(&mut summarise, row)?;
                }
                Speaker::Agent => store_progress(&mut progress, row)?,
            }
        }
        commit.execute([])?;
        times.push(start.elapsed().as_secs_f64());
    }
    Ok(times)
}

fn insert_message(statement: &mut Statement<'_>, row: &Row) -> rusqlite::Result<i64> {
    let message = &row.said.message;
    statement.insert(params![
        row.session,
        message.seq.get(),
        message.id.as_bytes(),
        row.role,
        row.content,
        message.timestamp.as_millis(),
    ])
}

fn store_summary(statement: &mut Statement<'_>, row: &Row) -> rusqlite::Result<()> {
    let summary = &row.said.summary;
    statement.execute(params![
        row.session,
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

fn store_progress(statement: &mut Statement<'_>, row: &Row) -> rusqlite::Result<()> {
    let summary = &row.said.summary;
    statement.execute(params![
        row.session,
        summary.last_seq.get(),
        summary.settled_seq.get(),
        summary.updated_at.as_millis(),
    ])?;
    Ok(())
}
