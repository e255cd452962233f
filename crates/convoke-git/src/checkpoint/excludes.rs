//! Where a project's own git folder is, and its list of files to ignore; read as data, with bounds.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::{Checkpoints, state};
use crate::Result;

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
    pub(crate) fn find(work_tree: &Path) -> Option<Self> {
        let entry = work_tree.join(".git");
        let own = match fs::symlink_metadata(&entry).ok()? {
            found if found.is_file() => work_tree.join(pointer(&entry, b"gitdir: ")?),
            _ => entry,
        };
        if !own.join("HEAD").symlink_metadata().is_ok_and(|head| !head.is_dir()) {
            return None;
        }
        let common = match pointer(&own.join("commondir"), b"") {
            Some(path) => own.join(path),
            None => own.clone(),
        };
        Some(Self { own, common })
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

/// A path in a file, behind a prefix.
fn pointer(file: &Path, prefix: &[u8]) -> Option<PathBuf> {
    let text = read(file, POINTER_BYTES_MAX)?;
    let path = text.strip_prefix(prefix)?;
    let end = path.iter().position(|byte| *byte == b'\n').unwrap_or(path.len());
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(path.get(..end)?)))
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
