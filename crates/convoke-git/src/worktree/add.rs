//! Adds a work tree, and removes one whose creation was interrupted.

use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{Branch, NewWorktree, Worktree, WorktreeState};
use crate::checkpoint::lock;
use crate::project::Project;
use crate::{Error, Limits, ObjectId, Result};

impl Project {
    /// Adds a work tree with a branch; after a failure neither exists.
    pub fn add_worktree(&self, new: &NewWorktree, limits: &Limits) -> Result<Worktree> {
        let (name, start) = match &new.branch {
            Branch::New { name, from } => {
                let missing = || Error::NotFound { what: format!("the commit {from}") };
                (name, Some(self.resolve(from, limits)?.ok_or_else(missing)?))
            }
            Branch::Existing { name } => (name, None),
        };
        self.check_branch_name(name, limits)?;
        let lock = Lock::take(&new.path, limits)?;
        self.clear(&new.path, limits)?;
        let existing = self.resolve(&format!("refs/heads/{name}"), limits)?;
        let is_new = match (&start, &existing) {
            (Some(_), None) => true,
            // An interrupted call of this function leaves this state.
            (Some(start), Some(existing)) if start == existing => false,
            (Some(_), Some(_)) => return Err(Error::BranchExists { branch: name.clone() }),
            (None, Some(_)) => false,
            (None, None) => {
                return Err(Error::NotFound { what: format!("the branch {name}") });
            }
        };
        if self.checkout_of(name, limits)?.is_some() {
            return Err(Error::BranchExists { branch: name.clone() });
        }
        let command = self.command("worktree").arg("add");
        let command = match start.as_ref().filter(|_| is_new) {
            Some(start) => {
                let command = command.args(["--no-track", "-b", name, "--"]);
                command.arg(&new.path).arg(start.as_str())
            }
            None => command.arg("--").arg(&new.path).arg(name),
        };
        if let Err(error) = command.holding(lock.file()).run(limits) {
            self.undo_add(&new.path, start.as_ref().filter(|_| is_new).map(|it| (name, it)));
            return Err(error);
        }
        let path = fs::canonicalize(&new.path);
        let path = path.map_err(|source| Error::io("open", &new.path, source))?;
        let found = self.worktrees(limits)?.into_iter().find(|worktree| worktree.path == path);
        found.ok_or_else(|| Error::NotFound { what: format!("the work tree {}", path.display()) })
    }

    /// Removes work trees directly below `root` whose creation was interrupted, and returns their
    /// paths.
    pub fn recover_worktrees(&self, root: &Path, limits: &Limits) -> Result<Vec<PathBuf>> {
        let canonical = fs::canonicalize(root);
        let root = canonical.map_err(|source| Error::io("open", root, source))?;
        let half_made = self.worktrees(limits)?.into_iter().filter(|worktree| {
            // The paths come from files that an agent may write: `..` must not lead out of the root.
            let is_inside = worktree.path.parent() == Some(&root);
            let is_named =
                matches!(worktree.path.components().next_back(), Some(Component::Normal(_)));
            worktree.state == WorktreeState::HalfMade && is_inside && is_named
        });
        let mut removed = Vec::new();
        for worktree in half_made {
            // A git that outlived its caller may still be at it, and succeed.
            let _lock = Lock::take(&worktree.path, limits)?;
            let now = self.worktrees(limits)?.into_iter().find(|it| it.path == worktree.path);
            if now.is_some_and(|now| now.state == WorktreeState::HalfMade) {
                self.remove_half_made(&worktree.path, limits)?;
                removed.push(worktree.path);
            }
        }
        Ok(removed)
    }

    /// Waits until no git process adds a work tree at a path: one that outlived its caller may
    /// still be running.
    pub fn wait_for_worktree(&self, path: &Path, limits: &Limits) -> Result<()> {
        Lock::take(path, limits).map(drop)
    }

    /// Prunes work trees whose folders were deleted; branches and commits stay.
    pub fn prune_worktrees(&self, limits: &Limits) -> Result<()> {
        self.command("worktree").args(["prune", "--expire=now"]).run(limits).map(drop)
    }

    pub(super) fn check_branch_name(&self, name: &str, limits: &Limits) -> Result<()> {
        let refused = || Error::InvalidName { name: name.to_owned() };
        if name.starts_with('-') || name == "HEAD" {
            return Err(refused());
        }
        let command = self.command("check-ref-format").arg(format!("refs/heads/{name}"));
        if command.run_any(limits)?.code == Some(0) { Ok(()) } else { Err(refused()) }
    }

    /// Clears a path at which a work tree was deleted by hand, or is incomplete.
    fn clear(&self, path: &Path, limits: &Limits) -> Result<()> {
        let found = self.worktrees(limits)?.into_iter().find(|worktree| worktree.path == *path);
        match found.map(|worktree| worktree.state) {
            Some(WorktreeState::HalfMade) => self.remove_half_made(path, limits),
            Some(WorktreeState::Gone) => self.prune_worktrees(limits),
            Some(WorktreeState::Ready | WorktreeState::Locked | WorktreeState::Bare) | None => {
                Ok(())
            }
        }
    }

    fn remove_half_made(&self, path: &Path, limits: &Limits) -> Result<()> {
        remove_folder(path)?;
        // Git refuses to forget a locked one; it may not be locked any more.
        self.command("worktree").args(["unlock", "--"]).arg(path).run_any(limits)?;
        self.prune_worktrees(limits)
    }

    /// Best effort: the first error is the one that is reported, and `recover_worktrees` does the
    /// same later.
    fn undo_add(&self, path: &Path, made: Option<(&String, &ObjectId)>) {
        // The caller's own time may be over.
        let limits = Limits::new(std::time::Duration::from_secs(30));
        let is_registered = self.worktrees(&limits).is_ok_and(|all| {
            all.iter().any(|it| it.path == path && it.state == WorktreeState::HalfMade)
        });
        if is_registered {
            self.remove_half_made(path, &limits).ok();
        }
        if let Some((name, start)) = made {
            let branch = format!("refs/heads/{name}");
            self.command("update-ref").args(["-d", &branch, start.as_str()]).run_any(&limits).ok();
        }
    }
}

/// Locks a path while a work tree is added there, with a hidden file beside it.
struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    fn take(worktree: &Path, limits: &Limits) -> Result<Self> {
        let parent = worktree.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent).map_err(|source| Error::io("make", parent, source))?;
        let mut name = std::ffi::OsString::from(".");
        name.push(worktree.file_name().unwrap_or_default());
        name.push(".lock");
        let path = parent.join(name);
        Ok(Self { file: lock::take(&path, limits)?, path })
    }

    fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A process that waits for this file gets the lock next, and finds the work tree complete.
        fs::remove_file(&self.path).ok();
    }
}

/// Deletes a folder with all that is in it; links are deleted, not followed.
pub(super) fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", path, error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
