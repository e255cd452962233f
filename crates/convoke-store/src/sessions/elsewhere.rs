//! Sessions of other nodes.

use convoke_core::id::{NodeId, SessionId};
use convoke_core::message::Rev;

use super::{StoredSession, columns, many};
use crate::db::{SqlResult, params};
use crate::error::Result;
use crate::row;
use crate::store::{Store, Window};

/// Whether a column is among the texts that the first parameter joins; only a server is asked so.
const AMONG: &str = "= ANY (string_to_array(?1, ' '))";

fn joined(ids: &[SessionId]) -> String {
    ids.iter().map(SessionId::to_string).collect::<Vec<_>>().join(" ")
}

impl Store {
    /// Finds sessions of any node by their ids, in no order. Only on a server.
    pub async fn sessions_by_id(&self, ids: Vec<SessionId>) -> Result<Vec<StoredSession>> {
        self.read(move |db| {
            let columns = columns(db);
            let sql = format!("SELECT {columns} FROM agent_sessions AS s WHERE id {AMONG}");
            Ok(many(db, &sql, [joined(&ids)])?)
        })
        .await
    }

    /// The revisions of sessions, and the nodes that they belong to, in no order. Only on a server.
    pub async fn revs_by_id(
        &self,
        ids: Vec<SessionId>,
    ) -> Result<Vec<(SessionId, Rev, Option<NodeId>)>> {
        self.read(move |db| {
            let sql = format!("SELECT id, rev, node FROM agent_sessions WHERE id {AMONG}");
            let mut statement = db.prepare_cached(&sql)?;
            let revs = statement.query_map([joined(&ids)], |row| {
                Ok((row::text(row, 0)?, Rev::new(row.get(1)?), row::optional_text(row, 2)?))
            })?;
            Ok(revs.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// Lists the sessions of humans in which a turn runs on another node that is not away, the last begun first.
    pub async fn running_elsewhere(&self, limit: u32) -> Result<Vec<StoredSession>> {
        let Some(own) = self.node() else { return Ok(Vec::new()) };
        let window = Window::first(limit);
        self.read_list(window, move |db| {
            let columns = columns(db);
            // The first condition is that of the index `agent_sessions_unsettled`.
            let sql = format!(
                "SELECT {columns} FROM agent_sessions AS s JOIN nodes ON nodes.id = s.node
                 WHERE s.settled_seq <> s.last_seq AND s.running_since IS NOT NULL
                     AND s.archived = 0 AND s.kind = 'session'
                     AND s.node <> ?1 AND nodes.lease_until > clock_timestamp()
                 ORDER BY s.running_since DESC, s.n DESC LIMIT ?2"
            );
            Ok(many(db, &sql, params![own.to_string(), window.limit()])?)
        })
        .await
    }
}
