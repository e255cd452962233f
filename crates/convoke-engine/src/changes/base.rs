//! The old side of a session's diff: the files as they would be without what its turns changed.
//!
//! These are the files before its first turn, with what others changed since then between its
//! turns. A file that a turn had changed before is left as it was before the first turn, since the
//! two changes cannot be told apart. In a work tree of the session's own there are no others: what
//! changes between the turns is by a command that a turn left running, and is shown with the rest.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use convoke_git::{CheckpointKind, Checkpoints, Error, Limits, Name, ObjectId};
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
pub(crate) struct Base {
    pub(crate) tree: ObjectId,
    /// Files that others changed between the turns, which the diff does not have.
    pub(crate) between: Vec<PathBuf>,
}

/// Finds the old side; `None` without a checkpoint before a turn.
pub(crate) fn base(
    checkpoints: &Checkpoints,
    session: &str,
    folder: Folder,
    limits: &Limits,
) -> convoke_git::Result<Option<Base>> {
    let trees: BTreeMap<CheckpointKind, ObjectId> = checkpoints
        .trees(session, limits)?
        .into_iter()
        .map(|(name, tree)| (name.kind(), tree))
        .collect();
    let names: Vec<Name> =
        trees.keys().map(|kind| Name::new(session, *kind)).collect::<convoke_git::Result<_>>()?;
    let (first, between) = numbers::between(&names);
    let Some(first) = first.and_then(|first| trees.get(&first)) else { return Ok(None) };
    let between = if folder == Folder::Project { between } else { Vec::new() };
    let (mut pairs, mut left_out) = (Vec::new(), HashSet::new());
    for (from, to) in between {
        let (Some(old), Some(new)) = (trees.get(&from), trees.get(&to)) else { continue };
        if old == new {
            continue;
        }
        pairs.push((old.clone(), new.clone()));
        for kind in [from, to] {
            let found = checkpoints.find(&Name::new(session, kind)?, limits)?;
            let found = found.into_iter().flat_map(|checkpoint| checkpoint.left_out);
            left_out.extend(found.map(|file| file.path));
        }
    }
    match checkpoints.with_changes(first, &pairs, &left_out, limits) {
        Ok((tree, between)) => Ok(Some(Base { tree, between })),
        // An agent can make so many files between its turns; memory is bounded, and all is shown.
        Err(Error::TooMuchOutput { .. }) => {
            tracing::info!(session.id = %session, "too much changed between the turns; it is shown as the session's");
            Ok(Some(Base { tree: first.clone(), between: Vec::new() }))
        }
        Err(error) => Err(error),
    }
}
