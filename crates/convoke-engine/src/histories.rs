//! Conversations that other programs keep: finds them, imports them as sessions, and follows those that grow.
//!
//! `convoke-histories` reads the stores of the agents; this module decides which conversations
//! become sessions. Before the user has agreed to an import, only names, sizes and times are read.

mod build;
mod follow;
mod import;
pub(crate) mod live;
mod scan;
mod worker;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_core::content::Usage;
use convoke_core::id::AgentName;
use convoke_core::message::Draft;
use convoke_core::time::Timestamp;
use convoke_files::watch::Watches;
use convoke_histories::Environment;
use convoke_store::{Archived, Consent, FoundProject, HistoryKey, HistoryMark, Project};
use tokio::sync::{Notify, Semaphore};

use crate::blocking::blocking;
use crate::error::{Error, Result};
use crate::session::start::explain;
use crate::sessions::Sessions;
use crate::settings::HostContext;
use crate::view::Change;

pub use convoke_histories::Agent as HistoryAgent;

/// Found projects in one answer.
const PROJECTS_MAX: u32 = 1000;
/// Conversations that could not be imported, by name; more of them are counted only.
const FAILED_MAX: usize = 100;

/// Settings about the histories of other agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistorySettings {
    /// Whether they are imported.
    pub import: ImportMode,
    /// What agents may recall of earlier sessions.
    pub recall: Recall,
    /// How long after its last change a conversation counts as open in another program.
    pub open_for: Duration,
}

impl Default for HistorySettings {
    fn default() -> Self {
        let open_for = Duration::from_secs(5 * 60);
        Self { import: ImportMode::Ask, recall: Recall::Project, open_for }
    }
}

/// Whether histories of other agents are imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportMode {
    /// Only when the user starts an import.
    Ask,
    /// All of them, at the start and whenever they change.
    Always,
    /// Never.
    Never,
}

/// Which sessions agents can search and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recall {
    /// None.
    Off,
    /// Those of their project.
    Project,
    /// All.
    All,
}

/// What is there to import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundHistories {
    /// The setting.
    pub mode: ImportMode,
    /// The agents with at least one conversation.
    pub agents: Vec<FoundAgent>,
    /// Folders of imported sessions that are no projects, with how many sessions each has.
    pub projects: Vec<(FoundProject, u64)>,
}

/// The conversations of one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundAgent {
    /// The agent.
    pub agent: HistoryAgent,
    /// How many there are, those of subagents included.
    pub found: u64,
    /// Of how many something is stored here.
    pub imported: u64,
    /// When the newest last changed.
    pub newest: Option<Timestamp>,
    /// Whether the daemon imports new ones as they appear.
    pub is_followed: bool,
}

/// What is to be imported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportRequest {
    /// Of these agents; none means all.
    pub agents: Vec<HistoryAgent>,
    /// What changed then or later.
    pub since: Option<Timestamp>,
    /// What was said in this folder or below.
    pub folder: Option<PathBuf>,
    /// Whether anything is stored.
    pub purpose: Purpose,
}

/// What an import is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Sessions.
    #[default]
    Import,
    /// Only to know what would be imported.
    DryRun,
    /// Sessions, as the daemon follows a store; it is not part of what a user asked for, and not counted there.
    Follow,
}

/// An import that runs, or the last one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportRun {
    /// Its number since the start; 0 if there was none.
    pub number: u64,
    /// Whether it still runs.
    pub is_running: bool,
    /// How far it is with each agent.
    pub agents: BTreeMap<HistoryAgent, AgentRun>,
    /// The first conversations that could not be imported.
    pub failed: Vec<FailedHistory>,
    /// Why it ended early, if it did.
    pub error: Option<String>,
}

/// How far an import is with an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentRun {
    /// Conversations that are new or have changed.
    pub total: u64,
    /// Those of them that were looked at.
    pub done: u64,
    /// New sessions.
    pub added: u64,
    /// Sessions that got more messages.
    pub grown: u64,
    /// Sessions beside those of files that were rewritten.
    pub rewritten: u64,
    /// Conversations that are not imported: empty, outside of the folder, erased here, or written by agents of Convoke.
    pub skipped: u64,
    /// Messages that were added or changed.
    pub messages: u64,
    /// Lines that could not be read.
    pub broken_lines: u64,
    /// Lines of unknown kinds, which are kept as they are.
    pub unknown_lines: u64,
    /// Conversations that could not be imported.
    pub failed: u64,
}

/// A conversation that could not be imported, or some of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedHistory {
    /// The file.
    pub file: PathBuf,
    /// The line, if only that could not be read.
    pub line: Option<u64>,
    /// Why.
    pub error: String,
}

/// What another program wrote of a session's conversation.
#[derive(Debug)]
pub(crate) struct HistoryGrowth {
    pub(crate) items: Vec<GrownItem>,
    pub(crate) mark: HistoryMark,
    pub(crate) title: Option<String>,
    pub(crate) usage: Option<Usage>,
    pub(crate) active_at: Timestamp,
}

/// A message that is new or has changed.
#[derive(Debug)]
pub(crate) struct GrownItem {
    /// With an id that is made of the agent's own.
    pub(crate) draft: Draft,
    pub(crate) at: Option<Timestamp>,
}

/// The histories of other agents. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Histories {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    sessions: Arc<Sessions>,
    environment: Environment,
    watches: Watches,
    run: Mutex<ImportRun>,
    /// One import at a time reads an agent's store.
    turns: BTreeMap<HistoryAgent, Semaphore>,
    /// Conversations that are not imported, with the stamp at which that was found out.
    passed_over: Mutex<HashMap<HistoryKey, String>>,
    followed: Mutex<HashSet<HistoryAgent>>,
    /// Wakes the task that follows stores when the user agreed to more.
    consented: Notify,
}

