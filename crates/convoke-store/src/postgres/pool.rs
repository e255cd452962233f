//! The pool of reader connections.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Server;
use crate::db::{Db, PostgresSession};
use crate::error::{Error, Fault, Result};
use crate::reading::{Reading, SentReading};

/// Concurrent reads; further ones wait. A server has about a hundred connections for all nodes.
const CONNECTIONS: u32 = 6;

/// A handle to the connections; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    server: Arc<Server>,
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<PostgresSession>>>,
}

impl Pool {
    /// Opens no connection yet.
    pub(crate) fn new(server: Arc<Server>) -> Self {
        let permits = Arc::new(Semaphore::new(CONNECTIONS as usize));
        Self { server, permits, idle: Arc::default() }
    }

    /// Reads on a blocking thread.
    pub(crate) async fn read(&self, mut read: SentReading) -> Result<()> {
        let permit: OwnedSemaphorePermit =
            Arc::clone(&self.permits).acquire_owned().await.map_err(|_| Error::Closed)?;
        let pool = self.clone();
        let reading = tokio::task::spawn_blocking(move || {
            // Held until the read is done, even if the caller has stopped waiting.
            let _permit = permit;
            pool.read_here(&mut read)
        });
        let path = || self.server.as_path().to_owned();
        reading.await.map_err(|error| Error::Internal { path: path(), source: error.into() })?
    }

    fn read_here(&self, read: Reading<'_>) -> Result<()> {
        let session = self.session().map_err(|fault| fault.at(self.server.as_path()))?;
        let outcome = read(Db::Postgres(&session));
        if !session.is_closed() {
            self.lock().push(session);
        }
        outcome.map_err(|fault| fault.at(self.server.as_path()))
    }

    /// An idle connection that still responds, or a new one.
    fn session(&self) -> Result<PostgresSession, Fault> {
        loop {
            let Some(idle) = self.lock().pop() else { return Ok(self.server.connect()?) };
            if idle.is_alive() {
                return Ok(idle);
            }
        }
    }

    /// Waits for all reads to end and closes every connection; later reads fail with `Closed`.
    pub(crate) async fn close(&self) {
        let all = self.permits.acquire_many(CONNECTIONS).await.ok();
        self.permits.close();
        let idle = std::mem::take(&mut *self.lock());
        // Closing a connection waits for the server. Errors no longer matter.
        tokio::task::spawn_blocking(move || drop(idle)).await.ok();
        drop(all);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<PostgresSession>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
