//! What sessions changed in their projects: lists, diffs, restores, and the upkeep of checkpoints.
//!
//! `session/capture.rs` makes the checkpoints before and after turns. This module writes to a
//! conversation only through the session's task.

mod error;
pub(crate) mod numbers;
mod old_side;
mod range;
mod restore;
mod upkeep;

use std::path::PathBuf;
use std::sync::Arc;

use convoke_core::id::{ProjectId, SessionId};
use convoke_core::message::Seq;
use convoke_core::turn::TurnNumbers;
use convoke_git::{Change as FileChange, Checkpoints, FileDiff, LeftOut, Limits};
use convoke_store::StoredSession;

use crate::error::{Error, Result};
use crate::session;
use crate::sessions::Sessions;
use crate::settings::Checkpointing;

pub use error::ChangesError;
pub(crate) use old_side::{Folder, OldSide, old_side};
pub use range::DiffRange;
use range::Range;
pub(crate) use restore::to_checkpoint;
pub use restore::{Restoration, RestoreGuard};

/// Files that are listed; a longer list is cut off.
const FILES_MAX: usize = 10_000;
/// How much of one file's diff is read.
const DIFF_BYTES_MAX: usize = 2 << 20;

/// The changes of all sessions. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Changes {
    sessions: Arc<Sessions>,
}

/// What a session, or one of its turns, changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionChanges {
    /// The turns that have checkpoints, by the places of their prompts.
    pub turns: Vec<Seq>,
    /// The number of each of these turns among all turns of the session, from 1.
    pub numbers: Vec<u64>,
    /// The files, in order of their paths.
    pub files: Vec<FileChange>,
    /// Whether these are all; if not, the counts of lines are unknown.
    pub is_complete: bool,
    /// Files that the checkpoints do not hold.
    pub left_out: Vec<LeftOut>,
    /// Files that were changed between the turns: `files` does not have these changes.
    pub between: Vec<PathBuf>,
}

/// One changed file with its diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The file.
    pub change: FileChange,
    /// Its lines.
    pub diff: FileDiff,
}

/// Where the files of a session are.
#[derive(Debug, Clone)]
struct SessionFiles {
    id: SessionId,
    project: ProjectId,
    work_tree: PathBuf,
    /// The kind of folder in which its turns worked.
    folder: Folder,
    /// The turn that is running.
    running: Option<Seq>,
    /// Whether it had a work tree of its own, which was removed; `work_tree` is the project's folder then.
    is_removed: bool,
}

impl Changes {
    pub(crate) fn new(sessions: &Arc<Sessions>) -> Self {
        Self { sessions: Arc::clone(sessions) }
    }

    /// Lists what a session changed, or one of its turns.
    ///
    /// A session's changes are those that were made during its turns and by its restores; while a turn runs, to the
    /// files as they are now.
    pub async fn list(&self, id: SessionId, range: DiffRange) -> Result<SessionChanges> {
        let place = self.place(id).await?;
        let (project, work_tree) = (place.project, place.work_tree.clone());
        let all = TurnNumbers::new(self.sessions.store.prompt_seqs(id).await?);
        let listed =
            self.sessions.snapshots.with(project, work_tree, move |checkpoints, limits| {
                let found = range::find(checkpoints, &place, range, limits)?;
                let found = match found {
                    Ok(found) => found,
                    Err(refusal) => return Ok(Err(refusal)),
                };
                let list = checkpoints.changes(&found.from, &found.to, FILES_MAX, limits)?;
                Ok(Ok(SessionChanges {
                    numbers: found.turns.iter().filter_map(|turn| all.number(*turn)).collect(),
                    turns: found.turns,
                    files: list.changes,
                    is_complete: list.is_complete,
                    left_out: found.left_out,
                    between: found.between,
                }))
            });
        Ok(listed.await??)
    }

    /// The diff of one file, by its path as it is shown.
    pub async fn file(&self, id: SessionId, range: DiffRange, path: String) -> Result<ChangedFile> {
        let place = self.place(id).await?;
        let (project, work_tree) = (place.project, place.work_tree.clone());
        let found = self.sessions.snapshots.with(project, work_tree, move |checkpoints, limits| {
            let found = match range::find(checkpoints, &place, range, limits)? {
                Ok(found) => found,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let Some(change) = change_at(checkpoints, &found, &path, limits)? else {
                return Ok(Err(ChangesError::Unchanged { path }));
            };
            let diff =
                checkpoints.file_diff(&found.from, &found.to, &change, DIFF_BYTES_MAX, limits)?;
            Ok(Ok(ChangedFile { change, diff }))
        });
        Ok(found.await??)
    }

    /// Where the files of a session are; fails when checkpoints are switched off.
    async fn place(&self, id: SessionId) -> Result<SessionFiles> {
        if self.sessions.settings.checkpoints == Checkpointing::Off {
            return Err(ChangesError::Off.into());
        }
        let stored = self.stored(id).await?;
        let work_tree = self.work_tree(&stored).await?;
        let running = self.sessions.live(id).running.map(|turn| turn.seq);
        if running.is_none() {
            // What the last turn changed is not captured yet when its end is reported.
            session::captured(&self.sessions, id).await?;
        }
        let folder = Folder::of(&stored);
        let is_removed = stored.worktree.is_some_and(|own| own.removed.is_some());
        Ok(SessionFiles { id, project: stored.project_id, work_tree, folder, running, is_removed })
    }

    async fn stored(&self, id: SessionId) -> Result<StoredSession> {
        let found = self.sessions.store.session(id).await?;
        found.ok_or_else(|| Error::UnknownSession { text: id.to_string() })
    }

    /// The folder in which a session works.
    async fn work_tree(&self, stored: &StoredSession) -> Result<PathBuf> {
        // Without the folder, its checkpoints can still be compared from anywhere.
        if let Some(own) = stored.worktree.as_ref().filter(|own| own.removed.is_none()) {
            return Ok(PathBuf::from(&own.path));
        }
        let project = self.sessions.store.project(stored.project_id).await?;
        let unknown = || Error::UnknownProject { text: stored.project_id.to_string() };
        Ok(project.ok_or_else(unknown)?.path)
    }
}

/// What differs at a path as it is shown.
fn change_at(
    checkpoints: &Checkpoints,
    range: &Range,
    path: &str,
    limits: &Limits,
) -> convoke_git::Result<Option<FileChange>> {
    // A path that is no text is shown with replacement characters, so git cannot be asked for it.
    if !path.contains(char::REPLACEMENT_CHARACTER) {
        return checkpoints.change(&range.from, &range.to, path, limits);
    }
    let list = checkpoints.changes(&range.from, &range.to, FILES_MAX, limits)?;
    Ok(list.changes.into_iter().find(|it| it.path.to_string_lossy() == path))
}
