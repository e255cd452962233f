//! Sessions in which a turn ended that no human has looked at.

use super::{StoredSession, columns, many};
use crate::db::{Db, params};
use crate::error::Result;
use crate::store::{Store, Window};

/// How their last turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unseen {
    /// Well, or at a limit.
    Finished,
    /// It failed, or the agent cannot be started.
    Failed,
}

/// How many unseen sessions there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnseenCount {
    /// Those whose last turn ended well, or at a limit.
    pub finished: u64,
    /// Those whose last turn failed.
    pub failed: u64,
}

/// The rows of the index `agent_sessions_unseen`.
const UNSEEN: &str = "s.ended_rev > s.seen_rev AND s.archived = 0 AND s.kind = 'session'";
const FAILED: &str = "(s.failure IS NOT NULL OR s.status = 'error')";

impl Store {
    /// Lists the unseen sessions of humans that are not archived, the last active first.
    pub async fn unseen_sessions(&self, which: Unseen, limit: u32) -> Result<Vec<StoredSession>> {
        let window = Window::first(limit);
        self.read_list(window, move |db: Db<'_>| {
            let not = match which {
                Unseen::Finished => "NOT ",
                Unseen::Failed => "",
            };
            let columns = columns(db);
            let sql = format!(
                "SELECT {columns} FROM agent_sessions AS s
                 INDEXED BY agent_sessions_unseen WHERE {UNSEEN} AND {not}{FAILED}
                 ORDER BY s.last_active_at DESC, s.n DESC LIMIT ?1"
            );
            Ok(many(db, &sql, [window.limit()])?)
        })
        .await
    }

    /// Counts the unseen sessions of humans that are not archived.
    pub async fn count_unseen_sessions(&self) -> Result<UnseenCount> {
        self.read(move |db| {
            let sql = format!(
                "SELECT count(*) FILTER (WHERE NOT {FAILED}), count(*) FILTER (WHERE {FAILED})
                 FROM agent_sessions AS s INDEXED BY agent_sessions_unseen WHERE {UNSEEN}"
            );
            let counted = db.prepare_cached(&sql)?.query_row(params![], |row| {
                Ok(UnseenCount { finished: row.get(0)?, failed: row.get(1)? })
            })?;
            Ok(counted)
        })
        .await
    }
}
