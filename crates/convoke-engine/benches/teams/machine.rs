//! A machine with a home, folders for teams, and the agent that is this program itself.

use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use convoke_agents::catalogue::{Agent, Protocol, Sandbox};
use convoke_core::id::{ProjectId, SessionId};
use convoke_core::question::Limits;
use convoke_core::team::Pair;
use convoke_core::time::Timestamp;
use convoke_engine::sandbox::Available;
use convoke_engine::{
    Checkpointing, Engine, HistorySettings, HostContext, Permissions, PoolSettings,
    QuestionSettings, SandboxSettings, Settings, Spare, Team, TeamLimits, TeamSettings,
};
use convoke_store::{NewProject, NewSession, SessionKind, Store};
use convoke_testkit::bench::Result;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// How long a slow agent takes to start; real ones take longer, and none of that is ours.
const SLOWNESS: &str = "sleep 0.5; exec \"$0\" \"$@\"";

/// Everything that an engine needs, in one folder.
pub(crate) struct Machine {
    folder: tempfile::TempDir,
    agent: Agent,
}

impl Machine {
    pub(crate) fn new() -> Result<Self> {
        let mut agent = Agent::named("bench".parse()?);
        agent.protocol = Protocol::Acp;
        agent.sandbox = Sandbox::Off;
        agent.command = std::env::current_exe()?.display().to_string();
        agent.args = vec!["--subtask".to_owned(), "agent".to_owned()];
        Ok(Self { folder: tempfile::tempdir()?, agent })
    }

    /// A machine whose agents take half a second to start.
    pub(crate) fn slow() -> Result<Self> {
        let mut machine = Self::new()?;
        let command = std::mem::replace(&mut machine.agent.command, "/bin/sh".to_owned());
        let words = ["-c".to_owned(), SLOWNESS.to_owned(), command];
        machine.agent.args.splice(0..0, words);
        Ok(machine)
    }

    /// An engine with so many teams.
    pub(crate) async fn open(&self, teams: usize) -> Result<Engine> {
        let root = self.folder.path().canonicalize()?;
        let home = root.join("home");
        fs::create_dir_all(&home)?;
        let settings = Settings {
            sessions_max: 5,
            idle_timeout: Duration::from_secs(1800),
            workspace_root: root.clone(),
            pool: PoolSettings {
                processes_max: 10,
                idle_timeout: Duration::from_secs(300),
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
            agents: vec![self.agent.clone()],
            sandbox: SandboxSettings::with(Available::detect(None)),
            history: HistorySettings::default(),
            server: None,
            node: <(String, String)>::default(),
        };
        let host = HostContext {
            environment: [("PATH".into(), "/usr/bin:/bin".into())].into(),
            program: std::env::current_exe()?,
            home,
            clock: now,
            random,
            mcp: None,
        };
        let engine = Engine::open(settings, host).await?;
        if teams > 0 {
            engine.teams().open(self.settings(teams)?, |_| {}).await?;
        }
        Ok(engine)
    }

    /// So many teams, in folders of their own.
    pub(crate) fn settings(&self, teams: usize) -> Result<TeamSettings> {
        let team = |number: usize| -> Result<Team> {
            let path = self.folder.path().canonicalize()?.join(format!("t{number}"));
            fs::create_dir_all(&path)?;
            Ok(Team {
                name: format!("t{number}").parse()?,
                path,
                agent: self.agent.name.clone(),
                description: None,
                permissions: Permissions::Ask,
                init_timeout: None,
                color: None,
            })
        };
        Ok(TeamSettings {
            teams: (0..teams).map(team).collect::<Result<_>>()?,
            init_timeout: Duration::from_secs(30),
            limits: TeamLimits {
                hops_max: 5,
                chain_messages_max: 50,
                pair_messages_per_hour: usize::MAX,
            },
        })
    }

    /// Puts so many pairs into the store before there is an engine, without an agent for each of them.
    pub(crate) async fn store_pairs(&self, count: usize) -> Result<()> {
        let settings = self.settings(1)?;
        let team = settings.teams.first().ok_or("no team")?;
        let home = self.folder.path().join("home");
        fs::create_dir_all(&home)?;
        let store = Store::open(home.join("convoke.db"), now()).await?;
        let project = NewProject {
            id: ProjectId::from_random(random()),
            name: "t0".to_owned(),
            path: team.path.clone(),
            added_at: now(),
        };
        let project = store.add_project(project).await?.id;
        for number in 0..count {
            let thread = Some(format!("x{number}"));
            let pair = Pair { from: None, to: team.name.clone(), thread };
            let session = NewSession {
                id: SessionId::from_random(random()),
                project_id: project,
                agent: self.agent.name.clone(),
                kind: SessionKind::Team,
                created_at: now(),
            };
            store.create_pair(pair, session).await?;
        }
        store.close().await;
        Ok(())
    }

    /// The same agent with nothing in between.
    pub(crate) async fn direct(&self) -> Result<Direct> {
        let mut agent = Command::new(&self.agent.command)
            .args(&self.agent.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let input = agent.stdin.take().ok_or("no pipe")?;
        let lines = BufReader::new(agent.stdout.take().ok_or("no pipe")?).lines();
        let mut direct = Direct { _agent: agent, input, lines, next: 0 };
        direct.call("initialize", json!({"protocolVersion": 1})).await?;
        direct.call("session/new", json!({"cwd": "/", "mcpServers": []})).await?;
        Ok(direct)
    }
}

/// An agent, and its pipes.
pub(crate) struct Direct {
    _agent: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    next: u64,
}

impl Direct {
    /// How long a turn takes.
    pub(crate) async fn turn(&mut self, text: &str) -> Result<Duration> {
        let begun = Instant::now();
        let prompt = json!([{"type": "text", "text": text}]);
        self.call("session/prompt", json!({"sessionId": "s1", "prompt": prompt})).await?;
        Ok(begun.elapsed())
    }

    async fn call(&mut self, method: &str, params: Value) -> Result<()> {
        let id = self.next;
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.input.write_all(format!("{message}\n").as_bytes()).await?;
        loop {
            let line = self.lines.next_line().await?.ok_or("the agent went away")?;
            let answer: Value = serde_json::from_str(&line)?;
            if answer.get("id") == Some(&json!(id)) && answer.get("result").is_some() {
                return Ok(());
            }
        }
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or_default())
}

fn random() -> [u8; 16] {
    let number = || u128::from(RandomState::new().build_hasher().finish());
    (number() << 64 | number()).to_be_bytes()
}
