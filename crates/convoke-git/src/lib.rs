//! Checkpoints, diffs, restores and worktrees with the `git` program.
//!
//! Every call blocks the thread that makes it, up to its [`Limits`]; an asynchronous caller moves it to a blocking
//! thread. Nothing here knows sessions or turns beyond the names of checkpoints, and no word of git's output gets out.

mod checkpoint;
mod diff;
mod error;
mod git;
mod id;
mod limits;
mod project;
mod restore;
mod root;
mod worktree;

pub use checkpoint::{
    Carried, Checkpoint, Checkpoints, LeftOut, LeftOutReason, Name, Options, Place, Snapshot,
    remove_stale_locks,
};
pub use diff::{
    Change, ChangeList, FileDiff, FileMode, FileVersion, Hunk, Line, LineKind, Lines, Origin,
    Status, WordMarks, word_marks,
};
pub use error::{Error, Result};
pub use git::{Git, Launcher, Version};
pub use id::ObjectId;
pub use limits::{Cancel, Limits};
pub use project::{Base, Dirt, Facts, Filters, Head, Operation, Project, Upstream, remote_of};
pub use restore::{Blocked, Guard, Recovered, Restored, Scope};
pub use worktree::{
    Access, Branch, Conflict, Copied, Discard, Finish, FinishRequest, Finished, NewPullRequest,
    NewWorktree, Outcome, Removed, Worktree, WorktreeState, repository_of,
};
