//! Which agents are installed.

use convoke_agents::catalogue::{self, Agent};
use serde::Serialize;

use super::{Check, World};
use crate::config::Config;

/// An agent, and where it is.
#[derive(Debug, Serialize)]
pub(super) struct FoundAgent {
    name: String,
    title: String,
    command: String,
    /// Where it is installed; `null` when it is not.
    path: Option<String>,
    /// How to install it, when that is known.
    install: Option<String>,
    /// Whether it is part of the program, so that its presence proves nothing.
    #[serde(skip)]
    built_in: bool,
}

impl FoundAgent {
    /// Whether this agent is meant, and is not installed.
    pub(super) fn is_missing(&self, name: &str) -> bool {
        self.name == name && self.path.is_none() && !self.built_in
    }

    pub(super) fn row(&self) -> [String; 3] {
        let installed = match (&self.path, &self.install) {
            (Some(path), _) => path.clone(),
            (None, Some(install)) => format!("no; {install}"),
            (None, None) => format!("no; `{}` is not on the search path", self.command),
        };
        [self.name.clone(), self.title.clone(), installed]
    }
}

/// Looks up the configured agents, or the built-in ones if the configuration is invalid.
pub(super) fn look_for(config: Option<&Config>, world: &World) -> Vec<FoundAgent> {
    let path = world.environment.get("PATH");
    let found = |agent: &Agent| FoundAgent {
        name: agent.name.to_string(),
        title: agent.title.clone(),
        command: agent.command.clone(),
        path: catalogue::find(&agent.command, path).map(|path| path.display().to_string()),
        install: agent.install.clone(),
        built_in: world.program.as_os_str() == agent.command.as_str(),
    };
    match config {
        Some(config) => config.agents.iter().map(found).collect(),
        None => catalogue::built_in(&world.program).iter().map(found).collect(),
    }
}

/// Checks that there is an agent besides the demo.
pub(super) fn check(agents: &[FoundAgent]) -> Check {
    let others: Vec<&FoundAgent> = agents.iter().filter(|agent| !agent.built_in).collect();
    let installed = others.iter().filter(|agent| agent.path.is_some()).count();
    match installed {
        0 => Check::warn(
            "agents",
            "none is installed besides the demo agent",
            "install one of those below",
        ),
        _ => Check::ok("agents", format!("{installed} of {} are installed", others.len())),
    }
}
