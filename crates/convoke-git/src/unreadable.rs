//! Files that keep git waiting or busy without end: pipes, devices and huge files where git expects a small file.
//!
//! Git opens a pipe like a file and waits for a writer. What lies in the root is checked before git is started. Looking
//! everywhere takes a walk through all folders, so that is done for a process that takes long.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::checkpoint::GitFolder;
use crate::{Error, Limits, Result};

/// Files that git reads in any folder of a work tree.
const IN_WORK_TREES: [&str; 3] = [".gitignore", ".gitattributes", ".gitmodules"];

/// Files that git reads whole in its own folders; others, such as packs, may be large.
const IN_REPOSITORIES: [&str; 10] = [
    "HEAD",
    "commondir",
    "gitdir",
    "config",
    "config.worktree",
    "shallow",
    "info/exclude",
    "info/attributes",
    "info/sparse-checkout",
    "objects/info/alternates",
];

/// Further files at the root of a repository, of any size.
const OF_ANY_SIZE: [&str; 2] = ["index", "packed-refs"];

/// The size from which such a file counts as huge; git needs seconds for longer lists of patterns.
const BYTES_MAX: u64 = 16 << 20;

/// Folders that wait for the search, about 150 bytes each; with more, it ends.
const FOLDERS_MAX: usize = 100_000;

/// What a git process reads of a project.
#[derive(Debug, Clone)]
pub(crate) struct Reads {
    /// The folder whose files it reads.
    work_tree: PathBuf,
    /// Folders around it whose rules hold, too.
    around: Vec<PathBuf>,
    /// The folders of its repository.
    repository: Vec<PathBuf>,
}

/// Whether a folder is one of git's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FolderKind {
    WorkTree,
    Repository,
}

impl Reads {
    /// The files of a folder, with the rules of the folders around it up to `top`.
    pub(crate) fn files(work_tree: &Path, top: &Path) -> Self {
        let around = work_tree.ancestors().skip(1).take_while(|folder| folder.starts_with(top));
        let around = around.map(Path::to_owned).collect();
        Self { work_tree: work_tree.to_owned(), around, repository: Vec::new() }
    }

    /// The files of a work tree and its repository.
    pub(crate) fn project(work_tree: &Path, folder: &GitFolder) -> Self {
        let mut repository = vec![folder.own.clone()];
        if folder.common != folder.own {
            repository.push(folder.common.clone());
        }
        Self { work_tree: work_tree.to_owned(), around: Vec::new(), repository }
    }

    /// Fails if one of the files at the root of the folders is one that git would wait for.
    pub(crate) fn check(&self) -> Result<()> {
        let work_trees = self.around.iter().chain([&self.work_tree]);
        for path in work_trees.flat_map(|folder| IN_WORK_TREES.map(|name| folder.join(name))) {
            check(&path, BYTES_MAX)?;
        }
        for folder in &self.repository {
            for name in IN_REPOSITORIES {
                check(&folder.join(name), BYTES_MAX)?;
            }
            for name in OF_ANY_SIZE {
                check(&folder.join(name), u64::MAX)?;
            }
        }
        Ok(())
    }

    /// Fails if such a file is anywhere below, or among the paths in `input`, each of which ends with a zero byte.
    ///
    /// The search ends at `until`; folders near the root come first. Returns whether it was complete.
    pub(crate) fn search(&self, input: &[u8], until: Instant, limits: &Limits) -> Result<bool> {
        self.check()?;
        let is_over = || limits.is_cancelled() || Instant::now() >= until;
        for path in input.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            if is_over() {
                return Ok(false);
            }
            let path = self.work_tree.join(OsStr::from_bytes(path));
            let found = fs::symlink_metadata(&path).ok();
            if let Some(why) = found.and_then(|found| special(&found)) {
                return Err(Error::Unreadable { path, why });
            }
        }
        let own = self.repository.iter().map(|folder| (folder.clone(), FolderKind::Repository));
        let mut folders: VecDeque<_> = own.collect();
        folders.push_back((self.work_tree.clone(), FolderKind::WorkTree));
        while let Some((folder, kind)) = folders.pop_front() {
            let is_root = folder == self.work_tree;
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if is_over() || folders.len() > FOLDERS_MAX {
                    return Ok(false);
                }
                let (path, name) = (entry.path(), entry.file_name());
                let Ok(found) = entry.file_type() else { continue };
                if found.is_dir() && is_root && name == ".git" {
                    // That of the project itself, which git reads only as a repository.
                } else if found.is_dir() {
                    let is_own = kind == FolderKind::Repository || name == ".git";
                    folders.push_back((path, if is_own { FolderKind::Repository } else { kind }));
                } else if IN_WORK_TREES.iter().any(|it| name == *it) {
                    check(&path, BYTES_MAX)?;
                } else if kind == FolderKind::Repository && !found.is_file() {
                    check(&path, u64::MAX)?;
                }
            }
        }
        Ok(true)
    }
}

/// Fails if git would wait for a file, or read it for long.
fn check(path: &Path, bytes_max: u64) -> Result<()> {
    // Links are followed, as git does in its own folders, and before 2.32 everywhere.
    let Ok(found) = fs::metadata(path) else { return Ok(()) };
    let why = match special(&found) {
        // A common way to have an empty file.
        Some(_) if fs::canonicalize(path).is_ok_and(|to| to == Path::new("/dev/null")) => None,
        None if found.is_file() && found.len() > bytes_max => Some("it is too large"),
        special => special,
    };
    match why {
        Some(why) => Err(Error::Unreadable { path: path.to_owned(), why }),
        None => Ok(()),
    }
}

fn special(found: &Metadata) -> Option<&'static str> {
    let kind = found.file_type();
    if kind.is_fifo() {
        Some("it is a named pipe")
    } else if kind.is_char_device() || kind.is_block_device() {
        Some("it is a device")
    } else {
        None
    }
}
