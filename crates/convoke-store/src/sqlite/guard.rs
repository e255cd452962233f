//! Checks the database's files while they are open: that they are still the same files, and that
//! they are not damaged.
//!
//! Two `stat` calls after every commit cost about two microseconds. Without them a commit into a
//! deleted file would be acknowledged, and lost at the next start.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use crate::db::Sql;
use crate::error::{Error, Fault, Result, is_damage};
use crate::sqlite::copy;
use crate::sqlite::open::DatabasePaths;

/// Why the store refuses writes until the database is opened again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseFailure {
    /// The files were deleted, moved or replaced while they were open.
    Lost {
        /// The path of the rescued copy; `None` if it could not be made yet.
        rescued: Option<PathBuf>,
    },
    /// The database is damaged.
    Damaged {
        /// The error text of SQLite.
        detail: String,
    },
}

/// A handle to the state of the files; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    paths: DatabasePaths,
    database: Option<FileId>,
    wal: Option<FileId>,
    /// Set together with `failure`, so that the usual case takes no lock.
    has_failed: AtomicBool,
    failure: Mutex<Option<DatabaseFailure>>,
    is_closing: AtomicBool,
}

/// The device and inode of a file.
type FileId = (u64, u64);

/// Which file is no longer at its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moved {
    Database,
    /// Only the WAL: the database file is in place.
    Wal,
}

impl Guard {
    /// Records the identity of the open files. To be called after the writer has connected, which
    /// creates the WAL.
    pub(crate) fn new(paths: DatabasePaths) -> Self {
        let (database, wal) = (file_id(&paths.path), file_id(&paths.wal));
        let shared = Shared {
            paths,
            database: database.ok().flatten(),
            wal: wal.ok().flatten(),
            has_failed: AtomicBool::new(false),
            failure: Mutex::new(None),
            is_closing: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The known problem, if any.
    pub(crate) fn failure(&self) -> Option<DatabaseFailure> {
        if !self.shared.has_failed.load(Ordering::Acquire) {
            return None;
        }
        self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The error for writes, if they are refused.
    pub(crate) fn refusal(&self) -> Option<Error> {
        let path = self.shared.paths.path.clone();
        Some(match self.failure()? {
            DatabaseFailure::Lost { rescued } => Error::Lost { path, rescued },
            DatabaseFailure::Damaged { detail } => Error::Corrupt { path, detail },
        })
    }

    /// The file that readers may still open: the database, or the copy of one that was lost.
    pub(crate) fn readable(&self) -> Result<Option<PathBuf>> {
        match self.failure() {
            None | Some(DatabaseFailure::Damaged { .. }) => Ok(None),
            Some(DatabaseFailure::Lost { rescued: Some(rescued) }) => Ok(Some(rescued)),
            Some(DatabaseFailure::Lost { rescued: None }) => {
                Err(Error::Lost { path: self.shared.paths.path.clone(), rescued: None })
            }
        }
    }

    /// Records damage that a statement reported.
    pub(crate) fn note(&self, fault: &Fault) {
        if let Some(detail) = fault.damage() {
            self.note_damage(detail);
        }
    }

    /// As `note`, for an error of the database.
    pub(crate) fn note_sql(&self, error: &Sql) {
        if is_damage(error) {
            self.note_damage(error.to_string());
        }
    }

    pub(crate) fn note_damage(&self, detail: String) {
        let path = self.shared.paths.path.display();
        tracing::error!(%path, %detail, "the database is damaged; it is read and no longer written");
        self.set(|failure| failure.get_or_insert(DatabaseFailure::Damaged { detail }));
    }

    /// Checks the files, and copies a lost database through the connection that still has it open.
    /// If this succeeds, everything that was committed on `db` is safe.
    pub(crate) fn check_files(&self, db: &Connection) -> Result<()> {
        match self.failure() {
            None => {}
            Some(DatabaseFailure::Lost { rescued: None }) => {
                return self.rescue(db, Moved::Database);
            }
            Some(DatabaseFailure::Lost { rescued: Some(_) } | DatabaseFailure::Damaged { .. }) => {
                return Ok(());
            }
        }
        match self.moved() {
            None => Ok(()),
            Some(moved) => self.rescue(db, moved),
        }
    }

    /// Whether the files are still in place. Changes nothing.
    pub(crate) fn is_in_place(&self) -> bool {
        self.moved().is_none()
    }

    fn moved(&self) -> Option<Moved> {
        let Shared { paths, database, wal, .. } = &*self.shared;
        // A file whose `stat` fails for another reason, such as lack of memory, does not count as
        // lost.
        let is_another = |path: &Path, id| file_id(path).is_ok_and(|found| found != id);
        if is_another(&paths.path, *database) {
            return Some(Moved::Database);
        }
        is_another(&paths.wal, *wal).then_some(Moved::Wal)
    }

    fn rescue(&self, db: &Connection, moved: Moved) -> Result<()> {
        let path = &self.shared.paths.path;
        self.set(|failure| failure.get_or_insert(DatabaseFailure::Lost { rescued: None }));
        // The content of the WAL can be checkpointed into the database file, which is in place.
        if moved == Moved::Wal && copy::checkpoint_wal(db).is_ok() {
            tracing::error!(path = %path.display(), "the database's log was deleted or replaced; \
                 all of it is in the database now, and nothing more is stored until Convoke is started again");
            self.set(|failure| {
                failure.insert(DatabaseFailure::Lost { rescued: Some(path.clone()) })
            });
            return Ok(());
        }
        let rescued = free_name(&self.shared.paths);
        copy::copy(db, &rescued, &mut |_| {}).inspect_err(|error| {
            tracing::error!(path = %path.display(), %error, "the database was deleted or replaced, \
                 and what is in it cannot be copied yet; it is tried again");
        })?;
        tracing::error!(path = %path.display(), rescued = %rescued.display(), "the database was deleted \
             or replaced; everything in it was copied, and nothing more is stored until Convoke is started again");
        self.set(|failure| failure.insert(DatabaseFailure::Lost { rescued: Some(rescued) }));
        Ok(())
    }

    fn set(&self, change: impl FnOnce(&mut Option<DatabaseFailure>) -> &mut DatabaseFailure) {
        change(&mut self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner));
        self.shared.has_failed.store(true, Ordering::Release);
    }

    /// Ends background checks of the database.
    pub(crate) fn close(&self) {
        self.shared.is_closing.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.shared.is_closing.load(Ordering::Relaxed)
    }
}

/// The identity of the file at a path; `None` if there is none.
fn file_id(path: &Path) -> io::Result<Option<FileId>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some((metadata.dev(), metadata.ino()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// An unused name for the copy: an earlier copy may still exist.
fn free_name(paths: &DatabasePaths) -> PathBuf {
    let numbered = (2..100).map(|number| {
        let mut name = paths.rescued.clone().into_os_string();
        name.push(format!("-{number}"));
        PathBuf::from(name)
    });
    let mut names = std::iter::once(paths.rescued.clone()).chain(numbered);
    names.find(|name| !name.exists()).unwrap_or_else(|| paths.rescued.clone())
}
