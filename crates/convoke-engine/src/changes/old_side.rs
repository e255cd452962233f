//! The old side of a session's diff: the files as they would be without what its turns changed.
//!
//! These are the files before its first turn, with what others changed since then between its
//! turns. A file that a turn had changed before is left as it was before the first turn, since the
//! two changes cannot be told apart. In a work tree of the session's own there are no others: what
//! changes between the turns is by a command that a turn left running, and is shown with the rest.

use std::path::PathBuf;

use convoke_git::{Checkpoints, Error, Limits, Name, ObjectId};
use convoke_store::StoredSession;

use super::numbers;

/// The folder that a session works in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folder {
    /// That of the project, in which others work, too.
    Project,
    /// A work tree of its own.
    WorkTree,
}

impl Folder {
    pub(crate) fn of(session: &StoredSession) -> Self {
        if session.worktree.is_some() { Self::WorkTree } else { Self::Project }
    }
}

/// The old side of a session's diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OldSide {
    pub(crate) tree: ObjectId,
    /// Files that others changed between the turns, which the diff does not have.
    pub(crate) between: Vec<PathBuf>,
}

/// Finds the old side; `None` without a checkpoint before a turn.
pub(crate) fn old_side(
    checkpoints: &Checkpoints,
    session: &str,
    folder: Folder,
    limits: &Limits,
) -> convoke_git::Result<Option<OldSide>> {
    let trees = checkpoints.trees(session, limits)?;
    let names: Vec<Name> = trees.keys().cloned().collect();
    let (first, between) = numbers::between(&names);
    let Some(first) = first.and_then(|first| trees.get(first)) else { return Ok(None) };
    if folder == Folder::WorkTree {
        return Ok(Some(OldSide { tree: first.clone(), between: Vec::new() }));
    }
    let (mut pairs, mut named) = (Vec::new(), Vec::new());
    for (from, to) in between {
        if let (Some(old), Some(new)) = (trees.get(from), trees.get(to))
            && old != new
        {
            pairs.push((old.clone(), new.clone()));
            named.extend([from, to]);
        }
    }
    let left_out = checkpoints.left_out(named, limits);
    let made = left_out.and_then(|it| checkpoints.with_changes(first, &pairs, &it, limits));
    match made {
        Ok((tree, between)) => Ok(Some(OldSide { tree, between })),
        // An agent can make so many files between its turns that memory does not suffice, a checkpoint may be lost, and
        // others may have put a file in the place of a folder that a turn deleted.
        Err(
            error @ (Error::TooMuchOutput { .. } | Error::Failed { .. } | Error::Unexpected { .. }),
        ) => {
            tracing::warn!(session.id = %session, "what changed between the turns is shown as the session's: {error}");
            Ok(Some(OldSide { tree: first.clone(), between: Vec::new() }))
        }
        Err(error) => Err(error),
    }
}
