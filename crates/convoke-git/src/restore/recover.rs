//! Finishing a restore that was killed.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use super::{Recovered, Step, journal, staging_name};
use crate::checkpoint::{Checkpoints, scan_path};
use crate::diff::{FileVersion, file_mode};
use crate::{Error, Limits, ObjectId, Result};

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
        let wanted = steps.iter().map(|step| step.path.as_path()).collect();
        let now = self.versions(&wanted, limits)?;
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

    /// The versions of some paths in the last snapshot.
    pub(super) fn versions(
        &self,
        wanted: &HashSet<&Path>,
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
            if !wanted.contains(path.as_path()) {
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
}
