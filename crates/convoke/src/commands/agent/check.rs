//! `convoke agent check`: starts an agent, performs the handshake, and stops it again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use convoke_agents::catalogue::Agent;
use convoke_agents::driver::{self, Abilities, Launch, REPORTS_MAX, Start};
use convoke_agents::launch::{LaunchEnvironment, LaunchParameters};
use convoke_agents::temp::TempFolder;
use convoke_agents::{leftovers, sandbox};
use serde::Serialize;
use tokio::sync::mpsc;

use crate::commands::World;
use crate::home::Home;
use crate::output::{Output, aside_on_terminal};
use crate::{random, signals};

/// Start an agent and print its version and capabilities
///
/// The agent runs in an empty folder and is stopped after the handshake; no prompt is sent, so no
/// model is used.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke agent check demo
  convoke agent check claude-code --json")]
pub(crate) struct CheckArgs {
    /// Agent, as `convoke agent list` names it
    name: String,
}

/// A name that no agent has.
#[derive(Debug, thiserror::Error)]
#[error("there is no agent called {name}")]
pub(crate) struct UnknownAgent {
    name: String,
}

/// A contract with scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Checked {
    name: String,
    program: String,
    introduced_as: Option<String>,
    confined: bool,
    abilities: CheckedAbilities,
    ready_ms: u128,
}

#[derive(Serialize)]
struct CheckedAbilities {
    load: bool,
    resume: bool,
    list: bool,
    close: bool,
}

pub(super) fn run(
    args: &CheckArgs,
    agents: &[Agent],
    sandbox: &sandbox::Settings,
    home: &Home,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let agent = agents.iter().find(|agent| agent.name.as_str() == args.name);
    let agent = agent.ok_or_else(|| UnknownAgent { name: args.name.clone() })?;
    let folder = tempfile::tempdir().context("cannot make a folder for the agent to work in")?;
    let place = folder.path().canonicalize().context("cannot make a folder for the agent")?;
    let workspace = place.join("workspace");
    std::fs::create_dir(&workspace).context("cannot make a folder for the agent to work in")?;
    let temp = TempFolder::create(&place, random::bytes())
        .context("cannot make a folder for temporary files")?;
    let around = LaunchEnvironment {
        environment: world.environment.iter().map(owned).collect::<BTreeMap<_, _>>(),
        convoke: world.program.clone(),
        home: home.path().to_owned(),
        temp: Arc::new(temp),
        sandbox: sandbox.clone(),
    };
    reap(&home.path().join("run/agents"));
    let start = Start::New { id: random::uuid() };
    let launch = Launch::of(
        agent,
        &around,
        LaunchParameters { workspace, start, mcp_servers: Vec::new(), worktree: None },
    )?;
    aside_on_terminal(&format!("Starting {}…", launch.program.display()));
    let checked = signals::block_on(try_handshake(agent, launch))?;
    output.show(&checked, |checked, _| human(checked))
}

/// Kills processes that a killed Convoke left running.
fn reap(folder: &Path) {
    match leftovers::reap(folder) {
        Ok(found) => found.iter().for_each(|left| tracing::info!("found at the start: {left:?}")),
        Err(error) => tracing::warn!("cannot look for leftover agent processes: {error}"),
    }
}

fn owned((name, value): (&OsString, &OsString)) -> (OsString, OsString) {
    (name.clone(), value.clone())
}

async fn try_handshake(agent: &Agent, launch: Launch) -> anyhow::Result<Checked> {
    let program = launch.program.display().to_string();
    let confined = launch.confinement.confines();
    // Nothing is prompted, so the reports fit into the queue.
    let (reports, _unread) = mpsc::channel(REPORTS_MAX);
    let begun = Instant::now();
    let (driver, started) = driver::start(launch, random::bytes, reports).await?;
    let ready_ms = begun.elapsed().as_millis();
    driver.stop().await;
    let Abilities { load, resume, list, close } = started.abilities;
    Ok(Checked {
        name: agent.name.to_string(),
        program,
        introduced_as: started.introduced_as,
        confined,
        abilities: CheckedAbilities { load, resume, list, close },
        ready_ms,
    })
}

fn human(checked: &Checked) -> String {
    let abilities = &checked.abilities;
    let can: Vec<&str> = [
        ("load", abilities.load),
        ("resume", abilities.resume),
        ("list", abilities.list),
        ("close", abilities.close),
    ]
    .into_iter()
    .filter_map(|(name, can)| can.then_some(name))
    .collect();
    let can = if can.is_empty() { "nothing more".to_owned() } else { can.join(", ") };
    let introduced = checked.introduced_as.as_deref().unwrap_or("an agent that gives no name");
    let confined =
        if checked.confined { "to its workspace, by the kernel" } else { "not confined" };
    format!(
        "{} answers: {introduced}, ready in {} ms\n  program   {}\n  confined  {confined}\n  sessions  {can}\n",
        checked.name, checked.ready_ms, checked.program
    )
}
