//! A change in the queue of a writer thread, with the reply channel of its caller.

use std::path::Path;

use convoke_core::id::SessionId;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::db::Db;
use crate::error::{Error, Fault, Result};
use crate::write::{Change, Durability};

/// A change of any kind, with the reply channel of its caller.
pub(crate) trait Job: Send {
    fn durability(&self) -> Durability;
    fn session(&self) -> Option<SessionId>;
    /// Applies the change and stores its outcome until the commit; returns the error, if any.
    fn run(&mut self, db: Db<'_>) -> Option<&Fault>;
    /// Sends the stored outcome to the caller.
    fn answer(self: Box<Self>, path: &Path);
    /// Reports to the caller that the commit failed.
    fn fail(self: Box<Self>, error: Error);
}

/// A change with its outcome and the reply channel of its caller.
pub(crate) struct Task<C: Change> {
    change: C,
    outcome: Option<Result<C::Outcome, Fault>>,
    reply: oneshot::Sender<Result<C::Outcome>>,
    /// The permit for the queue, released when the caller has been answered.
    _permit: OwnedSemaphorePermit,
}

impl<C: Change> Task<C> {
    pub(crate) const fn new(
        change: C,
        reply: oneshot::Sender<Result<C::Outcome>>,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        Self { change, outcome: None, reply, _permit: permit }
    }
}

impl<C: Change> Job for Task<C> {
    fn durability(&self) -> Durability {
        self.change.durability()
    }

    fn session(&self) -> Option<SessionId> {
        self.change.session()
    }

    fn run(&mut self, db: Db<'_>) -> Option<&Fault> {
        self.outcome.insert(self.change.apply(db)).as_ref().err()
    }

    fn answer(self: Box<Self>, path: &Path) {
        if let Some(outcome) = self.outcome {
            // The caller may have stopped waiting; the change is committed anyway.
            self.reply.send(outcome.map_err(|fault| fault.at(path))).ok();
        }
    }

    fn fail(self: Box<Self>, error: Error) {
        self.reply.send(Err(error)).ok();
    }
}