impl Histories {
    /// Finds no store yet.
    pub(crate) fn new(sessions: &Arc<Sessions>) -> Self {
        let shared = Shared {
            sessions: Arc::clone(sessions),
            environment: environment_of(&sessions.host),
            watches: Watches::default(),
            run: Mutex::default(),
            turns: HistoryAgent::ALL.map(|agent| (agent, Semaphore::new(1))).into(),
            passed_over: Mutex::default(),
            followed: Mutex::default(),
            consented: Notify::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Counts the conversations of all agents. Files are not opened; databases are queried for the
    /// ids of their conversations only.
    pub async fn found(&self) -> Result<FoundHistories> {
        let environment = self.shared.environment.clone();
        let mut listed = blocking(move || scan::count(&environment)).await?;
        let consents = self.shared.consents().await?;
        for found in &mut listed {
            let known = self.shared.sessions.store.histories(name_of(found.agent)).await?;
            found.imported = known.len() as u64;
            let name = name_of(found.agent);
            found.is_followed = consents.iter().any(|consent| consent.agent == name);
        }
        let projects =
            self.shared.sessions.store.found_projects(Archived::Hidden, PROJECTS_MAX).await?;
        let root = self.shared.sessions.settings.workspace_root.clone();
        let projects = blocking(move || inside(projects, &root)).await?;
        let mode = self.shared.sessions.settings.history.import;
        Ok(FoundHistories { mode, agents: listed, projects })
    }

    /// Starts an import in the background, and follows what it imports from now on.
    pub fn import(&self, request: ImportRequest) -> Result<ImportRun> {
        if self.shared.sessions.settings.history.import == ImportMode::Never {
            return Err(Error::ImportForbidden);
        }
        let begun = {
            let mut run = self.shared.run();
            if run.is_running {
                return Err(Error::ImportRuns);
            }
            *run = ImportRun { number: run.number + 1, is_running: true, ..ImportRun::default() };
            run.clone()
        };
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            let importing = Arc::clone(&shared);
            // In a task of its own, so that its end is noted even if it panics.
            let ended = tokio::spawn(async move { import::run(&importing, request).await }).await;
            {
                let mut run = shared.run();
                run.is_running = false;
                run.error = match ended {
                    Ok(imported) => imported.err().map(|error| explain(&error)),
                    Err(panicked) => Some(format!("the import ended unexpectedly: {panicked}")),
                };
            }
            shared.publish_progress();
            shared.consented.notify_one();
        });
        Ok(begun)
    }

    /// Folders with such sessions that are no projects, as if they were: those of imported
    /// sessions, and removed projects.
    pub async fn projects(&self, sessions: Archived) -> Result<Vec<Project>> {
        let store = &self.shared.sessions.store;
        let removed = store.removed_projects(sessions, PROJECTS_MAX).await?;
        let mut found = store.found_projects(sessions, PROJECTS_MAX).await?;
        found.retain(|(_, listed)| *listed > 0);
        let project = |found: FoundProject| Project {
            id: found.id,
            name: found.name,
            path: found.path,
            added_at: found.found_at,
            removed_at: None,
            node: None,
        };
        let found = found.into_iter().map(|(found, _)| project(found));
        Ok(found.chain(removed).collect())
    }

    /// The import that runs, or the last one.
    pub fn run(&self) -> ImportRun {
        self.shared.run().clone()
    }

    /// Follows the stores whose import the user agreed to, until the daemon stops.
    pub(crate) fn start_following(&self) {
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move { follow::follow(&shared).await });
    }
}

/// Those of the folders that can be projects: the others are outside of the workspace root.
fn inside(mut found: Vec<(FoundProject, u64)>, root: &Path) -> Vec<(FoundProject, u64)> {
    let resolved = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let root = resolved(root);
    found.retain(|(project, _)| resolved(&project.path).starts_with(&root));
    found
}

impl Shared {
    fn run(&self) -> MutexGuard<'_, ImportRun> {
        // Each change leaves the value consistent, also after a panic.
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes the progress of the import.
    fn publish_progress(&self) {
        let run = self.run().clone();
        self.sessions.publish(Change::Histories(Box::new(run)));
    }

    /// What the user agreed to have imported.
    async fn consents(&self) -> Result<Vec<Consent>> {
        let all = || {
            let consent = |agent| Consent { agent: name_of(agent), since: None, folder: None };
            HistoryAgent::ALL.map(consent).to_vec()
        };
        match self.sessions.settings.history.import {
            ImportMode::Always => Ok(all()),
            ImportMode::Never => Ok(Vec::new()),
            ImportMode::Ask => Ok(self.sessions.store.history_consents().await?),
        }
    }
}

/// Where the stores of other programs are.
pub(crate) fn environment_of(host: &HostContext) -> Environment {
    let variable = |name: &str| host.environment.get(std::ffi::OsStr::new(name)).cloned();
    let mut environment = Environment::new(variable("HOME").unwrap_or_default());
    for name in Environment::VARIABLES {
        if let Some(value) = variable(name) {
            environment = environment.with(name, value);
        }
    }
    environment
}

/// The name of an agent in the catalogue.
pub(crate) fn name_of(agent: HistoryAgent) -> AgentName {
    let name = if agent == HistoryAgent::Claude { "claude-code" } else { agent.as_str() };
    name.parse().expect("the names of these agents are letters")
}
