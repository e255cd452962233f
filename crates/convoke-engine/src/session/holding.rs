//! A session's work tree: its set-up before the first turn, and the pause while it is finished, removed or restored.

use std::path::{Path, PathBuf};

use convoke_core::files::OwnWorktree;
use convoke_core::notice::{FilesEvent, Notice};
use convoke_core::session::Report;
use convoke_store::StoredSession;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::start::{ProcessUpdate, explain};
use super::task::Task;
use crate::changes::ChangesError;
use crate::error::Result;
use crate::view::{Change, SessionChange};
use crate::worktrees::{WorktreeError, set_up};

/// The receiver of a hold: the session may not work until its sender is dropped.
#[derive(Default)]
pub(super) struct Hold(Option<oneshot::Receiver<()>>);

impl Hold {
    /// Whether the holder still has its sender.
    pub(super) fn is_on(&mut self) -> bool {
        let is_on = self.0.as_mut().is_some_and(|it| it.try_recv() == Err(TryRecvError::Empty));
        if !is_on {
            self.0 = None;
        }
        is_on
    }
}

/// What becomes of the agent's process while a session is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeldProcess {
    /// It stays, and gets no prompt.
    Keep,
    /// It is stopped: its folder may be removed.
    Stop,
}

impl Task {
    /// Refuses prompts until the other end of `until` is dropped.
    pub(super) async fn hold(
        &mut self,
        until: oneshot::Receiver<()>,
        process: HeldProcess,
    ) -> Result<()> {
        if self.hold.is_on() {
            return Err(WorktreeError::Busy.into());
        }
        if self.capture.is_setting_up() {
            return Err(WorktreeError::SettingUp.into());
        }
        if !self.session.is_idle() {
            return Err(ChangesError::Working.into());
        }
        if process == HeldProcess::Stop {
            self.stop_process().await;
        }
        self.finish_checkpoints().await;
        self.hold = Hold(Some(until));
        Ok(())
    }

    /// Fails while the session's work tree is held, and after it was removed.
    pub(super) fn check_worktree(&mut self) -> Result<()> {
        if self.hold.is_on() {
            return Err(WorktreeError::Busy.into());
        }
        match self.stored.worktree.as_ref().and_then(|own| own.removed.as_ref()) {
            Some(_) => Err(WorktreeError::Removed.into()),
            None => Ok(()),
        }
    }

    /// Stores what became of the work tree, and shows it.
    pub(super) async fn set_worktree(&mut self, own: OwnWorktree) -> Result<()> {
        self.shared.store.set_worktree(self.id, Some(&own)).await?;
        let before = self.view();
        self.workspace = PathBuf::from(&own.path);
        self.stored.worktree = Some(own);
        let now = self.view();
        self.show();
        self.shared.publish(Change::SessionChanged(Box::new(SessionChange { before, now })));
        Ok(())
    }

    /// Runs the set-up command; the checkpoint before the first turn, and so its prompt, waits for it.
    pub(super) fn begin_set_up(&mut self, command: String) {
        let (shared, spec, updates) = (self.shared.clone(), self.spec(), self.updates_to.clone());
        let running = tokio::spawn(async move {
            let (code, output) = match set_up::run(&shared, &spec, &command).await {
                Ok(ran) => (ran.code, ran.output),
                Err(error) => (None, explain(&error)),
            };
            let event = FilesEvent::WorktreeSetUp { command, code, output };
            // Fails if the session's task has ended.
            updates.send(ProcessUpdate::SetUp(Notice::new(event))).await.ok();
        });
        self.capture.set_up(running);
    }

    /// Shows how the set-up command ended.
    pub(super) async fn was_set_up(&mut self, notice: Notice) {
        self.handle_reports(vec![Report::Noticed(notice)]).await;
    }
}

/// The folder in which a session works.
pub(super) fn workspace_of(stored: &StoredSession, project: &Path) -> PathBuf {
    match &stored.worktree {
        Some(own) => PathBuf::from(&own.path),
        None => project.to_owned(),
    }
}
