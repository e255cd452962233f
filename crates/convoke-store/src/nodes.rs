//! Several daemons that share a database: who they are, who is away, and what they ask of each other.

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

/// A daemon that renewed its lease so long ago is away.
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

/// What one daemon asks another one to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeCommand {
    /// Its number; commands are carried out in their order.
    pub id: u64,
    /// Who asks.
    pub asker: NodeId,
    /// What is asked, as the daemons agree on it.
    pub request: String,
    /// Whether it was begun before, by a daemon that then ended.
    pub was_begun: bool,
    /// How long ago it was asked, by the clock of the server.
    pub age: Duration,
}

/// Whether a command may be carried out here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// It is for this daemon.
    Ours,
    /// Its session has moved since it was read, and it went along; or it is finished.
    NotOurs,
}

impl Store {
    /// The daemon that this store is opened by; none for a file.
    pub fn node(&self) -> Option<NodeId> {
        self.server()?.node()
    }

    /// Makes this daemon one of those that share the database, under a name. Fails with `NodeNameTaken`.
    ///
    /// An older process with the same id cannot write any more.
    pub async fn join_nodes(&self, name: String, version: String) -> Result<()> {
        let Some(id) = self.node() else { return Ok(()) };
        let epoch = self.make(JoinNodes { id, name, version }).await?;
        self.set_epoch(epoch);
        Ok(())
    }

    /// Says that this daemon still runs. To be called more often than `LEASE`.
    pub async fn renew_lease(&self) -> Result<()> {
        let Some(lease) = self.lease() else { return Ok(()) };
        self.read(move |db| lease.renew(db)).await
    }

    /// Says that this daemon ends.
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

    /// Asks another daemon to do something; returns the number under which the response will be.
    ///
    /// What is asked about a session goes with it if it moves. Fails with `OtherNode` if it belongs to another daemon.
    pub async fn post_command(
        &self,
        to: NodeId,
        session: Option<SessionId>,
        request: String,
    ) -> Result<u64> {
        let asker = self.node().ok_or(Error::Misuse { what: "there are no other nodes" })?;
        self.make(PostCommand { to, asker, session, request }).await
    }

    /// The prompts for a session that its daemon has not begun to carry out, in order: their numbers, when they were sent by
    /// the clock of the server, and the requests.
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

    /// Takes back a prompt that waits for a daemon; whether it still waited.
    pub async fn withdraw_command(&self, id: u64) -> Result<bool> {
        self.make(WithdrawCommand(id)).await
    }

    /// What this daemon is asked to do and has not done, in order.
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

    /// Records that a command is about to be carried out, if it is still for this daemon.
    pub async fn begin_command(&self, id: u64) -> Result<Beginning> {
        self.make(BeginCommand(id)).await
    }

    /// Gives a command that was begun here, and of which nothing was done, to the daemon that its session belongs to.
    pub async fn pass_on_command(&self, id: u64) -> Result<()> {
        self.make(PassOnCommand(id)).await
    }

    /// Records the response to a command.
    pub async fn finish_command(&self, id: u64, response: String) -> Result<()> {
        self.make(FinishCommand { id, response }).await
    }

    /// The response to a command, once there is one. Fails with `UnknownCommand` if it was forgotten.
    pub async fn command_response(&self, id: u64) -> Result<Option<String>> {
        self.read(move |db| {
            let sql = "SELECT response FROM node_commands WHERE id = ?1";
            let found = db.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
            Ok(found.ok_or(Error::Misuse { what: "there is no such command" })?)
        })
        .await
    }

    /// Follows what other daemons announce, until the receiver is dropped. `None` for a file.
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

/// The lease of this daemon, which it needs to write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lease {
    pub(crate) node: NodeId,
    pub(crate) epoch: i64,
}

impl Lease {
    /// Renews it; fails with `Fenced` when another process runs with the same id.
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

/// Milliseconds as the server counts them in an interval.
pub(crate) fn f64_of(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
