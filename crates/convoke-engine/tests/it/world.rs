//! A machine with a home, a folder for projects, and agents that follow scripts.

use std::cell::Cell;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use convoke_agents::catalogue::{Agent, Protocol, Sandbox};
use convoke_core::id::{AgentName, MessageId, ProjectId, SessionId};
use convoke_core::question::Limits;
use convoke_core::time::Timestamp;
use convoke_engine::sandbox::Available;
use convoke_engine::{
    Checkpointing, Engine, HistorySettings, HostContext, Keys, McpEndpoint, PoolSettings,
    QuestionSettings, SandboxSettings, SessionView, Settings, Spare,
};
use convoke_testkit::agent::Script;
use convoke_testkit::host::example;
use convoke_testkit::process::processes_in;
use convoke_testkit::tools::search_path;
use serde_json::Value;
use tempfile::TempDir;

use crate::log::{Log, TIMEOUT};

/// The agent of those tests that need only one.
pub(crate) const AGENT: &str = "scripted";

/// A machine. Everything on it lies in one folder.
pub(crate) struct World {
    folder: PathBuf,
    temporary: Option<Arc<TempDir>>,
    pub(crate) settings: Settings,
    /// What is taken for Convoke's own program.
    pub(crate) program: PathBuf,
}

/// An engine with a project and a session in it.
pub(crate) struct Scene {
    pub(crate) engine: Engine,
    pub(crate) project: ProjectId,
    pub(crate) session: SessionId,
    pub(crate) log: Log,
    folder: PathBuf,
    /// The machine is there as long as something happens on it.
    _temporary: Option<Arc<TempDir>>,
}

impl World {
    /// An empty machine.
    pub(crate) fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let mut world = Self::at(temporary.path());
        world.temporary = Some(Arc::new(temporary));
        world
    }

    /// The machine in a folder.
    pub(crate) fn at(folder: &Path) -> Self {
        let folder = folder.canonicalize().unwrap();
        let (home, root) = (folder.join("home"), folder.join("root"));
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(root.join("app")).unwrap();
        let settings = Settings {
            sessions_max: 5,
            idle_timeout: Duration::from_secs(30 * 60),
            workspace_root: root,
            pool: PoolSettings {
                processes_max: 10,
                idle_timeout: Duration::from_secs(5 * 60),
                health_interval: Duration::from_secs(30),
            },
            spare: Spare::None,
            checkpoints: Checkpointing::Off,
            worktrees: convoke_engine::WorktreeSettings::default(),
            questions_dir: home.join("questions"),
            questions: QuestionSettings {
                sessions_max: 100,
                limits: Limits { questions_max: 5, options_max: 5 },
            },
            limits: convoke_engine::Limits::default(),
            question_timeout: None,
            agents: Vec::new(),
            sandbox: SandboxSettings::with(Available::detect(Some(search_path().as_ref()))),
            history: HistorySettings::default(),
            server: None,
            node: <(String, String)>::default(),
        };
        let program = example("engine_convoke");
        Self { folder, temporary: None, settings, program }
    }

    /// A machine with one agent.
    pub(crate) fn with(script: &Script) -> Self {
        let mut world = Self::new();
        world.add_agent(AGENT, script);
        world
    }

    /// Installs an agent.
    pub(crate) fn add_agent(&mut self, name: &str, script: &Script) {
        self.change_script(name, script);
        self.find_agent(name);
    }

    /// Knows an agent whose script is there already.
    pub(crate) fn find_agent(&mut self, name: &str) {
        let mut agent = Agent::named(name.parse().unwrap());
        agent.command = example("engine_agent").to_str().unwrap().to_owned();
        let script = self.script(name).to_str().unwrap().to_owned();
        agent.args = vec!["--protocol".to_owned(), "acp".to_owned(), script];
        agent.protocol = Protocol::Acp;
        agent.sandbox = Sandbox::Off;
        self.settings.agents.push(agent);
    }

    /// Installs an agent that does not start before there is the file `gate` in its workspace.
    pub(crate) fn add_gated_agent(&mut self, name: &str, script: &Script) {
        self.add_agent(name, script);
        self.wrap_agent("while [ ! -e gate ]; do sleep 0.01; done");
    }

    /// A machine with one agent whose starts are counted.
    pub(crate) fn with_counted(script: &Script) -> Self {
        let mut world = Self::with(script);
        let starts = world.folder.join("starts");
        world.wrap_agent(&format!("echo >> '{}'", starts.display()));
        world
    }

    /// A machine with one agent of which is kept what it was told.
    pub(crate) fn with_heard(script: &Script) -> Self {
        let mut world = Self::with(script);
        let heard = world.folder.join("heard");
        world.wrap_agent(&format!("tee '{}' | \"$0\" \"$@\"; exit", heard.display()));
        world
    }

    /// The methods by which the agent was called, in order.
    pub(crate) fn heard(&self) -> Vec<String> {
        let heard = fs::read_to_string(self.folder.join("heard")).unwrap();
        let lines = heard.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .filter_map(|line| line.get("method").and_then(Value::as_str).map(str::to_owned))
            .collect()
    }

    /// How often the counted agent was started.
    pub(crate) fn starts(&self) -> usize {
        fs::read_to_string(self.folder.join("starts")).unwrap_or_default().lines().count()
    }

    /// Lets a shell do something before the last agent starts.
    fn wrap_agent(&mut self, before: &str) {
        let agent = self.settings.agents.last_mut().unwrap();
        let command = std::mem::replace(&mut agent.command, "/bin/sh".to_owned());
        let script = format!("{before}; exec \"$0\" \"$@\"");
        agent.args.splice(0..0, ["-c".to_owned(), script, command]);
    }

    /// What an agent does from its next process on.
    pub(crate) fn change_script(&self, name: &str, script: &Script) {
        write_script(&self.folder, name, script);
    }

    fn script(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// The folder of the project that most tests have.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.root().join("app")
    }

    /// Makes another folder for a project.
    pub(crate) fn make_folder(&self, name: &str) -> PathBuf {
        let folder = self.root().join(name);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    pub(crate) fn host(&self) -> HostContext {
        let variables = [("PATH", Path::new("/usr/bin:/bin")), ("HOME", &self.folder)];
        let mcp = McpEndpoint { url: "http://127.0.0.1:1/mcp".to_owned(), keys: Keys::new(random) };
        HostContext {
            environment: variables.map(|(name, value)| (name.into(), value.into())).into(),
            program: self.program.clone(),
            home: self.home(),
            clock: now,
            random,
            mcp: Some(mcp),
        }
    }

    pub(crate) async fn open(&self) -> Engine {
        Engine::open(self.settings.clone(), self.host()).await.unwrap()
    }

    /// Opens an engine, adds the project, and begins a session with the first agent.
    pub(crate) async fn begin(&self) -> Scene {
        let engine = self.open().await;
        let project = engine.projects().add(&self.workspace(), None).await.unwrap().id;
        let session = engine.sessions().create(project, None).await.unwrap().stored.id;
        let log = Log::of(&engine, session).await;
        let (folder, _temporary) = (self.folder.clone(), self.temporary.clone());
        Scene { engine, project, session, log, folder, _temporary }
    }

    /// Opens the engine again, with a session that is there already.
    pub(crate) async fn begin_again(&self, session: SessionId) -> Scene {
        let engine = self.open().await;
        let project = engine.sessions().get(session).await.unwrap().stored.project_id;
        let log = Log::of(&engine, session).await;
        let (folder, _temporary) = (self.folder.clone(), self.temporary.clone());
        Scene { engine, project, session, log, folder, _temporary }
    }

    /// The processes that work in the project's folder. Only Linux tells; elsewhere there are none to be seen.
    pub(crate) fn processes(&self) -> Vec<u32> {
        processes_in(&self.workspace())
    }

    /// Waits until nothing works in the project's folder.
    pub(crate) async fn empties(&self) {
        // The kernel takes its time with what was killed, and sends no event when it is done.
        until("no process works there", async || self.processes().is_empty()).await;
    }
}

