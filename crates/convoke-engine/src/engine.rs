//! The handle to everything: opening, stopping, and what all parts share.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use convoke_agents::catalogue::{Agent, find};
use convoke_agents::leftovers;
use convoke_agents::pool::Pool;
use convoke_agents::temp::{self, TempFolder};
use convoke_core::id::SessionId;
use convoke_core::time::Timestamp;
use convoke_files::questions::Questions;
use convoke_files::reserve::Reserve;
use convoke_store::{Archived, SessionFilter, SessionKind, SessionOrder, Store, Window};
use tokio::sync::{Notify, Semaphore, broadcast, watch};

use crate::error::{Error, Kind, Result};
use crate::inbox;
use crate::session::registry::Registry;
use crate::sessions::spare::SpareProcess;
use crate::settings::{Around, Settings};
use crate::teams::{self, Attempts, Chains, PairCache, TeamSettings};
use crate::view::Change;

/// Changes that a follower may fall behind before it must look at everything again.
const CHANGES_MAX: usize = 1024;
/// How long sessions, and then agents, may take to end.
const STOP_PATIENCE: Duration = Duration::from_secs(2);
/// Sessions that are recovered or taken up at once when the daemon starts.
const PAGE: u32 = 100;

/// Everything that goes on. Cheap to clone; all clones are the same engine.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

/// What all parts of the engine have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) around: Around,
    /// The folder around those for agents' temporary files.
    pub(crate) temp: TempFolder,
    pub(crate) store: Store,
    pub(crate) pool: Pool,
    pub(crate) questions: Questions,
    /// Space for the owner's decisions on a full disk.
    pub(crate) reserve: Reserve,
    pub(crate) registry: Registry,
    pub(crate) changes: broadcast::Sender<Change>,
    /// Wakes the task that counts the inbox and announces the count.
    pub(crate) inbox_changed: Arc<Notify>,
    /// Held while somebody decides whether there is room for one more session.
    pub(crate) admission: Semaphore,
    /// Held while a prompt resumes a session, so that several prompts at once take one place.
    pub(crate) resumption: Semaphore,
    /// Sessions that have been let in and are not stored yet.
    pub(crate) reserved: AtomicUsize,
    pub(crate) spare: Mutex<Option<SpareProcess>>,
    pub(crate) teams: watch::Sender<Arc<TeamSettings>>,
    pub(crate) pair_cache: PairCache,
    pub(crate) chains: Chains,
    pub(crate) attempts: Mutex<Attempts>,
    pub(crate) counted: Counted,
}

/// What is counted since the start.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) prompts: AtomicU64,
    pub(crate) messages: AtomicU64,
    pub(crate) turns_failed: AtomicU64,
}

/// How much goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Active sessions of humans.
    pub active_sessions: u64,
    /// Agent processes.
    pub processes: usize,
    /// Those that work.
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

/// An agent and where it is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedAgent {
    /// The agent.
    pub agent: Agent,
    /// Its program; `None` when it is not installed.
    pub program: Option<PathBuf>,
}

impl Engine {
    /// Opens what is stored, ends what a killed daemon left behind, and takes up what it was in the middle of.
    pub async fn open(settings: Settings, around: Around) -> Result<Self> {
        reap(around.home.join("run/agents")).await;
        let store = Store::open(around.home.join("convoke.db"), (around.clock)()).await?;
        if let Some(boot) = leftovers::boot() {
            store.booted(boot).await?;
        }
        let temp = temporary_files(&around)?;
        let pool = Pool::start(settings.pool, around.random);
        let reserve = Reserve::new(around.home.join("run/reserve"));
        let questions = Questions::new(settings.questions_dir.clone(), settings.questions);
        let shared = Arc::new(Shared {
            settings,
            around,
            temp,
            store,
            pool,
            questions,
            reserve,
            registry: Registry::default(),
            changes: broadcast::Sender::new(CHANGES_MAX),
            inbox_changed: Arc::default(),
            admission: Semaphore::new(1),
            resumption: Semaphore::new(1),
            reserved: AtomicUsize::new(0),
            spare: Mutex::new(None),
            teams: watch::Sender::new(Arc::new(TeamSettings::none())),
            pair_cache: teams::cache(),
            chains: Chains::default(),
            attempts: Mutex::default(),
            counted: Counted::default(),
        });
        let engine = Self { shared };
        engine.recover().await?;
        engine.take_up_active().await?;
        inbox::announce_changes(&engine.shared);
        teams::keep_clock(&engine);
        Ok(engine)
    }

