//! The trees of checkpoints that were read before: a session has two checkpoints per turn, and all are needed after
//! each turn.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::ObjectId;

/// Trees that are remembered, about 300 bytes each; with more, all are forgotten.
const TREES_MAX: usize = 20_000;

/// The trees by the paths of their refs, shared by all clones.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownTrees {
    trees: Arc<Mutex<HashMap<PathBuf, (Stamp, ObjectId)>>>,
}

/// What differs when a ref is written: git and we write a new file, and rename it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Stamp {
    /// That of a file; `None` if there is none.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(path).ok()?;
        Some(Self { inode: found.ino(), seconds: found.mtime(), nanoseconds: found.mtime_nsec() })
    }
}

impl KnownTrees {
    /// The tree of a ref, unless the ref was written since.
    pub(super) fn find(&self, path: &Path, stamp: Stamp) -> Option<ObjectId> {
        let trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, tree) = trees.get(path)?;
        (*known == stamp).then(|| tree.clone())
    }

    /// Remembers the tree of a ref, read after its stamp.
    pub(super) fn insert(&self, path: PathBuf, stamp: Stamp, tree: ObjectId) {
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        if trees.len() >= TREES_MAX {
            trees.clear();
        }
        trees.insert(path, (stamp, tree));
    }
}
