//! `convoke agent`: which agents are installed, and whether they answer.

mod check;

use std::process::Stdio;
use std::time::Duration;

use convoke_agents::catalogue::{Agent, Protocol, find};
use convoke_agents::sandbox::Available;
use serde::Serialize;
use tokio::process::Command;

use super::{Access, World};
use crate::args::GlobalArgs;
use crate::logs::Loudness;
use crate::output::{Output, table};
use crate::signals;

pub(crate) use check::UnknownAgent;

/// List agents, and check that they start
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke agent list
  convoke agent check demo"
)]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    command: AgentCommand,
}

#[derive(Debug, clap::Subcommand)]
enum AgentCommand {
    List(ListArgs),
    Check(check::CheckArgs),
}

/// List the agents: the built-in ones and those of the configuration
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke agent list
  convoke agent list --json | jq '.agents[] | select(.path)'")]
struct ListArgs {}

/// A contract with scripts.
#[derive(Serialize)]
struct Listed {
    agents: Vec<ListedAgent>,
}

#[derive(Serialize)]
struct ListedAgent {
    name: String,
    title: String,
    badge: String,
    protocol: &'static str,
    /// Where it is installed; `null` when it is not.
    path: Option<String>,
    /// What it calls its version, when it says so.
    version: Option<String>,
    /// How to install it, when that is known.
    install: Option<String>,
}

pub(crate) fn run(
    args: &AgentArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let access = match &args.command {
        AgentCommand::List(_) => Access::Read,
        AgentCommand::Check(_) => Access::Write,
    };
    let home = world.home_for(access, global, Loudness::of(global), output)?;
    let config = world.config(&home)?.config;
    match &args.command {
        AgentCommand::List(_) => list(&config.agents, world, output),
        AgentCommand::Check(args) => {
            let available = Available::detect(world.environment.get("PATH"));
            let sandbox = config.sandbox.settings(available);
            check::run(args, &config.agents, &sandbox, &home, world, output)
        }
    }
}

fn list(agents: &[Agent], world: &World, output: &Output) -> anyhow::Result<()> {
    let agents = signals::block_on(async {
        // All at once: some agents need seconds to tell their version.
        let looks: Vec<_> = agents
            .iter()
            .map(|agent| tokio::spawn(look(agent.clone(), path(agent, world))))
            .collect();
        let mut found = Vec::new();
        for look in looks {
            found.push(look.await?);
        }
        Ok(found)
    })?;
    output.show(&Listed { agents }, |listed, _| {
        let row = |agent: &ListedAgent| {
            let installed = match (&agent.path, &agent.install) {
                (Some(path), _) => path.clone(),
                (None, Some(install)) => format!("no; {install}"),
                (None, None) => "no".to_owned(),
            };
            let version = agent.version.clone().unwrap_or_default();
            [agent.badge.clone(), agent.name.clone(), agent.title.clone(), version, installed]
        };
        table(
            ["", "AGENT", "TITLE", "VERSION", "INSTALLED"],
            listed.agents.iter().map(row).collect(),
        )
    })
}

/// Where an agent is installed.
fn path(agent: &Agent, world: &World) -> Option<std::path::PathBuf> {
    find(&agent.command, world.environment.get("PATH"))
}

async fn look(agent: Agent, path: Option<std::path::PathBuf>) -> ListedAgent {
    let version = match &path {
        Some(path) => version(path).await,
        None => None,
    };
    let words = Protocol::WORDS.into_iter();
    ListedAgent {
        name: agent.name.to_string(),
        title: agent.title,
        badge: agent.badge,
        protocol: words
            .into_iter()
            .find(|(_, one)| *one == agent.protocol)
            .map_or("", |(word, _)| word),
        path: path.map(|path| path.display().to_string()),
        version,
        install: agent.install,
    }
}

/// How long a program may take to tell its version.
const VERSION_PATIENCE: Duration = Duration::from_secs(5);

/// The first line that a program prints when asked for its version.
async fn version(program: &std::path::Path) -> Option<String> {
    let asked = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(VERSION_PATIENCE, asked).await.ok()?.ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().next()?.trim();
    (output.status.success() && !line.is_empty()).then(|| line.chars().take(60).collect())
}
