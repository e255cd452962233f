//! `convoke agent`: which agents are installed, whether they answer, and more of them.

mod add;
mod check;

use std::collections::BTreeMap;
use std::ffi::OsString;

use convoke_agents::catalogue::{Agent, Protocol, find, version};
use convoke_agents::sandbox::Available;
use serde::Serialize;

use super::{Access, World};
use crate::args::GlobalArgs;
use crate::home::Home;
use crate::logs::Verbosity;
use crate::output::{Output, plain, table};
use crate::signals;

pub(crate) use add::AddError;
pub(crate) use check::UnknownAgent;

/// List agents, check that they start, and add others
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke agent list
  convoke agent check demo
  convoke agent add auggie"
)]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    command: AgentCommand,
}

#[derive(Debug, clap::Subcommand)]
enum AgentCommand {
    List(ListArgs),
    Check(check::CheckArgs),
    Add(add::AddArgs),
    Refresh(add::RefreshArgs),
}

/// List the agents: the built-in ones and those of the configuration
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke agent list
  convoke agent list --registry
  convoke agent list --json | jq '.agents[] | select(.path)'")]
struct ListArgs {
    /// List the agents of the ACP registry instead, which `convoke agent add` adds
    #[arg(long)]
    registry: bool,
}

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
    /// Its version, if it reports one.
    version: Option<String>,
    /// Whether the user has logged in.
    login: ListedLogin,
    /// How to install it, when that is known.
    install: Option<String>,
}

#[derive(Serialize)]
struct ListedLogin {
    /// `logged_in`, `logged_out`, `unknown` or `not_needed`.
    state: &'static str,
    /// How to log in, when that is known.
    hint: Option<String>,
}

pub(crate) fn run(
    args: &AgentArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let access = match &args.command {
        AgentCommand::List(_) => Access::Read,
        AgentCommand::Check(_) | AgentCommand::Add(_) | AgentCommand::Refresh(_) => Access::Write,
    };
    let home = world.home_for(access, global, Verbosity::of(global), output)?;
    match &args.command {
        AgentCommand::List(ListArgs { registry: true }) => add::available(&home, output),
        AgentCommand::List(_) => list(&home, world, output),
        AgentCommand::Check(args) => {
            let config = world.config(&home)?.config;
            let available = Available::detect(world.environment.get("PATH"));
            let sandbox = config.sandbox.settings(available);
            check::run(args, &config.agents, &sandbox, &home, world, output)
        }
        AgentCommand::Add(args) => add::add(args, &home, world, output),
        AgentCommand::Refresh(args) => add::refresh(args, &home, output),
    }
}

fn list(home: &Home, world: &World, output: &Output) -> anyhow::Result<()> {
    let agents = world.config(home)?.config.agents;
    let variables = world.environment.iter();
    let environment: BTreeMap<OsString, OsString> =
        variables.map(|(name, value)| (name.clone(), value.clone())).collect();
    let agents = signals::block_on(async {
        // Concurrently: some agents need seconds to report their version.
        let inspections: Vec<_> = agents
            .iter()
            .map(|agent| {
                tokio::spawn(inspect(agent.clone(), path(agent, world), environment.clone()))
            })
            .collect();
        let mut found = Vec::new();
        for inspection in inspections {
            found.push(inspection.await?);
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
            // For an agent that is not installed, the installation comes first.
            let login = match (&agent.path, agent.login.state) {
                (None, _) => String::new(),
                (Some(_), "logged_out") => {
                    let hint = agent.login.hint.as_ref();
                    hint.map_or_else(|| "no".to_owned(), |hint| format!("no; {hint}"))
                }
                (Some(_), "logged_in") => "yes".to_owned(),
                (Some(_), state) => state.replace('_', " "),
            };
            let [title, version] = [plain(&agent.title), plain(&version)];
            [agent.badge.clone(), agent.name.clone(), title, version, login, installed]
        };
        table(
            ["", "AGENT", "TITLE", "VERSION", "LOGGED IN", "INSTALLED"],
            listed.agents.iter().map(row).collect(),
        )
    })
}

/// Where an agent is installed.
fn path(agent: &Agent, world: &World) -> Option<std::path::PathBuf> {
    find(&agent.command, world.environment.get("PATH"))
}

async fn inspect(
    agent: Agent,
    path: Option<std::path::PathBuf>,
    environment: BTreeMap<OsString, OsString>,
) -> ListedAgent {
    let version = match (version::pinned(&agent), &path) {
        (Some(version), _) => Some(version),
        (None, Some(path)) => version::ask(path, &environment).await,
        (None, None) => None,
    };
    let words = Protocol::WORDS.into_iter();
    ListedAgent {
        name: agent.name.to_string(),
        badge: agent.badge.clone(),
        protocol: words
            .into_iter()
            .find(|(_, one)| *one == agent.protocol)
            .map_or("", |(word, _)| word),
        path: path.map(|path| path.display().to_string()),
        version,
        login: ListedLogin {
            state: agent.login_state(&environment).as_str(),
            hint: agent.login.map(|login| login.hint).filter(|hint| !hint.is_empty()),
        },
        title: agent.title,
        install: agent.install,
    }
}
