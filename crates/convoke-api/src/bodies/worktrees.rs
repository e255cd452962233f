//! Work trees that sessions have for themselves.

use convoke_core::files::RemovedWorktree;
use convoke_core::id::{ProjectId, SessionId};
use convoke_core::session::Status;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NOT_BLANK, Prompted, Session};

/// A work tree that a new session is to have for itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewWorktree {
    /// A branch that exists and is checked out nowhere, or the name of a new one; by default Convoke names a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub branch: Option<String>,
}

/// What is to become of a work tree: `POST /api/sessions/:id/finish`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FinishWorktree {
    /// How it ends.
    pub how: FinishWay,
    /// The message of commits, and the title and body of a pull request; by default the session's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub message: Option<String>,
    /// Whether files are deleted that no snapshot holds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Whether the agent is prompted to resolve conflicts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resolve: bool,
}

/// How a work tree ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinishWay {
    /// Its branch is merged into its base.
    Merge,
    /// Its changes become one commit of its base.
    Squash,
    /// Its commits are put on top of its base.
    Rebase,
    /// Its branch is pushed, and `gh` makes a pull request; the work tree stays.
    Pr,
    /// Its branch is kept, and its folder removed.
    Keep,
    /// Its branch and its folder are removed.
    Discard,
}

/// What became of a work tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FinishedWorktree {
    /// Whether it is finished.
    pub outcome: FinishOutcome,
    /// The session after it.
    pub session: Session,
    /// The branch that has its commits now, that the pull request goes to, or that is in conflict; absent when the branch
    /// was kept or discarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The last commit of its branch, which the base has now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Files that base and branch changed differently; nothing was done then.
    pub conflicts: Vec<WorktreeConflict>,
    /// The address of the pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<String>,
    /// The prompt to resolve conflicts, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Prompted>,
}

/// Whether a work tree is finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinishOutcome {
    /// It is, and removed.
    Finished,
    /// A pull request was made, and it stays.
    PullRequest,
    /// It is not, since base and branch contradict each other.
    Conflicts,
}

/// A file that two branches changed differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeConflict {
    /// The file, relative to the work tree.
    pub path: String,
    /// What the base did to it.
    pub base: ConflictSide,
    /// What the branch did to it.
    pub branch: ConflictSide,
}

/// What one side did to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConflictSide {
    /// Changed or added it.
    Changed,
    /// Deleted it, or never had it.
    Deleted,
}

/// The work trees of all sessions: `GET /api/worktrees`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Worktrees {
    /// Those, of the newest session first.
    pub worktrees: Vec<ListedWorktree>,
}

/// A session's work tree in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedWorktree {
    /// The session.
    pub session_id: SessionId,
    /// Its title.
    pub title: String,
    /// Where the session is in its life.
    pub status: Status,
    /// The project.
    pub repo_id: ProjectId,
    /// The project's name.
    pub repo: String,
    /// Its folder.
    pub path: String,
    /// Its branch.
    pub branch: String,
    /// The branch that gets its commits in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Whether it is there.
    pub state: WorktreeState,
    /// How it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<RemovedWorktree>,
}

/// Whether a work tree is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeState {
    /// It is there.
    Ready,
    /// Someone deleted its folder.
    Missing,
    /// Convoke removed it, after a snapshot.
    Removed,
}
