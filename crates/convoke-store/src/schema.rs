//! Applies migrations, and rolls them back. Blocking; for commands and for opening.

mod migration_table;
pub(crate) mod search_by_time;
pub(crate) mod steps;
mod whole_messages;

use std::path::Path;
use std::time::{Duration, Instant};

use convoke_core::time::Timestamp;
use rusqlite::Connection;

use crate::db::Db;
use crate::error::{Error, Fault, Result};
use crate::location::Location;
use crate::postgres;
use crate::sqlite::copy::{self, Depth, Findings, find_damage, is_over};
use crate::sqlite::open::{DatabasePaths, Found, WriteLock};
use migration_table::{AppliedMigration, Owner, verify};
use steps::{STEPS, Step};

/// The application id in the header of our databases (`Conv`), so that a foreign database is never changed.
pub(crate) const APPLICATION_ID: i32 = 0x436f_6e76;

/// One step from a schema to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// Its number; they are numbered without gaps, from 1.
    pub version: u32,
    /// What it does, in a word or two.
    pub name: &'static str,
    /// When it was applied to this database, if it was.
    pub applied_at: Option<Timestamp>,
}

/// Lists every migration that this program knows, first to last. Changes nothing; no file means none is applied.
pub fn status(location: impl Into<Location>) -> Result<Vec<Migration>> {
    match location.into() {
        Location::File(path) => {
            let (paths, found) = DatabasePaths::find(&path)?;
            inspect(&paths, found, STEPS)
        }
        Location::Server(server) => postgres::schema::status(&server),
    }
}

/// Applies the missing migrations and returns them, first to last. Creates the database if there is
/// none.
pub fn migrate(location: impl Into<Location>, now: Timestamp) -> Result<Vec<Migration>> {
    let path = match location.into() {
        Location::File(path) => path,
        Location::Server(server) => return postgres::schema::migrate(&server, now),
    };
    let (paths, found) = DatabasePaths::find(&path)?;
    inspect(&paths, found, STEPS)?;
    let lock = paths.lock()?;
    let db = paths.connect_writer(&lock).map_err(|fault| fault.at(&paths.path))?;
    migrate_up(Db::Sqlite(&db), STEPS, now).map_err(|fault| fault.at(&paths.path))
}

/// Rolls the newest migrations back, with all data in what they created; returns them, newest
/// first.
pub fn rollback(location: impl Into<Location>, steps: usize) -> Result<Vec<Migration>> {
    let path = match location.into() {
        Location::File(path) => path,
        Location::Server(server) => return postgres::schema::rollback(&server, steps),
    };
    let (paths, found) = DatabasePaths::find(&path)?;
    if inspect(&paths, found, STEPS)?.iter().all(|migration| migration.applied_at.is_none()) {
        return Ok(Vec::new());
    }
    let lock = paths.lock()?;
    let db = paths.connect_writer(&lock).map_err(|fault| fault.at(&paths.path))?;
    migrate_down(Db::Sqlite(&db), STEPS, steps).map_err(|fault| fault.at(&paths.path))
}

/// Reads the whole database and fails with `Corrupt` if it is inconsistent. On a server only the
/// migrations are checked: it looks after its own files.
pub fn check(location: impl Into<Location>) -> Result<()> {
    let path = match location.into() {
        Location::File(path) => path,
        Location::Server(server) => return postgres::schema::status(&server).map(drop),
    };
    let (paths, found) = DatabasePaths::find(&path)?;
    inspect(&paths, found, STEPS)?;
    if found == Found::Nothing {
        return Ok(());
    }
    copy::verify(&paths).map(|_| ())
}

