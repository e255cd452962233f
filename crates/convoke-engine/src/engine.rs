//! The engine: opens and stops all components, and gives access to them.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use convoke_agents::leftovers;
use convoke_agents::pool::Pool;
use convoke_agents::temp::{self, TempFolder};
use convoke_core::time::Timestamp;
use convoke_files::questions::Questions;
use convoke_files::reserve::Reserve;
use convoke_store::Store;
use convoke_store::location::Location;
use tokio::sync::{broadcast, mpsc, watch};

use crate::blocking::blocking;
use crate::changes::Changes;
use crate::comparisons::Comparisons;
use crate::error::{Error, Result};
use crate::histories::Histories;
use crate::inbox::{self, Inbox};
use crate::moving::Moves;
use crate::nodes::{Incoming, Nodes};
use crate::processes::{ListedAgent, Processes};
use crate::project_files::ProjectFiles;
use crate::projects::Projects;
use crate::rules::Rules;
use crate::sessions::Sessions;
use crate::sessions::admission::active_sessions;
use crate::settings::{HostContext, Settings};
use crate::teams::{self, TeamSettings, Teams};
use crate::users::Users;
use crate::view::Change;
use crate::worktrees::Worktrees;

/// Changes that a subscriber may fall behind before it must list everything again.
const CHANGES_MAX: usize = 1024;
/// How long sessions may take to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a stop may take as a whole, so that the daemon exits within five seconds. Agents get
/// the time that the sessions did not use; an agent that is stopped while the daemon runs gets
/// eight seconds (`convoke-agents`).
const WHOLE_STOP_TIMEOUT: Duration = Duration::from_millis(3500);
/// How long the database may take to close after that. What was acknowledged is on its disk.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The engine. Cheap to clone; clones share all state.
#[derive(Debug, Clone)]
pub struct Engine {
    sessions: Arc<Sessions>,
    projects: Projects,
    rules: Rules,
    inbox: Inbox,
    users: Users,
    histories: Histories,
    teams: Arc<Teams>,
    changes: Changes,
    worktrees: Worktrees,
    comparisons: Comparisons,
    nodes: Arc<Nodes>,
    moves: Moves,
    commands: Arc<Mutex<Option<mpsc::Receiver<Incoming>>>>,
}

/// Counters and gauges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Active sessions of humans.
    pub active_sessions: u64,
    /// Agent processes.
    pub processes: usize,
    /// Agent processes that work on a turn.
    pub busy: usize,
    /// Turns that wait for a process.
    pub waiting: usize,
    /// Requests that wait for a human.
    pub inbox: u64,
    /// Watchers of sessions.
    pub watchers: usize,
    /// Prompts since the start.
    pub prompts: u64,
    /// Messages stored since the start.
    pub messages: u64,
    /// Turns that failed since the start.
    pub turns_failed: u64,
}

