//! Changes that are committed together, and the retries if one of them fails.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rusqlite::{Connection, TransactionBehavior};
use tokio::runtime::Handle;

use super::pace::Pace;
use crate::db::{Db, Sql};
use crate::error::{Error, Fault, Result, for_each_caller};
use crate::job::Job;
use crate::sqlite::guard::Guard;
use crate::write::Durability;

/// The changes of the next transaction.
pub(super) struct Batch {
    path: Arc<Path>,
    guard: Guard,
    jobs: Vec<Box<dyn Job>>,
    /// The runtime on which several callers are answered. Waking each of them from the writer
    /// thread would cost as much as a commit.
    runtime: Handle,
    /// The number of commits.
    commits: Arc<AtomicU64>,
    /// The synchronous mode that was set last.
    reported: Option<Durability>,
}

/// Why a transaction failed.
enum AttemptError {
    /// It could not be begun, which has nothing to do with its changes.
    Beginning(Sql),
    /// The changes at these indexes failed; the others can be retried without them.
    Members(Vec<usize>),
    /// It could not be committed; a smaller one may still fit on the disk.
    Ending(Sql),
}

impl Batch {
    pub(super) fn new(path: &Path, guard: Guard, runtime: Handle, commits: Arc<AtomicU64>) -> Self {
        Self { path: path.into(), guard, jobs: Vec::new(), runtime, commits, reported: None }
    }

    pub(super) fn add(&mut self, job: Box<dyn Job>) {
        self.jobs.push(job);
    }

    /// Applies every change that can be applied, in as few commits as possible, and answers every
    /// caller.
    ///
    /// A change that fails in a batch is retried alone after the others: another change may be the
    /// cause, and no caller is answered before the commit.
    pub(super) fn carry_out(&mut self, db: &mut Connection, pace: &mut Pace) {
        let mut aside = Vec::new();
        while !self.jobs.is_empty() {
            if self.guard.refusal().is_some() {
                self.refuse_all();
                break;
            }
            let is_alone = self.jobs.len() == 1;
            match self.attempt(db, pace) {
                Ok(()) => {
                    // Before the replies, so that a caller with a reply never reads an older cached response.
                    self.commits.fetch_add(1, Ordering::Release);
                    // A commit into a deleted file is lost unless the database is rescued.
                    match self.guard.check_files(db) {
                        Ok(()) => self.answer_all(),
                        Err(_) => self.refuse_all(),
                    }
                }
                Err(AttemptError::Beginning(error)) => self.fail_all(&error),
                Err(AttemptError::Members(_)) if is_alone => self.answer_all(),
                Err(AttemptError::Members(failed)) => aside.extend(self.take(&failed)),
                Err(AttemptError::Ending(error)) => self.carry_out_one_by_one(db, pace, error),
            }
        }
        self.carry_out_each(aside, db, pace);
    }

    fn carry_out_each(&mut self, jobs: Vec<Box<dyn Job>>, db: &mut Connection, pace: &mut Pace) {
        for job in jobs {
            self.jobs.push(job);
            self.carry_out(db, pace);
        }
    }

    fn answer_all(&mut self) {
        let (jobs, path) = (std::mem::take(&mut self.jobs), Arc::clone(&self.path));
        let is_alone = jobs.len() == 1;
        let answer = move || jobs.into_iter().for_each(|job| job.answer(&path));
        if is_alone {
            answer();
        } else {
            // The task itself is not joined, only the replies are awaited.
            drop(self.runtime.spawn(async move { answer() }));
        }
    }

    /// Fails every change with the reason why the store refuses writes.
    fn refuse_all(&mut self) {
        for job in self.jobs.drain(..) {
            job.fail(self.guard.refusal().unwrap_or(Error::Closed));
        }
    }

    fn fail_all(&mut self, error: &Sql) {
        self.guard.note_sql(error);
        for job in self.jobs.drain(..) {
            job.fail(for_each_caller(error, &self.path));
        }
    }

    fn take(&mut self, places: &[usize]) -> impl Iterator<Item = Box<dyn Job>> {
        let mut place = 0..;
        self.jobs.extract_if(.., move |_| place.next().is_some_and(|at| places.contains(&at)))
    }

    /// Makes all changes in one transaction, or none.
    fn attempt(&mut self, db: &mut Connection, pace: &mut Pace) -> Result<(), AttemptError> {
        let asked = self.jobs.iter().map(|job| job.durability()).max().unwrap_or(Durability::Soon);
        let durability = pace.durability(asked, Instant::now());
        if self.reported != Some(durability) {
            self.reported = None;
            set_durability(db, durability)
                .map_err(|error| AttemptError::Beginning(error.into()))?;
            self.reported = Some(durability);
        }
        let transaction = db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| AttemptError::Beginning(error.into()))?;
        let mut failed = Vec::new();
        for (at, job) in self.jobs.iter_mut().enumerate() {
            if let Some(fault) = job.run(Db::Sqlite(&transaction)) {
                self.guard.note(fault);
                failed.push(at);
                // Some errors, such as a full disk, roll the transaction back; further changes
                // would run outside of it.
                if transaction.is_autocommit() {
                    return Err(AttemptError::Members(failed));
                }
            }
        }
        if !failed.is_empty() {
            transaction.rollback().map_err(|error| AttemptError::Ending(error.into()))?;
            return Err(AttemptError::Members(failed));
        }
        transaction.commit().map_err(|error| AttemptError::Ending(error.into()))?;
        pace.committed(durability, Instant::now());
        Ok(())
    }

    fn carry_out_one_by_one(&mut self, db: &mut Connection, pace: &mut Pace, error: Sql) {
        self.guard.note_sql(&error);
        match <[Box<dyn Job>; 1]>::try_from(std::mem::take(&mut self.jobs)) {
            Ok([only]) => only.fail(Fault::Sql(error).at(&self.path)),
            Err(several) => {
                tracing::warn!(path = %self.path.display(), %error, "a batch of changes failed");
                self.carry_out_each(several, db, pace);
            }
        }
    }
}

/// Must be called outside of a transaction; inside, SQLite ignores it.
fn set_durability(db: &Connection, durability: Durability) -> rusqlite::Result<()> {
    db.execute_batch(match durability {
        Durability::Repeatable | Durability::Soon => "PRAGMA synchronous = NORMAL",
        Durability::Acknowledged => "PRAGMA synchronous = FULL",
    })
}