    /// Lets no new work in, stops all agents, and closes the store. Turns that run are taken up at the next start.
    pub async fn stop(&self) {
        let ended = tokio::time::timeout(STOP_PATIENCE, self.shared.registry.stop()).await;
        if ended.is_err() {
            tracing::warn!("some sessions are still being written, and are cut off");
        }
        if tokio::time::timeout(STOP_PATIENCE, self.shared.pool.stop()).await.is_err() {
            tracing::warn!("some agents take long to stop, and are killed");
        }
        self.shared.store.close().await;
        // A disk that failed for a while may have kept the records of agents that ended meanwhile.
        reap(self.shared.around.home.join("run/agents")).await;
    }

    /// Why nothing is stored any more, if that is so.
    pub fn trouble(&self) -> Option<convoke_store::Trouble> {
        self.shared.store.trouble()
    }

    /// What time it is, by the clock that was handed in.
    pub fn now(&self) -> Timestamp {
        self.shared.now()
    }

    /// Grows whenever anything is stored.
    pub fn stored(&self) -> u64 {
        self.shared.store.age()
    }

    /// How the engine works.
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// The agents that can be talked to, in the order of the catalogue.
    pub fn agents(&self) -> Vec<ListedAgent> {
        let path = self.shared.around.environment.get(std::ffi::OsStr::new("PATH"));
        let listed = |agent: &Agent| ListedAgent {
            program: find(&agent.command, path.map(std::ffi::OsString::as_os_str)),
            agent: agent.clone(),
        };
        self.shared.settings.agents.iter().map(listed).collect()
    }

    /// Subscribes to every change of what lists show. A subscriber that falls behind must list everything again.
    pub fn follow(&self) -> broadcast::Receiver<Change> {
        self.shared.changes.subscribe()
    }

    /// Counts what goes on.
    pub async fn figures(&self) -> Result<Figures> {
        let census = self.shared.pool.census().await;
        let counted = &self.shared.counted;
        Ok(Figures {
            active_sessions: self.shared.active_sessions().await?,
            processes: census.processes,
            busy: census.busy,
            waiting: census.waiting,
            inbox: self.inbox_count().await?,
            watchers: self.shared.registry.watchers(),
            prompts: counted.prompts.load(Ordering::Relaxed),
            messages: counted.messages.load(Ordering::Relaxed),
            turns_failed: counted.turns_failed.load(Ordering::Relaxed),
        })
    }

    /// Ends what was cut off when the daemon was killed, and lets the queues go on.
    async fn recover(&self) -> Result<()> {
        let mut after: Option<SessionId> = None;
        loop {
            let page = self.shared.store.unsettled_sessions(after, PAGE).await?;
            let Some(last) = page.last().map(|session| session.id) else { break };
            for session in page {
                self.recover_one(session.id).await?;
            }
            after = Some(last);
        }
        // Questions may be open where nothing else was under way.
        for request in self.shared.store.pending_requests(Window::first(Window::LIMIT_MAX)).await? {
            if let Some(session) = request.session_id {
                self.recover_one(session).await?;
            }
        }
        Ok(())
    }

    async fn recover_one(&self, session: SessionId) -> Result<()> {
        match crate::session::recover(&self.shared, session).await {
            Err(error) if error.kind() != Kind::Unavailable => {
                // One broken session must not keep all the others from going on.
                tracing::error!(session.id = %session, "a session is left as it was: {error}");
                Ok(())
            }
            recovered => recovered,
        }
    }

