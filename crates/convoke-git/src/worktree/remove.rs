//! Removes a work tree or a branch; its contents are kept under a ref first.

use std::fs;
use std::path::{Path, PathBuf};

use super::add::remove_folder;
use super::{Discard, Removed, Worktree, WorktreeState, journal};
use crate::checkpoint::{Checkpoint, Checkpoints, Name};
use crate::project::Project;
use crate::{Error, Limits, ObjectId, Result};

/// The refs of the commits of removed branches, and of work trees without a branch, in the
/// project's repository.
const KEPT: &str = "refs/convoke/removed";

impl Project {
    /// Removes a linked work tree after a checkpoint of its files; its branch stays. Ignored files are deleted, too.
    ///
    /// A call that was interrupted can be repeated; the checkpoint is that of the first.
    pub fn remove_worktree(
        &self,
        checkpoints: &Checkpoints,
        name: &Name,
        discard: Discard,
        limits: &Limits,
    ) -> Result<Removed> {
        let path = checkpoints.work_tree().to_owned();
        let worktree = self.removable(&path, limits)?;
        let note = checkpoints.file("removing");
        let saved = match self.begun(&note, checkpoints, limits)? {
            Some(saved) => saved,
            None => {
                let saved = checkpoints.checkpoint(name, limits)?;
                let files: Vec<PathBuf> = saved.left_out.iter().map(|it| it.path.clone()).collect();
                if discard == Discard::CapturedOnly && !files.is_empty() {
                    return Err(Error::NotCaptured { path, files });
                }
                journal::write(&note, &saved.name.to_ref())?;
                saved
            }
        };
        if let (None, Some(commit)) = (&worktree.branch, &worktree.commit) {
            let kept = format!("{KEPT}/detached/{commit}");
            self.command("update-ref").args([&kept, commit.as_str()]).run(limits)?;
        }
        let command = self.command("worktree").args(["remove", "--force", "--"]).arg(&path);
        match command.run(limits) {
            Ok(_) => {}
            // The rest of an interrupted removal is no work tree to git; everything in it is saved.
            Err(Error::Failed { .. }) => {
                remove_folder(&path)?;
                self.prune_worktrees(limits)?;
            }
            Err(error) => return Err(error),
        }
        journal::remove(&note)?;
        Ok(Removed { saved, branch: worktree.branch.zip(worktree.commit) })
    }

    /// Deletes a branch if it still has this commit, which is kept under
    /// `refs/convoke/removed/BRANCH/COMMIT`.
    pub fn delete_branch(&self, branch: &str, commit: &ObjectId, limits: &Limits) -> Result<()> {
        self.check_branch_name(branch, limits)?;
        if let Some(path) = self.checkout_of(branch, limits)? {
            return Err(Error::Unwritable { path, why: "the branch is checked out there" });
        }
        let input = format!(
            "update {KEPT}/{branch}/{commit} {commit}\ndelete refs/heads/{branch} {commit}\n"
        );
        // The file of a branch may lead to another one, which stays.
        let command =
            self.command("update-ref").args(["--no-deref", "--stdin"]).input(input.as_bytes());
        match command.run(limits) {
            Err(Error::Failed { .. })
                if self.resolve(&format!("refs/heads/{branch}"), limits)?.as_ref()
                    != Some(commit) =>
            {
                Err(Error::BaseMoved { branch: branch.to_owned() })
            }
            other => other.map(drop),
        }
    }

    fn removable(&self, path: &Path, limits: &Limits) -> Result<Worktree> {
        let all = self.worktrees(limits)?;
        // The first is the main one, which is never removed.
        let found = all.into_iter().skip(1).find(|worktree| worktree.path == path);
        let missing = || Error::NotFound { what: format!("the work tree {}", path.display()) };
        let found = found.ok_or_else(missing)?;
        match found.state {
            WorktreeState::Ready | WorktreeState::HalfMade | WorktreeState::Gone => Ok(found),
            WorktreeState::Locked | WorktreeState::Bare => {
                Err(Error::Unwritable { path: path.to_owned(), why: "it is locked" })
            }
        }
    }

    /// The checkpoint of a removal that was interrupted: the folder may be half empty already.
    fn begun(
        &self,
        note: &Path,
        checkpoints: &Checkpoints,
        limits: &Limits,
    ) -> Result<Option<Checkpoint>> {
        let Some(text) = journal::read(note)? else { return Ok(None) };
        let Some(name) = Name::from_ref(&text) else { return Ok(None) };
        let found = checkpoints.find(&name, limits)?;
        if found.is_none() {
            fs::remove_file(note).ok();
        }
        Ok(found)
    }
}
