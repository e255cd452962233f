//! The parts of a repository that an agent confined to a linked work tree needs to commit to its
//! branch.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::checkpoint::{GitFolder, read_bounded};
use crate::root::{Obstacle, Root};
use crate::{Error, Result};

/// The file with the settings of one work tree.
const SETTINGS: &str = "config.worktree";
/// Files of a work tree's own folder that lead git elsewhere, or configure it.
const LEADING: [&str; 3] = ["commondir", "gitdir", SETTINGS];

/// The folder of all branches.
const BRANCHES: &str = "refs/heads";

/// Entries of a folder of branches that are looked at.
const ENTRIES_MAX: usize = 500;

/// Longer lists of packed branches are refused.
const PACKED_BYTES_MAX: u64 = 64 << 20;

/// Folders of a repository that an agent may write, and the protected paths in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// The objects, the folder of its own branch, and the work tree's own folder; without links in
    /// their paths, which must hold when they are opened, too.
    pub writable: Vec<PathBuf>,
    /// Files that redirect git.
    pub protected: Vec<PathBuf>,
    /// Further paths that git reads.
    pub readable: Vec<PathBuf>,
}

/// Whether the folder of a branch may have other branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchFolder {
    /// It may: the folder was made for this branch, so that the others are of the same agent.
    Own,
    /// It must have none.
    Chosen,
}

/// The repository of a work tree: the folder that all of its work trees share.
pub fn repository_of(work_tree: &Path) -> Result<PathBuf> {
    GitFolder::verified(work_tree).map(|folder| folder.common)
}

/// Fails with `SharedFolder` if the folder of a branch has other branches.
///
/// An agent that commits to a branch needs to write its folder: git replaces the file of the branch.
/// Protecting the files of the others would not suffice, since a packed branch has none: what is
/// written in its place counts instead, and `git pack-refs` removes files at any time.
pub fn check_branch_folder(work_tree: &Path, branch: &str) -> Result<()> {
    let is_name = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !Path::new(branch).components().all(is_name) {
        return Err(Error::InvalidName { name: branch.to_owned() });
    }
    check_folder(&GitFolder::verified(work_tree)?.common, branch)
}

impl Access {
    /// The access for the linked work tree at `path` with this branch. Creates the folders that git
    /// would create.
    pub fn of(path: &Path, branch: &str, folder_is: BranchFolder) -> Result<Self> {
        let unknown = || Error::NotARepository { path: path.to_owned() };
        let folder = GitFolder::verified(path)?;
        if !folder.is_linked() {
            return Err(unknown());
        }
        let GitFolder { own, common } = folder;
        // Created here, so that it can be protected: git reads it if the repository's configuration
        // says so. An agent in the project may exchange it, and the folders of branches, at any time.
        let opened = Root::open(&own).map_err(|obstacle| misdirected(&own, obstacle))?;
        let made = opened.make_file_if_missing(SETTINGS);
        made.map_err(|obstacle| misdirected(&own.join(SETTINGS), obstacle))?;
        let mut writable = vec![common.join("objects"), own.clone()];
        let opened = Root::open(&common).map_err(|obstacle| misdirected(&common, obstacle))?;
        for branches in [BRANCHES, "logs/refs/heads"] {
            let inside = Path::new(branches).join(branch);
            let inside = inside.parent().unwrap_or(Path::new(branches));
            make_folders(&common, &opened, inside)?;
            writable.push(common.join(inside));
        }
        match folder_is {
            BranchFolder::Own if branch.contains('/') => {}
            BranchFolder::Own | BranchFolder::Chosen => check_folder(&common, branch)?,
        }
        let protected = LEADING.map(|name| own.join(name)).into();
        Ok(Self { writable, protected, readable: vec![common] })
    }
}

fn make_folders(common: &Path, opened: &Root, inside: &Path) -> Result<()> {
    let Err(obstacle) = opened.make_folders(inside) else { return Ok(()) };
    let folders: Vec<&Path> = inside.ancestors().collect();
    let folders = folders.into_iter().rev().map(|folder| common.join(folder));
    let is_other = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir());
    let found = folders.into_iter().find(is_other);
    Err(misdirected(&found.unwrap_or_else(|| common.join(inside)), obstacle))
}

fn misdirected(path: &Path, obstacle: Obstacle) -> Error {
    match obstacle {
        Obstacle::Path(_) => {
            let to = fs::read_link(path).unwrap_or_else(|_| path.to_owned());
            Error::Misdirected { path: path.to_owned(), to }
        }
        Obstacle::System(errno) => Error::io("open", path, errno.into()),
    }
}

fn check_folder(common: &Path, branch: &str) -> Result<()> {
    let own = Path::new(BRANCHES).join(branch);
    let folder = own.parent().unwrap_or(Path::new(BRANCHES));
    let other = match packed_in(common, folder, &own)? {
        Some(other) => Some(other),
        None => loose_in(common, folder, &own)?,
    };
    match other {
        Some(other) => {
            let other = other.strip_prefix(BRANCHES).unwrap_or(&other).display().to_string();
            Err(Error::SharedFolder { branch: branch.to_owned(), other })
        }
        None => Ok(()),
    }
}

/// Another branch in a folder that is in the list of packed ones.
fn packed_in(common: &Path, folder: &Path, own: &Path) -> Result<Option<PathBuf>> {
    let path = common.join("packed-refs");
    if fs::symlink_metadata(&path).is_err() {
        return Ok(None);
    }
    let unreadable = || Error::Unwritable { path: path.clone(), why: "it cannot be read" };
    let packed = read_bounded(&path, PACKED_BYTES_MAX).ok_or_else(unreadable)?;
    // `COMMIT refs/heads/NAME`; names are bytes.
    let names = packed.split(|byte| *byte == b'\n').filter_map(|line| {
        let space = line.iter().position(|byte| *byte == b' ')?;
        Some(Path::new(OsStr::from_bytes(line.get(space + 1..)?)))
    });
    let mut others = names.filter(|name| name.starts_with(folder) && *name != own);
    Ok(others.next().map(Path::to_owned))
}

/// Another branch in a folder that has a file, at any depth.
fn loose_in(common: &Path, folder: &Path, own: &Path) -> Result<Option<PathBuf>> {
    let mut folders = vec![folder.to_owned()];
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        let path = common.join(&folder);
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            other => other.map_err(|source| Error::io("read", &path, source))?,
        };
        for entry in entries {
            let entry = entry.map_err(|source| Error::io("read", &path, source))?;
            let name = folder.join(entry.file_name());
            count += 1;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && count <= ENTRIES_MAX {
                folders.push(name);
                continue;
            }
            // Git leaves such a file when it is killed.
            let is_lock = entry.file_name().as_bytes().ends_with(b".lock");
            if (name != own && !is_lock) || count > ENTRIES_MAX {
                return Ok(Some(name));
            }
        }
    }
    Ok(None)
}
