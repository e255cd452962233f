//! Several daemons that share a database: their leases, and the commands that they send each other.

use std::time::Duration;

use convoke_core::id::{NodeId, SessionId};
use convoke_core::time::Timestamp;
use tokio::sync::mpsc;

use crate::db::{Db, Optional as _, Row, SqlResult, params};
use crate::error::{Error, Fault, Result};
use crate::row;
use crate::store::Store;
use crate::write::nodes::{
    BeginCommand, FinishCommand, JoinNodes, LeaveNodes, PassOnCommand, PostCommand, WithdrawCommand,
};

pub use crate::postgres::Notice;

/// The duration of a lease: a node that has not renewed it for this long counts as away.
pub const LEASE: Duration = Duration::from_secs(15);

/// A daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its id, which is in its home.
    pub id: NodeId,
    /// What people call it.
    pub name: String,
    /// The version of its program.
    pub version: String,
    /// When it was started.
    pub started_at: Timestamp,
    /// When it was last known to run.
    pub seen_at: Timestamp,
    /// How long ago that was, by the clock of the server: the clocks of two machines may differ.
    pub quiet_for: Duration,
    /// Whether its lease is over.
    pub is_away: bool,
}

/// A command that one node sends to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeCommand {
    /// Its number; commands are carried out in their order.
    pub id: u64,
    /// The node that sent it.
    pub asker: NodeId,
    /// The request, in the format that the nodes share.
    pub request: String,
    /// Whether it was begun before, by a daemon that was then stopped.
    pub was_begun: bool,
    /// How long ago it was sent, by the clock of the server.
    pub age: Duration,
}

/// Whether this node may execute a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// It is for this daemon.
    Ours,
    /// Its session has moved since the command was read, and the command was reassigned; or it is
    /// finished.
    NotOurs,
}

impl Store {
    /// The node that opened this store; `None` for a file.
    pub fn node(&self) -> Option<NodeId> {
        self.server()?.node()
    }

    /// Registers this daemon as a node under a name. Fails with `NodeNameTaken`.
    ///
    /// An older process with the same id is fenced: it cannot write any more.
    pub async fn join_nodes(&self, name: String, version: String) -> Result<()> {
        let Some(id) = self.node() else { return Ok(()) };
        let epoch = self.make(JoinNodes { id, name, version }).await?;
        self.set_epoch(epoch);
        Ok(())
    }

    /// Renews the lease of this node. To be called more often than `LEASE`.
    pub async fn renew_lease(&self) -> Result<()> {
        let Some(lease) = self.lease() else { return Ok(()) };
        self.read(move |db| lease.renew(db)).await
    }

    /// Gives up the lease, because this daemon stops.
    pub async fn leave_nodes(&self) -> Result<()> {
        let Some(id) = self.node() else { return Ok(()) };
        self.make(LeaveNodes { id }).await
    }

