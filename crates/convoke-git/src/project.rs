//! A project's own repository: facts about it.
//!
//! Every command that reads its `.git` is started through the caller's launcher, the session's sandbox, and with hooks,
//! pagers, file system monitors, external diffs and signing off.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::checkpoint::GitFolder;
use crate::git::{Command, Git, Launcher};
use crate::unreadable::Reads;
use crate::{Error, Limits, ObjectId, Result};

mod drivers;
mod facts;
mod operation;
mod remote;

pub use facts::{Base, DirtyFiles, Facts, Head, Upstream};
pub use operation::Operation;
pub use remote::remote_of;

/// Whether programs run that the project's configuration names for reading and writing files (such as Git LFS).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filters {
    /// They do not; files are checked out as they are stored.
    Off,
    /// They do, inside of the launcher's sandbox.
    Run,
}

/// A git work tree of a project, the main one or a linked one.
#[derive(Debug, Clone)]
pub struct Project {
    git: Git,
    launcher: Launcher,
    work_tree: PathBuf,
    folder: GitFolder,
    filters: Filters,
    /// Settings that switch the project's own programs off.
    settings: Vec<OsString>,
}

impl Project {
    /// Opens the work tree whose root is `work_tree`. Its configuration is read once, so it should
    /// be opened for each task.
    pub fn open(
        git: &Git,
        work_tree: &Path,
        launcher: Launcher,
        filters: Filters,
        limits: &Limits,
    ) -> Result<Self> {
        let canonical = fs::canonicalize(work_tree);
        let work_tree = canonical.map_err(|source| Error::io("open", work_tree, source))?;
        let folder = GitFolder::verified(&work_tree)?;
        let settings = Vec::new();
        let git = git.clone();
        let mut project = Self { git, launcher, work_tree, folder, filters, settings };
        let check = project.command("rev-parse").arg("--git-dir").run_any(limits)?;
        if check.code != Some(0) {
            return Err(Error::NotARepository { path: project.work_tree });
        }
        project.settings = project.switch_off(limits)?;
        Ok(project)
    }

    /// The root of its files.
    pub fn work_tree(&self) -> &Path {
        &self.work_tree
    }

    pub(crate) fn git(&self) -> &Git {
        &self.git
    }

    pub(crate) fn launcher(&self) -> &Launcher {
        &self.launcher
    }

    pub(crate) fn folder(&self) -> &GitFolder {
        &self.folder
    }

    pub(crate) fn filters(&self) -> Filters {
        self.filters
    }

    /// The commit that a branch, tag or other expression names.
    pub fn resolve(&self, revision: &str, limits: &Limits) -> Result<Option<ObjectId>> {
        let command = self.command("rev-parse").args(["-q", "--verify", "--end-of-options"]);
        let output = command.arg(format!("{revision}^{{commit}}")).run_any(limits)?;
        if output.code == Some(0) { ObjectId::read(&output.stdout).map(Some) } else { Ok(None) }
    }

    /// A command in the work tree. All folders are explicit, so that `core.worktree`, folders around it and files that
    /// redirect git mean nothing.
    pub(crate) fn command(&self, name: &'static str) -> Command<'_> {
        let mut command = Command::new(&self.git, name).launcher(&self.launcher);
        for setting in &self.settings {
            command = command.config(setting.clone());
        }
        command
            .env("GIT_DIR", &self.folder.own)
            .env("GIT_COMMON_DIR", &self.folder.common)
            .env("GIT_WORK_TREE", &self.work_tree)
            .folder(&self.work_tree)
            .reading(Reads::project(&self.work_tree, &self.folder))
    }
}
