//! The files of Convoke's index, which are those of the last capture.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::index::Index;
use super::{Checkpoints, scan_path};
use crate::diff::{FileVersion, file_mode};
use crate::{Error, Limits, ObjectId, Result};

/// A larger index is left to git.
const INDEX_BYTES_MAX: u64 = 64 << 20;

impl Checkpoints {
    /// The index; `None` if there is none, or one that is left to git.
    pub(super) fn index_bytes(&self) -> Option<Vec<u8>> {
        let path = self.file("index");
        if fs::metadata(&path).ok()?.len() > INDEX_BYTES_MAX {
            return None;
        }
        fs::read(path).ok()
    }

    /// The wanted files of the index, by their paths in the work tree.
    pub(crate) fn versions(
        &self,
        is_wanted: impl Fn(&Path) -> bool,
        limits: &Limits,
    ) -> Result<HashMap<PathBuf, FileVersion>> {
        let bytes = self.index_bytes().unwrap_or_default();
        let Some(index) = Index::parse(&bytes) else { return self.listed(is_wanted, limits) };
        let inner = self.inner().as_os_str().as_bytes();
        let mut found = HashMap::new();
        for entry in index.entries {
            let path = match inner {
                b"" => Some(entry.path),
                inner => entry.path.strip_prefix(inner).and_then(|path| path.strip_prefix(b"/")),
            };
            let path = path.map(|path| Path::new(OsStr::from_bytes(path)));
            let Some(path) = path.filter(|path| is_wanted(path)) else { continue };
            let id = entry.id.try_into().ok().and_then(ObjectId::from_bytes);
            let mode = file_mode(&format!("{:06o}", entry.mode))?;
            if let (Some(id), Some(mode)) = (id, mode) {
                found.insert(path.to_owned(), FileVersion { mode, id });
            }
        }
        Ok(found)
    }

    /// The same, read by git.
    fn listed(
        &self,
        is_wanted: impl Fn(&Path) -> bool,
        limits: &Limits,
    ) -> Result<HashMap<PathBuf, FileVersion>> {
        let output = self.command("ls-files").args(["-z", "--stage"]).run(limits)?;
        let mut found = HashMap::new();
        // `100644 ID 0⇥path`
        for record in output.stdout.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
            let fault = || Error::Unexpected {
                command: "git ls-files".to_owned(),
                what: String::from_utf8_lossy(record).into_owned(),
            };
            let tab = record.iter().position(|byte| *byte == b'\t').ok_or_else(fault)?;
            let (head, path) = record.split_at(tab);
            let path = scan_path(path.get(1..).unwrap_or_default());
            if !is_wanted(&path) {
                continue;
            }
            let head = String::from_utf8_lossy(head);
            let mut fields = head.split(' ');
            let mode = fields.next().map(file_mode).transpose()?.flatten().ok_or_else(fault)?;
            let id = ObjectId::parse(fields.next().unwrap_or_default())?;
            found.insert(path, FileVersion { mode, id });
        }
        Ok(found)
    }

    /// Whether all files of the index are below the work tree. After the repository around the work tree was another one,
    /// they may not be, and are not compared with files.
    pub(super) fn is_index_inside(&self) -> bool {
        let mut inner = self.inner().as_os_str().as_bytes().to_vec();
        if inner.is_empty() {
            return true;
        }
        inner.push(b'/');
        let Some(bytes) = self.index_bytes() else { return false };
        Index::parse(&bytes)
            .is_some_and(|index| index.entries.iter().all(|entry| entry.path.starts_with(&inner)))
    }

    /// The path of the work tree in the repository around it, with which paths in the index begin.
    pub(super) fn inner(&self) -> &Path {
        self.work_tree.strip_prefix(&self.top).unwrap_or(Path::new(""))
    }
}
