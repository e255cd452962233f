//! The root of a store, opened once. Everything below it is reached from its descriptor, one name at a time and without
//! following a link, and only files whose names are on the agent's list are opened.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};

use crate::error::{Error, Result};
use crate::pattern;

/// A link that leads nowhere within the root is skipped; so is everything that cannot be opened without waiting.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);
const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);
/// The root itself may be a link: people move their dot folders.
const ROOT: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);

/// The root of a store.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    root: OwnedFd,
}

/// A file that a walk found.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Its path below the root.
    pub path: String,
    /// Its metadata.
    pub facts: Facts,
}

/// The metadata of a file, without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    pub modified_ns: i64,
}

impl Folder {
    /// Opens a root; `None` if there is none.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>> {
        match rustix::fs::open(path, ROOT, Mode::empty()) {
            Ok(root) => Ok(Some(Self { path: path.to_owned(), root })),
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Ok(None),
            Err(error) => Err(Error::Read { path: path.to_owned(), source: error.into() }),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The same root for a reader that opens files as it goes.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { path: self.path.clone(), root: self.root.try_clone()? })
    }

    /// Opens a file that one of the patterns allows.
    pub(crate) fn open_file(&self, allowed: &[&str], path: &str) -> Result<File> {
        let refused = |why| Error::Refused { path: self.path.join(path), why };
        if !allowed.iter().any(|pattern| pattern::matches(pattern, path)) {
            return Err(refused("its name is not on the list"));
        }
        let failed = |error: io::Error| match rustix::io::Errno::from_io_error(&error) {
            Some(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR) => {
                refused("a part of its path is a link")
            }
            Some(_) | None => Error::Read { path: self.path.join(path), source: error },
        };
        let (parent, name) = self.parent(path).map_err(failed)?;
        let parent = parent.as_ref().map_or(self.root.as_fd(), AsFd::as_fd);
        // Checked before it is opened: opening a device or a pipe can have effects.
        let facts = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
        let facts = facts.map_err(|error| failed(error.into()))?;
        let kind = FileType::from_raw_mode(facts.st_mode);
        if kind == FileType::Symlink {
            return Err(refused("a part of its path is a link"));
        }
        if kind != FileType::RegularFile {
            return Err(refused("it is not a regular file"));
        }
        let file = rustix::fs::openat(parent, name, FILE, Mode::empty())
            .map_err(|error| failed(error.into()))?;
        let opened = rustix::fs::fstat(&file).map_err(|error| failed(error.into()))?;
        if FileType::from_raw_mode(opened.st_mode) != FileType::RegularFile {
            return Err(refused("it is not a regular file"));
        }
        Ok(File::from(file))
    }

    /// The metadata of a path below the root; `None` if it is no regular file.
    pub(crate) fn facts(&self, path: &str) -> Option<Facts> {
        let (parent, name) = self.parent(path).ok()?;
        let parent = parent.as_ref().map_or(self.root.as_fd(), AsFd::as_fd);
        let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| facts_of(&stat))
    }

    /// The regular files below the root that a pattern describes, in the order of their names.
    pub(crate) fn walk(&self, pattern: &str) -> Result<Vec<Seen>> {
        let mut found = Vec::new();
        let parts: Vec<&str> = pattern.split('/').collect();
        descend(self.root.as_fd(), "", &parts, &mut found)
            .map_err(|source| Error::Read { path: self.path.clone(), source })?;
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    /// The folder of a path, opened one name at a time, and the path's last name; no folder if it is the root itself.
    fn parent<'a>(&self, path: &'a str) -> io::Result<(Option<OwnedFd>, &'a str)> {
        let Some((folders, name)) = path.rsplit_once('/') else { return Ok((None, path)) };
        let mut parent: Option<OwnedFd> = None;
        for part in folders.split('/') {
            let within = parent.as_ref().map_or(self.root.as_fd(), AsFd::as_fd);
            parent = Some(rustix::fs::openat(within, part, FOLDER, Mode::empty())?);
        }
        Ok((parent, name))
    }
}

/// The metadata of an open file.
pub(crate) fn facts_of_file(file: &File) -> io::Result<Facts> {
    Ok(facts_of(&rustix::fs::fstat(file)?))
}

#[expect(clippy::allow_attributes, reason = "the types of these fields differ between platforms")]
fn facts_of(stat: &Stat) -> Facts {
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "as above")]
    Facts {
        device: stat.st_dev as u64,
        inode: stat.st_ino as u64,
        size: u64::try_from(stat.st_size).unwrap_or_default(),
        modified_ns: (stat.st_mtime as i64)
            .saturating_mul(1_000_000_000)
            .saturating_add(stat.st_mtime_nsec as i64),
    }
}

fn descend(
    within: BorrowedFd<'_>,
    prefix: &str,
    parts: &[&str],
    found: &mut Vec<Seen>,
) -> io::Result<()> {
    let Some((shape, later)) = parts.split_first() else { return Ok(()) };
    // A name without a star needs no listing; most of a pattern's first parts have none.
    if !shape.contains('*') {
        return step(within, prefix, shape, later, found);
    }
    for entry in Dir::read_from(within)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        let kind = entry.file_type();
        let wanted = if later.is_empty() { FileType::RegularFile } else { FileType::Directory };
        let of_kind = kind == wanted || kind == FileType::Unknown;
        if of_kind && pattern::matches_name(shape, name) {
            step(within, prefix, name, later, found)?;
        }
    }
    Ok(())
}

/// Goes into one folder, or notes one file.
fn step(
    within: BorrowedFd<'_>,
    prefix: &str,
    name: &str,
    later: &[&str],
    found: &mut Vec<Seen>,
) -> io::Result<()> {
    let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
    if later.is_empty() {
        // A file that vanishes in between, or is none, is not found.
        let Ok(stat) = rustix::fs::statat(within, name, AtFlags::SYMLINK_NOFOLLOW) else {
            return Ok(());
        };
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            found.push(Seen { path, facts: facts_of(&stat) });
        }
        return Ok(());
    }
    // Links, other files and unreadable folders are skipped, so that one of them does not hide the
    // others.
    match rustix::fs::openat(within, name, FOLDER, Mode::empty()) {
        Ok(folder) => descend(folder.as_fd(), &path, later, found),
        Err(_) => Ok(()),
    }
}
