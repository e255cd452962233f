//! Connects to the daemon: finds it by its file, and starts it if it is not running.

mod process;
mod start;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use convoke_api::bodies::Daemon;
use convoke_api::{Client, Error};
use convoke_files::lock;
use convoke_files::watch::Watcher;

use crate::args::GlobalArgs;
use crate::commands::World;
use crate::home::{Depth, Home, Repair, create_private};
use crate::output::Output;
use crate::signals;

/// How long a killed process may take to disappear.
const ENDING: Duration = Duration::from_millis(500);

/// How often permissions are restored for one read: an agent may remove them again at once.
const REPAIRS_MAX: usize = 8;

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
    /// The client.
    pub(crate) client: Client,
}

/// Why the daemon cannot be reached.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DaemonError {
    /// It is not running, and must not be started.
    #[error("the daemon is not running")]
    NotRunning,
    /// Its process is running, but not serving: it is starting or stopping.
    #[error("the daemon, process {pid}, is starting or stopping")]
    NotReady {
        /// Its process.
        pid: u32,
    },
    /// It will not serve this command.
    #[error("the daemon, process {pid}, refuses this command")]
    Refused {
        /// Its process.
        pid: u32,
        /// Why.
        source: Box<Error>,
    },
    /// Its file exists, but cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Its process lives and does not answer.
    #[error("the daemon, process {pid}, does not respond")]
    Silent {
        /// Its process.
        pid: u32,
        /// What happened.
        source: Box<Error>,
    },
    /// It has exited meanwhile.
    #[error("the daemon stopped and did not come back within {} s", after.as_secs())]
    Gone {
        /// How long was waited.
        after: Duration,
    },
    /// It was started and ended at once.
    #[error("the daemon did not start")]
    NotStarted {
        /// Its last output.
        source: StartupOutput,
    },
    /// It was started and is not ready.
    #[error("the daemon was not ready within {} s", after.as_secs())]
    TooSlow {
        /// How long was waited.
        after: Duration,
        /// Its last output.
        source: StartupOutput,
    },
    /// It cannot be started.
    #[error("cannot start the daemon")]
    CannotStart {
        /// Why.
        source: io::Error,
    },
}

/// The last output of a daemon that did not start.
#[derive(Debug, thiserror::Error)]
#[error("{}", if lines.is_empty() { "it printed nothing".to_owned() } else { lines.join("\n  ") })]
pub(crate) struct StartupOutput {
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
    let home = world.read_home(global, output)?;
    signals::block_on(async {
        let client = reach(&home, world, args.autostart()).await?;
        work(&client, &home).await
    })
}

/// Connects to the daemon; starts it if it is not running and that is allowed.
pub(crate) async fn reach(
    home: &Home,
    world: &World,
    autostart: Autostart,
) -> anyhow::Result<Client> {
    match find(home).await {
        Ok(Some(running)) => return Ok(running.client),
        Ok(None) => {}
        // Starting the daemon puts permissions back, so it may help.
        Err(DaemonError::Unreadable { .. }) if autostart == Autostart::Allowed => {}
        Err(error) => return Err(error.into()),
    }
    match autostart {
        Autostart::Allowed => Ok(start::start(home, world).await?.client),
        Autostart::Forbidden => Err(DaemonError::NotRunning.into()),
    }
}

/// Waits until a daemon runs again, without a timeout. Starts none.
pub(crate) async fn wait_until_running(home: &Home) -> anyhow::Result<Client> {
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
    let Some(daemon) = read(home)? else { return Ok(None) };
    let pid = daemon.pid;
    if !Process::new(pid).is_some_and(Process::is_alive) {
        tracing::debug!("run/daemon.json names process {pid}, which has ended");
        return Ok(None);
    }
    let connected = match &daemon.control {
        Some(socket) => Client::connect_control(Path::new(socket), &daemon.url, &daemon.token),
        None => Client::connect(&daemon.url, &daemon.token),
    };
    let client = match connected {
        Ok(client) => client,
        Err(error) => {
            tracing::warn!("run/daemon.json is invalid: {error}");
            return Ok(None);
        }
    };
    match client.health().await {
        // The response may be from another daemon, which has started since the file was read.
        Ok(_) | Err(Error::Problem(_)) if read(home)?.is_none_or(|now| now != daemon) => Ok(None),
        Ok(_) => Ok(Some(Running { client })),
        // Its process ends just now, or its id belongs to another program by now.
        Err(Error::Unreachable { .. }) => Ok(None),
        Err(source @ Error::Problem(_)) => {
            Err(DaemonError::Refused { pid, source: Box::new(source) })
        }
        // A process that was just killed takes a while to exit.
        Err(_) if ends_now(pid).await => Ok(None),
        Err(source) => Err(DaemonError::Silent { pid, source: Box::new(source) }),
    }
}

/// Whether a process has exited, or does within a short time.
async fn ends_now(pid: u32) -> bool {
    match Process::new(pid) {
        Some(process) => tokio::time::timeout(ENDING, process.ended()).await.is_ok(),
        None => true,
    }
}

/// The process that holds the home's lock: the daemon, also while it starts, ends, or does not answer.
pub(crate) fn process(home: &Home) -> Option<u32> {
    let holder = lock::holder(&home.serve_lock());
    holder.filter(|pid| Process::new(*pid).is_some_and(Process::is_alive))
}

/// The contents of the daemon's file, if it exists. An agent that removes the owner's permissions
/// must not lock the owner out, so they are restored.
fn read(home: &Home) -> Result<Option<Daemon>, DaemonError> {
    let path = home.daemon_file();
    let mut text = fs::read(&path);
    for _ in 0..REPAIRS_MAX {
        if !text.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied) {
            break;
        }
        home.protect(Depth::Essential).iter().for_each(Repair::log);
        text = fs::read(&path);
    }
    let text = match text {
        Ok(text) => text,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(source) => return Err(DaemonError::Unreadable { path, source }),
    };
    let daemon = serde_json::from_slice(&text)
        .inspect_err(|error| tracing::warn!("cannot parse run/daemon.json: {error}"));
    Ok(daemon.ok())
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Is woken when the daemon's file appears, changes or goes away.
pub(crate) fn watch_run(home: &Home) -> anyhow::Result<Watcher> {
    let folder = home.run();
    create_private(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut watcher = Watcher::new();
    watcher.watch(&folder)?;
    Ok(watcher)
}