impl Engine {
    /// Opens the store, ends the processes that a killed daemon left running, and recovers its sessions.
    pub async fn open(settings: Settings, host: HostContext) -> Result<Self> {
        reap(host.home.join("run/agents")).await;
        let (settings, host) = (Arc::new(settings), Arc::new(host));
        let location = match &settings.server {
            Some(server) => Location::from(server.clone()),
            None => host.home.join("convoke.db").into(),
        };
        let store = Store::open(location, (host.clock)()).await?;
        let (name, version) = settings.node.clone();
        store.join_nodes(name, version).await?;
        if let Some(boot) = leftovers::boot() {
            store.booted(boot).await?;
        }
        let (configured, teams) = watch::channel(Arc::new(TeamSettings::none()));
        let processes = Processes {
            versions: Arc::default(),
            offers: Arc::default(),
            temp: Arc::new(temporary_files(&host)?),
            pool: Pool::start(settings.pool, host.random),
            store: store.clone(),
            teams,
            settings: Arc::clone(&settings),
            host: Arc::clone(&host),
        };
        let reserve = Reserve::new(host.home.join("run/reserve"));
        let changes = broadcast::Sender::new(CHANGES_MAX);
        let sessions = Sessions::new(processes, reserve.clone(), changes.clone());
        let projects = Projects {
            store: store.clone(),
            settings: Arc::clone(&settings),
            host: Arc::clone(&host),
            changes: changes.clone(),
            files: ProjectFiles::default(),
        };
        let rules = Rules { store: store.clone(), host: Arc::clone(&host), changes };
        let teams = Teams::new(&sessions, projects.clone(), configured);
        let questions = Questions::new(settings.questions_dir.clone(), settings.questions);
        let inbox = Inbox {
            sessions: Arc::clone(&sessions),
            rules: rules.clone(),
            store,
            questions,
            reserve,
            settings,
            host,
        };
        let changes = Changes::new(&sessions);
        // Before any turn begins: a restore that was cut off is completed first.
        let completed = changes.recover().await?;
        let worktrees = Worktrees::new(&sessions);
        let recovered = worktrees.recover().await;
        let histories = Histories::new(&sessions);
        sessions.recover().await?;
        sessions.start_active().await?;
        sessions.attachments.start_collection();
        changes.add_completed_notices(completed).await;
        worktrees.add_recovered_notices(recovered).await;
        changes.start_upkeep();
        inbox::announce_changes(&sessions, &inbox.questions);
        teams::start_periodic_check(&teams);
        histories.start_following();
        let comparisons = Comparisons::new(&sessions, &worktrees);
        let nodes = Nodes::new(&sessions);
        let moves = Moves::start(&sessions, &projects, &nodes).await?;
        let users = Users { store: sessions.store.clone(), host: Arc::clone(&sessions.host) };
        Ok(Self {
            commands: Arc::new(Mutex::new(Some(nodes.start()))),
            nodes,
            moves,
            users,
            sessions,
            projects,
            rules,
            inbox,
            histories,
            teams,
            changes,
            worktrees,
            comparisons,
        })
    }

    /// Accepts no new work, stops all agents, and closes the store. The next start ends the turns that were running.
    pub async fn stop(&self) {
        let deadline = tokio::time::Instant::now() + WHOLE_STOP_TIMEOUT;
        let ended = tokio::time::timeout(STOP_TIMEOUT, self.sessions.registry.stop()).await;
        if ended.is_err() {
            tracing::warn!("some sessions are still being written, and are cut off");
        }
        self.sessions.snapshots.stop();
        let stopped = self.sessions.processes.pool.stop();
        if tokio::time::timeout_at(deadline, stopped).await.is_err() {
            tracing::warn!("some agents take long to stop, and are killed");
        }
        let closed = tokio::time::timeout(CLOSE_TIMEOUT, async {
            if let Err(error) = self.sessions.store.leave_nodes().await {
                tracing::warn!("cannot remove this node's lease: {error}");
            }
            self.sessions.store.close().await;
        });
        if closed.await.is_err() {
            tracing::warn!("the database does not answer, and is left as it is");
        }
        // A disk error may have left records of agents that have ended.
        reap(self.sessions.host.home.join("run/agents")).await;
    }

    /// The sessions.
    pub const fn sessions(&self) -> &Arc<Sessions> {
        &self.sessions
    }

    /// The projects.
    pub const fn projects(&self) -> &Projects {
        &self.projects
    }

    /// What agents may do without asking, and what they may not.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The requests to the human.
    pub const fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// The users and what they did.
    pub const fn users(&self) -> &Users {
        &self.users
    }

    /// The conversations that other programs keep.
    pub const fn histories(&self) -> &Histories {
        &self.histories
    }

    /// The teams.
    pub const fn teams(&self) -> &Arc<Teams> {
        &self.teams
    }

    /// What sessions changed in their projects.
    pub const fn changes(&self) -> &Changes {
        &self.changes
    }

    /// The work trees that sessions have for themselves.
    pub const fn worktrees(&self) -> &Worktrees {
        &self.worktrees
    }

    /// Comparisons of agents.
    pub const fn comparisons(&self) -> &Comparisons {
        &self.comparisons
    }

