//! Sessions that move from one node to another: their owner, and the files that are transferred.
//!
//! The owner of a session changes in one transaction, which also reassigns the commands that are
//! queued for it. The files are uploaded in pieces before that and downloaded in pieces after it,
//! so that neither node holds all of them in memory.

use std::collections::HashMap;

use convoke_core::id::{NodeId, ProjectId, SessionId};
use convoke_core::session::Summary;
use convoke_core::update::Update;

use crate::db::{Db, Optional as _, SqlResult, params};
use crate::error::Result;
use crate::row;
use crate::store::Store;
use crate::write::Durability;
use crate::write::moves::{AbandonMoves, AddPart, BeginMove, ChangeOwner, SetRemotes};
use crate::write::record::Record;

/// A session on its way to this daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moving {
    /// The daemon that it comes from.
    pub source: NodeId,
    /// What is transferred, in the format that the nodes share.
    pub cargo: String,
}

/// One of the files that are transferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MovePart {
    /// The pack of checkpoints.
    Checkpoint,
    /// The agent's own record of the conversation.
    Agent,
    /// The commits of a work tree's branch.
    Commits,
}

impl MovePart {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Checkpoint => "checkpoint",
            Self::Agent => "agent",
            Self::Commits => "commits",
        }
    }
}

/// The current owner of a session that is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// This daemon.
    Own,
    /// Another one, whose lease is over.
    Away(NodeId),
}

/// The order to hand a session over to another node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandOver {
    /// The session.
    pub session: SessionId,
    /// The current owner.
    pub from: Owner,
    /// The new owner.
    pub target: NodeId,
    /// The project there.
    pub project: ProjectId,
    /// What is transferred, in the format that the nodes share.
    pub cargo: String,
}

impl Store {
    /// Records the remotes of projects; `None` for a project without one.
    pub async fn set_remotes(&self, remotes: Vec<(ProjectId, Option<String>)>) -> Result<()> {
        if self.node().is_none() || remotes.is_empty() {
            return Ok(());
        }
        self.make(SetRemotes(remotes)).await
    }

    /// The remotes of the projects of all nodes.
    pub async fn remotes(&self) -> Result<HashMap<ProjectId, String>> {
        if self.node().is_none() {
            return Ok(HashMap::new());
        }
        self.read(move |db| {
            let mut statement =
                db.prepare_cached("SELECT project_id, remote FROM project_remotes")?;
            let found =
                statement.query_map(params![], |row| Ok((row::text(row, 0)?, row.get(1)?)))?;
            Ok(found.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// Begins to store what is transferred with a session of this node; replaces what an earlier
    /// attempt stored.
    pub async fn begin_move(&self, session: SessionId, target: NodeId) -> Result<()> {
        self.make(BeginMove { session, target }).await
    }

    /// Stores the next piece of a file that is transferred.
    pub async fn add_move_part(
        &self,
        session: SessionId,
        part: MovePart,
        number: u64,
        bytes: Vec<u8>,
    ) -> Result<()> {
        self.make(AddPart { session, part, number, bytes }).await
    }

    /// Hands a session over to another node, in one transaction with the commands that are queued
    /// for it.
    ///
    /// Fails with `OtherNode` if it does not belong to `order.from`, and with `NodeRuns` if that
    /// node should be away and holds its lease. From then on the former owner cannot write to it.
    /// A session that is taken from a node at which it never arrived keeps the cargo of that move.
    pub async fn hand_over(&self, order: HandOver) -> Result<()> {
        self.make(ChangeOwner(order)).await
    }

    /// Deletes what was stored for a move that was given up; without a session, for all moves that
    /// this node began.
    pub async fn abandon_moves(&self, session: Option<SessionId>) -> Result<()> {
        let Some(node) = self.node() else { return Ok(()) };
        self.make(AbandonMoves { node, session }).await
    }

    /// The sessions that have moved to this daemon and have not arrived yet.
    pub async fn arriving(&self) -> Result<Vec<SessionId>> {
        let Some(node) = self.node() else { return Ok(Vec::new()) };
        self.read(move |db| {
            let mut statement = db.prepare_cached(
                "SELECT session_id FROM session_moves WHERE target = ?1 AND stage = 'arriving'
                 ORDER BY begun_at",
            )?;
            let found = statement.query_map([node.to_string()], |row| row::text(row, 0))?;
            Ok(found.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// A session's move to this daemon, until it is complete.
    pub async fn arrival(&self, session: SessionId) -> Result<Option<Moving>> {
        let Some(node) = self.node() else { return Ok(None) };
        self.read(move |db| {
            let mut statement = db.prepare_cached(
                "SELECT source, cargo FROM session_moves
                 WHERE session_id = ?1 AND target = ?2 AND stage = 'arriving'",
            )?;
            let of = [session.to_string(), node.to_string()];
            let found = statement
                .query_row(of, |row| Ok(Moving { source: row::text(row, 0)?, cargo: row.get(1)? }));
            Ok(found.optional()?)
        })
        .await
    }

    /// Whether a session was handed over to another node, and has not arrived there yet.
    pub async fn is_moving(&self, session: SessionId) -> Result<bool> {
        if self.node().is_none() {
            return Ok(false);
        }
        self.read(move |db| {
            let sql = "SELECT 1 FROM session_moves WHERE session_id = ?1 AND stage = 'arriving'";
            Ok(db.prepare_cached(sql)?.exists([session.to_string()])?)
        })
        .await
    }

    /// A piece of a file that is transferred, counted from 0; `None` after the last.
    pub async fn move_part(
        &self,
        session: SessionId,
        part: MovePart,
        number: u64,
    ) -> Result<Option<Vec<u8>>> {
        self.read(move |db: Db<'_>| {
            let mut statement = db.prepare_cached(
                "SELECT bytes FROM session_move_parts
                 WHERE session_id = ?1 AND kind = ?2 AND number = ?3",
            )?;
            let (session, kind) = (session.to_string(), part.as_str());
            let of = params![session, kind, number];
            Ok(statement.query_row(of, |row| row.get(0)).optional()?)
        })
        .await
    }

    /// Records the first updates of a session on its new node, and completes its move in the same
    /// transaction.
    pub async fn record_arrival(
        &self,
        session: SessionId,
        updates: &[Update],
        summary: Summary,
    ) -> Result<()> {
        let record = Record::new(session, updates, summary, Durability::Acknowledged)?;
        self.make(record.arriving()).await
    }
}
