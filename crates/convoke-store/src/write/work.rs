//! The state of an agent's work in lists: how it is stored, and marked as seen.

use convoke_core::id::SessionId;
use convoke_core::message::Rev;
use convoke_core::session::Work;
use convoke_core::time::Timestamp;
use serde::Serialize;

use super::sessions::own_number;
use super::{Change, Durability};
use crate::db::{Db, Row, SqlResult, params};
use crate::error::{Error, Fault, Result};

/// The work as it is stored. Encoded by the caller, so that the writer thread encodes no JSON.
#[derive(Debug)]
pub(super) struct WorkRow {
    pub(super) ended_rev: u64,
    pub(super) seen_rev: u64,
    pub(super) running_since: Option<i64>,
    pub(super) failure: Option<String>,
    pub(super) step: Option<String>,
    pub(super) last_line: Option<String>,
    pub(super) cost: Option<String>,
}

impl WorkRow {
    pub(super) fn encode(work: &Work) -> Result<Self> {
        Ok(Self {
            ended_rev: work.ended_rev.get(),
            seen_rev: work.seen_rev.get(),
            running_since: work.running_since.map(Timestamp::as_millis),
            failure: json(work.failure.as_ref())?,
            step: work.step.clone(),
            last_line: work.last_line.clone(),
            cost: json(work.cost.as_ref())?,
        })
    }

    /// Whether the row that `stored_row` reads has it already.
    pub(super) fn is_stored(&self, row: &Row<'_>) -> SqlResult<bool> {
        let text = |column: usize| -> SqlResult<Option<&str>> { row.optional_str(column) };
        Ok(row.get::<u64>(8)? == self.ended_rev
            && row.get::<u64>(9)? == self.seen_rev
            && row.get::<Option<i64>>(10)? == self.running_since
            && text(11)? == self.failure.as_deref()
            && text(12)? == self.step.as_deref()
            && text(13)? == self.last_line.as_deref()
            && text(14)? == self.cost.as_deref())
    }
}

pub(super) fn json<T: Serialize>(value: Option<&T>) -> Result<Option<String>> {
    value
        .map(serde_json::to_string)
        .transpose()
        .map_err(|_| Error::Misuse { what: "the summary cannot be written as JSON" })
}

/// Marks a session as seen up to a revision.
#[derive(Debug)]
pub(crate) struct MarkSeen {
    pub(crate) session: SessionId,
    pub(crate) rev: Rev,
}

impl Change for MarkSeen {
    type Outcome = ();

    // After a power cut the session is only shown as unseen once more.
    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn session(&self) -> Option<SessionId> {
        Some(self.session)
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let n = own_number(db, self.session)?;
        db.prepare_cached("UPDATE agent_sessions SET seen_rev = ?2 WHERE n = ?1")?
            .execute(params![n, self.rev.get()])?;
        Ok(())
    }
}
