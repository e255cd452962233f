//! Restores files from a checkpoint.
//!
//! Only files that differ are written, each by renaming a complete one over it. All steps are
//! journaled first, so that `recover` can finish a restore that was killed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::checkpoint::{Checkpoint, Checkpoints, Name, Snapshot};
use crate::diff::{FileMode, FileVersion, Status};
use crate::{Error, Limits, ObjectId, Result};

mod apply;
mod hunk;
mod journal;
mod recover;
mod stage;

/// Which files a restore is about.
#[derive(Debug, Clone, Copy)]
pub enum Scope<'a> {
    /// All that differ.
    All,
    /// These files, and those in these folders; relative to the work tree.
    Paths(&'a [PathBuf]),
}

/// When a restore is refused.
#[derive(Debug, Clone, Copy)]
pub enum Guard<'a> {
    /// If a file that it would write has changed since this tree: another program may
    /// have edited it.
    UnchangedSince(&'a ObjectId),
    /// Never; the undo checkpoint has the overwritten files.
    Force,
}

/// The result of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The files as they were before it; restoring this undoes it.
    pub undo: Checkpoint,
    /// Files that were written, in order.
    pub written: Vec<PathBuf>,
    /// Files that were removed, in order.
    pub removed: Vec<PathBuf>,
    /// Files that differ and were left alone.
    pub blocked: Vec<Blocked>,
}

/// A file that a restore left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// The file, relative to the work tree.
    pub path: PathBuf,
    /// What is in the way.
    pub why: &'static str,
}

/// The result of recovering an interrupted restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The files as they were before the restore.
    pub undo: ObjectId,
    /// Files that were still to be written or removed, and are now.
    pub finished: Vec<PathBuf>,
    /// Files that were left alone: changed after the interruption, or blocked.
    pub left: Vec<PathBuf>,
}

/// One file to be written or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    path: PathBuf,
    old: Option<FileVersion>,
    new: Option<FileVersion>,
}

/// The maximum number of files; more than git repositories have.
const STEPS_MAX: usize = 10_000_000;

impl Checkpoints {
    /// Restores the files of `to`, after a checkpoint `undo` of the current files.
    pub fn restore(
        &self,
        to: &Checkpoint,
        scope: Scope<'_>,
        guard: Guard<'_>,
        undo: &Name,
        limits: &Limits,
    ) -> Result<Restored> {
        let lock = self.lock(limits)?;
        self.recover_locked(&lock, limits)?;
        let now = self.snapshot_locked(&lock, limits)?;
        let mut steps = self.steps(&now.tree, &to.tree, scope, limits)?;
        self.check_guard(guard, &now, &steps, limits)?;
        let mut blocked = Vec::new();
        let left_out = to.left_out.iter().chain(&now.left_out);
        let left_out: HashSet<PathBuf> = left_out.map(|it| it.path.clone()).collect();
        steps.retain(|step| {
            let is_captured = !step.path.ancestors().any(|path| left_out.contains(path));
            if !is_captured {
                let why = "it was not captured";
                blocked.push(Blocked { path: step.path.clone(), why });
            }
            is_captured
        });
        let undo = self.keep(undo, now, limits)?;
        self.carry_out(undo, &steps, blocked, limits)
    }

    /// The steps from one tree to another.
    fn steps(
        &self,
        from: &ObjectId,
        to: &ObjectId,
        scope: Scope<'_>,
        limits: &Limits,
    ) -> Result<Vec<Step>> {
        let changes = self.changes_without_renames(from, to, STEPS_MAX, limits)?;
        let is_wanted = |path: &Path| match scope {
            Scope::All => true,
            Scope::Paths(paths) => paths.iter().any(|wanted| path.starts_with(wanted)),
        };
        let wanted = changes.into_iter().filter(|change| is_wanted(&change.path));
        // Submodules are captured as files; a tree from another source may contain one, whose files
        // are not available.
        let is_file = |version: &Option<FileVersion>| {
            version.as_ref().is_none_or(|version| version.mode != FileMode::Submodule)
        };
        let steps = wanted.map(|it| Step { path: it.path, old: it.old, new: it.new });
        Ok(steps.filter(|step| is_file(&step.old) && is_file(&step.new)).collect())
    }