    /// Gives every active session its task, whose clock completes it when nothing happens.
    async fn take_up_active(&self) -> Result<()> {
        let filter = SessionFilter {
            statuses: vec![convoke_core::session::Status::Active],
            kind: Some(SessionKind::Session),
            ..SessionFilter::all()
        };
        // All of them are listed first: one that completes at once would move the others to another page.
        let mut active = Vec::new();
        let mut window = Window::first(PAGE);
        loop {
            let page =
                self.shared.store.sessions(filter.clone(), SessionOrder::Created, window).await?;
            if page.sessions.is_empty() {
                break;
            }
            active.extend(page.sessions.into_iter().map(|session| session.id));
            window.offset += PAGE;
        }
        for session in active {
            crate::session::take_up(&self.shared, session).await?;
        }
        Ok(())
    }
}

impl Shared {
    pub(crate) fn now(&self) -> Timestamp {
        (self.around.clock)()
    }

    pub(crate) fn agent(&self, name: &str) -> Result<&Agent> {
        let found = self.settings.agents.iter().find(|agent| agent.name.as_str() == name);
        found.ok_or_else(|| Error::UnknownAgent { name: name.to_owned() })
    }

    /// Why a session's task ended without an answer: a store that takes nothing more, or a task that broke down.
    pub(crate) fn broken(&self, session: SessionId) -> Error {
        self.store.refusal().map_or(Error::Broken { session }, Error::Store)
    }

    pub(crate) fn tell(&self, change: Change) {
        // Nobody may be following.
        self.changes.send(change).ok();
    }

    pub(crate) async fn active_sessions(&self) -> Result<u64> {
        let filter = SessionFilter {
            statuses: vec![convoke_core::session::Status::Active],
            archived: Archived::Hidden,
            kind: Some(SessionKind::Session),
            project: None,
        };
        Ok(self.store.count_sessions(&filter).await?)
    }

    pub(crate) fn with_spare<T>(&self, look: impl FnOnce(&mut Option<SpareProcess>) -> T) -> T {
        // A thread that panicked with this lock left the place whole, since it is one value.
        look(&mut self.spare.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Ends what is left running of agents that nobody attends to; it may take seconds, which is no reason not to start.
async fn reap(folder: PathBuf) {
    match tokio::task::spawn_blocking(move || leftovers::reap(&folder)).await {
        Ok(Ok(found)) => {
            for left in found {
                tracing::info!("left of an agent: {left:?}");
            }
        }
        Ok(Err(error)) => tracing::warn!("cannot look for agents that were left running: {error}"),
        Err(error) => tracing::error!("looking for agents that were left running broke: {error}"),
    }
}

/// Makes the folder around those for agents' temporary files, where the system keeps such files, and removes the one that
/// a killed daemon left. A file in the home says which one that was.
fn temporary_files(around: &Around) -> Result<TempFolder> {
    let note = around.home.join("run/temp");
    if let Ok(path) = std::fs::read_to_string(&note)
        && let Err(error) = temp::remove_abandoned(Path::new(path.trim()))
    {
        tracing::warn!("cannot remove {}: {error}", path.trim());
    }
    let place = around.environment.get(std::ffi::OsStr::new("TMPDIR"));
    let place = place.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let fail = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Io { path, source }
    };
    // Two daemons cannot have the same process at the same moment.
    let moment = i128::from((around.clock)().as_millis()).cast_unsigned();
    let name = (moment << 32 | u128::from(std::process::id())) << 64;
    let folder = TempFolder::create(&place, name.to_ne_bytes()).map_err(fail(&place))?;
    std::fs::create_dir_all(around.home.join("run")).map_err(fail(&note))?;
    let mut options = std::fs::OpenOptions::new();
    let written = options.write(true).create(true).truncate(true).mode(0o600).open(&note);
    written
        .and_then(|mut file| file.write_all(folder.path().as_os_str().as_encoded_bytes()))
        .map_err(fail(&note))?;
    Ok(folder)
}
