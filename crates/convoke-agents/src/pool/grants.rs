//! The files of the user that a sandboxed process may use, such as `~/.claude.json`.
//!
//! Such a grant is for the file that was there when the process started. Programs replace their files instead of writing
//! them, and what took the place of one is out of reach of the process.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::driver::{Confinement, Launch};

/// A file's device, number and birth: numbers are used again.
type Identity = (u64, u64, Option<SystemTime>);

/// What a process was granted, and what that was then.
pub(super) struct Grants(Vec<(PathBuf, Option<Identity>)>);

impl Grants {
    /// What a process is granted by its launch.
    pub(super) fn of(launch: &Launch) -> Self {
        let Confinement::Supervised { policy, .. } = &launch.confinement else {
            return Self(Vec::new());
        };
        Self(policy.writable.iter().map(|path| (path.clone(), identity(path))).collect())
    }

    /// Whether a file was replaced, made or removed since.
    pub(super) fn are_outdated(&self) -> bool {
        self.0.iter().any(|(path, then)| identity(path) != *then)
    }
}

/// The identity of a file. Folders have none: they are granted with all that is ever in them, and made at the start.
fn identity(path: &Path) -> Option<Identity> {
    // What cannot be looked at is as good as absent: it cannot be granted either.
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.dev(), metadata.ino(), metadata.created().ok()))
}
