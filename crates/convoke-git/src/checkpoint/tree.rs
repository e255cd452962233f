//! Writing the tree of an index of which few folders have changed: a process fewer than `git write-tree`, which still
//! does it for all others and so renews the trees that are cached in the index.

use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::Checkpoints;
use super::index::{CachedTree, Entry, Index};
use crate::ObjectId;

/// The limit of trees that are written directly, and of their names in all.
const TREES_MAX: usize = 16;
const NAMES_MAX: usize = 4_096;

/// Modes in trees: a folder, and the repository of another project.
const FOLDER: u32 = 0o40_000;
const REPOSITORY: u32 = 0o160_000;

/// An object's id in the binary form of trees and indexes.
type Id = [u8; 20];

/// Collects the trees that are missing.
struct Writer<'a> {
    checkpoints: &'a Checkpoints,
    trees: usize,
    names: usize,
}

impl Checkpoints {
    /// Stores the tree of the files below `inner`; `None` when git has to do it.
    pub(super) fn write_few_trees(&self, inner: &Path) -> Option<ObjectId> {
        let bytes = self.index_bytes()?;
        let index = Index::parse(&bytes)?;
        let (mut entries, mut cached) = (index.entries.as_slice(), Some(&index.root));
        let mut depth = 0;
        for part in inner.iter().map(OsStrExt::as_bytes) {
            let is_below =
                |entry: &Entry<'_>| folder_of(entry.path, depth).is_some_and(|name| name == part);
            let first = entries.iter().position(is_below)?;
            let below = entries.get(first..)?;
            let end = below.iter().position(|entry| !is_below(entry)).unwrap_or(below.len());
            entries = below.get(..end)?;
            cached = cached.and_then(|cached| cached.folders.get(part));
            depth += part.len() + 1;
        }
        if entries.is_empty() {
            return None;
        }
        let mut writer = Writer { checkpoints: self, trees: 0, names: 0 };
        ObjectId::from_bytes(&writer.tree(entries, depth, cached)?)
    }
}

impl Writer<'_> {
    /// Stores the tree of a folder's entries, whose paths have its own path and a slash in their first `depth` bytes.
    fn tree(
        &mut self,
        entries: &[Entry<'_>],
        depth: usize,
        cached: Option<&CachedTree<'_>>,
    ) -> Option<Id> {
        let whole = cached.and_then(|it| it.tree).filter(|(_, count)| *count == entries.len());
        if let Some((id, _)) = whole {
            let id = id.try_into().ok()?;
            return self.has(&id).then_some(id);
        }
        self.trees += 1;
        let mut body = Vec::new();
        let mut at = 0;
        // A tree has its names in the order of the index: a folder as if a slash ended it.
        while let Some(entry) = entries.get(at) {
            self.names += 1;
            if self.trees > TREES_MAX || self.names > NAMES_MAX {
                return None;
            }
            let (mode, name, id) = match folder_of(entry.path, depth) {
                Some(name) => {
                    let range = folder_from(entries, at, depth, name);
                    at = range.end;
                    let below = cached.and_then(|cached| cached.folders.get(name));
                    let id = self.tree(entries.get(range)?, depth + name.len() + 1, below)?;
                    (FOLDER, name, id)
                }
                None => {
                    at += 1;
                    let id = entry.id.try_into().ok()?;
                    if entry.mode != REPOSITORY && !self.has(&id) {
                        return None;
                    }
                    (entry.mode, entry.path.get(depth..)?, id)
                }
            };
            body.extend_from_slice(format!("{mode:o} ").as_bytes());
            body.extend_from_slice(name);
            body.push(0);
            body.extend_from_slice(&id);
        }
        self.checkpoints.store("tree", &body).ok()?.to_bytes()
    }

    fn has(&self, id: &Id) -> bool {
        ObjectId::from_bytes(id).is_some_and(|id| self.checkpoints.is_stored(&id))
    }
}

/// The name of the folder that holds an entry, among those at `depth`; `None` for a file that lies there itself.
fn folder_of(path: &[u8], depth: usize) -> Option<&[u8]> {
    let rest = path.get(depth..)?;
    rest.get(..rest.iter().position(|byte| *byte == b'/')?)
}

/// The entries of a folder, of which the one at `first` is the first.
fn folder_from(entries: &[Entry<'_>], first: usize, depth: usize, name: &[u8]) -> Range<usize> {
    let rest = entries.get(first..).unwrap_or_default();
    let count = rest.iter().take_while(|entry| folder_of(entry.path, depth) == Some(name)).count();
    first..first + count
}
