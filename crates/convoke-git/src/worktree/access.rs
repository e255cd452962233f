//! The parts of a repository that an agent confined to a linked work tree needs to commit to its
//! branch.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use crate::checkpoint::{GitFolder, read_bounded};
use crate::{Error, ObjectId, Result};

/// Files of a work tree's own folder that lead git elsewhere, or configure it.
const LEADING: [&str; 3] = ["commondir", "gitdir", "config.worktree"];

/// Entries of a folder of branches that can be protected.
const ENTRIES_MAX: usize = 500;

/// Packed branches of a folder that are unpacked.
const PACKED_MAX: usize = 5_000;
const TOO_MANY: &str = "it has too many branches to protect; choose a name with a slash";
/// Longer lists of packed branches are refused.
const PACKED_BYTES_MAX: u64 = 64 << 20;

/// Folders of a repository that an agent may write, and the protected paths in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// The objects, the folder of its own branch, and the work tree's own folder; without links in
    /// their paths, which must hold when they are opened, too.
    pub writable: Vec<PathBuf>,
    /// Other branches, and files that redirect git.
    pub protected: Vec<PathBuf>,
    /// Further paths that git reads.
    pub readable: Vec<PathBuf>,
}

/// The repository of a work tree: the folder that all of its work trees share.
pub fn repository_of(work_tree: &Path) -> Result<PathBuf> {
    GitFolder::verified(work_tree).map(|folder| folder.common)
}

impl Access {
    /// The access for the linked work tree at `path` with this branch. Creates the folders that git
    /// would create.
    pub fn of(path: &Path, branch: &str) -> Result<Self> {
        let unknown = || Error::NotARepository { path: path.to_owned() };
        let folder = GitFolder::verified(path)?;
        if !folder.is_linked() {
            return Err(unknown());
        }
        let GitFolder { own, common } = folder;
        let mut access = Self { readable: vec![common.clone()], ..Self::default() };
        access.writable.extend([common.join("objects"), own.clone()]);
        // Created here, so that it can be protected: git reads it if the repository's configuration
        // says so.
        let settings = own.join("config.worktree");
        if fs::symlink_metadata(&settings).is_err() {
            fs::write(&settings, b"").map_err(|source| Error::io("write", &settings, source))?;
        }
        access.protected.extend(LEADING.map(|name| own.join(name)));
        for refs in ["refs/heads", "logs/refs/heads"] {
            access.add_branch(&common, refs, branch)?;
        }
        Ok(access)
    }

    /// The folder of a branch is writable: git replaces its file. The other branches in it are not.
    fn add_branch(&mut self, common: &Path, refs: &str, branch: &str) -> Result<()> {
        let inside = Path::new(refs).join(branch);
        let (file, inside) = (common.join(&inside), inside.parent().unwrap_or(Path::new(refs)));
        let folder = make_folder(common, inside)?;
        if refs == "refs/heads" {
            unpack_branches(common, inside)?;
        }
        let entries = fs::read_dir(&folder).map_err(|source| Error::io("read", &folder, source))?;
        let others = entries.flatten().map(|entry| entry.path()).filter(|path| *path != file);
        let others: Vec<PathBuf> = others.take(ENTRIES_MAX + 1).collect();
        if others.len() > ENTRIES_MAX {
            return Err(Error::Unwritable { path: folder, why: TOO_MANY });
        }
        self.protected.extend(others);
        self.writable.push(folder);
        Ok(())
    }
}

/// Writes a file for each branch of a folder that only `packed-refs` has: a file can be protected,
/// and what git writes beside it means another commit.
fn unpack_branches(common: &Path, folder: &Path) -> Result<()> {
    let path = common.join("packed-refs");
    if fs::symlink_metadata(&path).is_err() {
        return Ok(());
    }
    let unreadable =
        || Error::Unwritable { path: path.clone(), why: "its branches cannot be protected" };
    let packed = read_bounded(&path, PACKED_BYTES_MAX).ok_or_else(unreadable)?;
    let packed = String::from_utf8_lossy(&packed);
    let inside = packed.lines().filter_map(|line| {
        let (commit, name) = line.split_once(' ')?;
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        let name = Path::new(name).strip_prefix(folder).ok()?;
        let commit = ObjectId::parse(commit).ok().filter(|_| name.components().all(is_plain))?;
        Some((folder.join(name), commit))
    });
    // Another agent may have written the list.
    let inside: Vec<_> = inside.take(PACKED_MAX + 1).collect();
    if inside.len() > PACKED_MAX {
        return Err(Error::Unwritable { path: common.join(folder), why: TOO_MANY });
    }
    for (name, commit) in inside {
        let file = make_folder(common, name.parent().unwrap_or(folder))?;
        let file = file.join(name.file_name().unwrap_or_default());
        match fs::File::create_new(&file) {
            Ok(mut new) => new
                .write_all(format!("{commit}\n").as_bytes())
                .map_err(|source| Error::io("write", &file, source))?,
            // It has moved since it was packed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(Error::io("write", &file, source)),
        }
    }
    Ok(())
}

/// Makes a folder inside of a repository, and refuses links: another agent may have put one there
/// that leads to a folder of the user.
fn make_folder(common: &Path, inside: &Path) -> Result<PathBuf> {
    let mut folder = common.to_owned();
    for part in inside.components() {
        folder.push(part);
        match fs::symlink_metadata(&folder) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                let to = fs::read_link(&folder).unwrap_or_else(|_| folder.clone());
                return Err(Error::Misdirected { path: folder, to });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(&folder).map_err(|source| Error::io("make", &folder, source))?;
            }
            Err(source) => return Err(Error::io("open", &folder, source)),
        }
    }
    Ok(folder)
}
