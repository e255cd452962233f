//! The driver for `claude`, over its JSON frames on standard input and output.
//!
//! A turn can also begin without a prompt, when a background task has ended. Its output is reported
//! like any other, but it does not end a turn that a prompt began.

mod arguments;
mod conversation;
mod create;
mod event_loop;
#[cfg(fuzzing)]
#[path = "../../../fuzz/hooks/claude.rs"]
pub(crate) mod fuzzing;
mod refusal;
mod session_file;

use std::pin::pin;
use std::time::Duration;

use convoke_core::process::Exit;
use convoke_core::session::Report;
use serde_json::Map;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::driver::{Abilities, Driver, DriverRequest, Launch, ORDERS_MAX, Random, Start, Started};
use crate::process::Child;
use crate::tool_servers;
use crate::{Error, Result};

use conversation::Conversation;
use event_loop::{End, EventLoop};

pub use create::create_session;
pub use session_file::{session_file, session_file_in};

/// How long it may take to confirm a cancelled turn before it is stopped anyway.
const LEAVE_GRACE: Duration = Duration::from_secs(1);

/// It resumes a session without a replay; its other session functions work on files.
const ABILITIES: Abilities = Abilities { load: false, resume: true, list: false, close: false };

/// Starts `claude` and waits until it can be prompted. Reports come through `reports`.
pub(crate) async fn start(
    launch: Launch,
    random: Random,
    reports: mpsc::Sender<Report>,
) -> Result<(Driver, Started)> {
    let session = match &launch.start {
        Start::New { id } | Start::Fork { id, .. } => id.clone(),
        Start::Resume { agent_session } => agent_session.clone(),
    };
    let servers = tool_servers::File::write(&launch, Map::new(), random)?;
    let args =
        arguments::for_conversation(&launch, servers.as_ref().map(tool_servers::File::path))?;
    let launch = Launch { args, ..launch };
    let (mut child, pipes) = Child::spawn(&launch).await?;
    let mut event_loop = EventLoop::new(Conversation::new(session.clone(), random), pipes, reports);
    let Ok(initialized) =
        timeout(launch.start_timeout, initialize(&mut event_loop, &mut child, &session)).await
    else {
        return Err(Error::Timeout { program: launch.program, after: launch.start_timeout });
    };
    let name =
        initialized?.map_or("Claude Code".to_owned(), |version| format!("Claude Code {version}"));
    let offers = event_loop.offers();
    let (pid, (orders, requests)) = (child.pid(), mpsc::channel(ORDERS_MAX));
    let task = tokio::spawn(async move {
        let exit = serve_agent(child, event_loop, requests).await;
        // The agent may read the file again as long as it runs.
        drop(servers);
        exit
    });
    let introduced_as = Some(name);
    let started = Started { agent_session: session, introduced_as, abilities: ABILITIES, offers };
    Ok((Driver::new(pid, orders, task), started))
}

/// Does the handshake with an agent that may exit at any time, and returns its version.
async fn initialize(
    event_loop: &mut EventLoop,
    child: &mut Child,
    session: &str,
) -> Result<Option<String>> {
    let initialized = tokio::select! {
        initialized = event_loop.initialize() => initialized,
        exit = child.exited() => return Err(refusal::sort_out(exit, session)),
    };
    match initialized {
        Err(Error::Gone) => Err(refusal::sort_out(child.end().await, session)),
        other => other,
    }
}

/// Serves an agent until its process has ended, and returns its exit status.
async fn serve_agent(
    mut child: Child,
    mut event_loop: EventLoop,
    mut requests: mpsc::Receiver<DriverRequest>,
) -> Exit {
    let end = tokio::select! {
        end = event_loop.run(&mut requests) => Ok(end),
        exit = child.exited() => Err(exit),
    };
    let exit = match end {
        Ok(End::Stopped) => return stop(child, event_loop).await,
        Ok(End::Deserted) => {
            child.kill();
            return child.exited().await;
        }
        Ok(End::Silent) => child.end().await,
        Err(exit) => {
            if event_loop.read_remaining(&mut requests).await != End::Silent {
                return exit;
            }
            exit
        }
    };
    event_loop.report_last(Report::Exited(exit.clone()), &mut requests).await;
    exit
}

/// Interrupts the turn first: otherwise the agent would finish it after its input is closed.
async fn stop(child: Child, mut event_loop: EventLoop) -> Exit {
    // The process is stopped in any case.
    timeout(LEAVE_GRACE, event_loop.leave()).await.ok();
    let mut stopped = pin!(child.stop(event_loop.take_input()));
    tokio::select! {
        exit = &mut stopped => exit,
        () = event_loop.drain() => stopped.await,
    }
}

#[cfg(test)]
mod tests;
