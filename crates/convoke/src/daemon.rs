//! The way to the daemon: where its file says it is, and starting it when it is not there.

mod process;
mod start;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use convoke_api::bodies::Daemon;
use convoke_api::{Client, Error};
use convoke_files::lock;
use convoke_files::watch::Watcher;

use crate::args::GlobalArgs;
use crate::commands::World;
use crate::home::{Home, create_private};
use crate::output::Output;
use crate::signals;

/// How long a process that was killed may take to be gone.
const ENDING: Duration = Duration::from_millis(500);

pub(crate) use process::Process;

/// Whether a command may start the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Autostart {
    /// When it is not running.
    Allowed,
    /// Never.
    Forbidden,
}

/// What commands that need the daemon take.
#[derive(Debug, clap::Args)]
pub(crate) struct DaemonArgs {
    /// Fail instead of starting the daemon when it is not running
    #[arg(long, global = true)]
    no_autostart: bool,
}

impl DaemonArgs {
    /// What was asked for.
    pub(crate) const fn autostart(&self) -> Autostart {
        if self.no_autostart { Autostart::Forbidden } else { Autostart::Allowed }
    }
}

/// A daemon that answers.
#[derive(Debug)]
pub(crate) struct Running {
    /// The way to it.
    pub(crate) client: Client,
}

/// Why there is no way to the daemon.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DaemonError {
    /// It is not running, and must not be started.
    #[error("the daemon is not running")]
    NotRunning,
    /// Its process lives, and nobody is served yet or any more.
    #[error("the daemon, process {pid}, is starting or ending")]
    NotReady {
        /// Its process.
        pid: u32,
    },
    /// Its process lives and does not answer.
    #[error("the daemon, process {pid}, does not answer")]
    Silent {
        /// Its process.
        pid: u32,
        /// What happened.
        source: Box<Error>,
    },
    /// It was there and is not any more.
    #[error("the daemon went away and was not back within {} s", patience.as_secs())]
    Gone {
        /// How long was waited.
        patience: Duration,
    },
    /// It was started and ended at once.
    #[error("the daemon did not start")]
    NotStarted {
        /// What it said.
        source: LastWords,
    },
    /// It was started and is not ready.
    #[error("the daemon was not ready within {} s", patience.as_secs())]
    TooSlow {
        /// How long was waited.
        patience: Duration,
        /// What it said.
        source: LastWords,
    },
    /// It cannot be started.
    #[error("cannot start the daemon")]
    CannotStart {
        /// Why.
        source: io::Error,
    },
}

/// The last lines that a daemon wrote before it was given up.
#[derive(Debug, thiserror::Error)]
#[error("{}", if lines.is_empty() { "it said nothing".to_owned() } else { lines.join("\n  ") })]
pub(crate) struct LastWords {
    /// The lines.
    pub(crate) lines: Vec<String>,
    /// Where there may be more.
    pub(crate) path: PathBuf,
}

/// Does some work with the daemon, which is started if it is not running and may be.
pub(crate) fn with<T>(
    world: &World,
    global: &GlobalArgs,
    args: &DaemonArgs,
    output: &Output,
    work: impl AsyncFnOnce(&Client, &Home) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let home = world.open_home(global, output)?;
    signals::block_on(async {
        let client = reach(&home, world, args.autostart()).await?;
        work(&client, &home).await
    })
}

/// The way to the daemon, started if it is not running and may be.
pub(crate) async fn reach(
    home: &Home,
    world: &World,
    autostart: Autostart,
) -> anyhow::Result<Client> {
    if let Some(running) = find(home).await? {
        return Ok(running.client);
    }
    match autostart {
        Autostart::Allowed => Ok(start::start(home, world).await?.client),
        Autostart::Forbidden => Err(DaemonError::NotRunning.into()),
    }
}

/// Waits until there is a daemon again, however long that takes. Starts none.
pub(crate) async fn comes_back(home: &Home) -> anyhow::Result<Client> {
    let watcher = watch_run(home)?;
    loop {
        match find(home).await {
            Ok(Some(running)) => return Ok(running.client),
            // One that does not answer yet may do so when its file changes.
            Ok(None) | Err(_) => {
                watcher.changed().await;
            }
        }
    }
}

/// The daemon, if it is running.
pub(crate) async fn find(home: &Home) -> Result<Option<Running>, DaemonError> {
    let Some(daemon) = read(home) else { return Ok(None) };
    let pid = daemon.pid;
    if !Process::new(pid).is_some_and(Process::is_alive) {
        tracing::debug!("the daemon's file is of process {pid}, which has ended");
        return Ok(None);
    }
    let client = match Client::connect(&daemon.url, &daemon.token) {
        Ok(client) => client,
        Err(error) => {
            tracing::warn!("the daemon's file makes no sense: {error}");
            return Ok(None);
        }
    };
    match client.health().await {
        Ok(_) => Ok(Some(Running { client })),
        // Its process ends just now, or its id belongs to another program by now.
        Err(Error::Unreachable { .. }) => Ok(None),
        // One that was killed a moment ago takes its time to be gone.
        Err(_) if ends_now(pid).await => Ok(None),
        Err(source) => Err(DaemonError::Silent { pid, source: Box::new(source) }),
    }
}

/// Whether a process is gone, or will be in a moment.
async fn ends_now(pid: u32) -> bool {
    match Process::new(pid) {
        Some(process) => tokio::time::timeout(ENDING, process.ended()).await.is_ok(),
        None => true,
    }
}

/// The process of a daemon that is starting, or that ends: it has the home and cannot be reached.
pub(crate) fn unreachable(home: &Home) -> Option<u32> {
    let holder = lock::holder(&home.serve_lock());
    holder.filter(|pid| Process::new(*pid).is_some_and(Process::is_alive))
}

/// What the daemon's file says, if there is one.
pub(crate) fn read(home: &Home) -> Option<Daemon> {
    let text = fs::read(home.daemon_file()).ok()?;
    serde_json::from_slice(&text)
        .inspect_err(|error| tracing::warn!("the daemon's file cannot be understood: {error}"))
        .ok()
}

/// Is woken when the daemon's file appears, changes or goes away.
pub(crate) fn watch_run(home: &Home) -> anyhow::Result<Watcher> {
    let folder = home.run();
    create_private(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut watcher = Watcher::new();
    watcher.watch(&folder)?;
    Ok(watcher)
}
