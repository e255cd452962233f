//! The table of applied migrations in every database, and the check that it matches this program.

use std::path::Path;

use convoke_core::time::Timestamp;

use super::APPLICATION_ID;
use super::steps::Step;
use crate::db::{Db, Optional as _, SqlResult, params};
use crate::error::{Error, Result};
use crate::row;

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AppliedMigration {
    pub(super) version: u32,
    pub(super) name: String,
    pub(super) checksum: String,
    pub(super) applied_at: Timestamp,
}

/// Which program a database belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// It is empty, as after a crash at the first start.
    None,
    Us,
    Another,
}

impl Owner {
    pub(super) fn of(db: Db<'_>) -> SqlResult<Self> {
        let connection = match db {
            Db::Sqlite(connection) => connection,
            // On a server, everything of Convoke's is in its own schema.
            Db::Postgres(_) => {
                let sql = "SELECT 1 FROM pg_tables
                     WHERE schemaname = 'convoke' AND tablename = 'schema_migrations'";
                let is_there = db.prepare_cached(sql)?.exists(params![])?;
                return Ok(if is_there { Self::Us } else { Self::None });
            }
        };
        let id: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)";
        let empty = connection.query_row(sql, [], |row| row.get(0))?;
        Ok(match id {
            APPLICATION_ID => Self::Us,
            0 if empty => Self::None,
            _ => Self::Another,
        })
    }
}

/// Reads the table, first migration to last.
pub(super) fn read(db: Db<'_>) -> SqlResult<Vec<AppliedMigration>> {
    let mut statement = db.prepare_cached(
        "SELECT version, name, checksum, applied_at FROM schema_migrations ORDER BY version",
    )?;
    let entries = statement.query_map(params![], |row| {
        Ok(AppliedMigration {
            version: row.get(0)?,
            name: row.get(1)?,
            checksum: row.get(2)?,
            applied_at: row::timestamp(row, 3)?,
        })
    })?;
    entries.collect()
}

/// Reads the table; creates it, and marks the database as Convoke's, if there is none.
pub(super) fn open(db: Db<'_>) -> SqlResult<Vec<AppliedMigration>> {
    // In the same transaction as the first migration, so that a crash leaves all of it or nothing.
    if Owner::of(db)? == Owner::None {
        match db {
            Db::Sqlite(_) => db.execute_batch(&format!(
                "PRAGMA application_id = {APPLICATION_ID};
                 CREATE TABLE schema_migrations (
                     version INTEGER PRIMARY KEY,
                     name TEXT NOT NULL,
                     checksum TEXT NOT NULL,
                     applied_at INTEGER NOT NULL
                 ) STRICT;"
            ))?,
            Db::Postgres(_) => db.execute_batch(
                "CREATE SCHEMA IF NOT EXISTS convoke;
                 CREATE TABLE convoke.schema_migrations (
                     version BIGINT PRIMARY KEY,
                     name TEXT NOT NULL,
                     checksum TEXT NOT NULL,
                     applied_at BIGINT NOT NULL
                 );",
            )?,
        }
    }
    read(db)
}

/// Records an applied migration.
pub(super) fn insert(db: Db<'_>, step: &Step, now: Timestamp) -> SqlResult<()> {
    db.prepare_cached(
        "INSERT INTO schema_migrations (version, name, checksum, applied_at)
         VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![step.version, step.name, step.checksum(), now.as_millis()])?;
    Ok(())
}

/// Deletes the record of a migration; returns when it had been applied, if it had.
pub(super) fn delete(db: Db<'_>, step: &Step) -> SqlResult<Option<Timestamp>> {
    db.prepare_cached("DELETE FROM schema_migrations WHERE version = ?1 RETURNING applied_at")?
        .query_row([step.version], |row| row::timestamp(row, 0))
        .optional()
}

/// Fails unless the recorded migrations are the first ones of this program.
pub(super) fn verify(path: &Path, steps: &[Step], applied: &[AppliedMigration]) -> Result<()> {
    let known = steps.last().map_or(0, |step| step.version);
    if let Some(newest) = applied.last().filter(|entry| entry.version > known) {
        return Err(Error::Newer { path: path.to_owned(), found: newest.version, known });
    }
    let changed = applied.iter().zip(steps).find(|(entry, step)| {
        (entry.version, &*entry.name, &entry.checksum)
            != (step.version, step.name, &step.checksum())
    });
    match changed {
        None => Ok(()),
        Some((entry, _)) => Err(Error::Changed {
            path: path.to_owned(),
            version: entry.version,
            name: entry.name.clone(),
        }),
    }
}
