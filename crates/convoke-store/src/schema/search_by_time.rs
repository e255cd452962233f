//! Migration 7 in code: rolling it back fills the search index of the previous schema.

use super::steps::Code;
use crate::db::{Db, params};
use crate::error::Fault;
use crate::write::refill;
use crate::write::search::vector_of;

/// `up` needs no code: the index is filled in the background.
pub(crate) const CODE: Code = Code { up: |_| Ok(()), down };

/// The page size of reads.
const PAGE: u32 = 1000;

fn down(db: Db<'_>) -> Result<(), Fault> {
    let mut next = i64::MIN;
    loop {
        let page = refill::read(db, next, i64::MAX, PAGE)?;
        for message in &page {
            if let Some(text) = &message.text {
                index_row(db, message.session, message.n, text)?;
            }
        }
        match page.last() {
            Some(last) => next = last.n + 1,
            None => return Ok(()),
        }
    }
}

/// Puts a message into the index of schemas 1 to 6, under its own number.
pub(super) fn index_row(db: Db<'_>, session: i64, message: i64, text: &str) -> Result<(), Fault> {
    let project: String = db
        .prepare_cached("SELECT project_id FROM agent_sessions WHERE n = ?1")?
        .query_row([session], |row| row.get(0))?;
    let scope = [format!("s{session}"), format!("p{}", project.replace('-', ""))];
    match db {
        Db::Sqlite(_) => {
            let sql = "INSERT INTO message_search (rowid, text, scope) VALUES (?1, ?2, ?3)";
            db.prepare_cached(sql)?.execute(params![message, text, scope.join(" ")])?;
        }
        Db::Postgres(session) => {
            let vector = vector_of(session, text, &scope)?;
            let sql = "INSERT INTO message_search (rowid, vector)
                 VALUES (?1, CAST(CAST(?2 AS TEXT) AS tsvector))";
            db.prepare_cached(sql)?.execute(params![message, vector])?;
        }
    }
    Ok(())
}
