//! Migration 2 in code: from one row per piece to one row per message, and back.
//!
//! The rules for merging pieces into messages are only here. They read JSON instead of domain
//! types, so that later changes of those types do not affect them.

mod down;
mod up;

use rusqlite::{Connection, params};
use serde_json::{Value, json};

use super::search_by_time::index_row;
use super::steps::Code;
use crate::db::Db;
use crate::error::Fault;
use crate::write::search;

/// Only databases in files are old enough to need it.
pub(super) const CODE: Code = Code {
    up: |db| match db {
        Db::Sqlite(db) => up::up(db),
        Db::Postgres(_) => Ok(()),
    },
    down: |db| match db {
        Db::Sqlite(db) => down::down(db),
        Db::Postgres(_) => Ok(()),
    },
};

/// The columns that both tables share.
struct Row {
    n: Option<i64>,
    id: Vec<u8>,
    role: String,
    content: String,
    at: i64,
}

/// The numbers of all sessions.
fn sessions(db: &Connection) -> Result<Vec<i64>, Fault> {
    let mut statement = db.prepare("SELECT n FROM agent_sessions ORDER BY n")?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?)
}

fn field<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn set_field(value: &mut Value, name: &str, to: impl Into<Value>) {
    if let Value::Object(fields) = value {
        fields.insert(name.to_owned(), to.into());
    }
}

/// A notice about a turn, as version 1 stored it.
fn turn_notice(event: &str, turn: u64, stop: &Value, text: &str) -> Value {
    let mut notice = json!({"type": "notice", "event": event, "turn": turn, "text": text});
    if let (Value::Object(notice), Value::Object(stop)) = (&mut notice, stop) {
        let of_stop = stop.iter().filter(|(name, _)| *name != "status");
        notice.extend(of_stop.map(|(name, value)| (name.clone(), value.clone())));
    }
    notice
}

/// Rebuilds the search index: prompts, answers and questions, each under the number of its message.
fn index_all(db: &Connection, select: &str) -> Result<(), Fault> {
    let mut statement = db.prepare(select)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (n, session): (i64, i64) = (row.get(0)?, row.get(1)?);
        let content: String = row.get(2)?;
        let Ok(content) = serde_json::from_str::<convoke_core::content::Content>(&content) else {
            continue;
        };
        if let Some(text) = search::text_of(&content) {
            index_row(Db::Sqlite(db), session, n, &text)?;
        }
    }
    Ok(())
}

fn drop_tables(db: &Connection, tables: &[&str]) -> Result<(), Fault> {
    for table in tables {
        db.execute_batch(&format!("DROP TABLE {table}"))?;
    }
    Ok(())
}

/// An id for a message that had none.
fn new_id(db: &Connection) -> Result<Vec<u8>, Fault> {
    let mut id: Vec<u8> = db.query_row("SELECT randomblob(16)", params![], |row| row.get(0))?;
    // The bits of a UUID of version 4, variant 1.
    if let [_, _, _, _, _, _, version, _, variant, ..] = id.as_mut_slice() {
        *version = (*version & 0x0f) | 0x40;
        *variant = (*variant & 0x3f) | 0x80;
    }
    Ok(id)
}
