//! Runs the test of a comparison in each work tree whose agent is done.

use std::path::PathBuf;
use std::time::Duration;

use convoke_core::id::SessionId;
use convoke_core::session::Activity;
use convoke_store::StoredSession;
use tokio::sync::broadcast::error::RecvError;

use super::Comparisons;
use super::file::{StoredComparison, TestRun};
use crate::error::Result;
use crate::session::start::{ProcessSpec, explain};
use crate::view::Change;
use crate::worktrees::set_up;

impl Comparisons {
    /// Tests each entry as soon as its agent is done, until all are.
    pub(super) fn follow(&self, id: String) {
        let this = self.clone();
        let mut changes = self.sessions.changes.subscribe();
        tokio::spawn(async move {
            loop {
                let Ok(stored) = StoredComparison::read(&this.sessions.host.home, &id) else {
                    return;
                };
                match this.start_tests(&stored).await {
                    Ok(0) => return,
                    Ok(_) => {}
                    Err(error) => tracing::warn!("a comparison cannot be tested: {error}"),
                }
                loop {
                    match changes.recv().await {
                        Ok(Change::SessionChanged(_)) | Err(RecvError::Lagged(_)) => break,
                        Ok(_) => {}
                        Err(RecvError::Closed) => return,
                    }
                }
            }
        });
    }

    /// Starts the tests that are due, and gives how many are still to come.
    pub(super) async fn start_tests(&self, stored: &StoredComparison) -> Result<usize> {
        let Some(test) = stored.test.clone().filter(|_| stored.kept.is_none()) else {
            return Ok(0);
        };
        let mut to_come = 0;
        for entry in stored.entries.iter().filter(|entry| entry.test.is_none()) {
            let Some(session) = entry.session else { continue };
            let Some(found) = self.sessions.store.session(session).await? else { continue };
            let is_there = found.worktree.as_ref().is_some_and(|own| own.removed.is_none());
            if !is_there {
                continue;
            }
            let is_done = self.took(session).await?.is_some();
            if !is_done || self.sessions.live(session).activity != Activity::Idle {
                to_come += 1;
            } else if self.testing().insert(session) {
                self.announce(&stored.id);
                self.run_test(stored.id.clone(), found, test.clone());
            }
        }
        Ok(to_come)
    }

    fn run_test(&self, comparison: String, session: StoredSession, test: String) {
        let this = self.clone();
        tokio::spawn(async move {
            let id = session.id;
            let result = match this.spec(&session).await {
                Ok(spec) => set_up::run(&this.sessions, &spec, &test).await,
                Err(error) => Err(error),
            };
            let run = match result {
                Ok(ran) => TestRun { code: ran.code, output: ran.output, took: ran.took },
                Err(error) => TestRun { code: None, output: explain(&error), took: Duration::ZERO },
            };
            if let Err(error) = this.record_test(&comparison, id, run) {
                tracing::warn!(session.id = %id, "a test's result is not stored: {error}");
            }
            this.announce(&comparison);
        });
    }

    /// Stores a result. The set is locked meanwhile, so that results do not overwrite each other.
    fn record_test(&self, comparison: &str, session: SessionId, run: TestRun) -> Result<()> {
        let mut testing = self.testing();
        // Also if it cannot be stored: then the test can run again.
        testing.remove(&session);
        let mut stored = StoredComparison::read(&self.sessions.host.home, comparison)?;
        let entry = stored.entries.iter_mut().find(|entry| entry.session == Some(session));
        if let Some(entry) = entry {
            entry.test = Some(run);
        }
        stored.write(&self.sessions.host.home)
    }

    async fn spec(&self, stored: &StoredSession) -> Result<ProcessSpec> {
        let project = self.sessions.store.project(stored.project_id).await?;
        let project = project.map(|project| project.path).unwrap_or_default();
        let own = stored.worktree.clone();
        Ok(ProcessSpec {
            session: stored.id,
            key: stored.id.to_string(),
            kind: stored.kind,
            team: None,
            agent: stored.agent.clone(),
            project: stored.project_id,
            workspace: own.as_ref().map_or_else(|| project.clone(), |own| PathBuf::from(&own.path)),
            agent_session: None,
            worktree: own.map(|own| (own, project)),
        })
    }
}
