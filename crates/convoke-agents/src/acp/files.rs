//! File access on behalf of the agent: reads and writes in its workspace, and reads of other files
//! that its sandbox shows.
//!
//! Convoke has more rights than the agent, so checking the path is not enough. Every step from the workspace's folder
//! down to the file is opened without following links, after the links were resolved inside of the workspace; if a
//! folder is swapped for a link in between, the call fails.
//!
//! All functions block, and must run on a blocking thread.

mod outside;
mod protected;

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::BorrowedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, File, MetadataExt, OpenOptions, OpenOptionsExt, PermissionsExt};
use rustix::fs::OFlags;

pub(super) use outside::Outside;

use super::wire::{BAD_PARAMS, Fault, INTERNAL, NOT_FOUND};
use crate::driver::Random;
use crate::sandbox::{is_in_repository, is_protected};

/// The largest text that is read or written at the agent's request; a larger one is refused.
const TEXT_BYTES_MAX: u64 = 10 << 20;

/// The largest text of a protected file, old or new, that a permission request can show whole.
const PROTECTED_BYTES_MAX: usize = 64 << 10;
/// Why a protected file cannot be changed even with permission.
const PROTECTED: &str = "is protected, because programs outside of the sandbox run what it says, and this change \
    is too large or not text, so that it cannot be shown to the user; ask the user to make it";

/// The files of a workspace. Cheap to clone.
#[derive(Clone)]
pub(super) struct Files {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    folder: Dir,
    /// Files and folders that the agent may not see even in the workspace, by device and inode.
    hidden: Vec<(u64, u64)>,
    /// The files that may be read outside of the workspace.
    outside: Option<Outside>,
    random: Random,
}

/// The requested lines of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lines {
    /// The first, counted from 1.
    pub(super) first: u64,
    /// How many at most.
    pub(super) count: u64,
}

impl Lines {
    /// The whole file.
    pub(super) const ALL: Self = Self { first: 1, count: u64::MAX };
}

/// The result of a write request.
#[derive(Debug)]
pub(super) enum Written {
    Done,
    /// The file is protected: the user must allow this change first.
    Protected(ProtectedChange),
}

/// A change of a file that programs outside of the sandbox execute or obey, such as a git hook.
#[derive(Debug)]
pub(super) struct ProtectedChange {
    /// The id of the tool call that shows it.
    pub(super) call: String,
    /// As the agent named it.
    path: PathBuf,
    /// From the workspace, with links resolved.
    pub(super) inside: PathBuf,
    pub(super) old: Option<String>,
    pub(super) new: String,
}

/// Why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileError {
    #[error("{} is outside of the workspace", .0.display())]
    Outside(PathBuf),
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    #[error("{} {what}", path.display())]
    Unfit { path: PathBuf, what: &'static str },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl From<FileError> for Fault {
    fn from(error: FileError) -> Self {
        let code = match &error {
            FileError::Outside(_) | FileError::Unfit { .. } => BAD_PARAMS,
            FileError::Missing(_) => NOT_FOUND,
            FileError::Io { .. } => INTERNAL,
        };
        Self::new(code, error.to_string())
    }
}

/// What to do about missing parent folders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Create,
    Report,
}

impl Files {
    /// The files of a workspace that was opened. `path` is absolute, with links resolved.
    pub(super) fn open(
        path: &Path,
        workspace: BorrowedFd<'_>,
        hidden: &[PathBuf],
        random: Random,
    ) -> io::Result<Self> {
        let opened = rustix::fs::openat(
            workspace,
            ".",
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        )?;
        let folder = Dir::from_std_file(std::fs::File::from(opened));
        let hidden = hidden.iter().filter_map(|path| identity(path).ok()).collect();
        let (path, outside) = (path.to_owned(), None);
        Ok(Self { inner: Arc::new(Inner { path, folder, hidden, outside, random }) })
    }

