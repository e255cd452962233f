//! Completes or undoes the operations on work trees that a killed daemon left, and reports them in
//! their sessions.

use std::sync::Arc;

use convoke_core::files::OwnWorktree;
use convoke_core::id::{ProjectId, SessionId};
use convoke_core::notice::FilesEvent;

use super::finish::{Done, FinishOrder, next_removal};
use super::make::{self, work_trees};
use super::note::Note;
use super::repository::Repository;
use super::{SessionWorktree, Worktrees, moved};
use crate::changes::ChangesError;
use crate::error::Result;
use crate::session::start::explain;

/// What recovery did with a work tree.
#[derive(Debug)]
pub(crate) struct RecoveredWorktree {
    session: SessionId,
    what: String,
    /// The order that was completed, and the last commit of the branch.
    completed: Option<(FinishOrder, Option<String>)>,
}

impl Worktrees {
    /// Completes or undoes what was interrupted when the daemon was killed.
    pub(crate) async fn recover(&self) -> Vec<RecoveredWorktree> {
        let mut recovered = Vec::new();
        for (session, note) in Note::all(&self.sessions.host.home) {
            let done = match note {
                Note::Make { project, worktree, start } => {
                    self.recover_making(session, project, worktree, start).await.map(|()| None)
                }
                Note::Leave { .. } => self.recover_moving(session).await.map(|()| None),
                Note::Finish(order) => self.recover_finishing(session, order).await.map(Some),
            };
            match done {
                Ok(done) => recovered.extend(done),
                Err(error) => tracing::error!(
                    session.id = %session,
                    "a work tree cannot be put right: {}", explain(&error)
                ),
            }
        }
        recovered
    }

    /// Adds notices about what `recover` did, and completes sessions whose work trees are finished.
    pub(crate) async fn add_recovered_notices(&self, recovered: Vec<RecoveredWorktree>) {
        for RecoveredWorktree { session, what, completed } in recovered {
            tracing::warn!(session.id = %session, "{what}");
            self.notice(session, FilesEvent::WorktreeRecovered { what }).await;
            let Some((order, commit)) = completed else { continue };
            let settled = match self.place(session).await {
                Ok(place) => self.settle(&place, &order, commit).await.map(drop),
                Err(error) => Err(error),
            };
            match settled {
                Ok(()) => Note::remove(&self.sessions.host.home, session),
                Err(error) => tracing::error!(
                    session.id = %session,
                    "a finished work tree cannot be recorded: {}", explain(&error)
                ),
            }
        }
    }

    /// Records the work tree of a session that was stored; removes one whose session was not.
    async fn recover_making(
        &self,
        session: SessionId,
        project: ProjectId,
        own: OwnWorktree,
        start: Option<String>,
    ) -> Result<()> {
        let store = &self.sessions.store;
        if let Some(stored) = store.session(session).await? {
            if stored.worktree.is_none() {
                store.set_worktree(session, Some(&own)).await?;
                tracing::warn!(session.id = %session, "the session has its work tree {} now", own.path);
            }
            Note::remove(&self.sessions.host.home, session);
            return Ok(());
        }
        let path = own.path.clone();
        if let Some(project) = store.project(project).await? {
            make::undo(&self.sessions, &project, session, own, start).await?;
        }
        tracing::warn!("making the work tree {path} was interrupted, and undone");
        Note::remove(&self.sessions.host.home, session);
        Ok(())
    }

    /// Removes the journal entry of a session that is here. Other work trees are removed when the moves to and from this
    /// machine are followed.
    async fn recover_moving(&self, session: SessionId) -> Result<()> {
        let store = &self.sessions.store;
        let is_here = store.session(session).await?.is_some_and(|it| it.node == store.node());
        if is_here && !store.is_moving(session).await? {
            moved::remove_note(&self.sessions, session);
        }
        Ok(())
    }

    /// Repeats the operation, which may be partly done; if git refuses it now, the operation is
    /// undone.
    async fn recover_finishing(
        &self,
        session: SessionId,
        order: FinishOrder,
    ) -> Result<RecoveredWorktree> {
        let home = &self.sessions.host.home;
        let place = self.place(session).await?;
        let done = match self.recover_interrupted_finish(&place).await {
            Ok(()) => self.carry_out(&place, &order).await,
            Err(error) => Err(error),
        };
        let (what, completed) = match done {
            Ok(Done::Removed { commit }) => {
                let what = "Finishing the work tree was interrupted, and is completed now.";
                (what.to_owned(), Some((order, commit.map(|commit| commit.to_string()))))
            }
            Ok(Done::Conflicts(_)) => {
                Note::remove(home, session);
                let why = "base and branch contradict each other";
                (format!("Finishing the work tree was interrupted, and undone: {why}."), None)
            }
            Err(_) if !place.path().exists() => {
                let what = "Finishing the work tree was interrupted, and is completed now.";
                (what.to_owned(), Some((order, None)))
            }
            Err(error) => {
                Note::remove(home, session);
                let why = explain(&error);
                (format!("Finishing the work tree was interrupted, and undone: {why}."), None)
            }
        };
        Ok(RecoveredWorktree { session, what, completed })
    }

    /// Ends a merge or rebase in the middle of which git was killed.
    async fn recover_interrupted_finish(&self, place: &SessionWorktree) -> Result<()> {
        let path = place.path();
        if !path.exists() {
            return Ok(());
        }
        let folder = work_trees(&self.sessions, &place.project)?;
        let repository = Repository::of(&self.sessions, &place.project.path, &folder);
        let repository = repository.map_err(ChangesError::from)?;
        let (snapshots, place) = (Arc::clone(&self.sessions.snapshots), place.clone());
        let recovered = self.sessions.snapshots.run(place.project.id, move |git, limits| {
            let own = repository.open(git, &path, limits)?;
            let checkpoints = snapshots.checkpoints(git, place.project.id, &path, limits)?;
            let name = next_removal(&checkpoints, place.id())?;
            own.recover_finish(&checkpoints, &name, limits)?;
            Ok(())
        });
        Ok(recovered.await?)
    }
}
