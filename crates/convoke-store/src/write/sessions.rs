//! Creates sessions, and records their agent session ids.

use std::borrow::Cow;

use convoke_core::id::{ProjectId, SessionId};
use convoke_core::session::{EndReason, Summary};
use convoke_core::time::Timestamp;

use super::{Change, Durability};
use crate::db::{Db, Optional as _, SqlResult, params};
use crate::error::{Error, Fault};
use crate::sessions::NewSession;

/// Creates a session.
#[derive(Debug)]
pub(crate) struct CreateSession(pub(crate) NewSession);

impl Change for CreateSession {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn session(&self) -> Option<SessionId> {
        Some(self.0.id)
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        create(db, &self.0)
    }
}

/// Creates a session without messages.
pub(super) fn create(db: Db<'_>, session: &NewSession) -> Result<(), Fault> {
    if !has_project(db, session.project_id)? {
        return Err(Error::UnknownProject { id: session.project_id }.into());
    }
    if number(db, session.id)?.is_some() {
        return Err(Error::SessionExists { id: session.id }.into());
    }
    let summary = Summary::new(session.created_at);
    db.prepare_cached(
        "INSERT INTO agent_sessions
             (id, project_id, agent, kind, created_at, status, reason, archived, title,
              last_seq, settled_seq, updated_at, last_active_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute(params![
        session.id.to_string(),
        session.project_id.to_string(),
        session.agent.as_str(),
        session.kind.as_str(),
        session.created_at.as_millis(),
        summary.status.as_str(),
        summary.reason.as_ref().map(EndReason::as_str),
        summary.archived,
        summary.title,
        summary.last_seq.get(),
        summary.settled_seq.get(),
        summary.updated_at.as_millis(),
        summary.last_active_at.as_millis(),
    ])?;
    Ok(())
}

fn has_project(db: Db<'_>, id: ProjectId) -> SqlResult<bool> {
    db.prepare_cached("SELECT 1 FROM projects WHERE id = ?1 AND removed_at IS NULL")?
        .exists([id.to_string()])
}

/// The number by which other rows name a session.
pub(crate) fn number(db: Db<'_>, id: SessionId) -> SqlResult<Option<i64>> {
    db.prepare_cached("SELECT n FROM agent_sessions WHERE id = ?1")?
        .query_row([id.to_string()], |row| row.get(0))
        .optional()
}

/// The row number of a session of this node; the row is locked until the end of the transaction.
pub(super) fn own_number(db: Db<'_>, id: SessionId) -> Result<i64, Fault> {
    let sql = match db {
        Db::Sqlite(_) => Cow::Borrowed("SELECT n FROM agent_sessions WHERE id = ?1"),
        Db::Postgres(_) => Cow::Owned(format!(
            "SELECT n FROM agent_sessions WHERE id = ?1{} FOR NO KEY UPDATE",
            db.own("agent_sessions")
        )),
    };
    let found = db.prepare_cached(&sql)?.query_row([id.to_string()], |row| row.get(0));
    match found.optional()? {
        Some(n) => Ok(n),
        None => Err(not_own(db, id)?),
    }
}

/// The error for a session that does not belong to this node.
pub(super) fn not_own(db: Db<'_>, id: SessionId) -> SqlResult<Fault> {
    Ok(match number(db, id)? {
        Some(_) => Error::OtherNode { id }.into(),
        None => Error::UnknownSession { id }.into(),
    })
}

/// Records a new agent session id.
#[derive(Debug)]
pub(crate) struct RecordAgentSession {
    pub(crate) session: SessionId,
    pub(crate) agent_session_id: String,
    pub(crate) why: String,
    pub(crate) at: Timestamp,
}

impl Change for RecordAgentSession {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn session(&self) -> Option<SessionId> {
        Some(self.session)
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let n = own_number(db, self.session)?;
        db.prepare_cached(
            "INSERT INTO agent_session_ids (session, agent_session_id, why, recorded_at)
             VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![n, self.agent_session_id, self.why, self.at.as_millis()])?;
        Ok(())
    }
}
