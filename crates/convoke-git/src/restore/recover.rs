//! Finishing a restore that was killed.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::{Recovered, Step, journal, staging_name};
use crate::checkpoint::Checkpoints;
use crate::{Limits, Result};

impl Checkpoints {
    /// Finishes a restore that was interrupted; `None` if there was none. Called once when the
    /// program starts.
    ///
    /// Files that were changed after the interruption are left alone.
    pub fn recover(&self, limits: &Limits) -> Result<Option<Recovered>> {
        let lock = self.lock(limits)?;
        self.recover_locked(&lock, limits)
    }

    /// The same; the caller holds the lock.
    pub(super) fn recover_locked(&self, lock: &File, limits: &Limits) -> Result<Option<Recovered>> {
        let path = self.file("restore");
        if !path.exists() {
            return Ok(None);
        }
        let Some((undo, steps)) = journal::read(&path)? else {
            journal::remove(&path)?;
            return Ok(None);
        };
        let name = staging_name(&undo);
        let removed = self.root()?.remove_folder(&name);
        removed.map_err(|obstacle| self.fail(&name, obstacle))?;
        let (open, mut left) = self.open_steps(steps, lock, limits)?;
        let finished = if open.is_empty() {
            Vec::new()
        } else {
            let applied =
                self.apply(&undo, &open, limits).map_err(|interrupted| match interrupted {
                    super::apply::Interrupted::Before(error)
                    | super::apply::Interrupted::During(error) => error,
                })?;
            left.extend(applied.blocked.into_iter().map(|blocked| blocked.path));
            applied.removed.into_iter().chain(applied.written).collect()
        };
        journal::remove(&path)?;
        Ok(Some(Recovered { undo, finished, left }))
    }

    /// The remaining steps, and the files that another program has changed.
    fn open_steps(
        &self,
        steps: Vec<Step>,
        lock: &File,
        limits: &Limits,
    ) -> Result<(Vec<Step>, Vec<PathBuf>)> {
        self.snapshot_locked(lock, limits)?;
        let wanted: HashSet<&Path> = steps.iter().map(|step| step.path.as_path()).collect();
        let now = self.versions(|path| wanted.contains(path), limits)?;
        let (mut open, mut left) = (Vec::new(), Vec::new());
        for step in steps {
            let current = now.get(&step.path);
            if current == step.new.as_ref() {
                continue;
            }
            if current == step.old.as_ref() { open.push(step) } else { left.push(step.path) }
        }
        Ok((open, left))
    }
}
