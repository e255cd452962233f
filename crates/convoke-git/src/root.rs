//! The work tree as an open folder; no operation follows a symbolic link, so none leaves it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::fs::{
    fchmod, fstat, mkdirat, open, openat, readlinkat, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use crate::checkpoint::has_reserved_name;

/// Why an operation on a path failed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Obstacle {
    /// This path is blocked; others are not affected.
    Path(&'static str),
    /// The system refused.
    System(Errno),
}

impl From<Errno> for Obstacle {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::LOOP | Errno::NOTDIR => {
                Self::Path("a link or a file is in the place of a folder")
            }
            Errno::NOTEMPTY | Errno::EXIST | Errno::ISDIR => {
                Self::Path("a folder with other files is in its place")
            }
            Errno::ACCESS | Errno::PERM => Self::Path("permission denied"),
            Errno::ROFS => Self::Path("the file system is read-only"),
            Errno::XDEV => Self::Path("it is on another file system"),
            other => Self::System(other),
        }
    }
}

pub(crate) type Outcome<T> = std::result::Result<T, Obstacle>;

/// Whether folders on the way to a path are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Make,
    Fail,
}

/// Whether a file can be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Execution {
    Allowed,
    Denied,
}

/// An open folder.
#[derive(Debug)]
pub(crate) struct Root {
    folder: OwnedFd,
}

const FOLDER: OFlags =
    OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::PATH).union(OFlags::CLOEXEC);

