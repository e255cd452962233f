//! `convoke serve`: the daemon and its page, in the foreground.

mod bind;
mod config;
mod files;
mod guard;
mod notify;
mod teams;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal as _, stdout};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use convoke_agents::sandbox::{Available, Systemd};
use convoke_api::bodies::Daemon;
use convoke_engine::{
    self as engine, Checkpointing, HistorySettings, ImportMode, Limits, PoolSettings,
    QuestionSettings, Recall, Spare,
};
use convoke_server::{BackupSettings, Listeners, Problems, Server, ServerOptions, Serving, Token};
use convoke_store::transfer;
use serde::Serialize;

use super::World;
use crate::args::GlobalArgs;
use crate::asking::Asking;
use crate::config::Config;
use crate::home::{Depth, Home};
use crate::output::{Output, aside};
use crate::{browser, clock, random, signals};
use bind::ControlSocket;
use files::Announcement;
pub(crate) use files::Instance;
use guard::Guard;
use notify::Notifying;

/// Threads that serve; requests are short, and the database has threads of its own.
const THREADS: usize = 2;
/// How long blocking work may take to end when the daemon stops.
const LAST_WORK: Duration = Duration::from_millis(300);
/// How long opening may take to end after a signal, so that it can be closed in order.
const OPEN_TIMEOUT: Duration = Duration::from_secs(2);

/// Run the daemon and its web page in the foreground
///
/// Prints the address of the page when it is ready; on a terminal, as a link that works once.
/// Ctrl-C or `convoke stop` stops the daemon and its agents. Other commands start the daemon when
/// they need it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke serve
  convoke serve --open
  convoke serve --listen 127.0.0.1:0")]
pub(crate) struct ServeArgs {
    /// Address and port to listen on; port 0 picks a free one [default: server.listen of the
    /// configuration]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Print nothing: another command started this in the background
    #[arg(long, hide = true)]
    detached: bool,
}

/// Why there is no daemon now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    /// The home has one already.
    #[error("{}", match .pid {
        Some(pid) => format!("the daemon of this home is already running, as process {pid}"),
        None => "the daemon of this home is already running".to_owned(),
    })]
    Running {
        /// Its pid, if known.
        pid: Option<u32>,
    },
    /// The address is in use, or not permitted.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
    /// The engine does not open.
    #[error("the daemon cannot start")]
    Open(#[source] engine::Error),
    /// A team is not ready. Printed in one line, for the author of its configuration.
    #[error("{}", convoke_core::explain(.0))]
    Team(engine::Error),
}

pub(crate) fn run(
    args: &ServeArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    // Before anything is opened: an agent may have made it unreadable, or filled the disk.
    let found = world.home(global)?;
    let repairs = found.protect(Depth::Whole);
    guard::make_room_to_start(&found);
    let home = world.open_home(global, output)?;
    guard::report_repairs(&repairs);
    let instance = Instance::take(&home)?;
    // Before anything in the home is read: it may be half of one state and half of another.
    super::restore::finish(&home)?;
    let loaded = world.config_with(&home, flags(args))?;
    let port = if loaded.is_set("server.listen") { Port::Chosen } else { Port::Default };
    let mut config = loaded.config;
    teams::read(&config)?.pool.apply(&mut config.pool);
    Asking::new(&config.questions).clean_in_background();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_name("convoke")
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let served = runtime.block_on(serve(args, port, &config, &home, world, output));
    runtime.shutdown_timeout(LAST_WORK);
    drop(instance);
    served
}

/// Whether the port to listen on was chosen by the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    Chosen,
    Default,
}

/// The settings from the command line.
fn flags(args: &ServeArgs) -> BTreeMap<&'static str, String> {
    args.listen.iter().map(|address| ("--listen", address.clone())).collect()
}

