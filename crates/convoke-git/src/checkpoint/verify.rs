//! Verifies what git captured.
//!
//! Git opens files by their paths. If an agent puts a link in the place of a file or a folder at that moment, git
//! captures what the link leads to, which may be a file that agents must not read, and a restore would show it to them.
//! So every captured file is read again from the open work tree, without following a link. An index that was written
//! and not verified, because the process was killed, is deleted by the next capture.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha1::{Digest, Sha1};

use super::index::Index;
use super::{Checkpoints, LeftOut, LeftOutReason};
use crate::diff::FileMode;
use crate::root::{Obstacle, Root};
use crate::{Error, Limits, ObjectId, Result};

/// A larger index is read through git.
const INDEX_BYTES_MAX: u64 = 64 << 20;

/// How much of a file is read at once.
const BUFFER: usize = 64 << 10;

/// What has to be captured again.
#[derive(Debug, Default)]
struct Differing {
    /// The records for `git update-index --index-info`.
    records: Vec<u8>,
    /// Files that no longer are files.
    gone: Vec<PathBuf>,
}

impl Checkpoints {
    /// Captures files again of which git captured something else than what the work tree has.
    pub(super) fn verify(
        &self,
        paths: &[PathBuf],
        lock: &File,
        left_out: &mut BTreeSet<LeftOut>,
        limits: &Limits,
    ) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let captured = self.captured(paths, limits)?;
        let root = Root::open(&self.work_tree).map_err(|why| unopened(&self.work_tree, why))?;
        let mut differing = Differing::default();
        for path in paths {
            if limits.is_cancelled() {
                return Err(Error::Cancelled);
            }
            if limits.left().is_zero() {
                let command = "the verification of captured files".to_owned();
                return Err(Error::TimedOut { command, after: limits.timeout() });
            }
            let Some(id) = captured.get(&self.in_index(path)) else { continue };
            let Ok(mut file) = root.read(path) else {
                differing.gone.push(path.clone());
                continue;
            };
            if digest(&mut file).is_none_or(|digest| digest != *id) {
                self.capture_again(path, &root, left_out, &mut differing)?;
            }
        }
        if !differing.gone.is_empty() {
            self.remove(&differing.gone, lock, limits)?;
            // What is in their place is captured by the next checkpoint.
            let there = differing.gone.into_iter();
            let there = there.filter(|path| self.work_tree.join(path).symlink_metadata().is_ok());
            let reason = LeftOutReason::Unreadable;
            left_out.extend(there.map(|path| LeftOut { path, reason }));
        }
        if differing.records.is_empty() {
            return Ok(());
        }
        let command = self.command("update-index").args(["-z", "--add", "--replace"]);
        let command = command.arg("--index-info").input(&differing.records);
        command.holding(lock).run(limits).map(drop)
    }

    /// Stores the content that a file has now.
    fn capture_again(
        &self,
        path: &Path,
        root: &Root,
        left_out: &mut BTreeSet<LeftOut>,
        differing: &mut Differing,
    ) -> Result<()> {
        let mut content = Vec::new();
        let max = self.options.file_bytes_max;
        let read = root.read(path).ok().and_then(|file| {
            let mode = file.metadata().ok()?.mode();
            file.take(max.saturating_add(1)).read_to_end(&mut content).ok()?;
            Some(mode)
        });
        let Some(mode) = read else {
            differing.gone.push(path.to_owned());
            return Ok(());
        };
        let bytes = content.len() as u64;
        if bytes > max {
            let reason = LeftOutReason::TooLarge { bytes };
            left_out.insert(LeftOut { path: path.to_owned(), reason });
            differing.gone.push(path.to_owned());
            return Ok(());
        }
        let mode = if mode & 0o100 == 0 { FileMode::Regular } else { FileMode::Executable };
        let id = self.store("blob", &content)?;
        differing.records.extend_from_slice(format!("{} {id}\t", mode.as_str()).as_bytes());
        differing.records.extend(self.in_index(path));
        differing.records.push(0);
        Ok(())
    }

    /// The ids of the regular files among these that the index has, by their paths in it.
    fn captured(&self, paths: &[PathBuf], limits: &Limits) -> Result<HashMap<Vec<u8>, [u8; 20]>> {
        let wanted: HashSet<Vec<u8>> = paths.iter().map(|path| self.in_index(path)).collect();
        let file = self.file("index");
        let is_small = fs::metadata(&file).is_ok_and(|it| it.len() <= INDEX_BYTES_MAX);
        let bytes = if is_small { fs::read(&file).unwrap_or_default() } else { Vec::new() };
        if let Some(index) = Index::parse(&bytes) {
            let files = index.entries.iter().filter(|entry| entry.mode & 0o170_000 == 0o100_000);
            let wanted = files.filter(|entry| wanted.contains(entry.path));
            let ids = wanted.map(|entry| Some((entry.path.to_vec(), entry.id.try_into().ok()?)));
            return Ok(ids.flatten().collect());
        }
        let command = self.command("ls-files").args(["-z", "--stage", "--full-name"]);
        let output = command.run(limits)?;
        let mut found = HashMap::new();
        for record in output.stdout.split(|byte| *byte == 0) {
            // `100644 ID 0⇥path`
            let Some(at) = record.iter().position(|byte| *byte == b'\t') else { continue };
            let (fields, path) = record.split_at(at);
            let path = path.get(1..).unwrap_or_default();
            let id = fields.split(|byte| *byte == b' ').nth(1).map(ObjectId::read).transpose()?;
            let id = id.and_then(|id| id.to_bytes());
            if let Some(id) = id.filter(|_| fields.starts_with(b"100") && wanted.contains(path)) {
                found.insert(path.to_vec(), id);
            }
        }
        Ok(found)
    }

    /// The path of a file in the index, which begins at the root of the repository around the work tree.
    fn in_index(&self, path: &Path) -> Vec<u8> {
        let inner = self.work_tree.strip_prefix(&self.top).unwrap_or(Path::new(""));
        inner.join(path).into_os_string().as_bytes().to_vec()
    }
}

/// The id that git gives the content of a file; `None` if it changes meanwhile or cannot be read.
fn digest(file: &mut File) -> Option<[u8; 20]> {
    let length = file.metadata().ok()?.len();
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

fn unopened(path: &Path, why: Obstacle) -> Error {
    let source = match why {
        Obstacle::Path(text) => std::io::Error::other(text),
        Obstacle::System(errno) => errno.into(),
    };
    Error::io("open", path, source)
}
