//! The writer threads. Each batches its queued changes into one transaction and answers the callers
//! after the commit.
//!
//! All changes of a session go to the same thread, so that they keep their order.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use convoke_core::id::SessionId;
use postgres::error::SqlState;
use tokio::sync::{Semaphore, oneshot};

use super::{CHANNEL, Server};
use crate::db::{Db, PostgresSession, Sql, SqlResult, params};
use crate::error::{Error, Fault, Result, for_each_caller};
use crate::job::{Job, Task};
use crate::nodes::Lease;
use crate::write::Change;

/// Threads, each with a connection. While one waits for the server's disk, another one can send.
const THREADS: usize = 4;
/// Changes that may be queued at once; further callers wait for room.
const QUEUE: usize = 1024;
/// Changes in one transaction.
const BATCH_MAX: usize = 64;
/// How often a change is retried after a conflict with another transaction.
const TRIES: u32 = 10;
/// The pause before the next attempt to connect; changes wait meanwhile.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// A handle to the writer threads.
#[derive(Debug)]
pub(crate) struct Writers {
    queue: Arc<Queue>,
    permits: Arc<Semaphore>,
}

struct Queue {
    server: Arc<Server>,
    state: Mutex<State>,
    filled: Condvar,
    commits: AtomicU64,
    /// The epoch of this node; 0 until it has joined the others.
    epoch: AtomicI64,
}

#[derive(Default)]
struct State {
    /// The queue of each thread.
    jobs: [VecDeque<Box<dyn Job>>; THREADS],
    is_closed: bool,
    /// Running threads.
    threads: usize,
    ended: Option<oneshot::Sender<()>>,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Writers {
    pub(crate) fn start(server: Arc<Server>) -> Result<Self> {
        let queue = Arc::new(Queue {
            server,
            state: Mutex::default(),
            filled: Condvar::new(),
            commits: AtomicU64::new(0),
            epoch: AtomicI64::new(0),
        });
        queue.lock().threads = THREADS;
        for number in 0..THREADS {
            let thread = Thread { number, queue: Arc::clone(&queue), session: None, tried: None };
            let started = std::thread::Builder::new()
                .name(format!("convoke-store-{number}"))
                .spawn(move || thread.run());
            started.map_err(|error| {
                let path = queue.server.as_path().to_owned();
                Error::Internal { path, source: error.into() }
            })?;
        }
        Ok(Self { queue, permits: Arc::new(Semaphore::new(QUEUE)) })
    }

    /// How many transactions were committed.
    pub(crate) fn commits(&self) -> u64 {
        self.queue.commits.load(Ordering::Acquire)
    }

    pub(crate) fn server(&self) -> &Server {
        &self.queue.server
    }

    pub(crate) fn lease(&self) -> Option<Lease> {
        self.queue.lease()
    }

    pub(crate) fn set_epoch(&self, epoch: i64) {
        self.queue.epoch.store(epoch, Ordering::Release);
    }

    /// Applies a change, and waits until it is committed.
    pub(crate) async fn make<C: Change>(&self, change: C) -> Result<C::Outcome> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| Error::Closed)?;
        let (reply, outcome) = oneshot::channel();
        self.queue.push(Box::new(Task::new(change, reply, permit)));
        outcome.await.map_err(|_| Error::Closed)?
    }

    /// Commits what is queued, then ends the threads; later changes fail with `Closed`.
    pub(crate) async fn stop(&self) {
        self.permits.close();
        let (reply, ended) = oneshot::channel();
        {
            let mut state = self.queue.lock();
            state.is_closed = true;
            if state.threads == 0 {
                return;
            }
            state.ended = Some(reply);
        }
        self.queue.filled.notify_all();
        ended.await.ok();
    }
}

impl Queue {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lease(&self) -> Option<Lease> {
        let epoch = self.epoch.load(Ordering::Acquire);
        let node = self.server.node().filter(|_| epoch > 0)?;
        Some(Lease { node, epoch })
    }

    fn push(&self, job: Box<dyn Job>) {
        // Ids are random, so threads get equal shares; changes without a session are rare.
        let number = job.session().map_or(0, |id| usize::from(id.as_bytes()[15])) % THREADS;
        if let Some(jobs) = self.lock().jobs.get_mut(number) {
            jobs.push_back(job);
        }
        self.filled.notify_all();
    }

