//! A machine with teams on it, whose agents follow scripts; and a `claude` that keeps its files as the real one does.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use convoke_agents::catalogue::{Agent, Protocol, Sandbox};
use convoke_core::id::SessionId;
use convoke_core::team::{Pair, TeamName};
use convoke_engine::{
    Caller, Engine, Error, Permissions, Remember, StoredPair, Team, TeamAnswer, TeamAsk,
    TeamLimits, TeamSettings, Wait,
};
use convoke_testkit::agent::{CLAUDE_MANNERS, Script};
use convoke_testkit::host::example;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::log::TIMEOUT;
use crate::world::{World, agent};

/// The agent that is `claude`.
pub(crate) const CLAUDE: &str = "claude-code";

/// Teams on a machine, ready to be asked.
pub(crate) struct Teams {
    pub(crate) world: World,
    pub(crate) engine: Engine,
    pub(crate) settings: TeamSettings,
}

impl Teams {
    /// Opens teams that all have the same agent.
    pub(crate) async fn open(world: World, names: &[&str], agent: &str) -> Self {
        let settings = settings(names.iter().map(|name| team(&world, name, agent)).collect());
        Self::open_as(world, settings).await
    }

    pub(crate) async fn open_as(world: World, settings: TeamSettings) -> Self {
        let engine = world.open().await;
        engine.teams().open(settings.clone(), |_| {}).await.unwrap();
        Self { world, engine, settings }
    }

    /// Ends the engine and opens everything again.
    pub(crate) async fn reopen(self) -> Self {
        self.engine.stop().await;
        Self::open_as(self.world, self.settings).await
    }

    /// Asks from outside and waits for the answer.
    pub(crate) async fn ask(&self, to: &str, question: &str) -> TeamAnswer {
        self.try_ask(outside(None), to, question, Wait::ForEver).await.unwrap()
    }

    pub(crate) async fn try_ask(
        &self,
        caller: Caller,
        to: &str,
        question: &str,
        wait: Wait,
    ) -> Result<TeamAnswer, Error> {
        timeout(TIMEOUT, self.engine.teams().ask(asking(caller, to, question, wait))).await.unwrap()
    }

    /// Asks in the background.
    pub(crate) fn begin(
        &self,
        caller: Caller,
        to: &str,
        question: &str,
    ) -> JoinHandle<Result<TeamAnswer, Error>> {
        let (engine, ask) = (self.engine.clone(), asking(caller, to, question, Wait::ForEver));
        tokio::spawn(async move { timeout(TIMEOUT, engine.teams().ask(ask)).await.unwrap() })
    }

    pub(crate) async fn pair(&self, from: Option<&str>, to: &str) -> StoredPair {
        self.engine.teams().pair_between(&pair(from, to)).await.unwrap().unwrap()
    }

    /// Waits until so many permissions wait for the human.
    pub(crate) async fn waits_for_human(&self, count: usize) {
        timeout(TIMEOUT, async {
            while self.engine.inbox().list().await.unwrap().len() != count {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
    }

    /// Lets every agent that waits for a permission go on.
    pub(crate) async fn allow_all(&self) {
        for item in self.engine.inbox().list().await.unwrap() {
            let id = item.request.id().to_string();
            self.engine.inbox().choose(&id, "go".to_owned(), Remember::No, None).await.unwrap();
        }
    }

    /// Where `claude` keeps a session of a team.
    pub(crate) fn claude_file(&self, to: &str, agent_session: &str) -> PathBuf {
        let folder = self.world.root().join(to).canonicalize().unwrap();
        let folder: String = folder
            .to_str()
            .unwrap()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let file = format!("{agent_session}.jsonl");
        home(&self.world).join(".claude/projects").join(folder).join(file)
    }

    /// What `claude` was started with, one line each time.
    pub(crate) fn claude_log(&self) -> Vec<String> {
        let log = fs::read_to_string(home(&self.world).join("claude.log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }
}

/// The user's own folder.
pub(crate) fn home(world: &World) -> PathBuf {
    world.root().parent().unwrap().to_owned()
}

/// Installs a `claude` that follows a script.
pub(crate) fn add_claude(world: &mut World, script: &Script) {
    world.change_script(CLAUDE, script);
    let mut claude = Agent::named(agent(CLAUDE));
    claude.protocol = Protocol::Claude;
    claude.sandbox = Sandbox::Off;
    claude.command = "/bin/sh".to_owned();
    let script = home(world).join(format!("{CLAUDE}.json"));
    let words = ["-c".to_owned(), CLAUDE_MANNERS.to_owned(), "claude".to_owned()];
    let files = [example("engine_agent"), script].map(|path| path.display().to_string());
    claude.args = words.into_iter().chain(files).collect();
    world.settings.agents.push(claude);
}

/// A machine with a `claude`.
pub(crate) fn with_claude(script: &Script) -> World {
    let mut world = World::new();
    add_claude(&mut world, script);
    world
}

pub(crate) const LIMITS: TeamLimits =
    TeamLimits { hops_max: 5, chain_messages_max: 50, pair_messages_per_hour: 200 };

pub(crate) fn settings(teams: Vec<Team>) -> TeamSettings {
    TeamSettings { teams, init_timeout: Duration::from_secs(30), limits: LIMITS }
}

/// A team in a folder of its name.
pub(crate) fn team(world: &World, name: &str, agent_name: &str) -> Team {
    Team {
        name: name.parse().unwrap(),
        path: world.make_folder(name),
        agent: agent(agent_name),
        description: None,
        permissions: Permissions::Ask,
        init_timeout: None,
        color: None,
    }
}

pub(crate) fn name(name: &str) -> TeamName {
    name.parse().unwrap()
}

pub(crate) fn pair(from: Option<&str>, to: &str) -> Pair {
    Pair { from: from.map(name), to: name(to), thread: None }
}

pub(crate) fn outside(team: Option<&str>) -> Caller {
    Caller::Outside { team: team.map(name) }
}

pub(crate) fn session(id: SessionId) -> Caller {
    Caller::Session(id)
}

pub(crate) fn asking(caller: Caller, to: &str, question: &str, wait: Wait) -> TeamAsk {
    TeamAsk { caller, to: name(to), thread: None, question: question.to_owned(), by: None, wait }
}

/// Does the same many times at once, and gives all that came of it.
pub(crate) async fn all<T: Send + 'static, F>(count: usize, work: impl Fn() -> F) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
{
    let running: tokio::task::JoinSet<T> = (0..count).map(|_| work()).collect();
    running.join_all().await
}
