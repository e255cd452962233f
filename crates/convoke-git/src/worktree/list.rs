//! The work trees of a repository.

use std::path::{Path, PathBuf};

use super::{Worktree, WorktreeState};
use crate::checkpoint::scan_path;
use crate::git::Version;
use crate::project::Project;
use crate::{Error, Limits, ObjectId, Result};

/// The reason with which git locks a work tree while it is added; a killed git leaves it.
pub(super) const INITIALIZING: &[u8] = b"initializing";

impl Project {
    /// Lists all work trees, the main one first.
    pub fn worktrees(&self, limits: &Limits) -> Result<Vec<Worktree>> {
        let mut command = self.command("worktree").args(["list", "--porcelain"]);
        // Older versions cannot distinguish a path with a newline from two lines.
        let has_zeros = self.git().version() >= Version { major: 2, minor: 36 };
        if has_zeros {
            command = command.arg("-z");
        }
        let end_of_line = if has_zeros { 0 } else { b'\n' };
        let output = command.run(limits)?;
        let mut found: Vec<Worktree> = Vec::new();
        for line in output.stdout.split(|byte| *byte == end_of_line) {
            let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
            let (key, value) = line.split_at(end);
            let value = value.get(1..).unwrap_or_default();
            if key == b"worktree" {
                let (commit, branch, path) = (None, None, scan_path(value));
                found.push(Worktree { path, commit, branch, state: WorktreeState::Ready });
            } else if let Some(last) = found.last_mut() {
                last.read(key, value)?;
            }
        }
        for worktree in &mut found {
            let is_there = worktree.path.join(".git").symlink_metadata().is_ok();
            if worktree.state == WorktreeState::Ready && !is_there {
                worktree.state = WorktreeState::Gone;
            }
        }
        Ok(found)
    }

    /// Fails unless a work tree has this branch checked out, also if its files are half removed.
    pub fn check_branch_of(&self, path: &Path, branch: &str, limits: &Limits) -> Result<()> {
        let all = self.worktrees(limits)?;
        let missing = || Error::NotFound { what: format!("the work tree {}", path.display()) };
        let found = all.into_iter().find(|it| it.path == path).ok_or_else(missing)?;
        let path = path.to_owned();
        match found.branch {
            Some(found) if found == branch => Ok(()),
            Some(found) => Err(Error::OtherBranch { path, branch: branch.to_owned(), found }),
            None => Err(Error::Detached { path }),
        }
    }

    /// The work tree in which a branch is checked out.
    pub(super) fn checkout_of(&self, branch: &str, limits: &Limits) -> Result<Option<PathBuf>> {
        let found = self.worktrees(limits)?.into_iter();
        let mut found = found.filter(|worktree| worktree.branch.as_deref() == Some(branch));
        Ok(found.find(|it| it.state != WorktreeState::Gone).map(|worktree| worktree.path))
    }
}

impl Worktree {
    fn read(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        match key {
            b"HEAD" => {
                self.commit = Some(ObjectId::read(value)?).filter(|commit| !commit.is_null());
            }
            b"branch" => {
                let name = String::from_utf8_lossy(value).into_owned();
                self.branch = Some(name.strip_prefix("refs/heads/").unwrap_or(&name).to_owned());
            }
            b"bare" => self.state = WorktreeState::Bare,
            b"prunable" => self.state = WorktreeState::Gone,
            b"locked" if value == INITIALIZING => self.state = WorktreeState::HalfMade,
            b"locked" => self.state = WorktreeState::Locked,
            _ => {}
        }
        Ok(())
    }
}
