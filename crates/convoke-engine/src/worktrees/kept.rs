//! Lists work trees, removes their folders, and restores what was removed.

use std::path::PathBuf;
use std::sync::Arc;

use convoke_core::files::OwnWorktree;
use convoke_core::id::SessionId;
use convoke_core::notice::FilesEvent;
use convoke_git::{
    Branch, CheckpointKind, Checkpoints, Git, Guard, Limits, Name, NewWorktree, Scope, Worktree,
    WorktreeState,
};
use convoke_store::{Project, StoredSession, Window};

use super::finish::{FinishOrder, FinishWay, LostFiles, OnConflict};
use super::make::work_trees;
use super::repository::Repository;
use super::{SessionWorktree, WorktreeError, Worktrees};
use crate::changes::ChangesError;
use crate::error::Result;
use crate::session::{self, HeldProcess};
use crate::sessions::Sessions;
use crate::view::SessionView;

/// A session's work tree in a list.
#[derive(Debug, Clone)]
pub struct ListedWorktree {
    /// The session.
    pub session: StoredSession,
    /// Its project.
    pub project: Option<Project>,
    /// The work tree.
    pub own: OwnWorktree,
    /// Whether it is there.
    pub status: WorktreeStatus,
}

/// Whether a work tree is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorktreeStatus {
    /// It is there.
    Ready,
    /// Its folder was deleted by hand.
    Missing,
    /// Convoke removed it, after a snapshot.
    Removed,
}

impl Worktrees {
    /// Lists the work trees of all sessions, the newest session first.
    pub async fn list(&self) -> Result<Vec<ListedWorktree>> {
        let store = &self.sessions.store;
        let window = Window::first(Window::LIMIT_MAX);
        let mut listed = Vec::new();
        for session in store.sessions_with_worktree(window).await? {
            let Some(own) = session.worktree.clone() else { continue };
            let project = store.project(session.project_id).await?;
            let status = match &own.removed {
                Some(_) => WorktreeStatus::Removed,
                None if PathBuf::from(&own.path).exists() => WorktreeStatus::Ready,
                None => WorktreeStatus::Missing,
            };
            listed.push(ListedWorktree { session, project, own, status });
        }
        Ok(listed)
    }

    /// Removes the folder of a session's work tree after a snapshot; its branch stays as it is.
    pub async fn remove(&self, id: SessionId, lost: LostFiles) -> Result<SessionView> {
        let (way, conflicts) = (FinishWay::Remove, OnConflict::Tell);
        // Without conflicts no agent is prompted.
        let order = FinishOrder { way, message: None, lost, conflicts, by: None };
        Ok(self.finish(id, order).await?.session)
    }

    /// Makes a removed or missing work tree again, with its branch and the files of its last snapshot.
    pub async fn restore(&self, id: SessionId) -> Result<SessionView> {
        let place = self.place(id).await?;
        if place.own.removed.is_none() && place.path().exists() {
            return Err(WorktreeError::NotRemoved.into());
        }
        let _held = session::hold(&self.sessions, id, HeldProcess::Stop).await?;
        make_again(&self.sessions, place.clone()).await?;
        let own = OwnWorktree { removed: None, ..place.own };
        let path = own.path.clone();
        self.record(id, own).await?;
        self.notice(id, FilesEvent::WorktreeRestored { path }).await;
        self.sessions.get(id).await
    }
}

/// Creates a removed or missing work tree with its branch and the files of its last snapshot. One that exists already, as
/// after an interrupted call, gets the files.
pub(super) async fn make_again(sessions: &Arc<Sessions>, place: SessionWorktree) -> Result<()> {
    let folder = work_trees(sessions, &place.project)?;
    let repository = Repository::of(sessions, &place.project.path, &folder);
    let repository = repository.map_err(ChangesError::from)?;
    let project = place.project.id;
    let restorer = Restorer { sessions: Arc::clone(sessions), repository, place };
    let restored = sessions.snapshots.run(project, move |git, limits| restorer.run(git, limits));
    Ok(restored.await??)
}

/// What the blocking part needs.
struct Restorer {
    sessions: Arc<Sessions>,
    repository: Repository,
    place: SessionWorktree,
}

impl Restorer {
    fn run(
        &self,
        git: &Git,
        limits: &Limits,
    ) -> std::result::Result<std::result::Result<(), WorktreeError>, ChangesError> {
        let (project, path) = (&self.place.project, self.place.path());
        let name = self.place.own.branch.clone();
        let main = self.repository.open(git, &project.path, limits)?;
        main.prune_worktrees(limits)?;
        let branch = match main.resolve(&format!("refs/heads/{name}"), limits)? {
            Some(_) => Branch::Existing { name },
            None => {
                let known = self.place.own.removed.as_ref().and_then(|it| it.commit.clone());
                let kept = main.kept_commit(&name, limits)?.map(|commit| commit.to_string());
                let Some(from) = known.or(kept) else {
                    return Ok(Err(WorktreeError::NothingKept { branch: name }));
                };
                Branch::New { name, from }
            }
        };
        let is_ready = |it: &Worktree| it.path == path && it.state == WorktreeState::Ready;
        if !main.worktrees(limits)?.iter().any(is_ready) {
            main.add_worktree(&NewWorktree { path: path.clone(), branch }, limits)?;
        }
        main.copy_included(&path, &self.sessions.snapshots.hidden_paths(), limits)?;
        let checkpoints = self.sessions.snapshots.checkpoints(git, project.id, &path, limits)?;
        let names = checkpoints.list(&self.place.id().to_string())?;
        if let Some(to) = self.newest(&checkpoints, &names, limits)? {
            // Not the next number: a call that is interrupted here is repeated with the same snapshot.
            let undo = Name::new(&self.place.id().to_string(), CheckpointKind::Removal(0))?;
            checkpoints.restore(&to, Scope::All, Guard::Force, &undo, limits)?;
        }
        Ok(Ok(()))
    }

    /// The snapshot before the removal; of a folder that was deleted by hand, the last checkpoint.
    fn newest(
        &self,
        checkpoints: &Checkpoints,
        names: &[Name],
        limits: &Limits,
    ) -> convoke_git::Result<Option<convoke_git::Checkpoint>> {
        let is_removed = self.place.own.removed.is_some();
        let rank = |name: &&Name| match (name.kind(), is_removed) {
            (CheckpointKind::Removal(number), true) => Some(number),
            (CheckpointKind::After(turn), false) => Some(turn),
            (
                CheckpointKind::Removal(_)
                | CheckpointKind::Before(_)
                | CheckpointKind::Late(_)
                | CheckpointKind::After(_)
                | CheckpointKind::Restore(_),
                _,
            ) => None,
        };
        match names.iter().filter(|name| rank(name).is_some()).max_by_key(rank) {
            Some(name) => checkpoints.find(name, limits),
            None => Ok(None),
        }
    }
}
