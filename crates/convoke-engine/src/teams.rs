//! Teams: projects with a name that others can ask, each pair of them in one lasting session.
//!
//! A pair is a row that points to a session; asking is prompting that session and following its turn to the end.

mod analytics;
mod ask;
mod cache;
mod chain;
mod compaction;
mod create;
mod follow;
mod pairs;
mod prepare;
mod report;
mod thread;
mod upkeep;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use convoke_core::Invalid;
use convoke_core::id::AgentName;
use convoke_core::team::TeamName;
use convoke_store::Store;
use tokio::sync::watch;

use crate::error::{Error, Result};
use crate::processes::Processes;
use crate::projects::Projects;
use crate::sessions::Sessions;
use crate::settings::Around;
use cache::{PairCache, cache};
use compaction::Attempts;

pub use analytics::{Analytics, Stretch};
pub use ask::{AnswerStatus, Caller, TeamAnswer, TeamAsk, Wait};
pub use compaction::Compaction;
pub use pairs::SessionFile;
pub use prepare::TeamProgress;
pub use report::{QuestionStanding, ReportedQuestion, TeamReport, WhichQuestion};
pub use upkeep::TeamStatus;

pub(crate) use chain::{Chains, Origin};
pub(crate) use compaction::keep_clock;

/// The teams, and how they may talk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamSettings {
    /// The teams, by name.
    pub teams: Vec<Team>,
    /// How long the session of a pair may take to begin.
    pub init_timeout: Duration,
    /// How far they may go.
    pub limits: TeamLimits,
}

/// How far asking may go before it is taken for a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TeamLimits {
    /// Teams in one chain of asks.
    pub hops_max: usize,
    /// Asks that may follow from one.
    pub chain_messages_max: u64,
    /// Asks of one pair within an hour.
    pub pair_messages_per_hour: usize,
}

impl TeamSettings {
    /// No teams at all.
    pub const fn none() -> Self {
        let limits =
            TeamLimits { hops_max: 5, chain_messages_max: 50, pair_messages_per_hour: 200 };
        Self { teams: Vec::new(), init_timeout: Duration::from_secs(30), limits }
    }

    /// The team with a name.
    pub(crate) fn team(&self, name: &TeamName) -> Option<&Team> {
        self.teams.iter().find(|team| team.name == *name)
    }
}

/// A project that others can ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// Its name.
    pub name: TeamName,
    /// Its project's folder.
    pub path: PathBuf,
    /// The agent that answers for it.
    pub agent: AgentName,
    /// What it is for.
    pub description: Option<String>,
    /// Whether its agent asks before it acts.
    pub permissions: Permissions,
    /// How long its sessions may take to begin, where that is not as for all.
    pub init_timeout: Option<Duration>,
    /// The colour it is shown in.
    pub color: Option<String>,
}

/// Whether an agent asks before it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permissions {
    /// It does.
    Ask,
    /// It does not: the configuration trusts it.
    Skip,
}

/// The teams, the pairs in which they talk, and what they ask each other.
#[derive(Debug)]
pub struct Teams {
    sessions: Arc<Sessions>,
    projects: Projects,
    processes: Processes,
    store: Store,
    around: Arc<Around>,
    configured: watch::Sender<Arc<TeamSettings>>,
    cache: PairCache,
    attempts: Attempts,
}

impl Teams {
    /// No teams yet. Sessions and processes follow `configured`.
    pub(crate) fn new(
        sessions: &Arc<Sessions>,
        projects: Projects,
        configured: watch::Sender<Arc<TeamSettings>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            sessions: Arc::clone(sessions),
            projects,
            processes: sessions.processes.clone(),
            store: sessions.store.clone(),
            around: Arc::clone(&sessions.around),
            configured,
            cache: cache(),
            attempts: Attempts::default(),
        })
    }

    /// The teams as they are configured now.
    pub fn list(&self) -> Vec<Team> {
        self.configured.borrow().teams.clone()
    }

    fn settings(&self) -> Arc<TeamSettings> {
        Arc::clone(&self.configured.borrow())
    }

    fn team(&self, name: &TeamName) -> Result<Team> {
        let settings = self.settings();
        let unknown = || Error::Invalid(Invalid::UnknownTeam { name: name.to_string() });
        settings.team(name).cloned().ok_or_else(unknown)
    }
}

/// A task of ours that did not come to its end.
fn broken(error: &tokio::task::JoinError) -> Error {
    Error::Io { path: "teams".into(), source: std::io::Error::other(error.to_string()) }
}
