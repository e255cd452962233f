//! Copies a database while it is written to, and verifies the copy.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Instant;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _};

use crate::db::Sql;
use crate::error::{Error, Fault, Result};
use crate::sqlite::open::{DatabasePaths, MODE, beside};

/// Pages that are copied between two reports: 4 MiB, a few milliseconds.
const STEP_PAGES: i32 = 1024;

/// Lines of damage that a report quotes; there may be thousands more of the same.
const DAMAGE_LINES: u32 = 10;

/// Virtual machine instructions between two checks of the deadline.
const CANCEL_CHECK_STEPS: i32 = 10_000;

/// The progress of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Bytes that were copied.
    pub done: u64,
    /// All of them.
    pub total: u64,
}

/// Counts of a database, to verify a copy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contents {
    /// The newest migration.
    pub schema: u32,
    /// Sessions.
    pub sessions: u64,
    /// Messages of all sessions.
    pub messages: u64,
}

/// Copies everything that is committed into a new file, which gets its name after it is synced.
pub(crate) fn copy(
    db: &Connection,
    target: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Contents> {
    let temporary = beside(target, ".partial");
    let copied = copy_into(db, &temporary, progress)
        .map_err(|fault| fault.at(target))
        .and_then(|contents| publish(&temporary, target).map(|()| contents));
    if copied.is_err() {
        // An incomplete copy is useless; if it cannot be removed, the next attempt overwrites it.
        fs::remove_file(&temporary).ok();
    }
    copied
}

fn copy_into(
    db: &Connection,
    path: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Contents, Fault> {
    create(path).map_err(|error| Error::Denied { path: path.to_owned(), source: error.into() })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(path, flags)?;
    // The file only counts once it is renamed, so it needs neither a journal nor a sync at every
    // step.
    target.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    // One snapshot for the whole copy: otherwise every commit of the writer would restart it.
    let snapshot = db.unchecked_transaction()?;
    let contents = contents(&snapshot)?;
    let page_bytes: u64 = snapshot.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    {
        let backup = Backup::new(db, &mut target)?;
        loop {
            let step = backup.step(STEP_PAGES)?;
            let at = backup.progress();
            let bytes = |pages: i32| u64::try_from(pages).unwrap_or(0) * page_bytes;
            progress(Progress {
                done: bytes(at.pagecount - at.remaining),
                total: bytes(at.pagecount),
            });
            match step {
                StepResult::Done => break,
                // A step that finds the source locked is retried; with a WAL, readers are never
                // blocked for long.
                StepResult::More | StepResult::Busy | StepResult::Locked => {}
                other => return Err(Fault::Refused(unexpected(path, &format!("{other:?}")))),
            }
        }
    }
    snapshot.rollback()?;
    target.close().map_err(|(_, error)| error)?;
    Ok(contents)
}

fn unexpected(path: &Path, step: &str) -> Error {
    Error::Internal { path: path.to_owned(), source: format!("the copy ended with {step}").into() }
}

/// An empty file that only the owner can read.
fn create(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    OpenOptions::new().write(true).create_new(true).mode(MODE).open(path).map(drop)
}

/// Syncs a finished file and gives it its name, without replacing another one.
fn publish(temporary: &Path, target: &Path) -> Result<()> {
    let publish = || {
        File::open(temporary)?.sync_all()?;
        if fs::exists(target)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(temporary, target)?;
        File::open(target.parent().unwrap_or(Path::new(".")))?.sync_all()
    };
    publish().map_err(|error: io::Error| crate::sqlite::open::denied(target, error))
}

/// What is in a database.
fn contents(db: &Connection) -> Result<Contents, Fault> {
    // After a crash at the first start there are no tables yet.
    let tables = "SELECT name FROM sqlite_schema WHERE name IN ('messages', 'agent_messages')";
    let table = db.query_row(tables, [], |row| row.get::<_, String>(0)).optional()?;
    let Some(table) = table else {
        return Ok(Contents { schema: 0, sessions: 0, messages: 0 });
    };
    let count = |sql: &str| db.query_row(sql, [], |row| row.get(0));
    Ok(Contents {
        schema: db.query_row("SELECT max(version) FROM schema_migrations", [], |row| {
            row.get::<_, Option<u32>>(0).map(Option::unwrap_or_default)
        })?,
        sessions: count("SELECT count(*) FROM agent_sessions")?,
        messages: count(&format!("SELECT count(*) FROM {table}"))?,
    })
}

/// Checkpoints the WAL into the database file.
pub(crate) fn checkpoint_wal(db: &Connection) -> Result<(), Fault> {
    let (busy, log, checkpointed): (i64, i64, i64) =
        db.query_row("PRAGMA wal_checkpoint(FULL)", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    if busy != 0 || log != checkpointed {
        return Err(Error::Misuse { what: "a reader keeps the log from being brought in" }.into());
    }
    Ok(())
}

/// How thorough a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The structure of every page. About a second for a gigabyte that is in memory.
    Quick,
    /// Also whether indexes and tables agree, and whether rows name others that are there.
    Whole,
}

/// The result of a check.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Findings {
    /// No damage was found.
    Sound,
    /// The reported damage, line by line.
    Damage(Vec<String>),
    /// The check was aborted before the end.
    Unfinished,
}

/// Checks for damage until `give_up` returns true.
pub(crate) fn find_damage(
    db: &mut Connection,
    depth: Depth,
    give_up: impl FnMut() -> bool + Send + 'static,
) -> Result<Findings, Fault> {
    db.progress_handler(CANCEL_CHECK_STEPS, Some(give_up))?;
    let found = look_for_damage(db, depth);
    db.progress_handler(0, None::<fn() -> bool>)?;
    match found {
        Ok(lines) if lines.is_empty() => Ok(Findings::Sound),
        Ok(lines) => Ok(Findings::Damage(lines)),
        Err(Fault::Sql(Sql::Sqlite(error)))
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) =>
        {
            Ok(Findings::Unfinished)
        }
        // Some damage prevents the list and is only reported as an error.
        Err(fault) => match fault.damage() {
            Some(detail) => Ok(Findings::Damage(vec![detail])),
            None => Err(fault),
        },
    }
}

