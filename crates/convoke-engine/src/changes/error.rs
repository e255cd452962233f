//! Why changes cannot be compared, restored or undone.

use std::io;
use std::path::PathBuf;

use convoke_core::message::Seq;

use crate::error::Kind;

/// Why changes cannot be compared, restored or undone.
#[derive(Debug, thiserror::Error)]
pub enum ChangesError {
    /// Checkpoints are switched off.
    #[error("checkpoints are switched off by the setting changes.checkpoints")]
    Off,
    /// There is no checkpoint of this session.
    #[error("there is no checkpoint of this session")]
    NoCheckpoint,
    /// There is no checkpoint of this turn.
    #[error(
        "there is no checkpoint of the turn whose prompt has seq {turn}; there are checkpoints of {}",
        listed(turns)
    )]
    UnknownTurn {
        /// The place of the prompt that was given.
        turn: Seq,
        /// The places of those that have checkpoints.
        turns: Vec<Seq>,
    },
    /// There is no such turn.
    #[error("there is no turn whose prompt has seq {turn}")]
    NoTurn {
        /// The place of the prompt that was given.
        turn: Seq,
    },
    /// The file is not among those that changed.
    #[error("{path} has not changed")]
    Unchanged {
        /// The path that was given.
        path: String,
    },
    /// The diff has no such hunk.
    #[error("{path} has no hunk {hunk}")]
    UnknownHunk {
        /// The file.
        path: String,
        /// The number that was given, from 0.
        hunk: usize,
    },
    /// The agent works on a turn, and may write to the same files.
    #[error("the agent is working; cancel the turn first")]
    Working,
    /// There is no restore to undo, or a turn followed it.
    #[error("there is nothing to undo: no restore since the last turn that is not undone already")]
    NothingToUndo,
    /// Convoke's home is inside the project.
    #[error("{} contains Convoke's home", path.display())]
    ContainsHome {
        /// The project's folder.
        path: PathBuf,
    },
    /// The folder for the checkpoints cannot be made.
    #[error("cannot make {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Git failed, or refused.
    #[error(transparent)]
    Git(#[from] convoke_git::Error),
    /// The call was cut off, since the daemon is stopping.
    #[error("the call was cut off")]
    Gone,
    /// The call panicked, which the log has.
    #[error("the call failed because of a bug in Convoke; the log of the daemon has the details")]
    Panicked,
}

impl ChangesError {
    /// The files that are in the way of a restore.
    #[expect(clippy::wildcard_enum_match_arm, reason = "one error is about files")]
    pub fn files(&self) -> &[PathBuf] {
        match self {
            Self::Git(convoke_git::Error::ChangedSince { paths }) => paths,
            Self::Git(
                convoke_git::Error::Dirty { files, .. }
                | convoke_git::Error::NotCaptured { files, .. },
            ) => files,
            _ => &[],
        }
    }

    /// Whether this machine has no git, or one that is too old.
    pub const fn is_git_missing(&self) -> bool {
        use convoke_git::Error as Git;
        matches!(self, Self::Git(Git::Start { .. } | Git::TooOld { .. }))
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "one kind for each group of errors that callers treat alike"
    )]
    pub(crate) fn kind(&self) -> Kind {
        use convoke_git::Error as Git;
        match self {
            Self::NoCheckpoint | Self::UnknownTurn { .. } | Self::Unchanged { .. } => {
                Kind::NotFound
            }
            Self::UnknownHunk { .. } | Self::NoTurn { .. } => Kind::NotFound,
            Self::Off | Self::Working | Self::NothingToUndo | Self::ContainsHome { .. } => {
                Kind::Conflict
            }
            Self::Git(error) => match error {
                Git::ChangedSince { .. }
                | Git::StaleHunk { .. }
                | Git::Dirty { .. }
                | Git::NotCaptured { .. }
                | Git::InProgress { .. }
                | Git::BaseMoved { .. }
                | Git::Detached { .. }
                | Git::NoIdentity
                | Git::BranchExists { .. }
                | Git::SharedFolder { .. }
                | Git::OtherBranch { .. }
                | Git::NotARepository { .. }
                | Git::Misdirected { .. }
                | Git::MovedByHand { .. }
                | Git::Unreadable { .. }
                | Git::Unwritable { .. } => Kind::Conflict,
                Git::InvalidName { .. } => Kind::Invalid,
                Git::NotFound { .. } => Kind::NotFound,
                Git::Busy { .. }
                | Git::PipeGone { .. }
                | Git::DiskFull { .. }
                | Git::Start { .. }
                | Git::TooOld { .. } => Kind::Unavailable,
                _ => Kind::Internal,
            },
            Self::Folder { .. } => Kind::Internal,
            Self::Gone => Kind::Unavailable,
            Self::Panicked => Kind::Internal,
        }
    }
}

fn listed(turns: &[Seq]) -> String {
    if turns.is_empty() {
        return "none".to_owned();
    }
    turns.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
