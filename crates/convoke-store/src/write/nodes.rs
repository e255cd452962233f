//! Records nodes that share the database, and the commands between them.

use convoke_core::id::{NodeId, SessionId};

use super::{Change, Durability};
use crate::db::{Db, Optional as _, params};
use crate::error::{Error, Fault};
use crate::nodes::{Beginning, LEASE, f64_of};

/// Registers a node at its start; the outcome is its epoch.
#[derive(Debug)]
pub(crate) struct JoinNodes {
    pub(crate) id: NodeId,
    pub(crate) name: String,
    pub(crate) version: String,
}

impl Change for JoinNodes {
    type Outcome = i64;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<i64, Fault> {
        let id = self.id.to_string();
        let mut other = db.prepare_cached("SELECT 1 FROM nodes WHERE name = ?1 AND id <> ?2")?;
        if other.exists([&self.name, &id])? {
            return Err(Error::NodeNameTaken { name: self.name.clone() }.into());
        }
        // Waits of agents of an earlier process are over.
        db.prepare_cached("DELETE FROM team_waits WHERE node = ?1")?.execute([&id])?;
        let epoch = db
            .prepare_cached(
                "INSERT INTO nodes (id, name, version, epoch, lease_until, started_at)
                 VALUES (?1, ?2, ?3, 1, clock_timestamp() + ?4 * interval '1 millisecond',
                     clock_timestamp())
                 ON CONFLICT (id) DO UPDATE SET name = excluded.name, version = excluded.version,
                     epoch = nodes.epoch + 1, lease_until = excluded.lease_until,
                     started_at = excluded.started_at
                 RETURNING epoch",
            )?
            .query_row(params![id, self.name, self.version, f64_of(LEASE)], |row| row.get(0))?;
        Ok(epoch)
    }
}

/// Ends the lease of a node that stops.
#[derive(Debug)]
pub(crate) struct LeaveNodes {
    pub(crate) id: NodeId,
}

impl Change for LeaveNodes {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let id = self.id.to_string();
        // Its agents are stopped.
        db.prepare_cached("DELETE FROM team_waits WHERE node = ?1")?.execute([&id])?;
        // Not at once: what else is stored in the same transaction needs the lease.
        let sql =
            "UPDATE nodes SET lease_until = clock_timestamp() + interval '1 second' WHERE id = ?1";
        db.prepare_cached(sql)?.execute([&id])?;
        Ok(())
    }
}

/// Queues a command for another node; the outcome is its number.
#[derive(Debug)]
pub(crate) struct PostCommand {
    pub(crate) to: NodeId,
    pub(crate) asker: NodeId,
    /// The session that it is about, which must belong to that node.
    pub(crate) session: Option<SessionId>,
    pub(crate) request: String,
}

impl Change for PostCommand {
    type Outcome = u64;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<u64, Fault> {
        let known = "SELECT 1 FROM nodes WHERE id = ?1";
        if !db.prepare_cached(known)?.exists([self.to.to_string()])? {
            return Err(Error::UnknownNode { id: self.to }.into());
        }
        let (to, asker) = (self.to.to_string(), self.asker.to_string());
        if let Some(id) = self.session {
            // Locked until the commit, so that no concurrent move leaves this command behind.
            let owner = "SELECT coalesce(node, '') FROM agent_sessions WHERE id = ?1 FOR KEY SHARE";
            let owner = db.prepare_cached(owner)?.query_row([id.to_string()], |row| row.get(0));
            let owner: String = owner.optional()?.ok_or(Error::UnknownSession { id })?;
            if owner != to {
                return Err(Error::OtherNode { id }.into());
            }
        }
        let sql = "INSERT INTO node_commands (node, asker, request, session_id)
             VALUES (?1, ?2, ?3, ?4) RETURNING id";
        let session = self.session.map(|id| id.to_string());
        let of = params![to, asker, self.request, session];
        let id = db.prepare_cached(sql)?.query_row(of, |row| row.get(0))?;
        db.notify(&format!("command {}", self.to))?;
        if let Some(session) = session {
            db.notify(&format!("waiting {session}"))?;
        }
        Ok(id)
    }
}

/// Records that a command is about to be executed. The outcome is whether it may be.
#[derive(Debug)]
pub(crate) struct BeginCommand(pub(crate) u64);

impl Change for BeginCommand {
    type Outcome = Beginning;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<Beginning, Fault> {
        let own = db.own("node_commands");
        let sql = format!(
            "UPDATE node_commands SET begun_at = clock_timestamp()
             WHERE id = ?1 AND finished_at IS NULL{own}"
        );
        let begun = db.prepare_cached(&sql)?.execute([self.0])?;
        Ok(if begun == 0 { Beginning::NotOurs } else { Beginning::Ours })
    }
}

/// Forwards a command that was begun here, and of which nothing was done, because its session has
/// moved away.
#[derive(Debug)]
pub(crate) struct PassOnCommand(pub(crate) u64);

impl Change for PassOnCommand {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let own = db.own("node_commands");
        let sql = format!(
            "UPDATE node_commands SET begun_at = NULL, node = s.node FROM agent_sessions AS s
             WHERE node_commands.id = ?1 AND s.id = node_commands.session_id
                 AND node_commands.finished_at IS NULL{own} RETURNING s.node"
        );
        let to = db.prepare_cached(&sql)?.query_row([self.0], |row| row.get(0)).optional()?;
        let to: Option<Option<String>> = to;
        if let Some(to) = to.flatten() {
            db.notify(&format!("command {to}"))?;
        }
        Ok(())
    }
}

/// Withdraws a queued prompt. The outcome is whether it was still queued.
#[derive(Debug)]
pub(crate) struct WithdrawCommand(pub(crate) u64);

impl Change for WithdrawCommand {
    type Outcome = bool;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<bool, Fault> {
        let sql = "UPDATE node_commands SET finished_at = clock_timestamp()
             WHERE id = ?1 AND begun_at IS NULL AND finished_at IS NULL RETURNING session_id";
        let mut statement = db.prepare_cached(sql)?;
        let session: Option<Option<String>> =
            statement.query_row([self.0], |row| row.get(0)).optional()?;
        if let Some(Some(session)) = &session {
            db.notify(&format!("waiting {session}"))?;
        }
        Ok(session.is_some())
    }
}

/// Stores the response to a command.
#[derive(Debug)]
pub(crate) struct FinishCommand {
    pub(crate) id: u64,
    pub(crate) response: String,
}

impl Change for FinishCommand {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let sql = "UPDATE node_commands SET finished_at = clock_timestamp(), response = ?2
             WHERE id = ?1 AND finished_at IS NULL RETURNING session_id";
        let mut statement = db.prepare_cached(sql)?;
        let of = params![self.id, self.response];
        let session: Option<Option<String>> =
            statement.query_row(of, |row| row.get(0)).optional()?;
        if let Some(Some(session)) = session {
            db.notify(&format!("waiting {session}"))?;
        }
        db.notify(&format!("response {}", self.id))?;
        // The sender has read it by then, or is gone.
        let sql =
            "DELETE FROM node_commands WHERE finished_at < clock_timestamp() - interval '1 hour'";
        db.prepare_cached(sql)?.execute(params![])?;
        Ok(())
    }
}
