//! Verifies what git captured.
//!
//! Git opens files by their paths. If an agent puts a link in the place of a file or a folder at that moment, git
//! captures what the link leads to, which may be a file that agents must not read, and a restore would show it to them.
//! So every captured file is read again from the open work tree, without following a link. If an index was written and
//! not verified, because the process was killed, the next capture verifies all of its files.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use sha1::{Digest, Sha1};

use super::{Checkpoints, LeftOut, LeftOutReason};
use crate::diff::FileMode;
use crate::root::{Obstacle, Root};
use crate::{Error, Limits, Result};

/// How much of a file is read at once.
const BUFFER: usize = 64 << 10;

/// The files of the index that are to be verified.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unverified<'a> {
    These(&'a [PathBuf]),
    All,
}

/// What has to be captured again.
#[derive(Debug, Default)]
struct Differing {
    /// The records for `git update-index --index-info`.
    records: Vec<u8>,
    /// Paths at which there is no regular file any more.
    gone: Vec<PathBuf>,
    /// Files that have grown over the limit.
    too_large: Vec<LeftOut>,
}

impl Checkpoints {
    /// Captures files again of which git captured something else than what the work tree has.
    pub(super) fn verify(
        &self,
        unverified: Unverified<'_>,
        lock: &File,
        left_out: &mut BTreeSet<LeftOut>,
        limits: &Limits,
    ) -> Result<()> {
        let captured = match unverified {
            Unverified::These([]) => return Ok(()),
            Unverified::These(paths) => {
                let paths: HashSet<&Path> = paths.iter().map(PathBuf::as_path).collect();
                self.versions(|path| paths.contains(path), limits)?
            }
            Unverified::All => self.versions(|_| true, limits)?,
        };
        let root = self.root()?;
        let mut differing = Differing::default();
        let mut captured: Vec<_> = captured.into_iter().collect();
        captured.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        for (path, captured) in captured {
            if limits.is_cancelled() {
                return Err(Error::Cancelled);
            }
            if limits.left().is_zero() {
                let command = "the verification of captured files".to_owned();
                return Err(Error::TimedOut { command, after: limits.timeout() });
            }
            match captured.mode {
                FileMode::Regular | FileMode::Executable => {}
                // Git reads what a link says, and opens nothing.
                FileMode::Link => continue,
                // A repository in the place of a file that was to be captured; it would hide what is below it.
                FileMode::Submodule => {
                    differing.gone.push(path);
                    continue;
                }
            }
            let Some(mut file) = self.opened(&root, &path)? else {
                differing.gone.push(path);
                continue;
            };
            let digest = digest(&mut file, self.options.file_bytes_max);
            if digest.is_none_or(|digest| captured.id.to_bytes() != Some(digest)) {
                self.capture_again(path, &root, &mut differing)?;
            }
        }
        let Differing { records, gone, too_large } = differing;
        let removed: Vec<PathBuf> =
            too_large.iter().map(|file| &file.path).chain(&gone).cloned().collect();
        if !removed.is_empty() {
            self.remove(&removed, lock, limits)?;
        }
        left_out.extend(too_large);
        // What is in their place is captured by the next checkpoint.
        let there =
            gone.into_iter().filter(|path| self.work_tree.join(path).symlink_metadata().is_ok());
        let reason = LeftOutReason::Unreadable;
        left_out.extend(there.map(|path| LeftOut { path, reason }));
        if records.is_empty() {
            return Ok(());
        }
        let command = self.command("update-index").args(["-z", "--add", "--replace"]);
        let command = command.arg("--index-info").input(&records);
        command.holding(lock).run(limits).map(drop)
    }

    /// Opens a file; `None` if there is none that can be read.
    fn opened(&self, root: &Root, path: &Path) -> Result<Option<File>> {
        match root.read(path) {
            Ok(file) => Ok(Some(file)),
            Err(Obstacle::System(errno @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM))) => {
                Err(Error::io("open", &self.work_tree.join(path), errno.into()))
            }
            Err(Obstacle::Path(_) | Obstacle::System(_)) => Ok(None),
        }
    }

    /// Stores the content that a file has now.
    fn capture_again(&self, path: PathBuf, root: &Root, differing: &mut Differing) -> Result<()> {
        let max = self.options.file_bytes_max;
        let read = self.opened(root, &path)?.and_then(|file| {
            let found = file.metadata().ok()?;
            let mut content = Vec::new();
            if found.len() <= max {
                file.take(max.saturating_add(1)).read_to_end(&mut content).ok()?;
            }
            Some((found.mode(), found.len().max(content.len() as u64), content))
        });
        let Some((mode, bytes, content)) = read else {
            differing.gone.push(path);
            return Ok(());
        };
        if bytes > max {
            let reason = LeftOutReason::TooLarge { bytes };
            differing.too_large.push(LeftOut { path, reason });
            return Ok(());
        }
        let mode = if mode & 0o100 == 0 { FileMode::Regular } else { FileMode::Executable };
        let id = self.store("blob", &content)?;
        let record = format!("{} {id}\t", mode.as_str());
        differing.records.extend_from_slice(record.as_bytes());
        differing.records.extend_from_slice(self.inner().join(path).as_os_str().as_bytes());
        differing.records.push(0);
        Ok(())
    }
}

/// The id that git gives the content of a file; `None` if it is larger than `max`, changes meanwhile or cannot be read.
fn digest(file: &mut File, max: u64) -> Option<[u8; 20]> {
    let length = file.metadata().ok()?.len();
    if length > max {
        return None;
    }
    let mut digest = Sha1::new();
    digest.update(format!("blob {length}\0"));
    let mut buffer = vec![0; BUFFER];
    let mut left = length;
    loop {
        let count = file.read(&mut buffer).ok()?;
        left = left.checked_sub(count as u64)?;
        if count == 0 {
            return (left == 0).then(|| digest.finalize().into());
        }
        digest.update(buffer.get(..count)?);
    }
}