impl Scene {
    /// Prompts the session, and tells the id of the prompt.
    pub(crate) async fn prompt(&self, text: &str) -> MessageId {
        self.engine.sessions().prompt(self.session, text.to_owned()).await.unwrap().message_id
    }

    /// Prompts the session, and waits for the end of the turn.
    pub(crate) async fn turn(&mut self, text: &str) -> Vec<String> {
        let turn = self.prompt(text).await;
        self.log.until_end_of(turn).await;
        self.log.story()
    }

    /// What an agent does from its next process on.
    pub(crate) fn rewrite(&self, agent: &str, script: &Script) {
        write_script(&self.folder, agent, script);
    }

    /// The processes that work in the project's folder.
    pub(crate) fn processes(&self) -> Vec<u32> {
        processes_in(&self.folder.join("root/app"))
    }

    /// The session, after all that its task has stored by now.
    pub(crate) async fn view(&self) -> SessionView {
        self.settle().await;
        self.engine.sessions().get(self.session).await.unwrap()
    }

    /// Waits until the session's task has handled everything in the log: a reader of the log may be
    /// ahead of what the task shows.
    pub(crate) async fn settle(&self) {
        let view = self.engine.sessions().get(self.session).await.unwrap();
        // Neither changes anything, but both go through the task.
        let same = if view.stored.summary.archived {
            self.engine.sessions().archive(self.session).await
        } else {
            self.engine.sessions().unarchive(self.session).await
        };
        same.unwrap();
    }
}

fn write_script(folder: &Path, agent: &str, script: &Script) {
    let script = serde_json::to_vec(script).unwrap();
    fs::write(folder.join(format!("{agent}.json")), script).unwrap();
}

/// Waits until something is so of which no event tells. By the clock of the wall, since tests let the other one leap.
pub(crate) async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so().await {
        assert!(begun.elapsed() < TIMEOUT, "not in time: {what}");
        tokio::task::yield_now().await;
    }
}

pub(crate) fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

pub(crate) fn now() -> Timestamp {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    Timestamp::from_millis(millis.try_into().unwrap())
}

thread_local! {
    static PANICS: Cell<u32> = const { Cell::new(0) };
}

/// Lets the next so many calls for randomness on this thread panic.
pub(crate) fn break_randomness(times: u32) {
    PANICS.set(times);
}

pub(crate) fn random() -> [u8; 16] {
    if PANICS.get() > 0 {
        PANICS.set(PANICS.get() - 1);
        panic!("a test wants this");
    }
    let number = || u128::from(RandomState::new().build_hasher().finish());
    (number() << 64 | number()).to_be_bytes()
}

/// Lets time pass at once. Only on a runtime of one thread.
pub(crate) async fn leap(duration: Duration) {
    tokio::time::pause();
    tokio::time::advance(duration).await;
    tokio::time::resume();
}
