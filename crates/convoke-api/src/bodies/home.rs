//! Home: the sessions that need their human.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{InboxItem, Session};

/// What waits for the human, what is running, and what ended: `GET /api/home`. Each group has the newest first, at most 50.
/// Archived sessions and those of teams are left out, but for their requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Home {
    /// The requests that an agent or a program waits for.
    pub needs_you: Vec<InboxItem>,
    /// Sessions with a running turn.
    pub working: Vec<Session>,
    /// Sessions with a turn that ended and was not seen.
    pub finished: Vec<Session>,
    /// Sessions with a turn that failed and was not seen.
    pub failed: Vec<Session>,
    /// The other sessions.
    pub recent: Vec<Session>,
}