async fn serve(
    args: &ServeArgs,
    port: Port,
    config: &Config,
    home: &Home,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let ended = signals::ended()?;
    tokio::pin!(ended);
    let descriptors = bind::raise_descriptors();
    let tcp = match port {
        Port::Chosen => bind::tcp(config.server.listen)?,
        Port::Default => bind::tcp_from(config.server.listen)?,
    };
    let address = bound_address(&tcp, config.server.listen)?;
    let token = files::token(home)?;
    let control = ControlSocket::bind(home, &world.environment)?;
    let (socket, control) = control.unzip();
    let problems = Problems::default();
    let options = ServerOptions {
        address,
        public_url: config.server.public_url.clone(),
        token: token.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        settings: settings(config, world, home)?,
        host: engine::HostContext {
            environment: environment(config, world),
            program: world.program.clone(),
            home: home.path().to_owned(),
            clock: clock::now,
            random: random::bytes,
            mcp: None,
        },
        problems: problems.clone(),
    };
    let mut opening = std::pin::pin!(Server::open(options));
    let (server, is_wanted) = tokio::select! {
        opened = &mut opening => (opened, true),
        // A signal arrived before anything was served. What has been opened is closed in order.
        () = &mut ended => match tokio::time::timeout(OPEN_TIMEOUT, &mut opening).await {
            Ok(opened) => (opened, false),
            Err(_) => return Ok(()),
        },
    };
    let server = server.map_err(ServeError::Open)?;
    let daemon = described(&server, &token, socket.as_ref());
    let serving = server.serve(Listeners { tcp, control, descriptors });
    if !is_wanted {
        serving.stop().await;
        return Ok(());
    }
    let _guard = Guard::start(home.clone(), problems);
    let before = teams::Content::of(&config.teams_file);
    if let Err(error) = open_teams(&serving, config, &mut ended).await {
        serving.stop().await;
        return error.map_or(Ok(()), Err);
    }
    let announcement = match Announcement::make(home, &daemon) {
        Ok(announcement) => announcement,
        Err(error) => {
            serving.stop().await;
            return Err(error);
        }
    };
    serving.enable_backups(BackupSettings {
        plan: super::backup::configured(home, config),
        // A database server is backed up by its operators.
        every: config.backup.every.filter(|_| config.store.url.is_empty()),
    });
    serving.enable_config(config::access(world, home, flags(args))).await;
    let _notifying = Notifying::start(&serving, world, home);
    let _watching = teams::Watching::start(serving.reloader(), &config.teams_file, before);
    tracing::info!("serving at {} as process {}", daemon.url, daemon.pid);
    if !args.detached {
        announce(&daemon, &serving, output)?;
    }
    if args.open
        && let Err(error) = open_browser(&serving).await
    {
        aside(&format!("{error:#}; run `convoke open --print` for a link"));
    }
    serving.run(ended).await;
    drop(announcement);
    tracing::info!("stopped serving");
    Ok(())
}

/// The content of `run/daemon.json`.
fn described(server: &Server, token: &Token, socket: Option<&ControlSocket>) -> Daemon {
    Daemon {
        pid: std::process::id(),
        url: server.url().to_owned(),
        token: token.as_str().to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        control: socket.map(|socket| socket.path().display().to_string()),
    }
}

/// The address of the first listener, with the port that was picked.
fn bound_address(
    listeners: &[tokio::net::TcpListener],
    address: SocketAddr,
) -> Result<SocketAddr, ServeError> {
    let bound = listeners.first().map_or(Ok(address), tokio::net::TcpListener::local_addr);
    bound.map_err(|source| ServeError::Bind { address, source })
}

/// Loads the teams before the daemon is announced. Fails with `None` if a stop is requested first.
async fn open_teams(
    serving: &Serving,
    config: &Config,
    ended: impl Future<Output = ()>,
) -> Result<(), Option<anyhow::Error>> {
    tokio::select! {
        opened = teams::open(serving, config) => opened.map_err(Some),
        () = ended => Err(None),
    }
}

