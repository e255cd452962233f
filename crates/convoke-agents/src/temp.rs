//! Folders for agents' temporary files: outside of Convoke's home, so that an agent cannot fill its
//! disk, and removed with the process that they were created for.

use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open, openat};

/// The prefix of the folders; nothing else is removed.
const PREFIX: &str = "convoke-";

/// A folder that only its owner can enter. It is removed with this value.
#[derive(Debug)]
pub struct TempFolder {
    path: PathBuf,
    /// A lock by which a supervisor distinguishes a folder in use from one that a killed daemon
    /// left.
    _lock: OwnedFd,
}

impl TempFolder {
    /// Creates a folder with an unpredictable name.
    pub fn create(around: &Path, random: [u8; 16]) -> io::Result<Self> {
        let number = u128::from_ne_bytes(random) >> 64;
        // Links in its path are resolved now: sandbox rules use the real path.
        let path = around.canonicalize()?.join(format!("{PREFIX}{number:016x}"));
        DirBuilder::new().mode(0o700).create(&path)?;
        let lock = open_folder(&path)?;
        flock(&lock, FlockOperation::LockShared)?;
        Ok(Self { path, _lock: lock })
    }

    /// Creates a folder inside of this one.
    pub fn inside(&self, random: [u8; 16]) -> io::Result<Self> {
        Self::create(&self.path, random)
    }

    /// Writes a file into a new folder inside of this one, and returns its path. The agent may
    /// write here concurrently and place links: none is followed.
    pub fn put(&self, name: &str, bytes: &[u8], random: [u8; 16]) -> io::Result<PathBuf> {
        let number = u128::from_ne_bytes(random) >> 64;
        let folder = self.path.join(format!("{PREFIX}{number:016x}"));
        DirBuilder::new().mode(0o700).create(&folder)?;
        let opened = open_folder(&folder)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let file = openat(&opened, name, flags | OFlags::CLOEXEC, Mode::from_raw_mode(0o600))?;
        fs::File::from(file).write_all(bytes)?;
        Ok(folder.join(name))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            tracing::warn!("cannot remove {}: {error}", self.path.display());
        }
    }
}

/// Opens a folder without following a link.
fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?)
}

/// Whether a process holds this folder as a [`TempFolder`].
fn is_in_use(path: &Path) -> io::Result<bool> {
    let opened = match open_folder(path) {
        // The agent has removed its own permissions.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(false),
        opened => opened?,
    };
    match flock(opened, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(false),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Removes the folder around an abandoned one, unless others are left in it or a process still uses it.
pub(crate) fn remove_around(path: &Path) {
    if let Some(around) = path.parent()
        && is_in_use(around).is_ok_and(|is_in_use| !is_in_use)
    {
        // Fails while other agents of the daemon have folders there.
        fs::remove_dir(around).ok();
    }
}

/// Removes a folder that a killed process left, if it is one of Convoke's.
pub fn remove_abandoned(path: &Path) -> io::Result<()> {
    let is_named_so =
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(found) => {
            let is_ours = found.uid() == rustix::process::geteuid().as_raw();
            let is_folder = is_named_so && is_ours && found.is_dir();
            if is_folder && !is_in_use(path)? { remove(path) } else { Ok(()) }
        }
    }
}

/// Removes a folder in which an agent may have removed permissions.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            unlock(path);
            fs::remove_dir_all(path)
        }
        // Its supervisor has removed it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Restores the owner's permissions on all folders below; failures show in the removal.
fn unlock(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).ok();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            unlock(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l3_a_file_is_put_beside_what_the_agent_has_made() {
        let around = tempfile::tempdir().unwrap();
        let folder = TempFolder::create(around.path(), [1; 16]).unwrap();
        let path = folder.put("shot.png", b"bytes", [2; 16]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"bytes");
        assert!(folder.put("shot.png", b"other", [2; 16]).is_err(), "the folder is there already");
        // An agent that guesses the name cannot redirect it.
        let number = u128::from_ne_bytes([3; 16]) >> 64;
        let planted = folder.path().join(format!("{PREFIX}{number:016x}"));
        std::os::unix::fs::symlink(around.path(), planted).unwrap();
        assert!(folder.put("stolen", b"x", [3; 16]).is_err());
        assert!(!around.path().join("stolen").exists());
    }

    #[test]
    fn k4_a_folder_is_gone_with_its_value_whatever_the_agent_did_to_it() {
        let around = tempfile::tempdir().unwrap();
        let folder = TempFolder::create(around.path(), [1; 16]).unwrap();
        let inner = folder.inside([2; 16]).unwrap();
        let path = inner.path().to_owned();
        fs::create_dir(path.join("locked")).unwrap();
        fs::write(path.join("locked/file"), "x").unwrap();
        let mode = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o000);
        fs::set_permissions(path.join("locked"), mode).unwrap();
        drop(inner);
        assert!(!path.exists() && folder.path().exists());
        // A folder in use stays, also while no agent has files in it.
        let used = folder.path().to_owned();
        remove_abandoned(&used).unwrap();
        remove_around(&path);
        assert!(used.exists());
        drop(folder);
        // A killed daemon leaves its folder, and no lock.
        fs::create_dir_all(&path).unwrap();
        remove_abandoned(&path).unwrap();
        assert!(!path.exists() && used.exists());
        remove_around(&path);
        assert!(!used.exists());
        fs::create_dir(around.path().join("theirs")).unwrap();
        remove_abandoned(&around.path().join("theirs")).unwrap();
        assert!(around.path().join("theirs").exists());
    }
}
