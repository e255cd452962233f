//! The driver for agents that speak the Agent Client Protocol, version 1.
//!
//! Real agents deviate from the protocol in many ways, so messages are parsed leniently: nothing
//! that an agent sends ends the connection, and unknown messages are ignored or stored as they are.

mod auth;
mod cline;
mod content;
mod dialogue;
mod event_loop;
mod files;
#[cfg(fuzzing)]
#[path = "../../../fuzz/hooks/acp.rs"]
pub(crate) mod fuzzing;
mod handshake;
mod host;
mod listing;
mod offer;
mod permission;
mod question;
pub(crate) mod terminal;
mod text;
mod tool;
mod update;
mod wire;

use std::os::fd::AsFd;
use std::pin::pin;
use std::time::Duration;

use convoke_core::process::Exit;
use convoke_core::session::Report;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::driver::{
    Abilities, Confinement, Driver, DriverRequest, Launch, ORDERS_MAX, Random, Started,
};
use crate::error::{Error, Result};
use crate::process::{Child, Pipes, open_workspace};
use dialogue::Dialogue;
use event_loop::{End, EventLoop};
use files::{Files, Outside};
use host::Host;
use terminal::Terminals;

/// How long the last output of an exited process is waited for; a process that left its group may
/// hold the pipe open for ever.
const LAST_OUTPUT_GRACE: Duration = Duration::from_secs(1);
/// How long an agent may take to close its session before it is stopped anyway.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

/// Starts an agent and opens or resumes its session. Reports come through `reports`.
pub(crate) async fn start(
    mut launch: Launch,
    random: Random,
    reports: mpsc::Sender<Report>,
) -> Result<(Driver, Started)> {
    let settings = cline::settings(&mut launch, random)?;
    let (mut child, pipes) = Child::spawn(&launch).await?;
    let mut event_loop = connect(pipes, &launch, random, reports)?;
    let started = perform_handshake(&mut event_loop, &mut child, &launch).await?;
    let (driver, requests) = mpsc::channel(ORDERS_MAX);
    let pid = child.pid();
    let close = Close { abilities: started.abilities, session: started.agent_session.clone() };
    let task = tokio::spawn(async move {
        let exit = serve_agent(child, event_loop, requests, close).await;
        // The agent may read the file again as long as it runs.
        drop(settings);
        exit
    });
    Ok((Driver::new(pid, driver, task), started))
}

fn connect(
    pipes: Pipes,
    launch: &Launch,
    random: Random,
    reports: mpsc::Sender<Report>,
) -> Result<EventLoop> {
    let hidden = match &launch.confinement {
        Confinement::Off => Vec::new(),
        Confinement::Supervised { policy, .. } => {
            policy.hidden.iter().chain(&policy.secrets).cloned().collect()
        }
    };
    let workspace = open_workspace(&launch.workspace)?;
    let path = launch.workspace.clone();
    let files = Files::open(&launch.workspace, workspace.as_fd(), &hidden, random)
        .map_err(|source| Error::Workspace { path, source })?
        .and(Outside::new(&launch.confinement));
    let host = Host::new(files, Terminals::new(launch.clone()));
    Ok(EventLoop::new(Dialogue::new(host, random), pipes, reports))
}

/// Does the handshake with an agent that may exit, or take too long, at any time.
async fn perform_handshake(
    event_loop: &mut EventLoop,
    child: &mut Child,
    launch: &Launch,
) -> Result<Started> {
    let mut performed = pin!(handshake::perform(event_loop, launch));
    let exit = tokio::select! {
        biased;
        performed = &mut performed => match performed {
            Err(Error::Gone) => return Err(Error::Exited(child.end().await)),
            other => return other,
        },
        () = sleep(launch.start_timeout) => {
            let program = launch.program.clone();
            return Err(Error::Timeout { program, after: launch.start_timeout });
        }
        exit = child.exited() => exit,
    };
    // Its last message is a better error than its exit status, if it can still be read.
    match timeout(LAST_OUTPUT_GRACE, performed).await {
        Ok(Err(error)) if !matches!(error, Error::Gone) => Err(error),
        Ok(_) | Err(_) => Err(Error::Exited(exit)),
    }
}

/// What is needed to shut an agent down.
struct Close {
    abilities: Abilities,
    session: String,
}

/// Serves an agent until its process has ended, and returns its exit status.
async fn serve_agent(
    mut child: Child,
    mut event_loop: EventLoop,
    mut requests: mpsc::Receiver<DriverRequest>,
    close: Close,
) -> Exit {
    let end = tokio::select! {
        end = event_loop.run(&mut requests) => Ok(end),
        exit = child.exited() => Err(exit),
    };
    let exit = match end {
        Ok(End::Stopped) => return stop(child, event_loop, close).await,
        Ok(End::Deserted) => {
            child.kill();
            return child.exited().await;
        }
        Ok(End::Closed) => child.end().await,
        Err(exit) => exit,
    };
    drop(event_loop.take_input());
    let reported = async {
        read_remaining(&mut event_loop).await;
        event_loop.report_last(Report::Exited(exit.clone())).await;
    };
    // A session that has requested a stop no longer reads reports.
    tokio::select! {
        () = reported => {}
        () = dismissed(&mut requests) => {}
    }
    exit
}

/// Waits for the stop request. All other requests are dropped: the agent has exited.
async fn dismissed(requests: &mut mpsc::Receiver<DriverRequest>) {
    while let Some(DriverRequest::Order(_) | DriverRequest::List { .. }) = requests.recv().await {}
}

/// Reads the last output of an exited process. A slow session is waited for, a silent pipe is not.
async fn read_remaining(event_loop: &mut EventLoop) {
    loop {
        match timeout(LAST_OUTPUT_GRACE, event_loop.step(None)).await {
            Ok(step) if step.is_break() => return,
            Err(_) if !event_loop.has_reports() => return,
            Ok(_) | Err(_) => {}
        }
    }
}

/// Shuts the agent down: closes the session, if the agent supports that, and then its input.
async fn stop(child: Child, mut event_loop: EventLoop, close: Close) -> Exit {
    // The session no longer reads reports, and a full queue must not block the shutdown.
    event_loop.mute();
    if close.abilities.close {
        let session = event_loop.call("session/close", json!({"sessionId": close.session}));
        // The process is stopped in any case.
        timeout(CLOSE_GRACE, session).await.ok();
    }
    let input = event_loop.take_input();
    let mut stopped = pin!(child.stop(input));
    tokio::select! {
        exit = &mut stopped => exit,
        () = event_loop.drain() => stopped.await,
    }
}

#[cfg(test)]
mod tests;
