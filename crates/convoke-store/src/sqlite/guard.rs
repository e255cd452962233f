//! Watches over the database's files while they are open: are they still the ones that were opened, and are they sound?
//!
//! Two `stat` calls after every commit cost about two microseconds. Without them a commit into a file that was deleted
//! meanwhile would be acknowledged and gone at the next start.

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
use crate::sqlite::open::Place;

/// Why the store does not write any more. It stays so until the database is opened again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The files were deleted, moved or replaced while they were open.
    Lost {
        /// Where everything that was stored has been copied to; `None` when that has not succeeded yet.
        rescued: Option<PathBuf>,
    },
    /// The database is damaged.
    Damaged {
        /// What SQLite said.
        detail: String,
    },
}

/// A handle to what is known about the files; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    place: Place,
    database: Option<FileId>,
    wal: Option<FileId>,
    /// Set with `trouble`, so that the usual case costs no lock.
    is_troubled: AtomicBool,
    trouble: Mutex<Option<Trouble>>,
    is_closing: AtomicBool,
}

/// A file, whatever its name is by now.
type FileId = (u64, u64);

/// Which of the files is not where it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moved {
    Database,
    /// The database is in its place; what is only in its log is not.
    Wal,
}

impl Guard {
    /// Remembers which files are open. To be called when the writer has connected, which makes the log.
    pub(crate) fn new(place: Place) -> Self {
        let (database, wal) = (file_id(&place.path), file_id(&place.wal));
        let shared = Shared {
            place,
            database: database.ok().flatten(),
            wal: wal.ok().flatten(),
            is_troubled: AtomicBool::new(false),
            trouble: Mutex::new(None),
            is_closing: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// What is wrong, as far as it is known.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        if !self.shared.is_troubled.load(Ordering::Acquire) {
            return None;
        }
        self.shared.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why nothing is written, if nothing is.
    pub(crate) fn refusal(&self) -> Option<Error> {
        let path = self.shared.place.path.clone();
        Some(match self.trouble()? {
            Trouble::Lost { rescued } => Error::Lost { path, rescued },
            Trouble::Damaged { detail } => Error::Corrupt { path, detail },
        })
    }

    /// The file that readers may still open: the database, or the copy of one that was lost.
    pub(crate) fn readable(&self) -> Result<Option<PathBuf>> {
        match self.trouble() {
            None | Some(Trouble::Damaged { .. }) => Ok(None),
            Some(Trouble::Lost { rescued: Some(rescued) }) => Ok(Some(rescued)),
            Some(Trouble::Lost { rescued: None }) => {
                Err(Error::Lost { path: self.shared.place.path.clone(), rescued: None })
            }
        }
    }

    /// Notes damage that a statement came upon.
    pub(crate) fn note(&self, fault: &Fault) {
        if let Some(detail) = fault.damage() {
            self.note_damage(detail);
        }
    }

    /// The same for what the database itself said.
    pub(crate) fn note_sql(&self, error: &Sql) {
        if is_damage(error) {
            self.note_damage(error.to_string());
        }
    }

    pub(crate) fn note_damage(&self, detail: String) {
        let path = self.shared.place.path.display();
        tracing::error!(%path, %detail, "the database is damaged; it is read and no longer written");
        self.set(|trouble| trouble.get_or_insert(Trouble::Damaged { detail }));
    }

    /// Looks for the files, and copies a database that is not in its place any more from the connection that still has
    /// it open. Everything that was committed on `db` is safe when this succeeds.
    pub(crate) fn look(&self, db: &Connection) -> Result<()> {
        match self.trouble() {
            None => {}
            Some(Trouble::Lost { rescued: None }) => return self.rescue(db, Moved::Database),
            Some(Trouble::Lost { rescued: Some(_) } | Trouble::Damaged { .. }) => return Ok(()),
        }
        match self.moved() {
            None => Ok(()),
            Some(moved) => self.rescue(db, moved),
        }
    }

    /// Whether the files are where they were. Changes nothing.
    pub(crate) fn is_in_place(&self) -> bool {
        self.moved().is_none()
    }

    fn moved(&self) -> Option<Moved> {
        let Shared { place, database, wal, .. } = &*self.shared;
        // A file that cannot be looked at, for lack of memory for example, is not taken for a lost one.
        let is_another = |path: &Path, id| file_id(path).is_ok_and(|found| found != id);
        if is_another(&place.path, *database) {
            return Some(Moved::Database);
        }
        is_another(&place.wal, *wal).then_some(Moved::Wal)
    }

    fn rescue(&self, db: &Connection, moved: Moved) -> Result<()> {
        let path = &self.shared.place.path;
        self.set(|trouble| trouble.get_or_insert(Trouble::Lost { rescued: None }));
        // What is only in the log can be brought into the database, which is where it was.
        if moved == Moved::Wal && copy::bring_in_log(db).is_ok() {
            tracing::error!(path = %path.display(), "the database's log was deleted or replaced; \
                 all of it is in the database now, and nothing more is stored until Convoke is started again");
            self.set(|trouble| trouble.insert(Trouble::Lost { rescued: Some(path.clone()) }));
            return Ok(());
        }
        let rescued = free_name(&self.shared.place);
        copy::copy(db, &rescued, &mut |_| {}).inspect_err(|error| {
            tracing::error!(path = %path.display(), %error, "the database was deleted or replaced, \
                 and what is in it cannot be copied yet; it is tried again");
        })?;
        tracing::error!(path = %path.display(), rescued = %rescued.display(), "the database was deleted \
             or replaced; everything in it was copied, and nothing more is stored until Convoke is started again");
        self.set(|trouble| trouble.insert(Trouble::Lost { rescued: Some(rescued) }));
        Ok(())
    }

    fn set(&self, change: impl FnOnce(&mut Option<Trouble>) -> &mut Trouble) {
        change(&mut self.shared.trouble.lock().unwrap_or_else(PoisonError::into_inner));
        self.shared.is_troubled.store(true, Ordering::Release);
    }

    /// Ends what works on the database in the background.
    pub(crate) fn close(&self) {
        self.shared.is_closing.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.shared.is_closing.load(Ordering::Relaxed)
    }
}

/// The file at a path; `None` when there is none.
fn file_id(path: &Path) -> io::Result<Option<FileId>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some((metadata.dev(), metadata.ino()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A name for the copy that is not taken: an earlier one may still wait to be looked at.
fn free_name(place: &Place) -> PathBuf {
    let numbered = (2..100).map(|number| {
        let mut name = place.rescued.clone().into_os_string();
        name.push(format!("-{number}"));
        PathBuf::from(name)
    });
    let mut names = std::iter::once(place.rescued.clone()).chain(numbered);
    names.find(|name| !name.exists()).unwrap_or_else(|| place.rescued.clone())
}
