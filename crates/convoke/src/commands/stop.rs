//! `convoke stop`: ends the daemon.

use std::time::Duration;

use anyhow::Context;
use convoke_api::bodies::StoppedAgents;
use convoke_core::count::counted;
use serde::Serialize;

use super::World;
use crate::args::GlobalArgs;
use crate::daemon::{self, Process};
use crate::home::{Depth, Home, Repair};
use crate::output::Output;
use crate::signals;

/// How long the daemon may take to exit: it gives its agents five seconds.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Stop the daemon and its agents
///
/// Sessions are kept and continue when the daemon runs again. Does nothing if the daemon is not
/// running.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke stop
  convoke stop --agents")]
pub(crate) struct StopArgs {
    /// Stop only the agents and cancel their turns; the daemon keeps running
    #[arg(long)]
    agents: bool,
}

/// The daemon does not end.
#[derive(Debug, thiserror::Error)]
#[error("the daemon, process {pid}, did not end within {} s", TIMEOUT.as_secs())]
pub(crate) struct NotStopped {
    /// Its process.
    pub(crate) pid: u32,
}

/// A contract with scripts.
#[derive(Serialize)]
struct Stopped {
    stopped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
}

pub(crate) fn run(
    args: &StopArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let home = world.read_home(global, output)?;
    // Files that an agent made unreadable must not prevent the stop.
    home.protect(Depth::Essential).iter().for_each(Repair::log);
    if args.agents {
        return stop_agents(&home, output);
    }
    let pid = signals::block_on(async {
        // By the lock that it holds, so that it need not answer for being stopped.
        let Some(pid) = daemon::process(&home) else { return Ok(None) };
        let process = Process::new(pid).context("the daemon reported no process id")?;
        process.terminate().with_context(|| format!("cannot stop process {pid}"))?;
        match tokio::time::timeout(TIMEOUT, process.ended()).await {
            Ok(ended) => ended.with_context(|| format!("cannot wait for process {pid}"))?,
            Err(_) => return Err(NotStopped { pid }.into()),
        }
        Ok(Some(pid))
    })?;
    output.show(&Stopped { stopped: pid.is_some(), pid }, |_, _| match pid {
        Some(pid) => format!("stopped the daemon, process {pid}\n"),
        None => "the daemon is not running\n".to_owned(),
    })
}

/// Stops everything that agents do; without a daemon they do nothing.
fn stop_agents(home: &Home, output: &Output) -> anyhow::Result<()> {
    let stopped = signals::block_on(async {
        match daemon::find(home).await? {
            Some(running) => Ok(running.client.stop_agents().await?),
            None => Ok(StoppedAgents { sessions: 0, processes: 0 }),
        }
    })?;
    output.show(&stopped, |stopped, _| match (stopped.sessions, stopped.processes) {
        (0, 0) => "no agent is running\n".to_owned(),
        (sessions, processes) => format!(
            "stopped {}, {sessions} of them busy; sessions continue with the next prompt\n",
            counted(processes, "agent")
        ),
    })
}
