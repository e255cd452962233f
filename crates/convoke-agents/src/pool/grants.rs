//! The user's files that a sandboxed process may access, such as `~/.claude.json`.
//!
//! A grant is for the file that existed when the process started. Programs replace their files
//! instead of writing them, and the process cannot access a replacement.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::driver::{Confinement, Launch};

/// A file's device, inode and creation time: inodes are reused.
type Identity = (u64, u64, Option<SystemTime>);

/// The granted paths, with the identity of each file at the start.
pub(super) struct Grants(Vec<(PathBuf, Option<Identity>)>);

impl Grants {
    /// The grants of a launch.
    pub(super) fn of(launch: &Launch) -> Self {
        let Confinement::Supervised { policy, .. } = &launch.confinement else {
            return Self(Vec::new());
        };
        Self(
            policy
                .writable
                .iter()
                .chain(&policy.writable_direct)
                .map(|path| (path.clone(), identity(path)))
                .collect(),
        )
    }

    /// Whether a file was replaced, made or removed since.
    pub(super) fn are_outdated(&self) -> bool {
        self.0.iter().any(|(path, then)| identity(path) != *then)
    }
}

/// The identity of a file. Folders have none: they are granted with all future contents, and
/// created at the start.
fn identity(path: &Path) -> Option<Identity> {
    // A file that cannot be read counts as absent: it cannot be granted either.
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.dev(), metadata.ino(), metadata.created().ok()))
}
