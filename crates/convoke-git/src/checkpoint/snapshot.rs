//! Capturing the files of a work tree as a tree, and keeping it under a name.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::scan::input_of;
use super::state::{Identity, State};
use super::verify::Unverified;
use super::{Checkpoints, LeftOut, LeftOutReason, Name, id_of, key, lock};
use crate::{Error, Limits, ObjectId, Result};

/// A snapshot of the files of a work tree. It has no name, so `collect` removes it after a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// All captured files.
    pub tree: ObjectId,
    /// What was not captured, in order.
    pub left_out: Vec<LeftOut>,
}

/// A snapshot with a name, under which it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its name.
    pub name: Name,
    /// The commit that holds it; the same as that of the checkpoint before when nothing changed.
    pub commit: ObjectId,
    /// All captured files.
    pub tree: ObjectId,
    /// What was not captured, in order.
    pub left_out: Vec<LeftOut>,
}

impl Checkpoints {
    /// Captures the files as they are now.
    pub fn snapshot(&self, limits: &Limits) -> Result<Snapshot> {
        let lock = self.lock(limits)?;
        self.snapshot_locked(&lock, limits)
    }

    /// Captures the files as they are now and keeps them under a name, which may exist already.
    pub fn checkpoint(&self, name: &Name, limits: &Limits) -> Result<Checkpoint> {
        let lock = self.lock(limits)?;
        let snapshot = self.snapshot_locked(&lock, limits)?;
        match self.keep(name, snapshot, limits) {
            // The files are unchanged, but their stored objects are lost.
            Err(Error::Failed { .. }) => {
                self.forget_index();
                let snapshot = self.capture(&lock, limits)?;
                self.keep(name, snapshot, limits)
            }
            other => other,
        }
    }

    /// Waits for other processes that use Convoke's index, and removes the leftovers of a killed
    /// one.
    pub(crate) fn lock(&self, limits: &Limits) -> Result<File> {
        let lock = lock::take(&self.file("lock"), limits)?;
        lock::remove_stale(&self.file("index"))?;
        Ok(lock)
    }

    /// Captures the files; the caller holds the lock.
    pub(crate) fn snapshot_locked(&self, lock: &File, limits: &Limits) -> Result<Snapshot> {
        match self.capture(lock, limits) {
            // The index is damaged, or its objects were lost in a power cut: everything is captured
            // again.
            Err(Error::Failed { .. }) => {
                self.forget_index();
                self.capture(lock, limits)
            }
            other => other,
        }
    }

    fn forget_index(&self) {
        for file in [self.file("state"), self.file("index"), self.file("index.lock")] {
            // If a file cannot be removed, the second attempt fails with the reason.
            fs::remove_file(file).ok();
        }
    }

    fn capture(&self, lock: &File, limits: &Limits) -> Result<Snapshot> {
        let index = self.file("index");
        let mut state = State::read(&self.file("state"));
        // Another one was written by a capture that was cut off before all of its files were verified.
        let is_verified = state.index == Identity::read(&index);
        if !is_verified && !self.is_index_inside() {
            self.forget_index();
            state = State::default();
        }
        let tracked = state.tracked.as_ref().filter(|_| is_verified);
        let mut scan = self.scan(tracked, limits)?;
        if !scan.remove.is_empty() {
            self.remove(&scan.remove, lock, limits)?;
        }
        self.add(&scan.add, lock, &mut scan.left_out, limits)?;
        let unverified = if is_verified { Unverified::These(&scan.add) } else { Unverified::All };
        self.verify(unverified, lock, &mut scan.left_out, limits)?;
        let left_out = scan.left_out.into_iter().collect();
        let is_same = scan.add.is_empty() && scan.remove.is_empty();
        if let Some(tree) = state.tree.clone().filter(|_| is_same && state.index.is_some())
            && state.index == Identity::read(&index)
            && state.tracked == scan.tracked
        {
            return Ok(Snapshot { tree, left_out });
        }
        let tree = self.write_tree(lock, limits)?;
        state.index = Identity::read(&index);
        state.tree = Some(tree.clone());
        state.tracked = scan.tracked;
        state.write(&self.file("state"))?;
        Ok(Snapshot { tree, left_out })
    }

