//! Erases a session with all that belongs to it.

use convoke_core::id::SessionId;

use super::sessions::own_number;
use super::{Change, Durability};
use crate::db::Db;
use crate::error::Fault;

/// Deletes a session with its messages, requests, search entries and agent session ids.
#[derive(Debug)]
pub(crate) struct EraseSession(pub(crate) SessionId);

impl Change for EraseSession {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn session(&self) -> Option<SessionId> {
        Some(self.0)
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let n = own_number(db, self.0)?;
        // The row is deleted first: a trigger protects the agent session ids of existing sessions.
        // Rows that refer to it are deleted before the commit, when the foreign keys are checked.
        db.defer_references()?;
        for sql in [
            "DELETE FROM agent_sessions WHERE n = ?1",
            "DELETE FROM message_search WHERE rowid IN (SELECT k.key FROM searched_messages AS k \
             WHERE k.message IN (SELECT n FROM messages WHERE session = ?1))",
            "DELETE FROM searched_messages \
             WHERE message IN (SELECT n FROM messages WHERE session = ?1)",
            "DELETE FROM messages WHERE session = ?1",
            "DELETE FROM deltas WHERE session = ?1",
            "DELETE FROM session_state WHERE session = ?1",
            "DELETE FROM human_requests WHERE session = ?1",
            "DELETE FROM agent_session_ids WHERE session = ?1",
            // The conversation is still in its agent's store, and must not be imported again.
            "UPDATE histories SET session = NULL, standing = 'erased', cursor = '' WHERE session = ?1 \
             AND standing <> 'replaced'",
            "DELETE FROM histories WHERE session = ?1",
        ] {
            db.prepare_cached(sql)?.execute([n])?;
        }
        super::moves::forget(db, self.0)?;
        Ok(())
    }
}