    fn check_guard(
        &self,
        guard: Guard<'_>,
        now: &Snapshot,
        steps: &[Step],
        limits: &Limits,
    ) -> Result<()> {
        let Guard::UnchangedSince(since) = guard else { return Ok(()) };
        let changed = self.changes_without_renames(since, &now.tree, STEPS_MAX, limits)?;
        let planned: HashSet<&Path> = steps.iter().map(|step| step.path.as_path()).collect();
        let paths = changed.into_iter().map(|change| change.path);
        let paths: Vec<PathBuf> = paths.filter(|path| planned.contains(path.as_path())).collect();
        if paths.is_empty() { Ok(()) } else { Err(Error::ChangedSince { paths }) }
    }

    /// Undoes one hunk of a file's diff, after a checkpoint `undo` of the current files.
    ///
    /// Fails with `StaleHunk` if the lines are no longer where the hunk has them.
    pub fn revert_hunk(
        &self,
        change: &crate::Change,
        hunk: &crate::Hunk,
        undo: &Name,
        limits: &Limits,
    ) -> Result<Restored> {
        let lock = self.lock(limits)?;
        self.recover_locked(&lock, limits)?;
        let now = self.snapshot_locked(&lock, limits)?;
        let path = change.path.clone();
        // Its diff has both contents, of which only one can be a file.
        if change.status == Status::TypeChanged {
            return Err(Error::StaleHunk { path });
        }
        let old = self.versions(|it| it == path, limits)?.remove(&path);
        let current = match &old {
            Some(version) if matches!(version.mode, FileMode::Link | FileMode::Submodule) => {
                return Err(Error::StaleHunk { path });
            }
            Some(version) => {
                let command = self.bare("cat-file").args(["blob", version.id.as_str()]);
                command.run(limits)?.stdout
            }
            None if change.status == Status::Deleted => Vec::new(),
            None => return Err(Error::StaleHunk { path }),
        };
        let reverted = hunk::revert(&current, hunk);
        let reverted = reverted.ok_or_else(|| Error::StaleHunk { path: path.clone() })?;
        let mode = old.as_ref().or(change.old.as_ref()).map_or(FileMode::Regular, |it| it.mode);
        let new = if reverted.is_empty() && change.status == Status::Added {
            None
        } else {
            let command = self.bare("hash-object").args(["-w", "--stdin"]).input(&reverted);
            Some(FileVersion { mode, id: crate::checkpoint::id_of(command, limits)? })
        };
        let undo = self.keep(undo, now, limits)?;
        self.carry_out(undo, &[Step { path, old, new }], Vec::new(), limits)
    }

    /// Writes the journal, carries it out, and deletes it; the caller holds the lock.
    fn carry_out(
        &self,
        undo: Checkpoint,
        steps: &[Step],
        mut blocked: Vec<Blocked>,
        limits: &Limits,
    ) -> Result<Restored> {
        if steps.is_empty() {
            return Ok(Restored { undo, written: Vec::new(), removed: Vec::new(), blocked });
        }
        let journal = self.file("restore");
        journal::write(&journal, &undo.commit, steps)?;
        let applied = self.apply(&undo.commit, steps, limits);
        let applied = match applied {
            Ok(applied) => applied,
            // Nothing was renamed yet, so there is nothing to finish.
            Err(apply::Interrupted::Before(error)) => {
                journal::remove(&journal)?;
                return Err(error);
            }
            Err(apply::Interrupted::During(error)) => return Err(error),
        };
        journal::remove(&journal)?;
        blocked.extend(applied.blocked);
        let (written, removed) = (applied.written, applied.removed);
        Ok(Restored { undo, written, removed, blocked })
    }
}

/// The folder in which complete files wait to be renamed; one name for each restore, and none of the user's.
fn staging_name(undo: &ObjectId) -> String {
    format!(".convoke-restore-{}", undo.as_str().get(..12).unwrap_or_default())
}
