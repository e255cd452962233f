//! Recording with nothing but statements: what the store cannot be faster than. They change what the store changes.

use std::path::Path;
use std::time::Instant;

use convoke_core::content::Content;
use convoke_core::message::Message;
use convoke_core::session::EndReason;
use convoke_core::update::Update;
use convoke_testkit::bench::Result;
use rusqlite::{Connection, Statement, params};

use crate::database::{scope, session_number};
use crate::speech::{Changed, Said, Speaker};

/// The row of a message.
const INSERT: &str = "INSERT INTO messages
        (session, seq, rev, id, role, content, turn, open, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
/// A piece of an answer.
const DELTA: &str = "INSERT INTO deltas (session, rev, seq, at, text) VALUES (?1, ?2, ?3, ?4, ?5)";
/// The row of an answer that is whole.
const REPLACE: &str =
    "UPDATE messages SET rev = ?3, content = ?4, turn = ?5, open = ?6, updated_at = ?7
    WHERE session = ?1 AND seq = ?2 RETURNING n";
/// Its pieces.
const FORGET: &str = "DELETE FROM deltas WHERE session = ?1 AND seq = ?2";
/// The row that makes it findable.
const INDEX: &str = "INSERT INTO message_search (rowid, text, scope) VALUES (?1, ?2, ?3)";
const KEY: &str = "INSERT INTO searched_messages (key, message) VALUES (?1, ?1)";
/// The session's row, by how much of it changes.
const PROGRESS: &str = "UPDATE agent_sessions
    SET last_seq = ?2, settled_seq = ?3, rev = ?4, updated_at = ?5 WHERE n = ?1";
const ACTIVITY: &str = "UPDATE agent_sessions
    SET last_seq = ?2, settled_seq = ?3, rev = ?4, updated_at = ?5, last_active_at = ?6
    WHERE n = ?1";
const SUMMARY: &str = "UPDATE agent_sessions
    SET last_seq = ?2, settled_seq = ?3, rev = ?4, updated_at = ?5, last_active_at = ?6,
        status = ?7, reason = ?8, archived = ?9, title = ?10
    WHERE n = ?1";

/// An update as its rows will be, encoded before the clock runs.
pub(crate) struct Row {
    session: i64,
    said: Said,
    content: String,
    turn: Option<String>,
    scope: String,
}

impl Row {
    pub(crate) fn of(said: Said) -> Result<Self> {
        let (content, turn) = match &said.update {
            Update::Message(message) => {
                let turn = message.turn.as_ref().map(serde_json::to_string).transpose()?;
                (serde_json::to_string(&message.content)?, turn)
            }
            Update::Delta(_) | Update::State { .. } => (String::new(), None),
        };
        let (session, scope) = (session_number(said.at)?, scope(said.at, "agent"));
        Ok(Self { session, said, content, turn, scope })
    }
}

/// What is searched of a message that is whole.
fn searched(message: &Message) -> Option<&str> {
    match &message.content {
        Content::Text { text, partial: false, .. } => Some(text),
        Content::Text { partial: true, .. }
        | Content::Thinking { .. }
        | Content::Plan { .. }
        | Content::Tool(_)
        | Content::Permission(_)
        | Content::Question(_)
        | Content::Notice(_) => None,
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

/// The statements, prepared.
struct Statements<'a> {
    insert: Statement<'a>,
    delta: Statement<'a>,
    replace: Statement<'a>,
    forget: Statement<'a>,
    index: Statement<'a>,
    key: Statement<'a>,
    progress: Statement<'a>,
    activity: Statement<'a>,
    summary: Statement<'a>,
}

/// Records rows, so many in one transaction, and returns how long each transaction took.
pub(crate) fn append(db: &Connection, rows: &[Row], batch: usize) -> Result<Vec<f64>> {
    let (mut begin, mut commit) = (db.prepare("BEGIN IMMEDIATE")?, db.prepare("COMMIT")?);
    let mut statements = Statements {
        insert: db.prepare(INSERT)?,
        delta: db.prepare(DELTA)?,
        replace: db.prepare(REPLACE)?,
        forget: db.prepare(FORGET)?,
        index: db.prepare(INDEX)?,
        key: db.prepare(KEY)?,
        progress: db.prepare(PROGRESS)?,
        activity: db.prepare(ACTIVITY)?,
        summary: db.prepare(SUMMARY)?,
    };
    let mut times = Vec::new();
    for rows in rows.chunks(batch) {
        let start = Instant::now();
        begin.execute([])?;
        for row in rows {
            statements.store(row)?;
            statements.summarise(row)?;
        }
        commit.execute([])?;
        times.push(start.elapsed().as_secs_f64());
    }
    Ok(times)
}

impl Statements<'_> {
    fn store(&mut self, row: &Row) -> Result<()> {
        match &row.said.update {
            Update::Delta(delta) => {
                let (rev, seq, at) = (delta.rev.get(), delta.seq.get(), delta.at.as_millis());
                self.delta.execute(params![row.session, rev, seq, at, delta.text])?;
            }
            Update::Message(message) => {
                // Only an answer that was begun before changes again.
                let n = if message.updated_at == message.timestamp {
                    self.insert(row, message)?
                } else {
                    self.replace(row, message)?
                };
                if let Some(text) = searched(message) {
                    self.key.execute([n])?;
                    self.index.execute(params![n, text, row.scope])?;
                }
            }
            Update::State { .. } => return Err("no state is measured".into()),
        }
        Ok(())
    }

    fn insert(&mut self, row: &Row, message: &Message) -> rusqlite::Result<i64> {
        let role = if message.turn.is_some() { "user" } else { "agent" };
        self.insert.insert(params![
            row.session,
            message.seq.get(),
            message.rev.get(),
            message.id.as_bytes(),
            role,
            row.content,
            row.turn,
            message.is_open(),
            message.timestamp.as_millis(),
            message.updated_at.as_millis(),
        ])
    }

    fn replace(&mut self, row: &Row, message: &Message) -> rusqlite::Result<i64> {
        self.forget.execute(params![row.session, message.seq.get()])?;
        let params = params![
            row.session,
            message.seq.get(),
            message.rev.get(),
            row.content,
            row.turn,
            message.is_open(),
            message.updated_at.as_millis(),
        ];
        self.replace.query_row(params, |row| row.get(0))
    }

    fn summarise(&mut self, row: &Row) -> rusqlite::Result<()> {
        let (n, summary) = (row.session, &row.said.summary);
        let (last_seq, settled_seq) = (summary.last_seq.get(), summary.settled_seq.get());
        let (rev, updated_at) = (summary.rev.get(), summary.updated_at.as_millis());
        let active_at = summary.last_active_at.as_millis();
        match row.said.changed {
            Changed::Progress => {
                self.progress.execute(params![n, last_seq, settled_seq, rev, updated_at])
            }
            Changed::Activity => {
                self.activity.execute(params![n, last_seq, settled_seq, rev, updated_at, active_at])
            }
            Changed::Whole => self.summary.execute(params![
                n,
                last_seq,
                settled_seq,
                rev,
                updated_at,
                active_at,
                summary.status.as_str(),
                summary.reason.as_ref().map(EndReason::as_str),
                summary.archived,
                summary.title,
            ]),
        }?;
        Ok(())
    }
}
