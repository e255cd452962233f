//! Comparisons: one prompt, several agents, each in a work tree of its own; one of them is kept.
//!
//! A comparison is a file in `comparisons/` of the home. What its sessions did is read from them; only the results of
//! tests are stored beside it.

mod file;
mod tests_run;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_core::id::{AgentName, ProjectId, SessionId};
use convoke_core::message::{Role, Seq};
use convoke_core::session::Activity;
use convoke_core::turn::Turn;

use crate::changes::ChangesError;
use crate::error::{Error, Kind, Result};
use crate::session::choices::Choices;
use crate::sessions::{NewPrompt, NewSession, Sessions};
use crate::view::{Change, SessionView};
use crate::worktrees::{
    FinishOrder, FinishOutcome, FinishWay, Finished, LostFiles, OnConflict, WantedWorktree,
    WorktreeError, Worktrees,
};
use file::{StoredComparison, StoredEntry};

pub use file::TestRun;
pub(crate) use file::is_undecided;

/// Messages that are read to find the first prompt.
const FIRST: u32 = 50;

/// All comparisons. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Comparisons {
    sessions: Arc<Sessions>,
    worktrees: Worktrees,
    /// Sessions whose tests run now.
    testing: Arc<Mutex<HashSet<SessionId>>>,
}

/// A comparison to begin.
#[derive(Debug, Clone)]
pub struct NewComparison {
    /// The project.
    pub project: ProjectId,
    /// The prompt that every agent gets.
    pub prompt: NewPrompt,
    /// The agents, each with its model and mode.
    pub entries: Vec<(Option<AgentName>, Choices)>,
    /// A line of shell that runs in each work tree when its agent is done.
    pub test: Option<String>,
}

/// A comparison as it is now.
#[derive(Debug)]
pub struct Comparison {
    /// Its id.
    pub id: String,
    /// The project.
    pub project: ProjectId,
    /// The text of the prompt.
    pub prompt: String,
    /// The shell command that tests their work.
    pub test: Option<String>,
    /// When it began.
    pub created_at: convoke_core::time::Timestamp,
    /// The session that was kept.
    pub kept: Option<SessionId>,
    /// The agents.
    pub entries: Vec<ComparisonEntry>,
}

/// What one agent made of the prompt.
#[derive(Debug)]
pub struct ComparisonEntry {
    /// The agent; `None` if the default one could not be found.
    pub agent: Option<AgentName>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// Its session, unless that could not be created or was erased.
    pub session: Option<SessionView>,
    /// Why there is no session, or no prompt in it.
    pub error: Option<String>,
    /// The state of its work.
    pub status: EntryStatus,
    /// How long its first turn took.
    pub took: Option<Duration>,
    /// The result of the test.
    pub test: Option<TestRun>,
}

/// The state of an entry's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryStatus {
    /// Its agent works.
    Working,
    /// Its agent waits for the human.
    Waiting,
    /// The test runs.
    Testing,
    /// It is done.
    Ended,
    /// It was not begun, or its turn failed.
    Failed,
}

/// Why an entry was not begun, with the way out: it is read later, in a table.
fn not_begun(error: &Error) -> String {
    let said = crate::session::start::explain(error);
    if matches!(error, Error::SessionLimit { .. }) {
        return format!("{said}; complete one, or raise sessions.max_active");
    }
    said
}

impl Comparisons {
    pub(crate) fn new(sessions: &Arc<Sessions>, worktrees: &Worktrees) -> Self {
        Self {
            sessions: Arc::clone(sessions),
            worktrees: worktrees.clone(),
            testing: Arc::default(),
        }
    }

    /// Begins a session in a work tree for each entry, with the same prompt. Fails when none could be begun.
    pub async fn begin(&self, new: NewComparison) -> Result<Comparison> {
        let mut stored = StoredComparison {
            id: SessionId::from_random((self.sessions.host.random)()).to_string(),
            project: new.project,
            prompt: new.prompt.prompt.text.clone(),
            test: new.test,
            created_at: self.sessions.now(),
            kept: None,
            entries: Vec::new(),
        };
        let mut first_error = None;
        for (agent, choices) in new.entries {
            let model = choices.model.clone();
            let worktree = Some(WantedWorktree::default());
            let beginning =
                NewSession { project: new.project, agent: agent.clone(), choices, worktree };
            let created = self.sessions.create_with_prompt(beginning, new.prompt.clone()).await;
            let mut entry = StoredEntry { agent, model, session: None, error: None, test: None };
            match created {
                Ok(created) => {
                    entry.agent = Some(created.session.stored.agent.clone());
                    entry.session = Some(created.session.stored.id);
                    entry.error = created.prompted.err().map(|error| error.to_string());
                }
                Err(error) => {
                    entry.error = Some(not_begun(&error));
                    first_error.get_or_insert(error);
                }
            }
            stored.entries.push(entry);
        }
        if let (Some(error), true) =
            (first_error, stored.entries.iter().all(|entry| entry.session.is_none()))
        {
            return Err(error);
        }
        stored.write(&self.sessions.host.home)?;
        self.announce(&stored.id);
        self.follow(stored.id.clone());
        self.view(stored).await
    }