/// Whether a deadline has passed.
pub(crate) fn is_over(deadline: Instant) -> impl FnMut() -> bool + Send + 'static {
    move || Instant::now() > deadline
}

fn look_for_damage(db: &Connection, depth: Depth) -> Result<Vec<String>, Fault> {
    let check = match depth {
        Depth::Quick => "quick_check",
        Depth::Whole => "integrity_check",
    };
    let mut statement = db.prepare(&format!("PRAGMA {check}({DAMAGE_LINES})"))?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?;
    let mut damage: Vec<String> = lines.collect::<rusqlite::Result<_>>()?;
    damage.retain(|line| line != "ok");
    if depth == Depth::Quick {
        return Ok(damage);
    }
    let mut statement = db.prepare(
        "SELECT format('row %s of %s names a %s that is not there', rowid, \"table\", parent)
         FROM pragma_foreign_key_check LIMIT ?1",
    )?;
    let orphans = statement.query_map([DAMAGE_LINES], |row| row.get::<_, String>(0))?;
    for orphan in orphans {
        damage.push(orphan?);
    }
    Ok(damage)
}

/// Reads a whole copy, and returns its counts. Fails with `Corrupt` when it is damaged.
pub(crate) fn verify(paths: &DatabasePaths) -> Result<Contents> {
    let read = paths.connect_read_only().and_then(|mut db| {
        match find_damage(&mut db, Depth::Whole, || false)? {
            Findings::Sound => contents(&db),
            Findings::Damage(lines) => {
                Err(Error::Corrupt { path: paths.path.clone(), detail: lines.join("; ") }.into())
            }
            Findings::Unfinished => Err(unexpected(&paths.path, "an interruption").into()),
        }
    });
    read.map_err(|fault| fault.at(&paths.path))
}