    /// Lists all daemons, by name, or the one with this id.
    pub async fn nodes(&self, only: Option<NodeId>) -> Result<Vec<Node>> {
        if self.node().is_none() {
            return Ok(Vec::new());
        }
        self.read(move |db| {
            let lease = i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX);
            let mut statement = db.prepare_cached(
                "SELECT id, name, version, CAST(extract(epoch FROM started_at) * 1000 AS BIGINT),
                     CAST(extract(epoch FROM lease_until) * 1000 AS BIGINT) - ?1,
                     lease_until <= clock_timestamp(),
                     CAST(extract(epoch FROM clock_timestamp() - lease_until) * 1000 AS BIGINT) + ?1
                 FROM nodes WHERE CAST(?2 AS TEXT) IS NULL OR id = ?2 ORDER BY name",
            )?;
            let only = only.map(|id| id.to_string());
            let nodes = statement.query_map(params![lease, only], node)?;
            Ok(nodes.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// Sends a command to another node; returns the number under which the response will be stored.
    ///
    /// A command about a session is reassigned if the session moves. Fails with `OtherNode` if the
    /// session belongs to another node.
    pub async fn post_command(
        &self,
        to: NodeId,
        session: Option<SessionId>,
        request: String,
    ) -> Result<u64> {
        let asker = self.node().ok_or(Error::Misuse { what: "there are no other nodes" })?;
        self.make(PostCommand { to, asker, session, request }).await
    }

    /// The prompts for a session that its node has not begun to execute, in order: their numbers,
    /// when they were sent by the clock of the server, and the requests.
    pub async fn waiting_prompts(
        &self,
        session: SessionId,
    ) -> Result<Vec<(u64, Timestamp, String)>> {
        if self.node().is_none() {
            return Ok(Vec::new());
        }
        self.read(move |db| {
            let mut statement = db.prepare_cached(
                "SELECT id, CAST(extract(epoch FROM asked_at) * 1000 AS BIGINT), request
                 FROM node_commands WHERE session_id = ?1 AND begun_at IS NULL AND finished_at IS NULL ORDER BY id",
            )?;
            let prompts = statement.query_map([session.to_string()], |row| {
                Ok((row.get(0)?, row::timestamp(row, 1)?, row.get(2)?))
            })?;
            Ok(prompts.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// Withdraws a prompt that is queued for a node; returns whether it was still queued.
    pub async fn withdraw_command(&self, id: u64) -> Result<bool> {
        self.make(WithdrawCommand(id)).await
    }

    /// The commands for this node that are not finished, in order.
    pub async fn waiting_commands(&self, limit: u32) -> Result<Vec<NodeCommand>> {
        let Some(id) = self.node() else { return Ok(Vec::new()) };
        self.read(move |db| {
            let mut statement = db.prepare_cached(
                "SELECT id, asker, request, begun_at IS NOT NULL,
                     CAST(extract(epoch FROM clock_timestamp() - asked_at) * 1000 AS BIGINT)
                 FROM node_commands
                 WHERE node = ?1 AND finished_at IS NULL ORDER BY id LIMIT ?2",
            )?;
            let commands = statement.query_map(params![id.to_string(), limit], |row| {
                Ok(NodeCommand {
                    id: row.get(0)?,
                    asker: row::text(row, 1)?,
                    request: row.get(2)?,
                    was_begun: row.get(3)?,
                    age: Duration::from_millis(row.get(4)?),
                })
            })?;
            Ok(commands.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// Records that a command is about to be executed, if it is still for this node.
    pub async fn begin_command(&self, id: u64) -> Result<Beginning> {
        self.make(BeginCommand(id)).await
    }

    /// Forwards a command that was begun here, and of which nothing was done, to the node that owns
    /// its session.
    pub async fn pass_on_command(&self, id: u64) -> Result<()> {
        self.make(PassOnCommand(id)).await
    }

    /// Records the response to a command.
    pub async fn finish_command(&self, id: u64, response: String) -> Result<()> {
        self.make(FinishCommand { id, response }).await
    }

    /// The response to a command, once there is one. Fails with `Misuse` if the command was
    /// deleted.
    pub async fn command_response(&self, id: u64) -> Result<Option<String>> {
        self.read(move |db| {
            let sql = "SELECT response FROM node_commands WHERE id = ?1";
            let found = db.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
            Ok(found.ok_or(Error::Misuse { what: "there is no such command" })?)
        })
        .await
    }

    /// Subscribes to the announcements of other nodes, until the receiver is dropped. `None` for a
    /// file.
    pub fn listen(&self) -> Option<mpsc::Receiver<Notice>> {
        self.server().map(crate::postgres::listen)
    }
}

fn node(row: &Row<'_>) -> SqlResult<Node> {
    Ok(Node {
        id: row::text(row, 0)?,
        name: row.get(1)?,
        version: row.get(2)?,
        started_at: row::timestamp(row, 3)?,
        seen_at: row::timestamp(row, 4)?,
        is_away: row.get(5)?,
        quiet_for: Duration::from_millis(u64::try_from(row.get::<i64>(6)?).unwrap_or(0)),
    })
}

/// The lease that this node needs to write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lease {
    pub(crate) node: NodeId,
    pub(crate) epoch: i64,
}

impl Lease {
    /// Renews it; fails with `Fenced` if another process runs with the same id.
    pub(crate) fn renew(self, db: Db<'_>) -> Result<(), Fault> {
        let mut statement = db.prepare_cached(
            "UPDATE nodes SET lease_until = clock_timestamp() + ?3 * interval '1 millisecond'
             WHERE id = ?1 AND epoch = ?2",
        )?;
        let lease = f64_of(LEASE);
        let renewed = statement.execute(params![self.node.to_string(), self.epoch, lease])?;
        if renewed == 0 { Err(Error::Fenced.into()) } else { Ok(()) }
    }
}

/// A duration in milliseconds, for an interval on the server.
pub(crate) fn f64_of(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
