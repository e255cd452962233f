//! What a session did to the files of its project, as lists show it. A contract: stored and sent as JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// How much the turns of a session have changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeTotals {
    /// How many files.
    pub files: u64,
    /// Lines that were added.
    pub added: u64,
    /// Lines that were removed.
    pub removed: u64,
}

/// The work tree that a session has for itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnWorktree {
    /// Its folder.
    pub path: String,
    /// The branch that was checked out when it was made.
    pub branch: String,
    /// The branch that it was made from, which gets its commits in the end; absent where none was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// What became of its folder; absent as long as it is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<RemovedWorktree>,
}

/// How a work tree was removed. Its files are in a snapshot, and its commits are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedWorktree {
    /// On which occasion.
    pub how: Removal,
    /// When.
    pub at: Timestamp,
    /// The last commit of its branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// On which occasion a work tree was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Removal {
    /// Its branch was merged.
    Merge,
    /// Its changes became one commit of the base.
    Squash,
    /// Its commits were put on top of the base.
    Rebase,
    /// Its branch was kept for later.
    Keep,
    /// Its branch was removed, too.
    Discard,
    /// Only its folder was removed.
    Remove,
}
