//! Teams: named projects that others can ask. Each pair of an asker and a team has one lasting session.
//!
//! A pair is a row that points to a session; asking prompts that session and follows its turn to the end.

mod analytics;
mod ask;
mod askers;
mod cache;
mod chain;
mod compaction;
mod create;
mod elsewhere;
mod follow;
mod pairs;
mod prepare;
mod report;
mod thread;
mod upkeep;
mod waits;

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
use crate::settings::HostContext;
use askers::Askers;
use cache::{PairCache, cache};
use compaction::Attempts;

pub use analytics::{ActivityInterval, Analytics};
pub use ask::{Caller, TeamAnswer, TeamAsk, Wait};
pub use compaction::Compaction;
pub use elsewhere::{PlacedQuestion, QuestionPair, TeamQuestion};
pub use pairs::SessionFile;
pub use prepare::TeamProgress;
pub use report::{QuestionStatus, ReportedQuestion, TeamReport, WhichQuestion};
pub use upkeep::TeamStatus;

pub(crate) use chain::{Chains, Origin};
pub(crate) use compaction::start_periodic_check;

/// The team settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamSettings {
    /// The teams, by name.
    pub teams: Vec<Team>,
    /// How long starting the session of a pair may take.
    pub init_timeout: Duration,
    /// Limits on asks.
    pub limits: TeamLimits,
}

/// Limits that stop loops of asks.
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

    /// The team with this name.
    pub(crate) fn team(&self, name: &TeamName) -> Option<&Team> {
        self.teams.iter().find(|team| team.name == *name)
    }
}

/// A named project that others can ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// Its name.
    pub name: TeamName,
    /// The folder of its project.
    pub path: PathBuf,
    /// The agent that answers for it.
    pub agent: AgentName,
    /// A description for askers.
    pub description: Option<String>,
    /// Whether its agent asks for permission.
    pub permissions: Permissions,
    /// Overrides `TeamSettings::init_timeout`.
    pub init_timeout: Option<Duration>,
    /// The colour in which it is shown.
    pub color: Option<String>,
}

/// Whether a team's agent asks for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permissions {
    /// It asks.
    Ask,
    /// It does not: the configuration trusts it.
    Skip,
}

/// The teams, their pairs, and the asks between them.
#[derive(Debug)]
pub struct Teams {
    sessions: Arc<Sessions>,
    projects: Projects,
    processes: Processes,
    store: Store,
    host: Arc<HostContext>,
    configured: watch::Sender<Arc<TeamSettings>>,
    cache: PairCache,
    attempts: Attempts,
    askers: Askers,
}

impl Teams {
    /// Starts without teams. Sessions and processes follow `configured`.
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
            host: Arc::clone(&sessions.host),
            configured,
            cache: cache(),
            attempts: Attempts::default(),
            askers: Askers::default(),
        })
    }

    /// The configured teams.
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