    /// Also allows to read what the agent can read outside of the workspace.
    pub(super) fn and(mut self, outside: Outside) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.outside = Some(outside);
        }
        self
    }

    /// Reads some lines of a text.
    pub(super) fn read(&self, path: &Path, lines: Lines) -> Result<String, FileError> {
        match (self.read_inside(path, lines), &self.inner.outside) {
            (Err(FileError::Outside(_)), Some(outside)) => outside.read(path, lines),
            (read, _) => read,
        }
    }

    fn read_inside(&self, path: &Path, lines: Lines) -> Result<String, FileError> {
        let (folder, name) = self.inner.folder_of(path, Missing::Report)?;
        let file = open_plain(&folder, &name, OpenOptions::new().read(true), path)?;
        let found = file.metadata().map_err(|source| file_error(path, source))?;
        if self.inner.hidden.contains(&(found.dev(), found.ino())) {
            return Err(outside(path));
        }
        let text =
            select(BufReader::new(file), lines).map_err(|source| file_error(path, source))?;
        match text {
            Some(text) => String::from_utf8(text).map_err(|_| unfit(path, "is not UTF-8 text")),
            None => Err(unfit(path, "is larger than 10 MiB")),
        }
    }

    /// Replaces the text of a file atomically, and creates missing folders. A protected file is not
    /// written; [`Self::write_protected`] does that once the user has allowed it.
    pub(super) fn write(&self, path: &Path, text: &str) -> Result<Written, FileError> {
        if text.len() as u64 > TEXT_BYTES_MAX {
            return Err(unfit(path, "would be larger than 10 MiB"));
        }
        let steps = self.inner.resolve(path)?;
        let inside: PathBuf = steps.iter().collect();
        if is_protected(&inside) || is_in_repository(&self.inner.path, &inside) {
            tracing::warn!(target: "security", path = %path.display(), "an agent wants to write a protected file");
            let old = self.inner.protected_text(path, &steps)?;
            if text.len() > PROTECTED_BYTES_MAX {
                return Err(unfit(path, PROTECTED));
            }
            let call = format!("protected-{:032x}", u128::from_ne_bytes((self.inner.random)()));
            let (path, new) = (path.to_owned(), text.to_owned());
            return Ok(Written::Protected(ProtectedChange { call, path, inside, old, new }));
        }
        self.inner.write(path, &steps, text)?;
        Ok(Written::Done)
    }
}

impl Inner {
    /// Replaces the file at the end of resolved steps.
    fn write(&self, path: &Path, steps: &[OsString], text: &str) -> Result<(), FileError> {
        // Opens the path components that were checked: a link that is swapped in meanwhile is not
        // followed.
        let (folder, name) = self.open_folder(path, steps, Missing::Create)?;
        // A file without write permission is not replaced either.
        let mode = match open_plain(&folder, &name, OpenOptions::new().write(true), path) {
            Ok(old) => {
                let found = old.metadata().map_err(|source| file_error(path, source))?;
                // What an agent may not read it may not replace either.
                if self.hidden.contains(&(found.dev(), found.ino())) {
                    return Err(outside(path));
                }
                Some(found.mode())
            }
            Err(FileError::Missing(_)) => None,
            Err(other) => return Err(other),
        };
        self.replace(&folder, &name, text, mode).map_err(|source| file_error(path, source))
    }

    /// The folder that holds a file, and the file's name in it.
    fn folder_of(&self, path: &Path, missing: Missing) -> Result<(Dir, OsString), FileError> {
        let steps = self.resolve(path)?;
        self.open_folder(path, &steps, missing)
    }

    /// Opens the folder at the end of resolved steps, without following links.
    fn open_folder(
        &self,
        path: &Path,
        steps: &[OsString],
        missing: Missing,
    ) -> Result<(Dir, OsString), FileError> {
        let Some((name, steps)) = steps.split_last() else {
            return Err(unfit(path, "is a folder"));
        };
        let mut folder = self.folder.try_clone().map_err(|source| file_error(path, source))?;
        for step in steps {
            folder =
                self.descend(&folder, step, missing).map_err(|error| file_error(path, error))?;
        }
        Ok((folder, name.clone()))
    }

