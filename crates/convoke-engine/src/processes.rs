//! The catalogue of agents, and what starting one of their processes needs.
//!
//! How a session gets its process is in `session/start.rs`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use convoke_agents::catalogue::{Agent, find};
use convoke_agents::pool::Pool;
use convoke_agents::temp::TempFolder;
use convoke_core::id::AgentName;
use convoke_store::Store;
use tokio::sync::watch;

use crate::error::{Error, Result};
use crate::settings::{Around, Settings};
use crate::teams::TeamSettings;

/// Everything that is needed to start a process. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Processes {
    pub(crate) settings: Arc<Settings>,
    pub(crate) around: Arc<Around>,
    /// The parent folder of the agents' temporary files.
    pub(crate) temp: Arc<TempFolder>,
    /// For the transcripts that agents without a memory are given.
    pub(crate) store: Store,
    pub(crate) pool: Pool,
    /// The current team settings; some are about processes.
    pub(crate) teams: watch::Receiver<Arc<TeamSettings>>,
}

/// An agent and where it is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedAgent {
    /// The agent.
    pub agent: Agent,
    /// The path of its program; `None` if it is not installed.
    pub program: Option<PathBuf>,
}

impl Processes {
    /// The agents of the catalogue, in its order.
    pub(crate) fn agents(&self) -> Vec<ListedAgent> {
        let listed =
            |agent: &Agent| ListedAgent { program: self.program(agent), agent: agent.clone() };
        self.settings.agents.iter().map(listed).collect()
    }

    pub(crate) fn agent(&self, name: &str) -> Result<&Agent> {
        let found = self.settings.agents.iter().find(|agent| agent.name.as_str() == name);
        found.ok_or_else(|| Error::UnknownAgent { name: name.to_owned() })
    }

    /// The default agent: Claude Code, else the first that is installed; the demo agent always is.
    pub(crate) fn default_agent(&self) -> Result<AgentName> {
        let mut agents = self.settings.agents.iter();
        let installed = agents.find(|agent| self.program(agent).is_some());
        let installed = installed.ok_or_else(|| Error::UnknownAgent { name: "demo".to_owned() })?;
        Ok(installed.name.clone())
    }

    fn program(&self, agent: &Agent) -> Option<PathBuf> {
        let path = self.around.environment.get(OsStr::new("PATH"));
        find(&agent.command, path.map(OsString::as_os_str))
    }
}
