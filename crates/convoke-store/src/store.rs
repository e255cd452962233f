//! The handle through which other crates store and read.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use convoke_core::time::Timestamp;
use tokio::runtime::Handle;

use crate::db::Db;
use crate::error::{Error, Fault, Result};
use crate::location::Location;
use crate::nodes::Lease;
use crate::postgres::{Pool, Server, Writers};
use crate::reading;
use crate::refilling::Refilling;
use crate::schema::{self, Checked};
use crate::sqlite::guard::{DatabaseFailure, Guard};
use crate::sqlite::open::{DatabasePaths, Found, beside, denied};
use crate::sqlite::readers::Readers;
use crate::sqlite::writer::{WAL_BYTES_MAX, Writer};
use crate::write::Change;
use crate::write::refill::Refill;

/// The length of a list, with its offset, that is read faster than the work is handed to another
/// thread.
const READ_HERE_MAX: u32 = 100;

/// How long `open` checks for damage before the check continues in the background: a start must not
/// take long, and this suffices for some hundred megabytes. A kill or a power cut does not damage a
/// database; bad disks, bad memory and other programs do, at any time, so the check runs at every
/// start and not only after an unclean end.
const CHECK_MAX: Duration = Duration::from_millis(500);

/// A handle to the database. Cheap to clone; all clones share the same connections.
///
/// Dropping the last clone loses no data, but the file can be opened by others only after `close`.
#[derive(Debug, Clone)]
pub struct Store {
    backend: Backend,
    pub(crate) refilling: Refilling,
}

/// The database behind a store.
#[derive(Debug, Clone)]
enum Backend {
    Sqlite { writer: Arc<Writer>, readers: Readers, guard: Guard },
    Postgres { writers: Arc<Writers>, pool: Pool },
}

/// The part of a list that is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// How many at most; beyond 10,000 it is cut to that.
    pub limit: u32,
    /// How many to skip.
    pub offset: u32,
}

impl Window {
    /// Maximum entries in one page; larger pages would only delay the first entry.
    pub const LIMIT_MAX: u32 = 10_000;

    /// The first `limit` entries.
    pub const fn first(limit: u32) -> Self {
        Self { limit, offset: 0 }
    }

    pub(crate) fn limit(self) -> u32 {
        self.limit.min(Self::LIMIT_MAX)
    }
}

impl Store {
    /// Opens a database; creates it or migrates its schema if needed.
    ///
    /// The directory of a file must exist, and this process becomes its only writer. Fails on a
    /// file with a foreign application id or a newer schema, before any write. A database on a
    /// server may be used by others at the same time.
    pub async fn open(location: impl Into<Location>, now: Timestamp) -> Result<Self> {
        let path = match location.into() {
            Location::File(path) => path,
            Location::Server(server) => return Self::connect(*server, now).await,
        };
        let opening = {
            let (path, runtime) = (path.clone(), Handle::current());
            tokio::task::spawn_blocking(move || Self::open_blocking(&path, now, &runtime))
        };
        opening.await.map_err(|error| Error::Internal { path, source: error.into() })?
    }

    fn open_blocking(path: &Path, now: Timestamp, runtime: &Handle) -> Result<Self> {
        let (paths, mut found) = DatabasePaths::find(path)?;
        schema::refuse_foreign(&paths, found)?;
        let lock = paths.lock()?;
        if paths.rescued.exists() {
            adopt_rescued(&paths, found)?;
            found = Found::Something;
        }
        let checked = schema::check_at_start(&paths, found, CHECK_MAX)?;
        let db = schema::migrate_to_latest(&paths, &lock, now)?;
        let refill = Refill::read(Db::Sqlite(&db)).map_err(|fault| fault.at(&paths.path))?;
        let guard = Guard::new(paths.clone());
        let readers = Readers::new(paths.clone(), guard.clone());
        let writer = Writer::start(db, paths, lock, guard.clone(), WAL_BYTES_MAX, runtime.clone())?;
        if checked == Checked::InPart {
            let readers = readers.clone();
            // Ends with the store: closing it waits for its readers.
            drop(runtime.spawn(async move {
                if let Err(error) = readers.check().await {
                    tracing::warn!(%error, "the database could not be checked for damage");
                }
            }));
        }
        let backend = Backend::Sqlite { writer: Arc::new(writer), readers, guard };
        let store = Self { backend, refilling: Refilling::default() };
        store.refill_at_start(refill, runtime);
        Ok(store)
    }