    /// Waits for changes for a thread; `None` when the queue is closed and empty.
    fn take(&self, number: usize) -> Option<Vec<Box<dyn Job>>> {
        let mut state = self.lock();
        loop {
            let jobs = state.jobs.get_mut(number)?;
            if !jobs.is_empty() {
                let count = jobs.len().min(BATCH_MAX);
                return Some(jobs.drain(..count).collect());
            }
            if state.is_closed {
                return None;
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

struct Thread {
    number: usize,
    queue: Arc<Queue>,
    session: Option<PostgresSession>,
    /// When the last attempt to connect failed.
    tried: Option<Instant>,
}

/// Why a transaction failed.
enum AttemptError {
    /// This change failed; the others can be retried without it.
    Member(usize),
    /// The server failed, or there was a conflict; nothing was stored.
    All(Sql),
    /// The lease had expired; it is renewed unless another process has the id of this node.
    LeaseOver(Lease),
    /// The connection was lost at the commit; the server knows the outcome by this transaction id.
    Unknown(String),
}

impl Thread {
    fn run(mut self) {
        while let Some(jobs) = self.queue.take(self.number) {
            self.carry_out(jobs);
        }
        // Closed before the last thread reports.
        self.session = None;
        let mut state = self.queue.lock();
        state.threads -= 1;
        if state.threads == 0
            && let Some(ended) = state.ended.take()
        {
            ended.send(()).ok();
        }
    }

    /// Applies every change that can be applied, and answers every caller.
    fn carry_out(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        let mut aside: Vec<Box<dyn Job>> = Vec::new();
        let mut tries = 0;
        while !jobs.is_empty() {
            match self.attempt(&mut jobs) {
                Ok(()) => self.answer(std::mem::take(&mut jobs)),
                Err(AttemptError::Member(_)) if jobs.len() == 1 => {
                    // The error of this change is its outcome.
                    self.report(std::mem::take(&mut jobs));
                }
                Err(AttemptError::Member(at)) => aside.push(jobs.remove(at)),
                // The conflicting transaction is over by now, so each change is retried alone.
                Err(AttemptError::All(error)) if is_conflict(&error) && tries < TRIES => {
                    tries += 1;
                    aside.extend(jobs.drain(1..).rev());
                }
                Err(AttemptError::All(error)) => self.fail(&mut jobs, &error),
                Err(AttemptError::LeaseOver(lease)) => match self.renew(lease) {
                    Ok(()) => {}
                    Err(Fault::Sql(error)) => self.fail(&mut jobs, &error),
                    Err(Fault::Refused(_)) => {
                        jobs.drain(..).for_each(|job| job.fail(Error::Fenced));
                    }
                },
                Err(AttemptError::Unknown(transaction)) => match self.is_committed(&transaction) {
                    Some(true) => self.answer(std::mem::take(&mut jobs)),
                    Some(false) => {}
                    None => jobs.drain(..).for_each(|job| job.fail(Error::Closed)),
                },
            }
            if jobs.is_empty()
                && let Some(next) = aside.pop()
            {
                jobs.push(next);
                tries = 0;
            }
        }
    }

    fn answer(&self, jobs: Vec<Box<dyn Job>>) {
        // Before the replies, so that a caller with a reply never reads an older cached response.
        self.queue.commits.fetch_add(1, Ordering::Release);
        self.report(jobs);
    }

    fn report(&self, jobs: Vec<Box<dyn Job>>) {
        jobs.into_iter().for_each(|job| job.answer(self.queue.server.as_path()));
    }

    fn renew(&mut self, lease: Lease) -> Result<(), Fault> {
        let session = self.session()?;
        let renewed = lease.renew(Db::Postgres(&session));
        self.session = Some(session);
        renewed
    }

    fn fail(&self, jobs: &mut Vec<Box<dyn Job>>, error: &Sql) {
        for job in jobs.drain(..) {
            job.fail(for_each_caller(error, self.queue.server.as_path()));
        }
    }

    /// Makes all changes in one transaction, or none.
    fn attempt(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<(), AttemptError> {
        let session = self.session().map_err(AttemptError::All)?;
        let outcome = make_all(&session, jobs, self.queue.lease());
        if !session.is_closed() {
            self.session = Some(session);
        }
        outcome
    }

    fn session(&mut self) -> SqlResult<PostgresSession> {
        if let Some(session) = self.session.take().filter(PostgresSession::is_alive) {
            return Ok(session);
        }
        if let Some(tried) = self.tried {
            std::thread::sleep(RETRY_AFTER.saturating_sub(tried.elapsed()));
        }
        let session = self.queue.server.connect();
        self.tried = session.is_err().then(Instant::now);
        session
    }

    /// Asks the server whether a transaction was committed; retries until the server responds, or
    /// the queue is closed.
    fn is_committed(&mut self, transaction: &str) -> Option<bool> {
        loop {
            let asked = self.session().and_then(|session| {
                let db = Db::Postgres(&session);
                let sql = "SELECT pg_xact_status(CAST(CAST(?1 AS TEXT) AS xid8))";
                let status: Option<String> =
                    db.prepare_cached(sql)?.query_row([transaction], |row| row.get(0))?;
                self.session = Some(session);
                Ok(status)
            });
            match asked.as_ref().map(Option::as_deref) {
                Ok(Some("committed")) => return Some(true),
                // Still in progress: the server has not noticed yet that the connection is gone.
                Ok(Some("in progress")) | Err(_) if self.queue.lock().is_closed => return None,
                Ok(Some("in progress")) | Err(_) => std::thread::sleep(RETRY_AFTER),
                Ok(_) => return Some(false),
            }
        }
    }
}

fn make_all(
    session: &PostgresSession,
    jobs: &mut [Box<dyn Job>],
    lease: Option<Lease>,
) -> Result<(), AttemptError> {
    let db = Db::Postgres(session);
    // Every commit is synced, whatever the durability: the daemon outlives the server, and a commit
    // that a killed server lost would be missing below the next revisions of the session.
    // Concurrent commits share the server's syncs.
    session.execute_batch("BEGIN").map_err(AttemptError::All)?;
    for (at, job) in jobs.iter_mut().enumerate() {
        let Some(fault) = job.run(db) else { continue };
        let attempt_error = match fault {
            Fault::Sql(error) if session.is_closed() || is_conflict(error) => {
                AttemptError::All(Sql::Said(error.to_string(), error.code()))
            }
            Fault::Sql(_) | Fault::Refused(_) => AttemptError::Member(at),
        };
        session.execute_batch("ROLLBACK").ok();
        return Err(attempt_error);
    }
    let closing = close(db, jobs, lease).map_err(AttemptError::All)?;
    if let Some(lease) = lease.filter(|_| !closing.is_leased) {
        session.execute_batch("ROLLBACK").map_err(AttemptError::All)?;
        return Err(AttemptError::LeaseOver(lease));
    }
    match (session.execute_batch("COMMIT"), closing.transaction) {
        (Ok(()), _) => Ok(()),
        (Err(_), Some(number)) if session.is_closed() => Err(AttemptError::Unknown(number)),
        (Err(error), _) => Err(AttemptError::All(error)),
    }
}

/// What is read just before the commit.
struct Closing {
    /// The id of the transaction, unless it wrote nothing.
    transaction: Option<String>,
    /// Whether the lease is still valid.
    is_leased: bool,
}

/// Announces the changed sessions, once for all changes of the transaction, and checks the lease.
fn close(db: Db<'_>, jobs: &[Box<dyn Job>], lease: Option<Lease>) -> SqlResult<Closing> {
    let Some(Lease { node, epoch }) = lease else {
        let sql = "SELECT CAST(pg_current_xact_id_if_assigned() AS TEXT)";
        let transaction = db.prepare_cached(sql)?.query_row(params![], |row| row.get(0))?;
        return Ok(Closing { transaction, is_leased: true });
    };
    let sessions: BTreeSet<SessionId> = jobs.iter().filter_map(|job| job.session()).collect();
    let mut announced = format!("sessions {node}");
    announced.extend(sessions.iter().map(|session| format!(" {session}")));
    let sql = "SELECT CAST(pg_current_xact_id_if_assigned() AS TEXT),
             (SELECT epoch = ?2 AND lease_until > clock_timestamp() FROM nodes WHERE id = ?1),
             CASE WHEN ?4 <> '' THEN pg_notify(?3, ?4) END";
    let announced = if sessions.is_empty() { "" } else { announced.as_str() };
    let node = node.to_string();
    let of = params![node, epoch, CHANNEL, announced];
    db.prepare_cached(sql)?.query_row(of, |row| {
        let is_leased = row.get::<Option<bool>>(1)?.unwrap_or(false);
        Ok(Closing { transaction: row.get(0)?, is_leased })
    })
}

/// Whether a transaction was aborted by a conflict with another one. A retry may find what the
/// other one stored.
fn is_conflict(error: &Sql) -> bool {
    let conflicts = [
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::UNIQUE_VIOLATION,
    ];
    error.code().is_some_and(|code| conflicts.contains(&code))
}
