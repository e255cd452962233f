//! The work tree of a session that moves: its branch is packed, it is created where the session arrives, and removed
//! where the session was after that.
//!
//! Each machine records its own work tree in the journal before the session may belong to another machine, so that it is
//! removed there after a crash, too.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_core::files::OwnWorktree;
use convoke_core::id::{ProjectId, SessionId};
use convoke_git::{CarriedBranch, CheckpointKind, Discard, Name, WorktreeState};
use convoke_store::{Project, StoredSession};

use super::finish::last_removal;
use super::kept::make_again;
use super::make::{own_branch, work_trees};
use super::note::Note;
use super::repository::Repository;
use super::{SessionWorktree, WorktreeError};
use crate::changes::ChangesError;
use crate::error::{Error, Result};
use crate::session::start::explain;
use crate::sessions::Sessions;

/// A work tree that could not be removed after its session had moved to another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftWorktree {
    /// The folder.
    pub path: String,
    /// Why it remains.
    pub why: String,
}

/// Writes the commits of a work tree's branch into a file; `None` if that takes more than `bytes_max`.
pub(crate) async fn pack_branch(
    shared: &Arc<Sessions>,
    project: &Project,
    workspace: &Path,
    to: File,
    bytes_max: u64,
) -> Result<Option<CarriedBranch>> {
    let (repository, workspace) = (repository(shared, project)?, workspace.to_owned());
    let packed = shared.snapshots.run(project.id, move |git, limits| {
        Ok(repository.open(git, &workspace, limits)?.pack_branch(&to, bytes_max, limits)?)
    });
    Ok(packed.await?)
}

/// Creates the work tree of a session that has moved here, from the commits in a file and its last snapshot. An
/// interrupted call can be repeated.
pub(crate) async fn make_moved(
    shared: &Arc<Sessions>,
    stored: &StoredSession,
    own: OwnWorktree,
    project: &Project,
    (carried, from): (CarriedBranch, File),
) -> Result<()> {
    let (repository, path) = (repository(shared, project)?, project.path.clone());
    let branch = own.branch.clone();
    let unpacked = shared.snapshots.run(project.id, move |git, limits| {
        let main = repository.open(git, &path, limits)?;
        Ok(main.unpack_branch(&branch, &carried, &from, limits)?)
    });
    unpacked.await?;
    make_again(shared, SessionWorktree { stored: stored.clone(), own, project: project.clone() })
        .await
}

/// Records that this work tree is removed here once its session has arrived on another machine.
pub(crate) fn write_note(
    shared: &Sessions,
    session: SessionId,
    project: ProjectId,
    worktree: OwnWorktree,
    tip: String,
) -> std::result::Result<(), WorktreeError> {
    Note::Leave { project, worktree, tip }.write(&shared.host.home, session)
}

/// Removes that record of a session which is here.
pub(crate) fn remove_note(shared: &Sessions, session: SessionId) {
    if noted(shared, session).is_some() {
        Note::remove(&shared.host.home, session);
    }
}

/// A work tree in the journal.
struct Noted {
    session: SessionId,
    project: ProjectId,
    own: OwnWorktree,
    tip: String,
}

fn noted(shared: &Sessions, session: SessionId) -> Option<Noted> {
    all_noted(shared).into_iter().find(|noted| noted.session == session)
}

fn all_noted(shared: &Sessions) -> Vec<Noted> {
    let notes = Note::all(&shared.host.home).into_iter();
    let left = notes.filter_map(|(session, note)| match note {
        Note::Leave { project, worktree, tip } => {
            Some(Noted { session, project, own: worktree, tip })
        }
        Note::Make { .. } | Note::Finish(_) => None,
    });
    left.collect()
}

