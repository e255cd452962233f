//! The daemons that share a database.

use convoke_core::id::NodeId;
use convoke_core::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All nodes: `GET /api/nodes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Nodes {
    /// By name; none if the database is a file.
    pub nodes: Vec<Node>,
}

/// A daemon that shares a database with others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// What people call it.
    pub name: String,
    /// The version of its program.
    pub version: String,
    /// When it was started.
    pub started_at: Timestamp,
    /// When it was last known to run.
    pub seen_at: Timestamp,
    /// Whether it does not run, or cannot reach the database.
    pub away: bool,
    /// Whether it is the one that answers.
    pub own: bool,
}
