//! The journal of operations on work trees: one file per session in `run/worktrees/` of the home.

use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use convoke_core::files::OwnWorktree;
use convoke_core::id::{ProjectId, SessionId};
use serde::{Deserialize, Serialize};

use super::WorktreeError;
use super::finish::FinishOrder;

/// An operation in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "doing", rename_all = "snake_case")]
pub(super) enum Note {
    /// A work tree is made for a session that is not stored yet.
    Make {
        /// The project.
        project: ProjectId,
        /// The work tree as it will be.
        worktree: OwnWorktree,
        /// The commit at which its branch begins, if the branch is new.
        start: Option<String>,
    },
    /// A work tree is finished or removed.
    Finish(FinishOrder),
    /// A session moves from or to this machine; its work tree here is removed once the session is on another.
    Leave {
        /// The project.
        project: ProjectId,
        /// The work tree on this machine.
        worktree: OwnWorktree,
        /// The last commit of its branch that moves.
        tip: String,
    },
}

fn folder(home: &Path) -> PathBuf {
    home.join("run/worktrees")
}

fn file(home: &Path, session: SessionId) -> PathBuf {
    folder(home).join(format!("{session}.json"))
}

impl Note {
    /// Writes it to the disk.
    pub(super) fn write(&self, home: &Path, session: SessionId) -> Result<(), WorktreeError> {
        let path = file(home, session);
        let fail = |source| WorktreeError::Note { path: path.clone(), source };
        // Like the home, for the owner alone.
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder(home))
            .map_err(fail)?;
        let bytes = serde_json::to_vec(self).map_err(|error| fail(error.into()))?;
        convoke_files::atomic::write(&path, &bytes).map_err(|error| fail(io::Error::other(error)))
    }

    /// Removes it after the operation.
    pub(super) fn remove(home: &Path, session: SessionId) {
        let path = file(home, session);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                // The next start finds it and has nothing left to do.
                tracing::warn!("cannot remove {}: {error}", path.display());
            }
            Ok(()) | Err(_) => {}
        }
    }

    /// All entries that a killed daemon left.
    pub(super) fn all(home: &Path) -> Vec<(SessionId, Self)> {
        let entries = std::fs::read_dir(folder(home)).into_iter().flatten().flatten();
        let read = |path: PathBuf| {
            let session = path.file_stem()?.to_str()?.parse().ok()?;
            let note = serde_json::from_slice(&std::fs::read(&path).ok()?);
            note.inspect_err(|error| tracing::error!("cannot read {}: {error}", path.display()))
                .ok()
                .map(|note| (session, note))
        };
        entries.filter_map(|entry| read(entry.path())).collect()
    }
}