    /// The daemons that share the database.
    pub const fn nodes(&self) -> &Arc<Nodes> {
        &self.nodes
    }

    /// The moves of sessions to other machines.
    pub const fn moves(&self) -> &Moves {
        &self.moves
    }

    /// What other daemons ask of this one; can be taken once.
    pub fn commands(&self) -> Option<mpsc::Receiver<Incoming>> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Why the store accepts no writes, if so.
    pub fn failure(&self) -> Option<convoke_store::DatabaseFailure> {
        self.sessions.store.failure()
    }

    /// The current time of the injected clock.
    pub fn now(&self) -> Timestamp {
        self.sessions.host.now()
    }

    /// Increases with every commit.
    pub fn stored(&self) -> u64 {
        self.sessions.store.age()
    }

    /// The engine's settings.
    pub fn settings(&self) -> &Settings {
        &self.sessions.settings
    }

    /// The agents of the catalogue, in its order. Reads the folders of the search path.
    pub async fn agents(&self) -> Result<Vec<ListedAgent>> {
        let processes = self.sessions.processes.clone();
        blocking(move || processes.agents()).await
    }

    /// Asks the installed agents for their versions, which takes up to five seconds the first time.
    pub async fn ask_versions(&self) {
        self.sessions.processes.ask_versions().await;
    }

    /// Subscribes to every change of what lists show. A subscriber that falls behind must list everything again.
    pub fn follow(&self) -> broadcast::Receiver<Change> {
        self.sessions.changes.subscribe()
    }

    /// Reads all counters and gauges.
    pub async fn figures(&self) -> Result<Figures> {
        let counts = self.sessions.processes.pool.counts().await;
        let counted = &self.sessions.counted;
        Ok(Figures {
            active_sessions: active_sessions(&self.sessions.store).await?,
            processes: counts.processes,
            busy: counts.busy,
            waiting: counts.waiting,
            inbox: self.inbox.count().await?,
            watchers: self.sessions.registry.watchers(),
            prompts: counted.prompts.load(Ordering::Relaxed),
            messages: counted.messages.load(Ordering::Relaxed),
            turns_failed: counted.turns_failed.load(Ordering::Relaxed),
        })
    }
}

/// Kills agent processes that outlived their daemon; a failure is logged and does not stop the engine from starting.
async fn reap(folder: PathBuf) {
    match tokio::task::spawn_blocking(move || leftovers::reap(&folder)).await {
        Ok(Ok(found)) => {
            for left in found {
                tracing::info!("leftover processes of an agent: {left:?}");
            }
        }
        Ok(Err(error)) => tracing::warn!("cannot look for leftover agent processes: {error}"),
        Err(error) => tracing::error!("the search for leftover agents panicked: {error}"),
    }
}

/// Creates the parent folder of the agents' temporary files in the system's temporary directory, and removes the one
/// of a killed daemon, which is recorded in the home.
fn temporary_files(host: &HostContext) -> Result<TempFolder> {
    let note = host.home.join("run/temp");
    if let Ok(path) = std::fs::read_to_string(&note)
        && let Err(error) = temp::remove_abandoned(Path::new(path.trim()))
    {
        tracing::warn!("cannot remove {}: {error}", path.trim());
    }
    let place = host.environment.get(std::ffi::OsStr::new("TMPDIR"));
    let place = place.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Io { path, source }
    };
    // Two daemons cannot have the same process id at the same time.
    let millis = i128::from((host.clock)().as_millis()).cast_unsigned();
    let name = (millis << 32 | u128::from(std::process::id())) << 64;
    let folder = TempFolder::create(&place, name.to_ne_bytes()).map_err(fail(&place))?;
    std::fs::create_dir_all(host.home.join("run")).map_err(fail(&note))?;
    let mut options = std::fs::OpenOptions::new();
    let written = options.write(true).create(true).truncate(true).mode(0o600).open(&note);
    written
        .and_then(|mut file| file.write_all(folder.path().as_os_str().as_encoded_bytes()))
        .map_err(fail(&note))?;
    Ok(folder)
}
