//! Work trees of sessions: made with a session, finished into their base branch, removed after a snapshot, and restored
//! from it.
//!
//! Each operation is journaled in the home first (`note.rs`), so that the next start can complete
//! or undo it after a crash (`recover.rs`).

mod error;
mod finish;
mod kept;
pub(crate) mod make;
pub(crate) mod moved;
mod note;
mod pull_request;
mod recover;
pub(crate) mod repository;
pub(crate) mod set_up;

use std::path::PathBuf;
use std::sync::Arc;

use convoke_core::files::OwnWorktree;
use convoke_core::id::SessionId;
use convoke_core::notice::{FilesEvent, Notice};
use convoke_core::session::{Command, Report};
use convoke_store::{Project, StoredSession};

use crate::error::{Error, Result};
use crate::session::{self, Request};
use crate::sessions::Sessions;

pub use convoke_git::Conflict;
pub use error::WorktreeError;
pub use finish::{FinishOrder, FinishOutcome, FinishWay, Finished, LostFiles, OnConflict};
pub use kept::{ListedWorktree, WorktreeStatus};
pub use make::WantedWorktree;
pub use moved::LeftWorktree;

pub(crate) use finish::next_removal;

/// The work trees of all sessions. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Worktrees {
    sessions: Arc<Sessions>,
}

/// A session with a work tree.
#[derive(Debug, Clone)]
struct SessionWorktree {
    stored: StoredSession,
    own: OwnWorktree,
    project: Project,
}

impl SessionWorktree {
    fn id(&self) -> SessionId {
        self.stored.id
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(&self.own.path)
    }
}

impl Worktrees {
    pub(crate) fn new(sessions: &Arc<Sessions>) -> Self {
        Self { sessions: Arc::clone(sessions) }
    }

    async fn place(&self, id: SessionId) -> Result<SessionWorktree> {
        let stored = self.sessions.store.session(id).await?;
        let stored = stored.ok_or_else(|| Error::UnknownSession { text: id.to_string() })?;
        let own = stored.worktree.clone().ok_or(WorktreeError::None)?;
        let project = self.sessions.store.project(stored.project_id).await?;
        let unknown = || Error::UnknownProject { text: stored.project_id.to_string() };
        let project = project.ok_or_else(unknown)?;
        Ok(SessionWorktree { stored, own, project })
    }

    /// Records what became of a work tree.
    async fn record(&self, id: SessionId, own: OwnWorktree) -> Result<()> {
        record(&self.sessions, id, own).await
    }

    /// Adds a notice to a session; an ended session ignores it.
    async fn notice(&self, id: SessionId, event: FilesEvent) {
        let report = Command::Agent(Report::Noticed(Notice::new(event)));
        if let Err(error) = self.sessions.send_command(id, report).await {
            tracing::debug!(session.id = %id, "a work tree's notice is not stored: {error}");
        }
    }
}

/// Records the work tree of a session, in its task.
pub(crate) async fn record(
    sessions: &Arc<Sessions>,
    id: SessionId,
    own: OwnWorktree,
) -> Result<()> {
    let worktree = Box::new(own);
    session::ask(sessions, id, |reply| Request::SetWorktree { worktree, reply }).await
}