/// Removes the work tree of a session that has arrived on another machine, and the branch that Convoke made for it.
/// Returns it if that cannot be done.
pub(crate) async fn remove_left(
    shared: &Arc<Sessions>,
    session: SessionId,
) -> Result<Option<LeftWorktree>> {
    // A session that arrives may create a work tree with the same branch.
    let _arriving = shared.arriving.acquire().await.map_err(|_| Error::Stopping)?;
    let Some(noted) = noted(shared, session) else { return Ok(None) };
    let store = &shared.store;
    // A session that is not in this database may be in another one that this home was used with.
    let is_elsewhere = store.session(session).await?.is_some_and(|it| it.node != store.node());
    if !is_elsewhere || store.is_moving(session).await? {
        return Ok(None);
    }
    let path = noted.own.path.clone();
    match remove(shared, noted).await {
        Ok(()) => Ok(None),
        Err(error) => {
            let why = explain(&error);
            tracing::warn!(session.id = %session, "the work tree {path} of a session that moved is not removed: {why}");
            Ok(Some(LeftWorktree { path, why }))
        }
    }
}

/// The same for all sessions; those in `remaining` are skipped, and failures are added to it.
pub(crate) async fn remove_all_left(shared: &Arc<Sessions>, remaining: &mut HashSet<SessionId>) {
    for Noted { session, .. } in all_noted(shared) {
        if remaining.contains(&session) {
            continue;
        }
        match remove_left(shared, session).await {
            Ok(None) => {}
            Ok(Some(_)) => {
                remaining.insert(session);
            }
            Err(error) => {
                tracing::warn!(session.id = %session, "a work tree is not removed yet: {error}");
            }
        }
    }
}

/// Removes the work tree that a session left here and that is in the way when it comes back. The caller holds
/// `arriving`.
pub(crate) async fn remove_earlier(shared: &Arc<Sessions>, session: SessionId) -> Result<()> {
    match noted(shared, session) {
        Some(noted) => remove(shared, noted).await,
        None => Ok(()),
    }
}

/// Removes a work tree in whatever state it is, unless it has files that no checkpoint holds.
async fn remove(shared: &Arc<Sessions>, noted: Noted) -> Result<()> {
    let Noted { session, project, own, tip } = noted;
    let unknown = || Error::UnknownProject { text: project.to_string() };
    let project = shared.store.project(project).await?.ok_or_else(unknown)?;
    let folder = work_trees(shared, &project)?;
    let (repository, snapshots) = (repository(shared, &project)?, Arc::clone(&shared.snapshots));
    let removed = shared.snapshots.run(project.id, move |git, limits| {
        let path = PathBuf::from(&own.path);
        let main = repository.open(git, &project.path, limits)?;
        main.wait_for_worktree(&path, limits)?;
        main.recover_worktrees(&folder, limits)?;
        let found = main.worktrees(limits)?.into_iter().find(|it| it.path == path);
        match found.map(|found| found.state) {
            Some(WorktreeState::Gone) if !path.exists() => main.prune_worktrees(limits)?,
            Some(WorktreeState::Ready | WorktreeState::Locked | WorktreeState::Gone) => {
                let checkpoints = snapshots.checkpoints(git, project.id, &path, limits)?;
                // Not a later number than that of the transferred checkpoint: the session has the next one elsewhere.
                let number = last_removal(&checkpoints, session)?;
                let name = Name::new(&session.to_string(), CheckpointKind::Removal(number))?;
                main.remove_worktree(&checkpoints, &name, Discard::CapturedOnly, limits)?;
                checkpoints.forget_work_tree(limits)?;
            }
            Some(WorktreeState::HalfMade | WorktreeState::Bare) | None => {}
        }
        // A branch with other commits is not the one that moved, or has been used since.
        let last = main.resolve(&format!("refs/heads/{}", own.branch), limits)?;
        if own.branch == own_branch(session)
            && let Some(last) = last.filter(|last| last.as_str() == tip)
        {
            main.delete_branch(&own.branch, &last, limits)?;
        }
        Ok(())
    });
    removed.await?;
    Note::remove(&shared.host.home, session);
    Ok(())
}

fn repository(shared: &Sessions, project: &Project) -> Result<Repository> {
    let folder = work_trees(shared, project)?;
    Ok(Repository::of(shared, &project.path, &folder).map_err(ChangesError::from)?)
}