    pub(super) fn remove(&self, paths: &[PathBuf], lock: &File, limits: &Limits) -> Result<()> {
        let input = input_of(paths);
        let command = self.command("update-index").args(["-z", "--force-remove", "--stdin"]);
        command.input(&input).holding(lock).run(limits).map(drop)
    }

    /// Captures the content of files; those that fail are found by halving, since git names none and adds none.
    fn add(
        &self,
        paths: &[PathBuf],
        lock: &File,
        left_out: &mut BTreeSet<LeftOut>,
        limits: &Limits,
    ) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        let input = input_of(paths);
        let command = self.command("update-index");
        // Written although unchanged: an index younger than its files need not read them again the next time.
        let command = command.args(["-z", "--add", "--replace", "--force-write-index", "--stdin"]);
        let error = match command.input(&input).holding(lock).run(limits) {
            Ok(_) => return Ok(()),
            Err(error @ Error::Failed { .. }) => error,
            Err(error) => return Err(error),
        };
        lock::remove_stale(&self.file("index"))?;
        if let [path] = paths {
            if is_of_repository(&error) {
                return Err(error);
            }
            // Fails itself when not the path but the index is at fault.
            self.remove(paths, lock, limits)?;
            if self.work_tree.join(path).symlink_metadata().is_ok() {
                left_out.insert(LeftOut { path: path.clone(), reason: LeftOutReason::Unreadable });
            }
            return Ok(());
        }
        let (first, second) = paths.split_at(paths.len() / 2);
        self.add(first, lock, left_out, limits)?;
        self.add(second, lock, left_out, limits)
    }

    fn write_tree(&self, lock: &File, limits: &Limits) -> Result<ObjectId> {
        let inner = self.inner();
        if let Some(tree) = self.write_few_trees(inner) {
            return Ok(tree);
        }
        let command = self.command("write-tree").holding(lock);
        if inner.as_os_str().is_empty() {
            return id_of(command, limits);
        }
        let mut prefix = std::ffi::OsString::from("--prefix=");
        prefix.push(inner);
        prefix.push("/");
        match id_of(command.arg(prefix), limits) {
            // Git has no tree for a folder without files.
            Err(Error::Failed { message, .. }) if message.contains("not found") => {
                Ok(ObjectId::empty_tree())
            }
            other => other,
        }
    }

    /// Creates a ref for a snapshot, with a new commit unless the last one has the same contents.
    pub(crate) fn keep(
        &self,
        name: &Name,
        snapshot: Snapshot,
        limits: &Limits,
    ) -> Result<Checkpoint> {
        let Snapshot { tree, left_out } = snapshot;
        let lines: String = left_out.iter().map(LeftOut::to_line).collect();
        let message = format!("checkpoint\n\n{lines}");
        let holds = key(Path::new(&format!("{tree} {message}")));
        let mut state = State::read(&self.file("state"));
        let known = state.commit.clone().filter(|_| state.holds.as_ref() == Some(&holds));
        if let Some(commit) = known
            && self.point(&name.to_ref(), &commit, limits).is_ok()
        {
            return Ok(Checkpoint { name: name.clone(), commit, tree, left_out });
        }
        let commit = self.commit(&tree, &message, limits)?;
        self.point(&name.to_ref(), &commit, limits)?;
        state.commit = Some(commit.clone());
        state.holds = Some(holds);
        state.write(&self.file("state"))?;
        Ok(Checkpoint { name: name.clone(), commit, tree, left_out })
    }
}

/// Whether our repository could not be written, whatever the path.
fn is_of_repository(error: &Error) -> bool {
    let words = ["insufficient permission for adding", "unable to write", "unable to create"];
    let Error::Failed { message, .. } = error else { return false };
    words.iter().any(|words| message.contains(words))
}