    async fn connect(server: Server, now: Timestamp) -> Result<Self> {
        let server = Arc::new(server);
        let migrating = {
            let server = Arc::clone(&server);
            tokio::task::spawn_blocking(move || crate::postgres::schema::migrate(&server, now))
        };
        let path = server.as_path().to_owned();
        let applied = migrating.await;
        let applied = applied.map_err(|error| Error::Internal { path, source: error.into() })??;
        for migration in applied {
            tracing::info!(database = %server, "applied migration {}", migration.version);
        }
        let writers = Arc::new(Writers::start(Arc::clone(&server))?);
        let backend = Backend::Postgres { writers, pool: Pool::new(server) };
        let store = Self { backend, refilling: Refilling::default() };
        store.refill_at_start(store.read(Refill::read).await?, &Handle::current());
        Ok(store)
    }

    /// Why the store refuses writes, if it does. Checks the files first.
    pub fn failure(&self) -> Option<DatabaseFailure> {
        let Backend::Sqlite { guard, .. } = &self.backend else { return None };
        let known = guard.failure();
        known.or_else(|| (!guard.is_in_place()).then_some(DatabaseFailure::Lost { rescued: None }))
    }

    /// Increases with every commit of this store. A read that began at a value is current as long
    /// as the value has not changed, unless others write to the same database.
    pub fn age(&self) -> u64 {
        match &self.backend {
            Backend::Sqlite { writer, .. } => writer.commits(),
            Backend::Postgres { writers, .. } => writers.commits(),
        }
    }

    /// The error with which every change fails, if the store refuses writes.
    pub fn refusal(&self) -> Option<Error> {
        match &self.backend {
            Backend::Sqlite { guard, .. } => guard.refusal(),
            Backend::Postgres { .. } => None,
        }
    }

    /// Commits what is queued and closes the database, for every clone of this store.
    pub async fn close(&self) {
        match &self.backend {
            Backend::Sqlite { writer, readers, guard } => {
                guard.close();
                readers.close().await;
                writer.stop().await;
            }
            Backend::Postgres { writers, pool } => {
                pool.close().await;
                writers.stop().await;
            }
        }
    }

    /// The server of the database; none for a file.
    pub(crate) fn server(&self) -> Option<&Server> {
        match &self.backend {
            Backend::Sqlite { .. } => None,
            Backend::Postgres { writers, .. } => Some(writers.server()),
        }
    }

    /// The lease of this node, once it has joined the others.
    pub(crate) fn lease(&self) -> Option<Lease> {
        match &self.backend {
            Backend::Sqlite { .. } => None,
            Backend::Postgres { writers, .. } => writers.lease(),
        }
    }

    pub(crate) fn set_epoch(&self, epoch: i64) {
        if let Backend::Postgres { writers, .. } = &self.backend {
            writers.set_epoch(epoch);
        }
    }

    pub(crate) async fn make<C: Change>(&self, change: C) -> Result<C::Outcome> {
        match &self.backend {
            Backend::Sqlite { writer, .. } => writer.make(change).await,
            Backend::Postgres { writers, .. } => writers.make(change).await,
        }
    }

    /// A short read. With SQLite it runs on this thread.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(Db<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        match &self.backend {
            Backend::Sqlite { readers, .. } => readers.here(read).await,
            Backend::Postgres { .. } => self.read_aside(read).await,
        }
    }

    /// Reads a list; with SQLite on this thread if it is short.
    pub(crate) async fn read_list<T: Send + 'static>(
        &self,
        window: Window,
        read: impl FnOnce(Db<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        let is_short = window.limit().saturating_add(window.offset) <= READ_HERE_MAX;
        if is_short { self.read(read).await } else { self.read_aside(read).await }
    }

    pub(crate) async fn read_aside<T: Send + 'static>(
        &self,
        read: impl FnOnce(Db<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        let (read, result) = reading::sent(read);
        match &self.backend {
            Backend::Sqlite { readers, .. } => readers.aside(read).await?,
            Backend::Postgres { pool, .. } => pool.read(read).await?,
        }
        result.await.map_err(|_| Error::Closed)
    }
}

/// Moves the rescued copy of a deleted database to its path. If there is another database, both
/// stay: only a human can decide which one to use.
fn adopt_rescued(paths: &DatabasePaths, found: Found) -> Result<()> {
    let (path, rescued) = (paths.path.clone(), paths.rescued.clone());
    if found == Found::Something {
        return Err(Error::Rescued { path, rescued });
    }
    let (copy, found) = DatabasePaths::find(&rescued)?;
    schema::refuse_foreign(&copy, found)?;
    crate::sqlite::copy::verify(&copy)?;
    // The WAL of the deleted database is in the copy already, and must not be applied to it.
    if paths.wal.exists() {
        std::fs::rename(&paths.wal, beside(&paths.wal, ".orphaned"))
            .map_err(|error| denied(&paths.wal, error))?;
    }
    std::fs::rename(&rescued, &path).map_err(|error| denied(&path, error))?;
    tracing::warn!(path = %path.display(), "the database had been deleted while Convoke was running; \
         what was rescued of it, which is everything that was stored, is in its place again");
    Ok(())
}
