//! Fills the search index from stored messages in the background: after a migration has emptied it,
//! and after an import of many conversations. `search_refill` has the ranges of rows that are
//! missing.

use std::collections::HashMap;
use std::rc::Rc;

use super::search::{self, Searched};
use super::{Change, Durability};
use crate::db::{Db, Optional as _, params};
use crate::error::Fault;
use crate::search::scope::Scope;

/// Bytes of content that are read for one transaction at most.
const BATCH_BYTES_MAX: usize = 4 << 20;

/// A stored message that is not indexed yet.
#[derive(Debug)]
pub(crate) struct Unsearched {
    pub(crate) n: i64,
    pub(crate) session: i64,
    pub(crate) role: String,
    pub(crate) created_at: i64,
    /// `None` if it is not searchable.
    pub(crate) text: Option<String>,
}

/// Indexes the next messages. It blocks other changes meanwhile.
#[derive(Debug)]
pub(crate) struct RefillSearch {
    /// How many at most.
    pub(crate) messages: u32,
}

/// Whether the index is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refill {
    /// At most this many rows are left.
    Unfinished {
        rows: i64,
    },
    Finished,
}

impl Refill {
    /// The current state.
    pub(crate) fn read(db: Db<'_>) -> Result<Self, Fault> {
        let rows: Option<i64> = db
            .prepare_cached("SELECT CAST(sum(last - next + 1) AS BIGINT) FROM search_refill")?
            .query_row(params![], |row| row.get(0))?;
        Ok(rows.map_or(Self::Finished, |rows| Self::Unfinished { rows }))
    }
}

impl Change for RefillSearch {
    type Outcome = Refill;

    // After a power cut the refill continues from the last synced position.
    fn durability(&self) -> Durability {
        Durability::Repeatable
    }

    fn apply(&self, db: Db<'_>) -> Result<Refill, Fault> {
        let Some((from, last)) = first_range(db)? else { return Ok(Refill::Finished) };
        let mut messages = read(db, from, last, self.messages)?;
        let next = messages.last().map_or(last, |message| message.n) + 1;
        let mut known = db.prepare_cached("SELECT 1 FROM searched_messages WHERE message = ?1")?;
        let mut missing = Vec::new();
        for message in messages.drain(..) {
            // A message that was changed since its range was recorded is indexed already.
            if message.text.is_some() && !known.exists([message.n])? {
                missing.push(message);
            }
        }
        add(db, &missing)?;
        if next > last {
            db.prepare_cached("DELETE FROM search_refill WHERE next = ?1 AND last = ?2")?
                .execute([from, last])?;
        } else {
            db.prepare_cached("UPDATE search_refill SET next = ?3 WHERE next = ?1 AND last = ?2")?
                .execute([from, last, next])?;
        }
        Refill::read(db)
    }
}

/// Records a range of messages to be indexed in the background. Those that are indexed already are
/// skipped then.
pub(crate) fn postpone(db: Db<'_>, first: i64, last: i64) -> Result<(), Fault> {
    let extended = db
        .prepare_cached("UPDATE search_refill SET last = ?2 WHERE last = ?1")?
        .execute([first - 1, last])?;
    if extended == 0 {
        db.prepare_cached("INSERT INTO search_refill (next, last) VALUES (?1, ?2)")?
            .execute([first, last])?;
    }
    Ok(())
}

fn first_range(db: Db<'_>) -> Result<Option<(i64, i64)>, Fault> {
    // The lock lets nodes that share the database refill one after another.
    let locked = match db {
        Db::Sqlite(_) => "",
        Db::Postgres(_) => "FOR UPDATE",
    };
    let range = db
        .prepare_cached(&format!(
            "SELECT next, last FROM search_refill ORDER BY next LIMIT 1 {locked}"
        ))?
        .query_row(params![], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(range)
}

/// Messages by number, within a range; fewer than the limit if they are long.
pub(crate) fn read(db: Db<'_>, next: i64, last: i64, limit: u32) -> Result<Vec<Unsearched>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT n, session, role, created_at, content FROM messages
         WHERE n BETWEEN ?1 AND ?2 ORDER BY n LIMIT ?3",
    )?;
    let mut rows = statement.query(params![next, last, limit])?;
    let mut messages = Vec::new();
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let content = row.str(4)?;
        bytes += content.len();
        messages.push(Unsearched {
            n: row.get(0)?,
            session: row.get(1)?,
            role: row.get(2)?,
            created_at: row.get(3)?,
            text: search::stored_text(content),
        });
        if bytes >= BATCH_BYTES_MAX {
            break;
        }
    }
    Ok(messages)
}

/// Indexes the searchable ones among the messages.
pub(crate) fn add(db: Db<'_>, messages: &[Unsearched]) -> Result<(), Fault> {
    let mut scopes: HashMap<i64, Option<Rc<Scope>>> = HashMap::new();
    let mut searched = Vec::new();
    for Unsearched { n, session, role, created_at, text } in messages {
        let Some(text) = text else { continue };
        let scope = match scopes.get(session) {
            Some(scope) => scope.clone(),
            None => {
                let scope = hold_scope(db, *session)?.map(Rc::new);
                scopes.insert(*session, scope.clone());
                scope
            }
        };
        let message = Searched { n: *n, role, created_at: *created_at, text };
        searched.extend(scope.map(|scope| (scope, message)));
    }
    search::add_all(db, &mut searched)
}

/// The scope of a session; `None` if it was erased since its messages were read. On a server,
/// where another thread may erase it, the row is locked until the commit, so that the erasure
/// follows and deletes the new entries, too.
fn hold_scope(db: Db<'_>, session: i64) -> Result<Option<Scope>, Fault> {
    let held = match db {
        Db::Sqlite(_) => "",
        Db::Postgres(_) => "FOR KEY SHARE",
    };
    let found: Option<(String, String)> = db
        .prepare_cached(&format!(
            "SELECT project_id, agent FROM agent_sessions WHERE n = ?1 {held}"
        ))?
        .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(found.map(|(project, agent)| Scope::new(session, &project, &agent)))
}
