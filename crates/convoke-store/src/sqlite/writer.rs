//! The writer thread. It batches the queued changes into one transaction and answers the callers
//! after the commit.

mod batch;
mod pace;

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};

use crate::error::{Error, Result};
use crate::job::{Job, Task};
use crate::sqlite::guard::Guard;
use crate::sqlite::open::{BUSY_TIMEOUT, DatabasePaths, WriteLock};
use crate::write::Change;
use batch::Batch;
use pace::Pace;

/// Changes that may be queued at once; further callers wait for room.
const QUEUE: usize = 1024;

/// Changes in one transaction. More would delay the first caller without making a sync cheaper.
const BATCH_MAX: usize = 256;

/// The size of the WAL at which the writer forces it to be truncated. Usually SQLite restarts the
/// WAL from 16 MiB on, but not while some reader always uses it.
pub(crate) const WAL_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How long the writer waits for readers then; if they take longer, it tries again later.
const WAL_TIMEOUT: Duration = Duration::from_millis(100);

/// How often an idle writer checks that the files are still in place.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A handle to the writer thread.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: SyncSender<Order>,
    permits: Arc<Semaphore>,
    commits: Arc<AtomicU64>,
}

/// A message to the thread.
enum Order {
    Change(Box<dyn Job>),
    Stop(oneshot::Sender<()>),
}

impl Writer {
    /// Starts the thread, which holds the lock for as long as it runs.
    pub(crate) fn start(
        db: Connection,
        paths: DatabasePaths,
        lock: WriteLock,
        guard: Guard,
        wal_bytes_max: u64,
        runtime: Handle,
    ) -> Result<Self> {
        // One more than the number of changes, for the order to stop.
        let (queue, orders) = sync_channel(QUEUE + 1);
        let path = paths.path.clone();
        let commits = Arc::new(AtomicU64::new(0));
        let batch = Batch::new(&path, guard.clone(), runtime, Arc::clone(&commits));
        let (pace, wal_limit) = (Pace::default(), wal_bytes_max);
        let task = WriterTask { db, paths, guard, batch, pace, wal_bytes_max, wal_limit, lock };
        std::thread::Builder::new()
            .name("convoke-store".to_owned())
            .spawn(move || task.run(&orders))
            .map_err(|error| Error::Internal { path, source: error.into() })?;
        Ok(Self { queue, permits: Arc::new(Semaphore::new(QUEUE)), commits })
    }

    /// How many transactions were committed.
    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Acquire)
    }

    /// Applies a change, and waits until it is committed.
    ///
    /// Once the change is queued, it is applied even if the caller stops waiting.
    pub(crate) async fn make<C: Change>(&self, change: C) -> Result<C::Outcome> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| Error::Closed)?;
        let (reply, outcome) = oneshot::channel();
        let task = Task::new(change, reply, permit);
        self.queue.try_send(Order::Change(Box::new(task))).map_err(|_| Error::Closed)?;
        outcome.await.map_err(|_| Error::Closed)?
    }

    /// Commits what is queued, then ends the thread; later changes fail with `Closed`.
    pub(crate) async fn stop(&self) {
        self.permits.close();
        let (reply, stopped) = oneshot::channel();
        if self.queue.try_send(Order::Stop(reply)).is_ok() {
            // An error means that the thread has already ended.
            stopped.await.ok();
        }
    }
}

struct WriterTask {
    db: Connection,
    paths: DatabasePaths,
    guard: Guard,
    batch: Batch,
    pace: Pace,
    wal_bytes_max: u64,
    /// The size of the WAL at which it is next truncated.
    wal_limit: u64,
    lock: WriteLock,
}

impl WriterTask {
    fn run(mut self, orders: &Receiver<Order>) {
        let mut stop = None;
        while stop.is_none() {
            let wait = self.pace.wait_max(Instant::now());
            match orders.recv_timeout(wait.map_or(POLL_INTERVAL, |wait| wait.min(POLL_INTERVAL))) {
                Ok(order) => stop = self.carry_out(order, orders),
                Err(RecvTimeoutError::Timeout) => self.do_periodic_work(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.finish(stop);
    }

    /// Handles an order and those that are queued behind it; returns the order to stop if it was
    /// among them.
    fn carry_out(&mut self, first: Order, orders: &Receiver<Order>) -> Option<oneshot::Sender<()>> {
        let more = std::iter::from_fn(|| orders.try_recv().ok());
        let mut stop = None;
        for order in std::iter::once(first).chain(more.take(BATCH_MAX - 1)) {
            match order {
                Order::Change(job) => self.batch.add(job),
                Order::Stop(reply) => stop = Some(reply),
            }
        }
        self.batch.carry_out(&mut self.db, &mut self.pace);
        self.trim_log();
        stop
    }

    /// Does periodic work while no change is queued.
    fn do_periodic_work(&mut self) {
        // A failure is logged there and retried at the next check.
        if self.guard.check_files(&self.db).is_ok()
            && self.guard.failure().is_none()
            && self.pace.wait_max(Instant::now()) == Some(Duration::ZERO)
        {
            self.sync();
        }
    }

    /// Syncs commits that were not synced yet.
    fn sync(&mut self) {
        // A checkpoint would sync them, too, but not while a reader uses the WAL.
        match File::open(&self.paths.wal).and_then(|log| log.sync_data()) {
            Ok(()) => self.pace.synced(),
            Err(error) => {
                tracing::warn!(path = %self.paths.path.display(), %error, "cannot sync the database");
                self.pace.tried(Instant::now());
            }
        }
    }

    /// Keeps the WAL from growing without bound while readers always use it.
    fn trim_log(&mut self) {
        let bytes = self.paths.wal_bytes();
        if bytes < self.wal_limit {
            return;
        }
        let trimmed = self.db.busy_timeout(WAL_TIMEOUT).and_then(|()| truncate_wal(&self.db));
        let restored = self.db.busy_timeout(BUSY_TIMEOUT);
        match trimmed.and_then(|emptying| restored.map(|()| emptying)) {
            Ok(WalTruncation::Done) => {
                self.wal_limit = self.wal_bytes_max;
                self.pace.synced();
            }
            Ok(WalTruncation::Held) => self.wal_limit = bytes + self.wal_bytes_max,
            Err(error) => {
                tracing::warn!(path = %self.paths.path.display(), %error, "cannot shorten the log");
                self.wal_limit = bytes + self.wal_bytes_max;
            }
        }
    }

    /// Closes the database before releasing the lock, and answers when both are done.
    fn finish(self, stop: Option<oneshot::Sender<()>>) {
        let Self { db, paths, guard, lock, .. } = self;
        // A deleted file disappears with its last connection, so it is rescued first. Failures are
        // logged there.
        guard.check_files(&db).ok();
        // The last connection to close checkpoints the WAL and removes it.
        if let Err((_, error)) = db.close() {
            tracing::warn!(path = %paths.path.display(), %error, "the database did not close cleanly");
        }
        drop(lock);
        if let Some(reply) = stop {
            // The caller may have stopped waiting.
            reply.send(()).ok();
        }
    }
}

/// The result of truncating the WAL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WalTruncation {
    Done,
    /// A reader still uses it.
    Held,
}

fn truncate_wal(db: &Connection) -> rusqlite::Result<WalTruncation> {
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
        Ok(if row.get::<_, bool>(0)? { WalTruncation::Held } else { WalTruncation::Done })
    })
}

#[cfg(test)]
mod tests;
