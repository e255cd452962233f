//! Why a work tree cannot be made, finished, removed or restored.

use std::io;
use std::path::PathBuf;

use crate::error::Kind;

/// Why a work tree cannot be made, finished, removed or restored; what git itself refuses is a `ChangesError`.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// The session works in the project's folder.
    #[error("the session has no work tree of its own")]
    None,
    /// The work tree was removed.
    #[error("the work tree of the session was removed")]
    Removed,
    /// The folder was deleted by hand.
    #[error("{} is missing", path.display())]
    Missing {
        /// The folder.
        path: PathBuf,
    },
    /// The session cannot be erased before its work tree is finished.
    #[error("the session has a work tree that is not finished")]
    NotFinished,
    /// The work tree is there.
    #[error("the work tree of the session was not removed")]
    NotRemoved,
    /// The project has no commit that a branch could begin at.
    #[error("{} has no commit yet", path.display())]
    NoCommits {
        /// The project.
        path: PathBuf,
    },
    /// There is no branch to merge into.
    #[error(
        "no branch was checked out when the work tree was made, so that none can get its commits"
    )]
    NoBase,
    /// Its files or commits cannot be found.
    #[error("no commit of the branch {branch} is kept")]
    NothingKept {
        /// The branch.
        branch: String,
    },
    /// Files of the session are being restored, or its work tree is being finished, removed or made again.
    #[error("the files of the session are being restored or finished")]
    Busy,
    /// The set-up command of its project runs there.
    #[error("the work tree of the session is still being set up")]
    SettingUp,
    /// There is no remote repository.
    #[error("the repository has no remote `origin`")]
    NoRemote,
    /// GitHub's program is not installed.
    #[error("`gh`, the program of GitHub, is not installed")]
    NoGh,
    /// GitHub's program failed, or the branch could not be pushed.
    #[error("no pull request was made")]
    PullRequest(#[source] convoke_git::Error),
    /// What is to be done cannot be noted.
    #[error("cannot write {}", path.display())]
    Note {
        /// The note.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl WorktreeError {
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::NothingKept { .. } => Kind::NotFound,
            Self::None
            | Self::Removed
            | Self::Missing { .. }
            | Self::NotFinished
            | Self::NotRemoved
            | Self::NoCommits { .. }
            | Self::NoBase
            | Self::Busy
            | Self::SettingUp
            | Self::NoRemote
            | Self::NoGh
            | Self::PullRequest(_) => Kind::Conflict,
            Self::Note { .. } => Kind::Internal,
        }
    }

    /// What to do about it.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::None => Some("`convoke session new --worktree` creates a session with one"),
            Self::Removed => Some("`convoke worktree restore` brings it back"),
            Self::Missing { .. } => Some(
                "if you moved it, move it back; else `convoke worktree restore` brings it back",
            ),
            Self::NoCommits { .. } => Some("make a first commit in the project"),
            Self::NoBase => Some("keep the branch, and merge it yourself"),
            Self::NotFinished => {
                Some("finish it first, or remove it with `convoke worktree remove`")
            }
            Self::Busy => Some("try again in a moment"),
            Self::SettingUp => Some("wait until its set-up command has ended, or end the session"),
            Self::NoRemote => Some("add one with `git remote add origin URL`, or keep the branch"),
            Self::NoGh => Some("install it from https://cli.github.com, or keep the branch"),
            Self::PullRequest(_) => Some("the work tree is as it was; put it right and try again"),
            Self::NotRemoved | Self::NothingKept { .. } | Self::Note { .. } => None,
        }
    }
}
