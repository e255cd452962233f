//! How agents are launched without a daemon: the folder they work in, their environment, sandbox and tool servers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use convoke_agents::catalogue::{Agent, Sandbox};
use convoke_agents::driver::{AttachmentContent, Launch, McpServer, PromptAttachment, Start};
use convoke_agents::launch::{LaunchEnvironment, LaunchParameters};
use convoke_agents::temp::TempFolder;
use convoke_agents::{leftovers, sandbox};
use convoke_files::{index, mention};

use crate::commands::World;
use crate::home::Home;
use crate::random;

/// The home lies in the workspace, which a confined agent may write.
#[derive(Debug, thiserror::Error)]
#[error("an agent that is confined to {} could write Convoke's home {}", workspace.display(), home.display())]
pub(crate) struct HomeInside {
    workspace: PathBuf,
    home: PathBuf,
}

/// Launches agents in the current folder.
pub(super) struct Launcher {
    around: LaunchEnvironment,
    workspace: PathBuf,
}

impl Launcher {
    /// Prepares the current folder for agents, and ends agents that a killed Convoke left running.
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
        let around = LaunchEnvironment {
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

    /// The files and folders of the project that a text mentions, as links.
    pub(super) fn mentioned(&self, text: &str) -> Vec<PromptAttachment> {
        let attachment = |name: String| {
            let path = index::inside(&self.workspace, &name)?;
            Some(PromptAttachment {
                name,
                path,
                content: AttachmentContent::Mention { text: None },
            })
        };
        mention::all(text).into_iter().filter_map(attachment).collect()
    }

    /// Where the agent works.
    pub(super) fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Resolves a path that the user typed: `~` is their home directory.
    pub(super) fn file(&self, path: &Path) -> PathBuf {
        let user = self.around.environment.get(std::ffi::OsStr::new("HOME")).map(Path::new);
        match (path.strip_prefix("~"), user) {
            (Ok(rest), Some(user)) => user.join(rest),
            (Ok(_) | Err(_), _) => path.to_owned(),
        }
    }

    /// Whether an agent should be confined and the system cannot do that.
    pub(super) fn lacks_confinement(&self, agent: &Agent) -> bool {
        agent.sandbox == Sandbox::Workspace && !self.confines()
    }

    /// Whether any layer holds here.
    fn confines(&self) -> bool {
        let settings = &self.around.sandbox;
        settings.layers.iter().any(|layer| settings.available.lacks(*layer).is_none())
    }

    /// How an agent is launched in a session of its own; the caller fills in which one.
    pub(super) fn launch(&self, agent: &Agent) -> anyhow::Result<Launch> {
        let (workspace, mcp_servers) = (self.workspace.clone(), self.servers(agent));
        let start = Start::New { id: String::new() };
        let parameters = LaunchParameters { workspace, start, mcp_servers, worktree: None };
        let launch = Launch::of(agent, &self.around, parameters)?;
        let home = &self.around.home;
        let home = home.canonicalize().unwrap_or_else(|_| home.clone());
        if launch.confinement.confines() && home.starts_with(&self.workspace) {
            return Err(HomeInside { workspace: self.workspace.clone(), home }.into());
        }
        Ok(launch)
    }

    /// The tool servers of an agent. A confined agent and its children cannot write questions into the home, so it gets
    /// no server that could ask none.
    fn servers(&self, agent: &Agent) -> Vec<McpServer> {
        if agent.sandbox == Sandbox::Workspace && self.confines() {
            return Vec::new();
        }
        let home = self.around.home.display().to_string();
        // The agent does not inherit Convoke's variables, but its tool server needs the questions folder.
        let dir = self.around.environment.get(std::ffi::OsStr::new(QUESTIONS_DIR));
        let env = dir.map(|dir| (QUESTIONS_DIR.to_owned(), dir.display().to_string()));
        vec![McpServer {
            name: "convoke".to_owned(),
            command: self.around.convoke.clone(),
            args: ["mcp", "--home", &home].map(str::to_owned).to_vec(),
            env: env.into_iter().collect::<BTreeMap<_, _>>(),
            http: None,
        }]
    }
}

/// The variable that names the questions folder.
const QUESTIONS_DIR: &str = "CONVOKE_QUESTIONS_DIR";
