//! Writes protected files after the user has allowed the change.
//!
//! An existing file is written in place, not replaced: the agent's mount namespace has a read-only mount of this very
//! file, and a rename over it would remove the mount, so that the agent could write the new file without asking.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use cap_std::fs::{File, FileExt as _, MetadataExt as _, OpenOptions};

use super::{
    FileError, Files, Inner, Missing, PROTECTED, PROTECTED_BYTES_MAX, ProtectedChange, file_error,
    open_plain, unfit,
};

const CHANGED_MEANWHILE: &str = "was changed by something else while the user was asked; try again";
/// A write would also change the other paths, which the permission request does not show.
const HARD_LINKED: &str =
    "is protected and has more than one hard link; ask the user to make the change";

impl Files {
    /// Makes a change of a protected file that the user has allowed, if the file is still as the user saw it.
    pub(in crate::acp) fn write_protected(
        &self,
        change: &ProtectedChange,
    ) -> Result<(), FileError> {
        let path = &change.path;
        let steps = self.inner.resolve(path)?;
        if steps.iter().collect::<PathBuf>() != change.inside {
            return Err(unfit(path, CHANGED_MEANWHILE));
        }
        match &change.old {
            Some(old) => self.inner.overwrite(path, &steps, old, &change.new)?,
            None => self.inner.create(path, &steps, &change.new)?,
        }
        tracing::warn!(target: "security", path = %path.display(), "a protected file was written, as the user allowed");
        Ok(())
    }
}

impl Inner {
    /// The text of a protected file, if it exists, and if it can be shown whole.
    pub(super) fn protected_text(
        &self,
        path: &Path,
        steps: &[OsString],
    ) -> Result<Option<String>, FileError> {
        match self.open_protected(path, steps, OpenOptions::new().read(true)) {
            Ok(file) => text_of(&file, path).map(Some),
            Err(FileError::Missing(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes new text into an existing file that has the expected old text.
    fn overwrite(
        &self,
        path: &Path,
        steps: &[OsString],
        old: &str,
        new: &str,
    ) -> Result<(), FileError> {
        let mut options = OpenOptions::new();
        let file = match self.open_protected(path, steps, options.read(true).write(true)) {
            Err(FileError::Missing(_)) => return Err(unfit(path, CHANGED_MEANWHILE)),
            opened => opened?,
        };
        if text_of(&file, path)? != old {
            return Err(unfit(path, CHANGED_MEANWHILE));
        }
        put(&file, new).map_err(|source| {
            // On a full disk, for example. After a crash at this point, the old text is in the permission request.
            if let Err(error) = put(&file, old) {
                tracing::error!(path = %path.display(), "cannot restore a protected file after a failed write: {error}");
            }
            file_error(path, source)
        })
    }

    /// Creates a file that the user saw as missing.
    fn create(&self, path: &Path, steps: &[OsString], text: &str) -> Result<(), FileError> {
        let (folder, name) = self.open_folder(path, steps, Missing::Create)?;
        // The agent may have created the name meanwhile; a link of that name is not followed either.
        let created = folder.open_with(&name, OpenOptions::new().write(true).create_new(true));
        let mut file = match created {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(unfit(path, CHANGED_MEANWHILE));
            }
            created => created.map_err(|source| file_error(path, source))?,
        };
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(|source| {
            // The first failure is the one that is reported.
            folder.remove_file(&name).ok();
            file_error(path, source)
        })
    }

    /// Opens an existing protected file without following links.
    fn open_protected(
        &self,
        path: &Path,
        steps: &[OsString],
        options: &mut OpenOptions,
    ) -> Result<File, FileError> {
        let (folder, name) = self.open_folder(path, steps, Missing::Report)?;
        let file = open_plain(&folder, &name, options, path)?;
        let found = file.metadata().map_err(|source| file_error(path, source))?;
        if found.nlink() > 1 { Err(unfit(path, HARD_LINKED)) } else { Ok(file) }
    }
}

/// The whole text of a protected file, if a permission request can show it.
fn text_of(file: &File, path: &Path) -> Result<String, FileError> {
    let mut text = Vec::new();
    let mut head = file.take(PROTECTED_BYTES_MAX as u64 + 1);
    head.read_to_end(&mut text).map_err(|source| file_error(path, source))?;
    match String::from_utf8(text) {
        Ok(text) if text.len() <= PROTECTED_BYTES_MAX => Ok(text),
        Ok(_) | Err(_) => Err(unfit(path, PROTECTED)),
    }
}

/// Overwrites a file, and shortens it only afterwards, so that it is never empty.
fn put(file: &File, text: &str) -> io::Result<()> {
    file.write_all_at(text.as_bytes(), 0)?;
    file.set_len(text.len() as u64)?;
    file.sync_all()
}
