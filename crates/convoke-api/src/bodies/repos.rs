//! Projects, which are called repos on the wire.

use convoke_core::id::{NodeId, ProjectId};
use convoke_core::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A project: a folder in which agents work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Repo {
    /// Its id.
    pub id: ProjectId,
    /// What people call it.
    pub name: String,
    /// The folder, with all links resolved.
    pub path: String,
    /// When it was added.
    pub added_at: Timestamp,
    /// The node that it belongs to, as `GET /api/nodes` lists it; absent if the database is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
}

/// A project to add: `POST /api/repos`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewRepo {
    /// The folder, absolute.
    #[schemars(extend("pattern" = "^/"))]
    pub path: String,
    /// What to call it; the folder's name by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// All projects: `GET /api/repos`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Repos {
    /// The projects, in the order in which they were added.
    pub repos: Vec<Repo>,
}
