//! What the targets share: a session that handles reports, a place for files, and words that come back as they were.

mod conversation;
pub mod history;

use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

pub use conversation::Conversation;

/// A folder in memory, where the system has such.
pub fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    tempfile::tempdir_in(base).expect("a folder for the files")
}

/// Writes a file, and returns its path.
pub fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).expect("the file can be written");
    path
}

/// Empties a folder.
pub fn empty(folder: &Path) {
    for entry in fs::read_dir(folder).expect("the folder can be read").flatten() {
        let path = entry.path();
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.expect("the folder can be emptied");
    }
}

/// What can be read is the same after it was written and read again.
pub fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(bytes: &[u8]) -> Option<T> {
    let value: T = serde_json::from_slice(bytes).ok()?;
    let written = serde_json::to_vec(&value).expect("what was read can be written");
    let again: T = serde_json::from_slice(&written).expect("what was written can be read");
    assert_eq!(again, value);
    Some(value)
}
