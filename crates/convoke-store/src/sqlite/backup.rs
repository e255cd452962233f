//! Backup copies of a database. Blocking; for commands and separate threads.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, Fault, Result};
use crate::schema;
use crate::sqlite::copy::{self, Contents, Progress};
use crate::sqlite::open::{DatabasePaths, Found, WriteLock};

/// Copies a database into a new file, also while it is written to, and reads the copy back.
///
/// What is committed when it begins is in the copy. Fails with `Corrupt` when the copy is damaged, which means that the
/// database is; the copy is removed then.
pub fn make(
    database: &Path,
    target: &Path,
    mut progress: impl FnMut(Progress),
) -> Result<Contents> {
    let (paths, found) = DatabasePaths::find(database)?;
    schema::refuse_foreign(&paths, found)?;
    if found == Found::Nothing {
        let source = "there is no database".into();
        return Err(Error::Denied { path: paths.path, source });
    }
    let db = paths.connect_read_only().map_err(|fault| fault.at(&paths.path))?;
    let copied = copy::copy(&db, target, &mut progress)?;
    let read = verify(target).and_then(|read| {
        if read == copied {
            return Ok(read);
        }
        let detail = format!("it holds {read:?}, and {copied:?} was copied");
        Err(Error::Corrupt { path: target.to_owned(), detail })
    });
    if read.is_err() {
        // A damaged copy must not be used as a backup. If it cannot be removed, its folder has no
        // manifest.
        std::fs::remove_file(target).ok();
    }
    read
}

/// Reads a whole copy, and returns its counts. Changes nothing.
pub fn verify(copy: &Path) -> Result<Contents> {
    let (paths, found) = DatabasePaths::find(copy)?;
    schema::refuse_foreign(&paths, found)?;
    if found == Found::Nothing {
        let source = "there is no database".into();
        return Err(Error::Denied { path: paths.path, source });
    }
    copy::verify(&paths)
}

/// Begins a new generation of revisions in a copy that is about to become the database again.
///
/// Sessions continue from the revisions of the copy, so readers that hold newer revisions of the lost database must
/// read everything again. This changes the copy itself, which must not be open elsewhere.
pub fn begin_generation(copy: &Path) -> Result<()> {
    let (paths, found) = DatabasePaths::find(copy)?;
    schema::refuse_foreign(&paths, found)?;
    let changed = || -> Result<(), Fault> {
        let db = Connection::open_with_flags(&paths.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let has_generation: bool = db.query_row(
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'generation')",
            [],
            |row| row.get(0),
        )?;
        // A copy with an older schema gets its first generation when it is migrated.
        if has_generation {
            db.execute("UPDATE generation SET value = abs(random() % 1000000000000)", [])?;
        }
        Ok(())
    };
    changed().map_err(|fault| fault.at(&paths.path))
}

/// Prevents writes by other processes until it is dropped.
#[derive(Debug)]
pub struct Exclusion {
    _lock: WriteLock,
}

/// Prevents writes by other processes to the database at a path, which need not exist. Fails with
/// `InUse`.
pub fn exclude_writers(database: &Path) -> Result<Exclusion> {
    Ok(Exclusion { _lock: DatabasePaths::at(database)?.lock()? })
}
