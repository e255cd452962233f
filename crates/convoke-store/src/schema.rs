//! Brings a database from one schema to the next, and back again. Blocking; for commands and for opening.

mod book;
mod steps;
mod whole_messages;

use std::path::Path;
use std::time::{Duration, Instant};

use convoke_core::time::Timestamp;
use rusqlite::{Connection, TransactionBehavior};

use crate::copy::{self, Depth, Findings, find_damage, is_over};
use crate::error::{Error, Fault, Result};
use crate::open::{Found, Place, WriteLock};
use book::{Owner, verify};
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
pub fn status(path: &Path) -> Result<Vec<Migration>> {
    let (place, found) = Place::find(path)?;
    inspect(&place, found, STEPS)
}

/// Applies what is missing and returns that, first to last. Makes the database when there is none.
pub fn migrate(path: &Path, now: Timestamp) -> Result<Vec<Migration>> {
    let (place, found) = Place::find(path)?;
    inspect(&place, found, STEPS)?;
    let lock = place.lock()?;
    let mut db = place.connect_writer(&lock).map_err(|fault| fault.at(&place.path))?;
    bring_up(&mut db, STEPS, now).map_err(|fault| fault.at(&place.path))
}

/// Takes the newest migrations back, with all that is stored in what they made; returns them, newest first.
pub fn rollback(path: &Path, steps: usize) -> Result<Vec<Migration>> {
    let (place, found) = Place::find(path)?;
    if inspect(&place, found, STEPS)?.iter().all(|migration| migration.applied_at.is_none()) {
        return Ok(Vec::new());
    }
    let lock = place.lock()?;
    let mut db = place.connect_writer(&lock).map_err(|fault| fault.at(&place.path))?;
    bring_down(&mut db, STEPS, steps).map_err(|fault| fault.at(&place.path))
}

/// Reads the whole database and fails with `Corrupt` when something does not add up.
pub fn check(path: &Path) -> Result<()> {
    let (place, found) = Place::find(path)?;
    inspect(&place, found, STEPS)?;
    if found == Found::Nothing {
        return Ok(());
    }
    copy::verify(&place).map(|_| ())
}

/// Looks for damage for a limited time, without changing anything.
pub(crate) fn check_at_start(place: &Place, found: Found, limit: Duration) -> Result<Checked> {
    if found == Found::Nothing {
        return Ok(Checked::Whole);
    }
    let deadline = is_over(Instant::now() + limit);
    let findings = place.look().and_then(|mut db| find_damage(&mut db, Depth::Quick, deadline));
    match findings.map_err(|fault| fault.at(&place.path))? {
        Findings::Sound => Ok(Checked::Whole),
        Findings::Unfinished => Ok(Checked::InPart),
        Findings::Damage(lines) => {
            Err(Error::Corrupt { path: place.path.clone(), detail: lines.join("; ") })
        }
    }
}

/// How much of a database was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checked {
    Whole,
    InPart,
}

/// Refuses a database with a foreign application id or a newer schema, before any write.
pub(crate) fn refuse_foreign(place: &Place, found: Found) -> Result<()> {
    inspect(place, found, STEPS).map(|_| ())
}

/// Applies what is missing, as the only writer.
pub(crate) fn bring_up_to_date(
    place: &Place,
    lock: &WriteLock,
    now: Timestamp,
) -> Result<Connection> {
    let migrated = place.connect_writer(lock).and_then(|mut db| {
        for migration in bring_up(&mut db, STEPS, now)? {
            tracing::info!(path = %place.path.display(), "applied migration {}", migration.version);
        }
        Ok(db)
    });
    migrated.map_err(|fault| fault.at(&place.path))
}

fn inspect(place: &Place, found: Found, steps: &[Step]) -> Result<Vec<Migration>> {
    let applied = match found {
        Found::Nothing => Vec::new(),
        Found::Something => place
            .look()
            .and_then(|db| match Owner::of(&db)? {
                Owner::None => Ok(Vec::new()),
                Owner::Us => Ok(book::read(&db)?),
                Owner::Another => Err(Error::ForeignDatabase { path: place.path.clone() }.into()),
            })
            .map_err(|fault| fault.at(&place.path))?,
    };
    verify(&place.path, steps, &applied)?;
    let moments = applied.iter().map(|entry| Some(entry.applied_at)).chain(std::iter::repeat(None));
    Ok(steps.iter().zip(moments).map(|(step, applied_at)| step.migration(applied_at)).collect())
}

fn bring_up(db: &mut Connection, steps: &[Step], now: Timestamp) -> Result<Vec<Migration>, Fault> {
    let mut applied = Vec::new();
    for step in steps {
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if book::open(&transaction)?.iter().any(|entry| entry.version == step.version) {
            continue;
        }
        transaction.execute_batch(step.up)?;
        if let Some(code) = &step.code {
            (code.up)(&transaction)?;
        }
        book::enter(&transaction, step, now)?;
        transaction.commit()?;
        applied.push(step.migration(Some(now)));
    }
    Ok(applied)
}

fn bring_down(db: &mut Connection, steps: &[Step], count: usize) -> Result<Vec<Migration>, Fault> {
    let mut taken_back = Vec::new();
    for step in steps.iter().rev() {
        if taken_back.len() == count {
            break;
        }
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let Some(applied_at) = book::strike(&transaction, step)? else { continue };
        transaction.execute_batch(step.down)?;
        if let Some(code) = &step.code {
            (code.down)(&transaction)?;
        }
        transaction.commit()?;
        taken_back.push(step.migration(Some(applied_at)));
    }
    Ok(taken_back)
}

#[cfg(test)]
mod tests;
