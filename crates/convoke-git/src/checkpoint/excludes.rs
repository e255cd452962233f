//! Where a project's own git folder is, and its list of files to ignore; read as data, with bounds.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::{Checkpoints, state};
use crate::{Error, Result};

/// Longer lists of files to ignore are not read.
const EXCLUDES_BYTES_MAX: u64 = 1 << 20;

/// Longer pointers to git folders are not read.
const POINTER_BYTES_MAX: u64 = 4 << 10;

/// The git folder of a work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitFolder {
    /// The folder of this work tree: index and HEAD.
    pub(crate) own: PathBuf,
    /// The folder that all work trees share: objects, branches, `info/exclude`.
    pub(crate) common: PathBuf,
}

impl GitFolder {
    /// Finds it without git: a folder `.git`, or a file that names one, as linked work trees and submodules have.
    ///
    /// A folder `.git` is the repository itself: a file `commondir` in it, which git never writes there, is ignored.
    pub(crate) fn find(work_tree: &Path) -> Option<Self> {
        let entry = work_tree.join(".git");
        let is_file = fs::symlink_metadata(&entry).ok()?.is_file();
        let own = if is_file { work_tree.join(pointer(&entry, b"gitdir: ")?) } else { entry };
        if !own.join("HEAD").symlink_metadata().is_ok_and(|head| !head.is_dir()) {
            return None;
        }
        let redirect = own.join("commondir");
        let common = match fs::symlink_metadata(&redirect).is_ok() && is_file {
            true => own.join(pointer(&redirect, b"")?),
            false => own.clone(),
        };
        Some(Self { own, common })
    }

    /// Finds it, without links in its paths. Refuses one that an agent may have made up: a program
    /// in its configuration may write this folder.
    ///
    /// A folder outside of the work tree must refer back to it: that of a linked work tree in its
    /// file `gitdir`, and another repository, such as that of a submodule, in its setting
    /// `core.worktree`.
    pub(crate) fn verified(work_tree: &Path) -> Result<Self> {
        let unknown = || Error::NotARepository { path: work_tree.to_owned() };
        let found = Self::find(work_tree).ok_or_else(unknown)?;
        let canonical =
            |path: &Path| fs::canonicalize(path).map_err(|source| Error::io("open", path, source));
        let (own, common) = (canonical(&found.own)?, canonical(&found.common)?);
        let is_listed = own == common || own.parent() == Some(&common.join("worktrees"));
        let is_folder =
            |name: &str| common.join(name).symlink_metadata().is_ok_and(|found| found.is_dir());
        let inside = canonical(work_tree)?;
        let back = match own == common {
            true => worktree_setting(&own),
            false => pointer(&own.join("gitdir"), b""),
        };
        let back = back.map(|path| own.join(path));
        let refers_back = || {
            let back = back.as_ref().and_then(|path| fs::canonicalize(path).ok());
            back.is_some_and(|back| back == inside || back == inside.join(".git"))
        };
        let is_own = own.starts_with(&inside) || refers_back();
        let is_repository = is_listed && is_folder("objects") && is_folder("refs");
        let is_back_gone = back.as_ref().is_some_and(|path| fs::symlink_metadata(path).is_err());
        // One that is still in its old place was not moved: an agent wants to have another one's repository.
        if is_repository && !is_own && own != common && is_back_gone {
            return Err(Error::MovedByHand { path: work_tree.to_owned(), repository: common });
        }
        if !is_repository || !is_own {
            return Err(Error::Misdirected { path: work_tree.to_owned(), to: common });
        }
        Ok(Self { own, common })
    }

    /// Whether it is a linked work tree: its folder lies among those of another repository.
    pub(crate) fn is_linked(&self) -> bool {
        self.own.join("commondir").is_file() && self.own.join("gitdir").is_file()
    }
}

impl Checkpoints {
    /// Copies the project's own `info/exclude`, so that our repository ignores the same files.
    pub(super) fn copy_excludes(&self, project: Option<&GitFolder>) -> Result<()> {
        let theirs = project.map(|folder| folder.common.join("info").join("exclude"));
        let wanted = theirs.and_then(|path| read(&path, EXCLUDES_BYTES_MAX)).unwrap_or_default();
        let ours = self.repository.join("info").join("exclude");
        if fs::read(&ours).unwrap_or_default() == wanted {
            return Ok(());
        }
        state::replace(&ours, &wanted)
    }
}

/// The work tree that the configuration of a repository names.
fn worktree_setting(repository: &Path) -> Option<PathBuf> {
    let text = |name| String::from_utf8(read(&repository.join(name), EXCLUDES_BYTES_MAX)?).ok();
    let shared = text("config")?;
    // A sparse checkout moves it to a file of its own.
    let has_own = setting(&shared, "[extensions]", "worktreeconfig");
    let own = has_own.filter(|value| value.eq_ignore_ascii_case("true"));
    let own = own.and_then(|_| setting(&text("config.worktree")?, "[core]", "worktree"));
    own.or_else(|| setting(&shared, "[core]", "worktree")).map(PathBuf::from)
}

/// The last value of a key in a configuration.
fn setting(text: &str, section: &str, name: &str) -> Option<String> {
    let mut is_in_section = false;
    let mut found = None;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_in_section = line.eq_ignore_ascii_case(section);
        } else if let Some((key, value)) = line.split_once('=').filter(|_| is_in_section)
            && key.trim().eq_ignore_ascii_case(name)
        {
            found = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    found
}

/// A path in a file, behind a prefix.
fn pointer(file: &Path, prefix: &[u8]) -> Option<PathBuf> {
    let text = read(file, POINTER_BYTES_MAX)?;
    let path = text.strip_prefix(prefix)?;
    // As git does. A path with such characters inside would mean another folder to git than here.
    let end = path.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'))? + 1;
    let path = path.get(..end).filter(|path| !path.iter().any(|byte| b"\0\n\r".contains(byte)))?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(path)))
}

/// Reads a regular file up to a size; a pipe would block and a link may lead anywhere, so neither is read.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty()).ok()?);
    let found = file.metadata().ok().filter(|found| found.is_file() && found.len() <= bytes_max)?;
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).ok()?);
    file.take(bytes_max).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