    /// The path components from the workspace to a file, with links resolved as far as they exist.
    fn resolve(&self, path: &Path) -> Result<Vec<OsString>, FileError> {
        let inside = match path.is_absolute() {
            true => path.strip_prefix(&self.path).map_err(|_| outside(path))?,
            false => path,
        };
        let mut existing = inside.to_owned();
        let mut new = Vec::new();
        let resolved = loop {
            if existing.as_os_str().is_empty() {
                break PathBuf::new();
            }
            match self.folder.canonicalize(&existing) {
                Ok(resolved) => break resolved,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    new.push(existing.file_name().ok_or_else(|| outside(path))?.to_owned());
                    existing.pop();
                }
                Err(source) => return Err(file_error(path, source)),
            }
        };
        let mut steps = Vec::new();
        for step in resolved.components() {
            match step {
                Component::Normal(name) => steps.push(name.to_owned()),
                Component::CurDir => {}
                Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                    return Err(outside(path));
                }
            }
        }
        steps.extend(new.into_iter().rev());
        Ok(steps)
    }

    /// Opens the folder of this name in a folder.
    fn descend(&self, folder: &Dir, name: &OsStr, missing: Missing) -> io::Result<Dir> {
        let open = || {
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
            let mut options = OpenOptions::new();
            folder.open_with(name, options.read(true).custom_flags(flags.bits().cast_signed()))
        };
        let opened = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound && missing == Missing::Create => {
                match folder.create_dir(name) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(error);
                    }
                    Ok(()) | Err(_) => open()?,
                }
            }
            other => other?,
        };
        let found = opened.metadata()?;
        if self.hidden.contains(&(found.dev(), found.ino())) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(Dir::from_std_file(opened.into_std()))
    }

    /// Writes a temporary file beside the file, and renames it.
    fn replace(&self, folder: &Dir, name: &OsStr, text: &str, mode: Option<u32>) -> io::Result<()> {
        let beside = format!(".convoke-{:032x}.tmp", u128::from_ne_bytes((self.random)()));
        let mut file =
            folder.open_with(&beside, OpenOptions::new().write(true).create_new(true))?;
        let written = file.write_all(text.as_bytes()).and_then(|()| match mode {
            Some(mode) => file.set_permissions(PermissionsExt::from_mode(mode)),
            None => Ok(()),
        });
        let placed = written.and_then(|()| folder.rename(&beside, folder, name));
        if placed.is_err() {
            // The first failure is the one that is reported.
            folder.remove_file(&beside).ok();
        }
        placed
    }
}

/// Opens a regular file: no link, folder, pipe or device, which could block for ever.
fn open_plain(
    folder: &Dir,
    name: &OsStr,
    options: &mut OpenOptions,
    path: &Path,
) -> Result<File, FileError> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let options = options.custom_flags(flags.bits().cast_signed());
    let file = folder.open_with(name, options).map_err(|source| file_error(path, source))?;
    let found = file.metadata().map_err(|source| file_error(path, source))?;
    if found.is_file() { Ok(file) } else { Err(unfit(path, "is not a regular file")) }
}

/// The requested lines, or `None` if they exceed the limit of one read.
fn select(mut file: impl BufRead, lines: Lines) -> io::Result<Option<Vec<u8>>> {
    for _ in 1..lines.first {
        if file.skip_until(b'\n')? == 0 {
            break;
        }
    }
    let mut text = Vec::new();
    let mut rest = file.take(TEXT_BYTES_MAX + 1);
    if lines == Lines::ALL {
        rest.read_to_end(&mut text)?;
    } else {
        for _ in 0..lines.count {
            if rest.read_until(b'\n', &mut text)? == 0 {
                break;
            }
        }
    }
    Ok((text.len() as u64 <= TEXT_BYTES_MAX).then_some(text))
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path)?;
    Ok((found.dev(), found.ino()))
}

fn outside(path: &Path) -> FileError {
    tracing::info!(path = %path.display(), "an agent asked for a file outside of its workspace");
    FileError::Outside(path.to_owned())
}

fn unfit(path: &Path, what: &'static str) -> FileError {
    FileError::Unfit { path: path.to_owned(), what }
}

fn file_error(path: &Path, source: io::Error) -> FileError {
    let kind = source.kind();
    if kind == io::ErrorKind::NotFound {
        return FileError::Missing(path.to_owned());
    }
    // A refusal that is not from the kernel is for a path that leads outside or is hidden.
    if kind == io::ErrorKind::PermissionDenied && source.raw_os_error().is_none() {
        return outside(path);
    }
    FileError::Io { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests;