    /// Lists all comparisons, the newest first.
    pub async fn list(&self) -> Result<Vec<Comparison>> {
        let mut listed = Vec::new();
        for stored in StoredComparison::all(&self.sessions.host.home) {
            listed.push(self.view(stored).await?);
        }
        Ok(listed)
    }

    /// A comparison as it is now.
    pub async fn get(&self, id: &str) -> Result<Comparison> {
        let stored = StoredComparison::read(&self.sessions.host.home, id)?;
        self.start_tests(&stored).await?;
        self.view(stored).await
    }

    /// Finishes one session of a comparison, and discards the others, whose snapshots stay. With conflicts nothing is
    /// discarded.
    pub async fn keep(
        &self,
        id: &str,
        session: SessionId,
        order: FinishOrder,
    ) -> Result<(Finished, Comparison)> {
        let mut stored = StoredComparison::read(&self.sessions.host.home, id)?;
        let sessions: Vec<SessionId> = stored.entries.iter().filter_map(|it| it.session).collect();
        if !sessions.contains(&session) {
            return Err(Error::UnknownSession { text: session.to_string() });
        }
        for id in &sessions {
            let is_working = self.sessions.live(*id).activity != Activity::Idle;
            if is_working || self.testing().contains(id) {
                return Err(ChangesError::Working.into());
            }
        }
        let lost = order.lost;
        let finished = self.worktrees.finish(session, order).await?;
        if let FinishOutcome::Conflicts { .. } = finished.outcome {
            return Ok((finished, self.view(stored).await?));
        }
        stored.kept = Some(session);
        for other in sessions.into_iter().filter(|other| *other != session) {
            let discarded = self.worktrees.finish(other, discard(lost)).await;
            let error = match discarded {
                Ok(_) | Err(Error::Worktree(WorktreeError::Removed)) => None,
                // Erased meanwhile.
                Err(error) if error.kind() == Kind::NotFound => None,
                Err(error) => Some(crate::session::start::explain(&error)),
            };
            if let Some(entry) = stored.entries.iter_mut().find(|it| it.session == Some(other)) {
                entry.error = error;
            }
        }
        stored.write(&self.sessions.host.home)?;
        self.announce(&stored.id);
        Ok((finished, self.view(stored).await?))
    }

    /// Announces to the watchers a change of a comparison that no change of a session shows.
    fn announce(&self, id: &str) {
        // Without watchers there is no receiver.
        self.sessions.changes.send(Change::Comparison { id: id.to_owned() }).ok();
    }

    fn testing(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        // Ids are inserted and removed in one step, so the set is consistent after a panic.
        self.testing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn view(&self, stored: StoredComparison) -> Result<Comparison> {
        let mut entries = Vec::new();
        for entry in stored.entries {
            entries.push(self.entry(entry).await?);
        }
        Ok(Comparison {
            id: stored.id,
            project: stored.project,
            prompt: stored.prompt,
            test: stored.test,
            created_at: stored.created_at,
            kept: stored.kept,
            entries,
        })
    }

    async fn entry(&self, stored: StoredEntry) -> Result<ComparisonEntry> {
        let StoredEntry { agent, model, session, error, test } = stored;
        let found = match session {
            Some(id) => match self.sessions.get(id).await {
                Ok(found) => Some(found),
                Err(Error::UnknownSession { .. }) => None,
                Err(error) => return Err(error),
            },
            None => None,
        };
        let (status, took) = match &found {
            None => (EntryStatus::Failed, None),
            Some(view) => {
                let id = view.stored.id;
                let took = self.took(id).await?;
                let status = match (view.activity, took) {
                    (Activity::Waiting, _) => EntryStatus::Waiting,
                    (Activity::Running, _) => EntryStatus::Working,
                    (Activity::Idle, _) if self.testing().contains(&id) => EntryStatus::Testing,
                    (Activity::Idle, None) => EntryStatus::Failed,
                    (Activity::Idle, Some(_)) if view.stored.summary.work.failure.is_some() => {
                        EntryStatus::Failed
                    }
                    (Activity::Idle, Some(_)) => EntryStatus::Ended,
                };
                (status, took)
            }
        };
        Ok(ComparisonEntry { agent, model, session: found, error, status, took, test })
    }

    /// How long the first turn of a session took; `None` while it runs.
    async fn took(&self, id: SessionId) -> Result<Option<Duration>> {
        let page = self.sessions.store.messages(id, Seq::START, FIRST).await?;
        let prompt = page.messages.iter().find(|message| message.role == Role::User);
        let Some(prompt) = prompt else { return Ok(None) };
        if !matches!(prompt.turn, Some(Turn::Ended(_))) {
            return Ok(None);
        }
        let millis = prompt.updated_at.millis_since(prompt.timestamp);
        Ok(Some(Duration::from_millis(u64::try_from(millis).unwrap_or_default())))
    }
}

/// What happens to those that are not kept.
const fn discard(lost: LostFiles) -> FinishOrder {
    let (way, conflicts) = (FinishWay::Discard, OnConflict::Tell);
    FinishOrder { way, message: None, lost, conflicts, by: None }
}
