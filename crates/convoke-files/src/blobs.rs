//! Files that are stored once, by the hash of their bytes, and never change.
//!
//! The caller knows which files are referred to, and passes them when unused ones are removed.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::atomic::{sync_folder, temporary};
use crate::{Error, Result};

/// The largest file. It is read into memory to be sent to an agent, several times as base64.
pub const BLOB_BYTES_MAX: usize = 32 << 20;

/// A folder of files that are named by their hashes.
#[derive(Debug, Clone)]
pub struct Blobs {
    folder: PathBuf,
}

impl Blobs {
    /// The files in a folder, which need not exist yet.
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where a file is. The hash has been checked: 64 hexadecimal digits.
    fn path(&self, hash: &str) -> PathBuf {
        // Some file systems are slow with many files in one folder.
        let (head, _) = hash.split_at(hash.floor_char_boundary(2));
        self.folder.join(head).join(hash)
    }

    /// Stores some bytes and returns their hash. They are on disk when this returns; existing files
    /// are not written again.
    pub fn put(&self, bytes: &[u8]) -> Result<String> {
        let hash = HEXLOWER.encode(&Sha256::digest(bytes));
        let path = self.path(&hash);
        let fail = |step| {
            let path = path.clone();
            move |source| Error::Write { path, step, source }
        };
        if is_whole(&path, bytes.len()) {
            // Younger now, so that it is not removed before a message refers to it.
            File::open(&path)
                .and_then(|file| file.set_modified(SystemTime::now()))
                .map_err(fail("touching"))?;
            return Ok(hash);
        }
        let folder = path.parent().unwrap_or(&self.folder);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(fail("making its folder"))?;
        let mut temp = temporary(folder).map_err(fail("making a temporary file"))?;
        temp.write_all(bytes).map_err(fail("writing"))?;
        temp.as_file().sync_all().map_err(fail("syncing"))?;
        temp.persist(&path).map_err(|error| fail("renaming")(error.error))?;
        sync_folder(folder).map_err(fail("syncing its folder"))?;
        sync_folder(&self.folder).map_err(fail("syncing its folder"))?;
        Ok(hash)
    }

    /// The bytes of a file; `None` if there is none with this hash.
    pub fn read(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        let path = self.path(hash);
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|mut file| file.read_to_end(&mut bytes));
        match read {
            Ok(_) if HEXLOWER.encode(&Sha256::digest(&bytes)) == hash => Ok(Some(bytes)),
            Ok(_) => {
                let source = io::Error::other("its bytes do not match its name");
                Err(Error::Read { path, source })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::Read { path, source }),
        }
    }

    /// Removes files that are not in use and are older than `age`, and temporary files of killed
    /// writers. Returns how many.
    pub fn remove_unused(&self, used: &BTreeSet<String>, age: Duration) -> Result<usize> {
        let mut removed = 0;
        for folder in list(&self.folder)? {
            for path in list(&folder)? {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if !used.contains(&name) && is_older(&path, age) && fs::remove_file(&path).is_ok() {
                    removed += 1;
                }
            }
            // Fails unless it is empty.
            fs::remove_dir(&folder).ok();
        }
        Ok(removed)
    }

    /// Whether there are any files.
    pub fn is_empty(&self) -> bool {
        fs::read_dir(&self.folder).map_or(true, |mut entries| entries.next().is_none())
    }
}

/// Whether a file exists with this length; one that another program truncated is written again.
fn is_whole(path: &Path, bytes: usize) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.size() == bytes as u64)
}

fn is_older(path: &Path, age: Duration) -> bool {
    let modified = fs::metadata(path).and_then(|found| found.modified());
    // A file from the future is young.
    modified.is_ok_and(|at| at.elapsed().is_ok_and(|elapsed| elapsed >= age))
}

fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let fail = |source| Error::Read { path: folder.to_owned(), source };
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry.map_err(fail)?.path())).collect(),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(fail(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn l3_bytes_are_stored_once_and_private() {
        let home = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(home.path().join("blobs"));
        assert!(blobs.is_empty());
        let hash = blobs.put(b"hello").unwrap();
        assert_eq!(hash, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
        assert_eq!(blobs.put(b"hello").unwrap(), hash);
        let path = home.path().join("blobs/2c").join(&hash);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let folder = fs::metadata(home.path().join("blobs")).unwrap();
        assert_eq!(folder.permissions().mode() & 0o777, 0o700);
        assert_eq!(blobs.read(&hash).unwrap().as_deref(), Some(&b"hello"[..]));
        assert_eq!(blobs.read(&"0".repeat(64)).unwrap(), None);
        assert_eq!(fs::read_dir(home.path().join("blobs/2c")).unwrap().count(), 1);
    }

    #[test]
    fn l3_a_damaged_file_is_not_given_out_and_is_written_again() {
        let home = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(home.path().to_owned());
        let hash = blobs.put(b"hello").unwrap();
        fs::write(blobs.path(&hash), "hell").unwrap();
        assert!(blobs.read(&hash).is_err());
        blobs.put(b"hello").unwrap();
        assert_eq!(blobs.read(&hash).unwrap().as_deref(), Some(&b"hello"[..]));
    }

    #[test]
    fn l3_what_nothing_refers_to_is_removed_once_it_is_old() {
        let home = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(home.path().to_owned());
        let (used, unused) = (blobs.put(b"used").unwrap(), blobs.put(b"unused").unwrap());
        let in_use = BTreeSet::from([used.clone()]);
        assert_eq!(blobs.remove_unused(&in_use, Duration::from_secs(3600)).unwrap(), 0);
        assert_eq!(blobs.remove_unused(&in_use, Duration::ZERO).unwrap(), 1);
        assert!(blobs.read(&used).unwrap().is_some() && blobs.read(&unused).unwrap().is_none());
    }
}
