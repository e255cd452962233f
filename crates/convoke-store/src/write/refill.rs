//! Fills the search index from stored messages, after a migration has emptied it.

use std::collections::HashMap;
use std::rc::Rc;

use super::search::{self, Searched};
use super::{Change, Durability};
use crate::db::{Db, Optional as _, params};
use crate::error::Fault;
use crate::search::scope::Scope;

/// Messages of one transaction. Other changes wait for it some milliseconds.
const BATCH: u32 = 200;

/// A stored message that is not in the index yet.
#[derive(Debug)]
pub(crate) struct Unsearched {
    pub(crate) n: i64,
    pub(crate) session: i64,
    pub(crate) role: String,
    pub(crate) created_at: i64,
    /// None if it is not searched.
    pub(crate) text: Option<String>,
}

/// The next messages that go into the index.
#[derive(Debug)]
pub(crate) struct RefillSearch;

/// Whether the index is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refill {
    /// So many rows of messages were not looked at yet, at most.
    Unfinished {
        rows: i64,
    },
    Finished,
}

impl Refill {
    /// How far it is.
    pub(crate) fn read(db: Db<'_>) -> Result<Self, Fault> {
        Ok(match range(db, "")? {
            Some((next, last)) => Self::Unfinished { rows: last - next + 1 },
            None => Self::Finished,
        })
    }
}

impl Change for RefillSearch {
    type Outcome = Refill;

    // It is repeated from where the last one that is on disk ended.
    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<Refill, Fault> {
        // Daemons that share a database take turns.
        let locked = match db {
            Db::Sqlite(_) => "",
            Db::Postgres(_) => "FOR UPDATE",
        };
        let Some((next, last)) = range(db, locked)? else { return Ok(Refill::Finished) };
        let mut messages = read(db, next, last, BATCH)?;
        let next = messages.last().map_or(last, |message| message.n) + 1;
        let mut known = db.prepare_cached("SELECT 1 FROM searched_messages WHERE message = ?1")?;
        let mut missing = Vec::new();
        for message in messages.drain(..) {
            // One that was changed since the migration is there already.
            if message.text.is_some() && !known.exists([message.n])? {
                missing.push(message);
            }
        }
        add(db, &missing)?;
        if next > last {
            db.prepare_cached("DELETE FROM search_refill")?.execute(params![])?;
            return Ok(Refill::Finished);
        }
        db.prepare_cached("UPDATE search_refill SET next = ?1")?.execute([next])?;
        Ok(Refill::Unfinished { rows: last - next + 1 })
    }
}

fn range(db: Db<'_>, locked: &str) -> Result<Option<(i64, i64)>, Fault> {
    let range = db
        .prepare_cached(&format!("SELECT next, last FROM search_refill {locked}"))?
        .query_row(params![], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(range)
}

/// Messages in the order of their numbers, from one to another.
pub(crate) fn read(db: Db<'_>, next: i64, last: i64, limit: u32) -> Result<Vec<Unsearched>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT n, session, role, created_at, content FROM messages
         WHERE n BETWEEN ?1 AND ?2 ORDER BY n LIMIT ?3",
    )?;
    let mut rows = statement.query(params![next, last, limit])?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        messages.push(Unsearched {
            n: row.get(0)?,
            session: row.get(1)?,
            role: row.get(2)?,
            created_at: row.get(3)?,
            text: search::stored_text(row.str(4)?),
        });
    }
    Ok(messages)
}

/// Puts those of the messages into the index that are searched.
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

/// The scope of a session; none if it was erased since its messages were read. On a server, where another thread may erase
/// it, it stays until the end of the transaction, so that its entries are there to be deleted.
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
