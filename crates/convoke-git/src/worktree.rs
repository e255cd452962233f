//! Work trees of a session's own: made, listed, finished into their base branch, and removed.

use std::path::PathBuf;

use crate::ObjectId;
use crate::checkpoint::{Checkpoint, Checkpoints, Name};

mod access;
mod add;
mod carry;
mod combine;
mod finish;
mod include;
mod journal;
mod list;
mod push;
mod remove;

pub use access::{Access, BranchFolder, check_branch_folder, repository_of};
pub use carry::CarriedBranch;
pub use push::{NewPullRequest, Outgoing, PushedBranch};

/// A new work tree.
#[derive(Debug, Clone)]
pub struct NewWorktree {
    /// Where; it must not exist.
    pub path: PathBuf,
    /// What is checked out.
    pub branch: Branch,
}

/// The branch of a new work tree.
#[derive(Debug, Clone)]
pub enum Branch {
    /// A new one.
    New {
        /// Its name.
        name: String,
        /// The commit, branch or tag at which it begins.
        from: String,
    },
    /// One that exists and is checked out nowhere.
    Existing {
        /// Its name.
        name: String,
    },
}

/// A work tree of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Where.
    pub path: PathBuf,
    /// Its commit; `None` when its branch has none.
    pub commit: Option<ObjectId>,
    /// Its branch; `None` when none is checked out.
    pub branch: Option<String>,
    /// Whether it can be used.
    pub state: WorktreeState,
}

/// Whether a work tree can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorktreeState {
    /// It can.
    Ready,
    /// Its making was interrupted.
    HalfMade,
    /// It is locked, so it is not removed.
    Locked,
    /// Its folder was deleted.
    Gone,
    /// It is a repository without files.
    Bare,
}

/// Files that were copied to a new work tree because of `.worktreeinclude`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copied {
    /// These, in order.
    pub files: Vec<PathBuf>,
    /// Those that match and were not copied: too many, too large, unreadable,
    /// hidden from agents, or there already.
    pub left_out: Vec<PathBuf>,
}

/// What happens to files that a snapshot does not hold when a work tree is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discard {
    /// The removal is refused with their names.
    CapturedOnly,
    /// They are deleted.
    Everything,
}

/// A work tree that was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// Its files before it.
    pub saved: Checkpoint,
    /// Its branch and the commit that it had; the branch still exists.
    pub branch: Option<(String, ObjectId)>,
}

/// How the commits of a work tree get into their base branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// A merge commit.
    Merge,
    /// One commit with all changes.
    Squash,
    /// The same commits on top of the base.
    Rebase,
}

/// What is to be finished, and how.
#[derive(Debug, Clone, Copy)]
pub struct FinishRequest<'a> {
    /// How.
    pub how: Finish,
    /// The branch of the work tree, which must be checked out.
    pub branch: &'a str,
    /// The branch that gets the changes.
    pub base: &'a str,
    /// The message of the commit; rebased commits keep theirs.
    pub message: &'a str,
    /// The checkpoints of the work tree, in which its files are stored first.
    pub checkpoints: &'a Checkpoints,
    /// The name for that.
    pub saved: &'a Name,
}

/// The result of finishing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The base has the changes.
    Finished(Finished),
    /// The base has them already; nothing was done.
    NothingToDo,
    /// Base and branch contradict each other; nothing was changed.
    Conflicts(Vec<Conflict>),
}

/// The base branch after finishing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Its commit before.
    pub old: ObjectId,
    /// Its commit now, which is also that of the work tree's branch.
    pub new: ObjectId,
    /// The former commit of the work tree's branch; kept as `refs/convoke/finished/BRANCH/COMMIT`.
    pub tip: ObjectId,
}

/// A file that two branches changed differently.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conflict {
    /// The file, relative to the work tree.
    pub path: PathBuf,
    /// Whether the base deleted it, or never had it.
    pub is_missing_in_base: bool,
    /// Whether the branch deleted it, or never had it.
    pub is_missing_in_branch: bool,
}
