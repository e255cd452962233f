//! Carrying out the steps of a restore: first all content is written to a folder of its own, then it is renamed.
//!
//! So a full disk is met before any file of the user has changed.

use std::io;
use std::path::PathBuf;

use super::stage::{Durability, Stage};
use super::{Blocked, Step, staging_name};
use crate::checkpoint::Checkpoints;
use crate::diff::{FileMode, FileVersion};
use crate::root::{Execution, Obstacle, Root};
use crate::{Error, Limits, ObjectId, Result};

/// The number of files that are synced before they replace others. A sync takes milliseconds, so
/// further ones are left to the system; a power cut may then lose the last writes, which the
/// checkpoint before the restore still has.
const SYNCED_MAX: usize = 64;

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Applied {
    pub(super) written: Vec<PathBuf>,
    pub(super) removed: Vec<PathBuf>,
    pub(super) blocked: Vec<Blocked>,
}

/// When carrying out failed.
#[derive(Debug)]
pub(super) enum Interrupted {
    /// Before any file changed.
    Before(Error),
    /// With some files changed; the journal has the remaining steps.
    During(Error),
}

impl Checkpoints {
    /// Carries out all steps; the journal is written.
    pub(super) fn apply(
        &self,
        undo: &ObjectId,
        steps: &[Step],
        limits: &Limits,
    ) -> std::result::Result<Applied, Interrupted> {
        let name = staging_name(undo);
        let root = self.root().map_err(Interrupted::Before)?;
        let folder = root.make_folder(&name);
        let folder = folder.map_err(|obstacle| self.fail(&name, obstacle));
        let folder = folder.map_err(Interrupted::Before)?;
        if let Err(error) = self.stage(&folder, steps, limits) {
            // A folder that cannot be removed only blocks a restore of the same checkpoint.
            root.remove_folder(&name).ok();
            return Err(Interrupted::Before(error));
        }
        let applied = self.rename(&root, &folder, steps).map_err(Interrupted::During)?;
        let finished = root.remove_folder(&name);
        finished.map_err(|obstacle| Interrupted::During(self.fail(&name, obstacle)))?;
        Ok(applied)
    }

    pub(crate) fn root(&self) -> Result<Root> {
        Root::open(self.work_tree()).map_err(|obstacle| self.fail("", obstacle))
    }

    fn stage(&self, folder: &Root, steps: &[Step], limits: &Limits) -> Result<()> {
        let wanted: Vec<(usize, &FileVersion)> = contents(steps).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let input: String = wanted.iter().map(|(_, version)| format!("{}\n", version.id)).collect();
        let durability = match wanted.len() {
            0..=SYNCED_MAX => Durability::Synced,
            _ => Durability::Cached,
        };
        let mut stage = Stage::new(folder, wanted, durability);
        let command = self.bare("cat-file").arg("--batch").input(input.as_bytes());
        let is_read = command.stream(limits, &mut |bytes| stage.push(bytes))?;
        let result = stage.finish();
        match result {
            Ok(()) if is_read => Ok(()),
            Ok(()) => Err(Error::Cancelled),
            Err(error) => Err(error),
        }
    }

    /// Removes files, then renames the new ones into place; a blocked path does not stop the
    /// others.
    fn rename(&self, root: &Root, folder: &Root, steps: &[Step]) -> Result<Applied> {
        let mut applied = Applied::default();
        for step in steps.iter().filter(|step| step.new.is_none()) {
            let outcome = root.remove(&step.path);
            let done = &mut applied.removed;
            self.note(outcome, step, done, &mut applied.blocked)?;
        }
        for (index, step) in steps.iter().enumerate() {
            let Some(version) = &step.new else { continue };
            let execution = match version.mode {
                FileMode::Executable => Execution::Allowed,
                FileMode::Regular | FileMode::Link | FileMode::Submodule => Execution::Denied,
            };
            let outcome = if step.is_of_mode() {
                root.set_executable(&step.path, execution)
            } else {
                root.put(folder, &index.to_string(), &step.path, execution)
            };
            let done = &mut applied.written;
            self.note(outcome, step, done, &mut applied.blocked)?;
        }
        Ok(applied)
    }

    fn note(
        &self,
        outcome: std::result::Result<(), Obstacle>,
        step: &Step,
        done: &mut Vec<PathBuf>,
        blocked: &mut Vec<Blocked>,
    ) -> Result<()> {
        match outcome {
            Ok(()) => done.push(step.path.clone()),
            Err(Obstacle::Path(why)) => blocked.push(Blocked { path: step.path.clone(), why }),
            Err(obstacle) => return Err(self.fail(&step.path.to_string_lossy(), obstacle)),
        }
        Ok(())
    }

    pub(super) fn fail(&self, name: &str, obstacle: Obstacle) -> Error {
        let path = self.work_tree().join(name);
        match obstacle {
            Obstacle::Path(why) => Error::Unwritable { path, why },
            Obstacle::System(errno) => Error::io("restore", &path, io::Error::from(errno)),
        }
    }
}

/// The steps that need content, with their places.
fn contents(steps: &[Step]) -> impl Iterator<Item = (usize, &FileVersion)> {
    let steps = steps.iter().enumerate().filter(|(_, step)| !step.is_of_mode());
    steps.filter_map(|(index, step)| Some((index, step.new.as_ref()?)))
}

impl Step {
    /// Whether only the permission to execute changes.
    pub(super) fn is_of_mode(&self) -> bool {
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => {
                let is_file = |mode| matches!(mode, FileMode::Regular | FileMode::Executable);
                old.id == new.id && is_file(old.mode) && is_file(new.mode)
            }
            _ => false,
        }
    }
}
