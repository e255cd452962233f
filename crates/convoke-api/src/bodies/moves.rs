//! Sessions that move to another machine.

use convoke_core::id::NodeId;
use convoke_core::notice::SessionMove;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NOT_BLANK, Repo, Session};

/// Where a session is to move: `POST /api/sessions/:id/move`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MoveSession {
    /// The node, by its name or its id.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub to: String,
    /// The project there, by its id, path or name; by default the one with the same git remote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub project: Option<String>,
    /// What becomes of the files; by default `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<MoveFiles>,
    /// Whether a running turn is stopped and open requests are withdrawn; otherwise they refuse the move.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
    /// Whether it is taken from a node that is away, without its files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_away: bool,
}

/// What becomes of the files of a session that moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MoveFiles {
    /// They go along as a checkpoint, and are written if the project there is at the same commit without changes.
    Auto,
    /// They are written in any case, after a checkpoint of what is there.
    Restore,
    /// They go along as a checkpoint, and are not written.
    Checkpoint,
    /// They stay where they are.
    Leave,
}

/// A session that moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MovedSession {
    /// The session, which belongs to the new node.
    pub session: Session,
    /// What went along; absent as long as the new node has not written it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<SessionMove>,
    /// The same in a sentence.
    pub text: String,
}

/// The nodes to which a session may move: `GET /api/sessions/:id/move`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveTargets {
    /// All nodes but the session's own, by name.
    pub targets: Vec<MoveTarget>,
}

/// A node to which a session may move, or why it may not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveTarget {
    /// The node.
    pub node: NodeId,
    /// What people call it.
    pub name: String,
    /// Whether it is away.
    pub away: bool,
    /// The projects there with the same git remote.
    pub repos: Vec<Repo>,
    /// The other projects there, which must be named.
    pub others: Vec<Repo>,
    /// Why it cannot move there without naming a project, or at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
