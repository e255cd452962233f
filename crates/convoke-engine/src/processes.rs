//! The catalogue of agents, and what starting one of their processes needs.
//!
//! How a session gets its process is in `session/start.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use convoke_agents::catalogue::{Agent, LoginState, find, version};
use convoke_agents::launch::layers_of;
use convoke_agents::pool::Pool;
use convoke_agents::sandbox::{Layer, Missing};
use convoke_agents::temp::TempFolder;
use convoke_core::id::AgentName;
use convoke_core::state::{OfferedChoice, SessionState};
use convoke_store::Store;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::error::{Error, Result};
use crate::session::choices;
use crate::settings::{HostContext, Settings};
use crate::teams::TeamSettings;

/// Everything that is needed to start a process. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Processes {
    pub(crate) settings: Arc<Settings>,
    pub(crate) host: Arc<HostContext>,
    /// What is known of the agents' versions.
    pub(crate) versions: Arc<Versions>,
    /// What is known of the agents' modes and models.
    pub(crate) offers: Arc<Offers>,
    /// The parent folder of the agents' temporary files.
    pub(crate) temp: Arc<TempFolder>,
    /// For the transcripts that agents without a memory are given.
    pub(crate) store: Store,
    pub(crate) pool: Pool,
    /// The current team settings; some are about processes.
    pub(crate) teams: watch::Receiver<Arc<TeamSettings>>,
}

/// An agent and what is known of it on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedAgent {
    /// The agent.
    pub agent: Agent,
    /// The path of its program; `None` if it is not installed.
    pub program: Option<PathBuf>,
    /// Its version, once it was asked for it.
    pub version: Option<String>,
    /// Whether the user has logged in at it.
    pub login: LoginState,
    /// The layers of the sandbox that confine it.
    pub layers: Vec<Layer>,
    /// The layers that should and do not.
    pub missing: Vec<Missing>,
    /// What it offered when it was last started.
    pub offered: Offered,
}

/// A program, by its path and the time of its last change.
type Program = (PathBuf, Option<SystemTime>);

/// The versions of programs, by their path and the time of their last change.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    known: Mutex<BTreeMap<Program, Option<String>>>,
}

impl Versions {
    fn known(&self) -> MutexGuard<'_, BTreeMap<Program, Option<String>>> {
        // A version is inserted in one step, so the map is consistent after a panic.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(program: &Path) -> Program {
        let changed = program.metadata().and_then(|it| it.modified()).ok();
        (program.to_owned(), changed)
    }
}

/// What an agent offered when it was last started.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Offered {
    /// Its modes.
    pub modes: Vec<OfferedChoice>,
    /// Its models.
    pub models: Vec<OfferedChoice>,
    /// The mode that it begins with.
    pub mode: Option<String>,
    /// The model that it begins with.
    pub model: Option<String>,
}

/// What agents offered when they were last started, so that people can choose before one is
/// started. A cache in a file, which may be deleted.
#[derive(Debug, Default)]
pub(crate) struct Offers {
    known: Mutex<Option<BTreeMap<String, Offered>>>,
}

impl Offers {
    fn known(&self) -> MutexGuard<'_, Option<BTreeMap<String, Offered>>> {
        // An entry is replaced in one step, so the map is consistent after a panic.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Processes {
    fn offers_file(&self) -> PathBuf {
        self.host.home.join("run/offers.json")
    }

    fn offers(&self) -> BTreeMap<String, Offered> {
        let mut known = self.offers.known();
        let read = || {
            let text = std::fs::read(self.offers_file()).ok();
            text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
        };
        known.get_or_insert_with(read).clone()
    }

    /// Records what a new process offers.
    pub(crate) fn remember_offers(&self, agent: &AgentName, states: &[SessionState]) {
        let (modes, models) = (choices::modes(states), choices::models(states));
        let offered = Offered {
            modes: modes.map(|modes| modes.available.to_vec()).unwrap_or_default(),
            mode: modes.map(|modes| modes.current.to_owned()),
            models: models.map(|setting| setting.choices.clone()).unwrap_or_default(),
            model: models.map(|setting| setting.current.clone()),
        };
        let mut offers = self.offers();
        if offers.get(agent.as_str()) == Some(&offered) {
            return;
        }
        offers.insert(agent.to_string(), offered);
        *self.offers.known() = Some(offers.clone());
        let path = self.offers_file();
        tokio::task::spawn_blocking(move || {
            let text = serde_json::to_vec(&offers).unwrap_or_default();
            // The file is only a cache, and written again with the next change.
            if let Err(error) = convoke_files::atomic::write(&path, &text) {
                tracing::debug!("cannot write {}: {error}", path.display());
            }
        });
    }

    /// The agents of the catalogue, in its order.
    pub(crate) fn agents(&self) -> Vec<ListedAgent> {
        self.settings.agents.iter().map(|agent| self.listed(agent)).collect()
    }

    fn listed(&self, agent: &Agent) -> ListedAgent {
        let program = self.program(agent);
        let asked = || self.versions.known().get(&Versions::key(program.as_deref()?))?.clone();
        let (layers, missing) = layers_of(agent, &self.settings.sandbox);
        let offered = self.offers().remove(agent.name.as_str()).unwrap_or_default();
        ListedAgent {
            version: version::pinned(agent).or_else(asked),
            login: agent.login_state(&self.host.environment),
            program,
            layers,
            missing,
            offered,
            agent: agent.clone(),
        }
    }

    /// Asks the installed programs for their versions, all at once, unless they were asked before.
    pub(crate) async fn ask_versions(&self) {
        let programs = self.settings.agents.iter().filter(|agent| version::pinned(agent).is_none());
        let programs: BTreeSet<PathBuf> =
            programs.filter_map(|agent| self.program(agent)).collect();
        let is_unknown = |key: &Program| !self.versions.known().contains_key(key);
        let unknown = programs.iter().map(|program| Versions::key(program)).filter(is_unknown);
        let mut asking = JoinSet::new();
        for key in unknown.collect::<Vec<_>>() {
            let host = Arc::clone(&self.host);
            asking.spawn(async move {
                let version = version::ask(&key.0, &host.environment).await;
                (key, version)
            });
        }
        while let Some(asked) = asking.join_next().await {
            if let Ok((key, version)) = asked {
                self.versions.known().insert(key, version);
            }
        }
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
        let path = self.host.environment.get(OsStr::new("PATH"));
        find(&agent.command, path.map(OsString::as_os_str))
    }
}
