//! Starting agents without a daemon: where they work, what they see, and what they are given.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use convoke_agents::catalogue::{Agent, Sandbox};
use convoke_agents::driver::{self, Driver, Launch, McpServer, REPORTS_MAX, Start};
use convoke_agents::launch::{Occasion, Surroundings};
use convoke_agents::temp::TempFolder;
use convoke_agents::{leftovers, sandbox};
use convoke_core::session::Report;
use tokio::sync::mpsc;

use super::partner::Partner;
use crate::commands::World;
use crate::home::Home;
use crate::random;

/// The folder that an agent would have to be kept out of contains its workspace's contents.
#[derive(Debug, thiserror::Error)]
#[error("an agent that is confined to {} could write Convoke's home {}", workspace.display(), home.display())]
pub(crate) struct HomeInside {
    workspace: PathBuf,
    home: PathBuf,
}

/// Where agents are started.
pub(super) struct Stage {
    around: Surroundings,
    workspace: PathBuf,
}

/// An agent that can be prompted.
pub(super) struct Running {
    /// The way to it.
    pub(super) driver: Driver,
    /// What it does.
    pub(super) reports: mpsc::Receiver<Report>,
    /// What it calls the session.
    pub(super) agent_session: String,
    /// What it calls itself.
    pub(super) introduced_as: Option<String>,
}

impl Stage {
    /// Readies the current folder for agents, and ends what a killed Convoke left running.
    pub(super) fn open(
        world: &World,
        home: &Home,
        sandbox: &sandbox::Settings,
    ) -> anyhow::Result<Self> {
        let workspace = std::env::current_dir().and_then(|folder| folder.canonicalize());
        let workspace = workspace.context("cannot tell in which folder the agent is to work")?;
        let place = world.environment.get("TMPDIR").map_or(Path::new("/tmp"), Path::new);
        let temp = TempFolder::create(place, random::bytes())
            .context("cannot make a folder for temporary files")?;
        let variables = world.environment.iter();
        let around = Surroundings {
            environment: variables.map(|(name, value)| (name.clone(), value.clone())).collect(),
            convoke: world.program.clone(),
            home: home.path().to_owned(),
            temp: Arc::new(temp),
            sandbox: sandbox.clone(),
        };
        match leftovers::reap(&home.path().join("run/agents")) {
            Ok(found) => found.iter().for_each(|left| tracing::info!("found: {left:?}")),
            Err(error) => tracing::warn!("cannot look for agents that were left: {error}"),
        }
        Ok(Self { around, workspace })
    }

    /// Where agents work.
    pub(super) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// A file as a person names it, with `~` for their own folder.
    pub(super) fn file(&self, path: &Path) -> PathBuf {
        let user = self.around.environment.get(std::ffi::OsStr::new("HOME")).map(Path::new);
        match (path.strip_prefix("~"), user) {
            (Ok(rest), Some(user)) => user.join(rest),
            (Ok(_) | Err(_), _) => path.to_owned(),
        }
    }

    /// Whether an agent shall be confined and the system cannot.
    pub(super) fn lacks_confinement(&self, agent: &Agent) -> bool {
        agent.sandbox == Sandbox::Workspace && !self.confines()
    }

    /// Whether any layer holds here.
    fn confines(&self) -> bool {
        let settings = &self.around.sandbox;
        settings.layers.iter().any(|layer| settings.available.lacks(*layer).is_none())
    }

    /// Starts an agent.
    pub(super) async fn start(&self, partner: &Partner, start: Start) -> anyhow::Result<Running> {
        let occasion = Occasion {
            workspace: self.workspace.clone(),
            start,
            mcp_servers: self.servers(&partner.agent),
        };
        let launch = Launch::of(&partner.agent, &self.around, occasion)?;
        let home = &self.around.home;
        let real_home = home.canonicalize().unwrap_or_else(|_| home.clone());
        if launch.confinement.confines() && real_home.starts_with(&self.workspace) {
            let (workspace, home) = (self.workspace.clone(), real_home);
            return Err(HomeInside { workspace, home }.into());
        }
        let (sender, reports) = mpsc::channel(REPORTS_MAX);
        let (driver, started) = driver::start(launch, random::bytes, sender).await?;
        let driver::Started { agent_session, introduced_as, .. } = started;
        Ok(Running { driver, reports, agent_session, introduced_as })
    }

    /// The servers of tools for an agent. A confined one, and so what it starts, cannot write into the home, where
    /// questions lie; a server that could not ask would only mislead it.
    fn servers(&self, agent: &Agent) -> Vec<McpServer> {
        if agent.sandbox == Sandbox::Workspace && self.confines() {
            return Vec::new();
        }
        let home = self.around.home.display().to_string();
        // The agent is not given our variables, but its server needs the one that says where questions lie.
        let dir = self.around.environment.get(std::ffi::OsStr::new(QUESTIONS_DIR));
        let env = dir.map(|dir| (QUESTIONS_DIR.to_owned(), dir.display().to_string()));
        vec![McpServer {
            name: "convoke".to_owned(),
            command: self.around.convoke.clone(),
            args: ["mcp", "--home", &home].map(str::to_owned).to_vec(),
            env: env.into_iter().collect::<BTreeMap<_, _>>(),
        }]
    }
}

/// The variable that says where questions lie.
const QUESTIONS_DIR: &str = "CONVOKE_QUESTIONS_DIR";
