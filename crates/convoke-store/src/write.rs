//! Changes to the database, one type each. Only writer threads apply them.

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

/// One change. It is applied as a whole or not at all.
pub(crate) trait Change: Send + 'static {
    /// The result for the caller.
    type Outcome: Send + 'static;

    /// When the change must be on disk.
    fn durability(&self) -> Durability;

    /// The session that it changes. Changes of one session are applied in the order of the calls.
    fn session(&self) -> Option<SessionId> {
        None
    }

    /// Applies the change inside a transaction of the writer thread.
    ///
    /// It may be called again if the transaction was rolled back because of another change.
    fn apply(&self, db: Db<'_>) -> Result<Self::Outcome, Fault>;
}

/// When a change must be on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Durability {
    /// Some seconds later is enough, or with the next sync: the change is repeated if a power cut
    /// loses it.
    Repeatable,
    /// May be synced a little later. It survives a crash of Convoke, but not a power cut before that sync.
    Soon,
    /// Before it is acknowledged: a human said or decided it, or it cannot be recovered otherwise.
    Acknowledged,
}
