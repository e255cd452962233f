//! Commits of the project's own repository as one side of a diff.
//!
//! Git reads them in our repository, which borrows the project's objects for the one command: data, no configuration.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::{ChangeList, FileMode, Status};
use crate::checkpoint::{Checkpoints, GitFolder, paths_of, scan_path};
use crate::git::Command;
use crate::{Limits, ObjectId, Result};

/// The old side of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin<'a> {
    /// A tree or commit of our repository.
    Ours(&'a ObjectId),
    /// A commit of the project's repository, such as the base of its branch.
    Project(&'a ObjectId),
}

impl<'a> From<&'a ObjectId> for Origin<'a> {
    fn from(id: &'a ObjectId) -> Self {
        Self::Ours(id)
    }
}

impl Checkpoints {
    /// A command that finds the objects of both sides.
    pub(super) fn diff_tree(&self, from: Origin<'_>) -> Command<'_> {
        self.borrowing(self.bare("diff-tree"), from)
    }

    fn borrowing<'a>(&'a self, command: Command<'a>, from: Origin<'_>) -> Command<'a> {
        match (from, GitFolder::find(self.top())) {
            (Origin::Project(_), Some(folder)) => {
                let objects = quoted(&folder.common.join("objects"));
                command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects)
            }
            (Origin::Ours(_) | Origin::Project(_), _) => command,
        }
    }

    /// The tree of the old side that corresponds to the work tree: a part of it when the project is a folder inside.
    pub(super) fn tree_of(&self, from: Origin<'_>, limits: &Limits) -> Result<String> {
        let commit = match from {
            Origin::Ours(id) => return Ok(id.to_string()),
            Origin::Project(commit) => commit,
        };
        let inner = self.work_tree().strip_prefix(self.top()).unwrap_or(Path::new(""));
        let mut name = OsString::from(format!("{commit}:"));
        name.push(inner);
        let command = self.borrowing(self.bare("rev-parse"), from);
        let command = command.args(["-q", "--verify", "--end-of-options"]).arg(name);
        let output = command.run_any(limits)?;
        // A folder that the commit does not have is empty there; a commit that does not exist fails in the diff.
        match output.code {
            Some(0) => ObjectId::read(&output.stdout).map(|id| id.to_string()),
            _ if inner.as_os_str().is_empty() => Ok(commit.to_string()),
            _ => Ok(ObjectId::empty_tree().to_string()),
        }
    }

    /// Drops paths that only seem to differ: submodules, which are captured as files, and files
    /// outside of a sparse checkout.
    pub(super) fn drop_uncaptured(
        &self,
        from: Origin<'_>,
        mut list: ChangeList,
        limits: &Limits,
    ) -> Result<ChangeList> {
        if matches!(from, Origin::Ours(_)) {
            return Ok(list);
        }
        let submodules: HashSet<PathBuf> = list
            .changes
            .iter()
            .filter(|it| it.old.as_ref().is_some_and(|old| old.mode == FileMode::Submodule))
            .map(|it| it.path.clone())
            .collect();
        let sparse = self.outside_of_sparse_checkout(from, limits)?;
        list.changes.retain(|change| {
            let mut folders = change.path.ancestors();
            let is_sparse = change.status == Status::Deleted
                && folders.clone().any(|folder| sparse.contains(folder));
            !is_sparse && !folders.any(|folder| submodules.contains(folder))
        });
        Ok(list)
    }

    /// Files, and in a sparse index folders, that the project tracks and has not written to the disk.
    fn outside_of_sparse_checkout(
        &self,
        from: Origin<'_>,
        limits: &Limits,
    ) -> Result<HashSet<PathBuf>> {
        let Some(folder) = GitFolder::find(self.top()) else { return Ok(HashSet::new()) };
        if !folder.own.join("info").join("sparse-checkout").is_file() {
            return Ok(HashSet::new());
        }
        let command = self.command("ls-files").env("GIT_INDEX_FILE", folder.own.join("index"));
        let output =
            self.borrowing(command, from).args(["-z", "-t", "--cached"]).run_any(limits)?;
        // `S path` for a skipped file.
        let skipped = paths_of(&output.stdout).into_iter().filter_map(|line| {
            let path = line.as_os_str().as_bytes().strip_prefix(b"S ")?.to_vec();
            Some(scan_path(&path).components().collect())
        });
        Ok(skipped.collect())
    }
}

/// A path in a list that is separated by colons.
fn quoted(path: &Path) -> OsString {
    let mut quoted = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            quoted.push(b'\\');
        }
        quoted.push(*byte);
    }
    quoted.push(b'"');
    OsString::from_vec(quoted)
}
