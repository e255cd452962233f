//! Changes to the database, one type each. Only the writer thread carries them out.

pub(crate) mod blobs;
pub(crate) mod changes;
pub(crate) mod erase;
pub(crate) mod generation;
pub(crate) mod histories;
pub(crate) mod moves;
pub(crate) mod nodes;
pub(crate) mod pairs;
pub(crate) mod projects;
pub(crate) mod record;
pub(crate) mod refill;
mod requests;
pub(crate) mod rules;
pub(crate) mod search;
pub(crate) mod sessions;
pub(crate) mod teams;
pub(crate) mod users;
pub(crate) mod work;

use convoke_core::id::SessionId;

use crate::db::Db;
use crate::error::Fault;

/// One change. It is made whole or not at all.
pub(crate) trait Change: Send + 'static {
    /// What the caller gets to know.
    type Outcome: Send + 'static;

    /// When the change must be on disk.
    fn durability(&self) -> Durability;

    /// The session that it changes. Changes of one session are made in the order in which they were asked for.
    fn session(&self) -> Option<SessionId> {
        None
    }

    /// Makes the change inside a transaction that the writer began.
    ///
    /// It may be called again after the transaction was rolled back for the sake of another change.
    fn apply(&self, db: Db<'_>) -> Result<Self::Outcome, Fault>;
}

/// When a change must be on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Durability {
    /// Some seconds later is enough, or whenever something else is synced: it is made again if a power cut undoes it.
    Repeatable,
    /// May be synced a little later. It survives a crash of Convoke, but not a power cut before that sync.
    Soon,
    /// Before it is acknowledged: people said it, or it cannot be had again.
    Acknowledged,
}