fn settings(config: &Config, world: &World, home: &Home) -> anyhow::Result<engine::Settings> {
    let server = match config.store.server(&world.environment)? {
        Some(server) => Some(server.with_node(files::node_id(home)?)),
        None => None,
    };
    let name = node_name(config);
    let available = Available::detect(world.environment.get("PATH"));
    let variables = world.environment.iter();
    let variables = variables.map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut sandbox = config.sandbox.settings(available);
    sandbox.hidden.extend(config.store.password_file.clone());
    sandbox.systemd = Systemd::detect(&variables);
    let asking = Asking::new(&config.questions);
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Ok(engine::Settings {
        sessions_max: count(config.sessions.max_active),
        idle_timeout: config.sessions.idle_timeout,
        limits: Limits {
            turn_bytes: config.limits.turn_bytes,
            session_bytes: config.limits.session_bytes,
        },
        workspace_root: config.sessions.workspace_root.clone(),
        pool: PoolSettings {
            processes_max: count(config.pool.max_processes),
            idle_timeout: Duration::from_millis(config.pool.idle_timeout_ms),
            health_interval: Duration::from_millis(config.pool.health_check_interval_ms),
        },
        spare: if config.pool.spare { Spare::One } else { Spare::None },
        questions_dir: config.questions.dir.clone(),
        questions: QuestionSettings {
            sessions_max: count(config.questions.max_sessions),
            limits: asking.limits,
        },
        question_timeout: asking.timeout,
        agents: config.agents.clone(),
        sandbox,
        checkpoints: match config.changes.checkpoints {
            true => Checkpointing::On,
            false => Checkpointing::Off,
        },
        worktrees: engine::WorktreeSettings {
            root: worktree_root(config, world),
            set_up: config.worktree.set_up.clone(),
        },
        history: HistorySettings {
            import: match config.history.import.as_str() {
                "always" => ImportMode::Always,
                "never" => ImportMode::Never,
                _ => ImportMode::Ask,
            },
            recall: match config.history.recall.as_str() {
                "off" => Recall::Off,
                "all" => Recall::All,
                _ => Recall::Project,
            },
            open_for: config.history.open_for.unwrap_or_default(),
        },
        server,
        node: (name, env!("CARGO_PKG_VERSION").to_owned()),
    })
}

/// The variables that agents and other programs inherit: without the password of the database, by which an agent could
/// reach the other machines.
fn environment(config: &Config, world: &World) -> BTreeMap<OsString, OsString> {
    let is_passed = |name: &OsStr| config.store.url.is_empty() || name != "PGPASSWORD";
    let variables = world.environment.iter().filter(|(name, _)| is_passed(name));
    variables.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The name of this machine among those that share a database.
fn node_name(config: &Config) -> String {
    match config.node.name.as_str() {
        "" => rustix::system::uname().nodename().to_string_lossy().into_owned(),
        given => given.to_owned(),
    }
}

/// This node, as the owner of what is copied to a server.
pub(crate) fn owner(home: &Home, world: &World) -> anyhow::Result<transfer::Owner> {
    Ok(transfer::Owner {
        id: files::node_id(home)?,
        name: node_name(&world.config(home)?.config),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// Where work trees are: in the user's data, which agents can see, and not in the home, which they cannot.
fn worktree_root(config: &Config, world: &World) -> PathBuf {
    let variable = |name: &str| world.environment.get(name).map(PathBuf::from);
    let absolute = |path: &PathBuf| path.is_absolute();
    let data = variable("XDG_DATA_HOME")
        .filter(absolute)
        .or_else(|| variable("HOME").filter(absolute).map(|home| home.join(".local/share")));
    let default = || data.unwrap_or_else(|| PathBuf::from("/var/lib")).join("convoke/worktrees");
    config.worktree.root.clone().unwrap_or_else(default)
}

/// The output of `--json`: the address of the daemon, without secrets. A contract with scripts.
#[derive(Serialize)]
struct Ready<'a> {
    pid: u32,
    url: &'a str,
    version: &'a str,
}

/// Prints that the daemon is ready. Only a terminal gets a link: others may read files and pipes
/// later.
fn announce(daemon: &Daemon, serving: &Serving, output: &Output) -> anyhow::Result<()> {
    let ready = Ready { pid: daemon.pid, url: &daemon.url, version: &daemon.version };
    output.show(&ready, |Ready { url, .. }, _| {
        if stdout().is_terminal() {
            format!(
                "Convoke is ready at {}\n\
                 The link works once, within five minutes; `convoke open` makes another.\n",
                serving.link()
            )
        } else {
            format!("Convoke is ready at {url}\nOpen the page with `convoke open`\n")
        }
    })
}

async fn open_browser(serving: &Serving) -> anyhow::Result<()> {
    Ok(browser::open(&serving.link_file().await?).await?)
}