/// Checks the database for damage for a limited time, without changing anything.
pub(crate) fn check_at_start(
    paths: &DatabasePaths,
    found: Found,
    limit: Duration,
) -> Result<Checked> {
    if found == Found::Nothing {
        return Ok(Checked::Whole);
    }
    let deadline = is_over(Instant::now() + limit);
    let findings =
        paths.connect_read_only().and_then(|mut db| find_damage(&mut db, Depth::Quick, deadline));
    match findings.map_err(|fault| fault.at(&paths.path))? {
        Findings::Sound => Ok(Checked::Whole),
        Findings::Unfinished => Ok(Checked::InPart),
        Findings::Damage(lines) => {
            Err(Error::Corrupt { path: paths.path.clone(), detail: lines.join("; ") })
        }
    }
}

/// How much of a database was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checked {
    Whole,
    InPart,
}

/// Refuses a database with a foreign application id or a newer schema, before any write.
pub(crate) fn refuse_foreign(paths: &DatabasePaths, found: Found) -> Result<()> {
    inspect(paths, found, STEPS).map(|_| ())
}

/// Applies the missing migrations, as the only writer.
pub(crate) fn migrate_to_latest(
    paths: &DatabasePaths,
    lock: &WriteLock,
    now: Timestamp,
) -> Result<Connection> {
    let migrated = paths.connect_writer(lock).and_then(|db| {
        for migration in migrate_up(Db::Sqlite(&db), STEPS, now)? {
            tracing::info!(path = %paths.path.display(), "applied migration {}", migration.version);
        }
        Ok(db)
    });
    migrated.map_err(|fault| fault.at(&paths.path))
}

fn inspect(paths: &DatabasePaths, found: Found, steps: &[Step]) -> Result<Vec<Migration>> {
    match found {
        Found::Nothing => listed(&paths.path, steps, &[]),
        Found::Something => paths
            .connect_read_only()
            .and_then(|db| listed_in(Db::Sqlite(&db), &paths.path, steps))
            .map_err(|fault| fault.at(&paths.path)),
    }
}

/// The migrations of a database that is open, with those that are applied.
pub(crate) fn listed_in(db: Db<'_>, path: &Path, steps: &[Step]) -> Result<Vec<Migration>, Fault> {
    let applied = match Owner::of(db)? {
        Owner::None => Vec::new(),
        Owner::Us => migration_table::read(db)?,
        Owner::Another => return Err(Error::ForeignDatabase { path: path.to_owned() }.into()),
    };
    Ok(listed(path, steps, &applied)?)
}

/// All migrations with those that are applied, which must be the first of them.
fn listed(path: &Path, steps: &[Step], applied: &[AppliedMigration]) -> Result<Vec<Migration>> {
    verify(path, steps, applied)?;
    let moments = applied.iter().map(|entry| Some(entry.applied_at)).chain(std::iter::repeat(None));
    Ok(steps.iter().zip(moments).map(|(step, applied_at)| step.migration(applied_at)).collect())
}

pub(crate) fn migrate_up(
    db: Db<'_>,
    steps: &[Step],
    now: Timestamp,
) -> Result<Vec<Migration>, Fault> {
    let mut applied = Vec::new();
    for step in steps {
        let transaction = db.begin()?;
        if migration_table::open(db)?.iter().any(|entry| entry.version == step.version) {
            continue;
        }
        db.execute_batch(step.up)?;
        if let Some(code) = &step.code {
            (code.up)(db)?;
        }
        migration_table::insert(db, step, now)?;
        transaction.commit()?;
        applied.push(step.migration(Some(now)));
    }
    Ok(applied)
}

pub(crate) fn migrate_down(
    db: Db<'_>,
    steps: &[Step],
    count: usize,
) -> Result<Vec<Migration>, Fault> {
    let mut taken_back = Vec::new();
    for step in steps.iter().rev() {
        if taken_back.len() == count {
            break;
        }
        let transaction = db.begin()?;
        let Some(applied_at) = migration_table::delete(db, step)? else { continue };
        db.execute_batch(step.down)?;
        if let Some(code) = &step.code {
            (code.down)(db)?;
        }
        transaction.commit()?;
        taken_back.push(step.migration(Some(applied_at)));
    }
    Ok(taken_back)
}

#[cfg(test)]
mod tests;
