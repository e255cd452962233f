//! Records what a session changed in its project, and its work tree.

use convoke_core::files::{ChangeTotals, OwnWorktree};
use convoke_core::id::SessionId;

use super::sessions::own_number;
use super::work::json;
use super::{Change, Durability};
use crate::db::{Db, params};
use crate::error::{Fault, Result};

/// What a session changed in its project.
#[derive(Debug)]
pub(crate) struct SetChanges {
    session: SessionId,
    changes: Option<String>,
}

impl SetChanges {
    pub(crate) fn new(session: SessionId, changes: ChangeTotals) -> Result<Self> {
        Ok(Self { session, changes: json(Some(&changes))? })
    }
}

impl Change for SetChanges {
    type Outcome = ();

    // The next checkpoint counts again, so a lost write does no harm.
    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn session(&self) -> Option<SessionId> {
        Some(self.session)
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let n = own_number(db, self.session)?;
        db.prepare_cached("UPDATE agent_sessions SET changes = ?2 WHERE n = ?1")?
            .execute(params![n, self.changes])?;
        Ok(())
    }
}

/// The work tree that a session has for itself.
#[derive(Debug)]
pub(crate) struct SetWorktree {
    session: SessionId,
    worktree: Option<String>,
}

impl SetWorktree {
    pub(crate) fn new(session: SessionId, worktree: Option<&OwnWorktree>) -> Result<Self> {
        Ok(Self { session, worktree: json(worktree)? })
    }
}

impl Change for SetWorktree {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn session(&self) -> Option<SessionId> {
        Some(self.session)
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let n = own_number(db, self.session)?;
        db.prepare_cached("UPDATE agent_sessions SET worktree = ?2 WHERE n = ?1")?
            .execute(params![n, self.worktree])?;
        Ok(())
    }
}
