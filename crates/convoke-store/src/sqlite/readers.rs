//! The pool of reader connections beside the writer.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::db::Db;
use crate::error::{Error, Fault, Result};
use crate::reading::{Reading, SentReading, result_of};
use crate::sqlite::copy::{Depth, Findings, find_damage};
use crate::sqlite::guard::Guard;
use crate::sqlite::open::DatabasePaths;

/// Concurrent reads; further ones wait. Each connection has its own cache, so there are few.
const READERS: u32 = 4;

/// Concurrent long reads; one connection is always left for short ones.
const LONG_READS: u32 = READERS - 1;

/// A handle to the readers; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Readers {
    paths: Arc<DatabasePaths>,
    guard: Guard,
    permits: Arc<Semaphore>,
    long_permits: Arc<Semaphore>,
    /// Idle connections; never more than the limit.
    idle: Arc<Mutex<Vec<Connection>>>,
}

impl Readers {
    /// Opens no connection yet.
    pub(crate) fn new(paths: DatabasePaths, guard: Guard) -> Self {
        let [permits, long_permits] =
            [READERS, LONG_READS].map(|reads| Arc::new(Semaphore::new(reads as usize)));
        Self { paths: Arc::new(paths), guard, permits, long_permits, idle: Arc::default() }
    }

    /// Reads on this thread. For reads of microseconds, which take less time than a switch of
    /// threads.
    pub(crate) async fn here<T>(&self, read: impl FnOnce(Db<'_>) -> Result<T, Fault>) -> Result<T> {
        let _permit = acquire_permit(&self.permits).await?;
        result_of(read, |read| self.read(read))
    }

    /// Reads on a blocking thread. For reads that may take longer.
    pub(crate) async fn aside(&self, mut read: SentReading) -> Result<()> {
        let permits =
            (acquire_permit(&self.long_permits).await?, acquire_permit(&self.permits).await?);
        let readers = self.clone();
        let reading = tokio::task::spawn_blocking(move || {
            // Held until the read is done, even if the caller has stopped waiting.
            let _permits = permits;
            readers.read(&mut read)
        });
        reading.await.map_err(|error| Error::Internal {
            path: self.paths.path.clone(),
            source: error.into(),
        })?
    }

    /// Waits for all reads to end and closes every connection; later reads fail with `Closed`.
    pub(crate) async fn close(&self) {
        // An error means that the readers were closed.
        let all = self.permits.acquire_many(READERS).await.ok();
        self.permits.close();
        self.long_permits.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        drop(all);
    }

    fn read(&self, read: Reading<'_>) -> Result<()> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => Ok(connection),
            None => self.connect(),
        };
        let outcome = connection.and_then(|connection| {
            let outcome = read(Db::Sqlite(&connection));
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            outcome
        });
        outcome
            .inspect_err(|fault| self.guard.note(fault))
            .map_err(|fault| fault.at(&self.paths.path))
    }

    /// Opens a connection to the files that the writer has open, or to the rescued copy; to no
    /// other file.
    fn connect(&self) -> Result<Connection, Fault> {
        match self.guard.readable()? {
            Some(copy) => DatabasePaths::of(copy).connect_reader(),
            None => {
                let connection = self.paths.connect_reader()?;
                if self.guard.is_in_place() {
                    return Ok(connection);
                }
                // The writer thread notices it, too, and makes the copy.
                Err(Error::Lost { path: self.paths.path.clone(), rescued: None }.into())
            }
        }
    }

    /// Checks the whole database for damage in the background. Ends early when the store is closed.
    pub(crate) async fn check(&self) -> Result<()> {
        let permits =
            (acquire_permit(&self.long_permits).await?, acquire_permit(&self.permits).await?);
        let (readers, (done, checked)) = (self.clone(), oneshot::channel());
        let internal = |source| Error::Internal { path: self.paths.path.clone(), source };
        std::thread::Builder::new()
            .name("convoke-check".to_owned())
            .spawn(move || {
                let _permits = permits;
                yield_to_others();
                // The result is recorded in `guard`, so the caller may have stopped waiting.
                done.send(readers.check_here()).ok();
            })
            .map_err(|error| internal(error.into()))?;
        checked.await.map_err(|error| internal(error.into()))?
    }

    fn check_here(&self) -> Result<()> {
        let guard = self.guard.clone();
        let findings = self
            .connect()
            .and_then(|mut db| find_damage(&mut db, Depth::Quick, move || guard.is_closing()))
            .map_err(|fault| fault.at(&self.paths.path))?;
        match findings {
            Findings::Sound | Findings::Unfinished => {}
            Findings::Damage(lines) => self.guard.note_damage(lines.join("; ")),
        }
        Ok(())
    }
}

/// Gives this thread the lowest priority: it reads for seconds, and no caller waits. Only Linux has
/// priorities of threads; elsewhere it would affect the whole process.
fn yield_to_others() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 19) {
        tracing::debug!(%error, "the check for damage runs at the priority of everything else");
    }
}

async fn acquire_permit(permits: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit> {
    Arc::clone(permits).acquire_owned().await.map_err(|_| Error::Closed)
}
