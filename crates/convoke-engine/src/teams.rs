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
use convoke_core::id::{AgentName, SessionId};
use convoke_core::team::{Pair, TeamName};

use crate::engine::{Engine, Shared};
use crate::error::{Error, Result};

pub use analytics::{Analytics, Stretch};
pub use ask::{AnswerStatus, Caller, TeamAnswer, TeamAsk, Wait};
pub use compaction::Compaction;
pub use pairs::SessionFile;
pub use prepare::TeamProgress;
pub use report::{QuestionStanding, ReportedQuestion, TeamReport, WhichQuestion};
pub use upkeep::{Stopped, TeamStatus};

pub(crate) use cache::{PairCache, cache};
pub(crate) use chain::{Chains, Origin};
pub(crate) use compaction::{Attempts, keep_clock};

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
    /// It does not: whoever wrote the configuration trusts it.
    Skip,
}

impl Engine {
    /// The teams as they are configured now.
    pub fn teams(&self) -> Vec<Team> {
        self.shared.teams.borrow().teams.clone()
    }
}

impl Shared {
    pub(crate) fn team_settings(&self) -> Arc<TeamSettings> {
        Arc::clone(&self.teams.borrow())
    }

    pub(crate) fn team(&self, name: &TeamName) -> Result<Team> {
        let settings = self.team_settings();
        let found = settings.teams.iter().find(|team| team.name == *name).cloned();
        found.ok_or_else(|| Error::Invalid(Invalid::UnknownTeam { name: name.to_string() }))
    }

    /// The pair that talks in a session, and the team that answers in it.
    pub(crate) async fn pair_of(&self, session: SessionId) -> Result<Option<(Pair, Option<Team>)>> {
        let Some(stored) = self.store.pair_in(session).await? else { return Ok(None) };
        let team = self.team(&stored.pair.to).ok();
        Ok(Some((stored.pair, team)))
    }
}

/// A task of ours that did not come to its end.
fn broken(error: &tokio::task::JoinError) -> Error {
    Error::Io { path: "teams".into(), source: std::io::Error::other(error.to_string()) }
}