impl Root {
    /// Opens an absolute path, part by part: none of its folders may be a link.
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        let mut folder = open("/", FOLDER, Mode::empty())?;
        for part in path.components().skip_while(|part| *part == Component::RootDir) {
            folder = openat(&folder, part.as_os_str(), FOLDER, Mode::empty())?;
        }
        Ok(Self { folder })
    }

    /// Opens the folder that a path lies in, part by part.
    fn parent(&self, path: &Path, missing: Missing) -> Outcome<OwnedFd> {
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside || has_reserved_name(path) {
            return Err(Obstacle::Path("it is not a path of the work tree"));
        }
        self.enter(path.parent().unwrap_or(Path::new("")), missing)
    }

    fn enter(&self, inside: &Path, missing: Missing) -> Outcome<OwnedFd> {
        let mut folder = openat(&self.folder, ".", FOLDER, Mode::empty())?;
        for part in inside {
            let opened = openat(&folder, part, FOLDER, Mode::empty());
            folder = match opened {
                Err(Errno::NOENT) if missing == Missing::Make => {
                    match mkdirat(&folder, part, Mode::from_raw_mode(0o777)) {
                        // Another process made it meanwhile.
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    openat(&folder, part, FOLDER, Mode::empty())?
                }
                other => other?,
            };
        }
        Ok(folder)
    }

    /// Makes the missing folders of a relative path of plain names.
    pub(crate) fn make_folders(&self, inside: &Path) -> Outcome<()> {
        if !inside.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(Obstacle::Path("it is not a path in the folder"));
        }
        self.enter(inside, Missing::Make).map(drop)
    }

    /// Creates an empty file at the top, unless there is one. Nothing that exists is opened.
    pub(crate) fn make_file_if_missing(&self, name: &str) -> Outcome<()> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.folder, name, flags, Mode::from_raw_mode(0o666)) {
            Ok(_) => Ok(()),
            Err(Errno::EXIST) => {
                let found = statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                let is_file = found.st_mode & 0o170_000 == 0o100_000;
                if is_file { Ok(()) } else { Err(Obstacle::Path("it is not a file")) }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Creates a folder at the top, which must not exist, and opens it.
    pub(crate) fn make_folder(&self, name: &str) -> Outcome<Self> {
        mkdirat(&self.folder, name, Mode::from_raw_mode(0o700))?;
        Ok(Self { folder: openat(&self.folder, name, FOLDER, Mode::empty())? })
    }

    /// Creates a file, which must not exist.
    pub(crate) fn make_file(&self, name: &str, mode: u32) -> Outcome<File> {
        self.make(OsStr::new(name), mode)
    }

    fn make(&self, name: &OsStr, mode: u32) -> Outcome<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.folder, name, flags, Mode::from_raw_mode(mode))?))
    }

    /// Creates a symbolic link, which must not exist.
    pub(crate) fn make_link(&self, name: &str, target: &OsStr) -> Outcome<()> {
        Ok(symlinkat(target, &self.folder, name)?)
    }

    /// Moves a complete file from another folder over a path, with the permissions of the file that
    /// it replaces.
    pub(crate) fn put(
        &self,
        staged: &Self,
        name: &str,
        path: &Path,
        execution: Execution,
    ) -> Outcome<()> {
        let parent = self.parent(path, Missing::Make)?;
        let existing = statat(&parent, name_of(path), AtFlags::SYMLINK_NOFOLLOW).ok();
        let existing = existing.map(|found| found.st_mode);
        let kind = existing.map(|mode| mode & 0o170_000);
        if kind == Some(0o040_000) {
            unlinkat(&parent, name_of(path), AtFlags::REMOVEDIR)?;
        }
        if let Some(mode) = existing.filter(|_| kind == Some(0o100_000)) {
            staged.set_mode(name, permissions(mode, execution))?;
        }
        Ok(renameat(&staged.folder, name, &parent, name_of(path))?)
    }

    /// Opens a file for reading; a folder, a link or a device is refused.
    pub(crate) fn read(&self, path: &Path) -> Outcome<File> {
        let parent = self.parent(path, Missing::Fail)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&parent, name_of(path), flags, Mode::empty())?;
        if fstat(&file)?.st_mode & 0o170_000 != 0o100_000 {
            return Err(Obstacle::Path("it is not a file"));
        }
        Ok(File::from(file))
    }

    /// The target of a symbolic link; `None` for anything else.
    pub(crate) fn read_link(&self, path: &Path) -> Outcome<Option<OsString>> {
        let parent = self.parent(path, Missing::Fail)?;
        match readlinkat(&parent, name_of(path), Vec::new()) {
            Ok(target) => Ok(Some(OsString::from_vec(target.into_bytes()))),
            Err(Errno::INVAL) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates a file, which must not exist, with its parent folders.
    pub(crate) fn create(&self, path: &Path, mode: u32) -> Outcome<File> {
        let folder = Self { folder: self.parent(path, Missing::Make)? };
        folder.make(name_of(path), mode)
    }

    /// Creates a symbolic link, which must not exist, with its parent folders.
    pub(crate) fn create_link(&self, path: &Path, target: &OsStr) -> Outcome<()> {
        let parent = self.parent(path, Missing::Make)?;
        Ok(symlinkat(target, &parent, name_of(path))?)
    }

    /// Changes only whether a file can be executed.
    pub(crate) fn set_executable(&self, path: &Path, execution: Execution) -> Outcome<()> {
        let parent = self.parent(path, Missing::Fail)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&parent, name_of(path), flags, Mode::empty())?;
        let mode = permissions(fstat(&file)?.st_mode, execution);
        Ok(fchmod(&file, Mode::from_raw_mode(mode))?)
    }

    fn set_mode(&self, name: &str, mode: u32) -> Outcome<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match openat(&self.folder, name, flags, Mode::empty()) {
            Ok(file) => Ok(fchmod(&file, Mode::from_raw_mode(mode))?),
            // A link has no permissions.
            Err(Errno::LOOP) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a file and the folders that are empty after it; does nothing if it does not exist.
    pub(crate) fn remove(&self, path: &Path) -> Outcome<()> {
        let parent = match self.parent(path, Missing::Fail) {
            Err(Obstacle::System(Errno::NOENT)) => return Ok(()),
            other => other?,
        };
        match unlinkat(&parent, name_of(path), AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let mut folder = path.parent();
        while let Some(path) = folder.filter(|path| !path.as_os_str().is_empty()) {
            let Ok(parent) = self.parent(path, Missing::Fail) else { break };
            if unlinkat(&parent, name_of(path), AtFlags::REMOVEDIR).is_err() {
                break;
            }
            folder = path.parent();
        }
        Ok(())
    }

    /// Removes a folder at the top with the files in it, which has no folders.
    pub(crate) fn remove_folder(&self, name: &str) -> Outcome<()> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let folder = match openat(&self.folder, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(()),
            other => other?,
        };
        let entries = rustix::fs::Dir::read_from(&folder)?;
        for entry in entries {
            let entry = entry?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                unlinkat(&folder, entry.file_name(), AtFlags::empty())?;
            }
        }
        Ok(unlinkat(&self.folder, name, AtFlags::REMOVEDIR)?)
    }
}

/// The name of a path in its folder.
fn name_of(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

/// Existing permissions, with those to execute where there are those to read, or without.
fn permissions(mode: u32, execution: Execution) -> u32 {
    let mode = mode & 0o777;
    match execution {
        Execution::Allowed => mode | ((mode & 0o444) >> 2),
        Execution::Denied => mode & !0o111,
    }
}
