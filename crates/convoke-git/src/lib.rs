//! Checkpoints, diffs, restores and worktrees with the `git` program.
//!
//! Every call blocks its thread, up to its [`Limits`]; an asynchronous caller moves it to a
//! blocking thread. This crate knows sessions and turns only from the names of checkpoints, and
//! does not expose git's output. Loose objects and refs of checkpoints are read and written without
//! git where that saves a process.

mod checkpoint;
mod diff;
mod error;
mod git;
mod id;
mod limits;
mod project;
mod restore;
mod root;
mod unreadable;
mod worktree;

pub use checkpoint::{
    Carried, Checkpoint, CheckpointKind, Checkpoints, LeftOut, LeftOutReason, Name, Options,
    Snapshot, remove_stale_locks,
};
pub use diff::{
    Change, ChangeList, FileDiff, FileMode, FileVersion, Hunk, Line, LineKind, Lines, Status,
    WordMarks, word_marks,
};
pub use error::{Error, Result};
pub use git::{Git, Launcher, Version};
pub use id::ObjectId;
pub use limits::{Cancel, Limits};
pub use project::{
    Base, DirtyFiles, Facts, Filters, Head, Operation, Project, Upstream, remote_of,
};
pub use restore::{Blocked, Guard, Recovered, Restored, Scope};
pub use worktree::{
    Access, Branch, BranchFolder, CarriedBranch, Conflict, Copied, Discard, Finish, FinishRequest,
    Finished, NewPullRequest, NewWorktree, Outcome, Outgoing, PushedBranch, Removed, Worktree,
    WorktreeState, check_branch_folder, repository_of,
};
