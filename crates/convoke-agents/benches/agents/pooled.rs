//! Talking to the agent as Convoke does: through the pool and the driver.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use convoke_agents::catalogue::Protocol;
use convoke_agents::driver::{self, Confinement, Launch, Order, OwnSandbox, REPORTS_MAX, Start};
use convoke_agents::pool::{Pool, Settings};
use convoke_agents::sandbox::{Available, Layer, Layers, Policy, Seccomp, Use, secret_places};
use convoke_core::message::Seq;
use convoke_core::session::Report;
use convoke_testkit::bench::Result;
use tokio::sync::{mpsc, watch};

/// A pool with an agent in it.
pub(crate) struct Pooled {
    pool: Pool,
    launch: Launch,
    turns: u64,
    to_session: mpsc::Sender<Report>,
    reports: mpsc::Receiver<Report>,
}

const SETTINGS: Settings = Settings {
    processes_max: 4,
    idle_timeout: Duration::from_secs(600),
    health_interval: Duration::from_secs(30),
};

/// How the agent is started that sends so many updates on the prompt `count`.
pub(crate) fn launch(updates: usize) -> Result<Launch> {
    Ok(Launch {
        protocol: Protocol::Acp,
        program: std::env::current_exe()?,
        args: vec!["--subtask".to_owned(), updates.to_string()],
        environment: BTreeMap::new(),
        workspace: Path::new(env!("CARGO_TARGET_TMPDIR")).canonicalize()?,
        confinement: Confinement::Off,
        missing: Vec::new(),
        own_sandbox: OwnSandbox::None,
        mentions: convoke_agents::catalogue::Mentions::Link,
        tools: convoke_agents::catalogue::Tools::Stdio,
        temp: None,
        mcp_servers: Vec::new(),
        start: Start::New { id: "11111111-1111-4111-8111-111111111111".to_owned() },
        start_timeout: Duration::from_secs(20),
        leftovers: None,
        lease: None,
        gate: None,
    })
}

/// The same agent in all layers of the sandbox.
pub(crate) fn confined() -> Result<Launch> {
    let available = Available::detect(None);
    for (word, layer) in Layer::WORDS {
        if let Some(why) = available.lacks(layer) {
            return Err(format!("{word} does not work here: {why}").into());
        }
    }
    let layers = Layers {
        bubblewrap: available.bubblewrap.ok(),
        landlock: Use::On,
        seccomp: Seccomp::Strict,
    };
    let home = Path::new("/root");
    let policy = Policy { layers, secrets: secret_places(Some(home)), ..Policy::unconfined() };
    let confinement =
        Confinement::Supervised { helper: std::env::current_exe()?, policy: Box::new(policy) };
    Ok(Launch { confinement, ..launch(0)? })
}

/// How long an agent takes from its start until it can be prompted.
pub(crate) async fn start(launch: &Launch) -> Result<Duration> {
    let (reports, _unread) = mpsc::channel(REPORTS_MAX);
    let begun = Instant::now();
    let (driver, _) = driver::start(launch.clone(), || [7; 16], reports).await?;
    let taken = begun.elapsed();
    driver.stop().await;
    Ok(taken)
}

impl Pooled {
    /// Starts a pool; must be called within a runtime.
    pub(crate) fn start(updates: usize) -> Result<Self> {
        let launch = launch(updates)?;
        let (to_session, reports) = mpsc::channel(REPORTS_MAX);
        let pool = Pool::start(SETTINGS, || [7; 16]);
        Ok(Self { pool, launch, turns: 0, to_session, reports })
    }

    /// How long a turn takes, and how many pieces of an answer come with it.
    pub(crate) async fn turn(&mut self, text: &str) -> Result<(Duration, usize)> {
        let begun = Instant::now();
        self.turns += 1;
        let turn = Seq::new(self.turns);
        let place = watch::Sender::new(0);
        let launch = self.launch.clone();
        let seat = self.pool.acquire("a", launch, self.to_session.clone(), place).await?;
        seat.send(Order::Prompt { turn, text: text.to_owned(), attachments: Vec::new() }).await?;
        let mut pieces = 0;
        loop {
            match self.reports.recv().await.ok_or("the agent went away")? {
                Report::Said(_) => pieces += 1,
                Report::TurnEnded { .. } => return Ok((begun.elapsed(), pieces)),
                Report::Exited(exit) => return Err(format!("the agent ended: {exit}").into()),
                Report::Resumed(_)
                | Report::Renewed { .. }
                | Report::Thought(_)
                | Report::Planned(_)
                | Report::ToolCalled(_)
                | Report::State(_)
                | Report::Noticed(_)
                | Report::Asked(_)
                | Report::Withdrew(_)
                | Report::Stopped
                | Report::Failed { .. } => {}
            }
        }
    }

    /// How long it takes to get a session on a process that was prepared.
    pub(crate) async fn new_on_spare(&self, round: usize) -> Result<Duration> {
        let key = format!("spare {round}");
        self.pool.prepare(&key, self.launch.clone()).await;
        // Once its seat can be had and given back, it is ready.
        let (to_session, _reports) = mpsc::channel(REPORTS_MAX);
        drop(self.seat(&key, to_session.clone()).await?);
        let begun = Instant::now();
        drop(self.seat(&key, to_session).await?);
        let taken = begun.elapsed();
        self.pool.release(&key).await;
        Ok(taken)
    }

    async fn seat(
        &self,
        key: &str,
        to: mpsc::Sender<Report>,
    ) -> Result<convoke_agents::pool::Seat> {
        let place = watch::Sender::new(0);
        Ok(self.pool.acquire(key, self.launch.clone(), to, place).await?)
    }
}
