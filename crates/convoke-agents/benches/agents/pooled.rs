//! Talking to the agent as Convoke does: through the pool and the driver.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use convoke_agents::catalogue::Protocol;
use convoke_agents::driver::{Confinement, Launch, Order, REPORTS_MAX, Start};
use convoke_agents::pool::{Pool, Settings};
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

impl Pooled {
    /// Starts a pool; must be called within a runtime.
    pub(crate) fn start(updates: usize) -> Result<Self> {
        let launch = Launch {
            protocol: Protocol::Acp,
            program: std::env::current_exe()?,
            args: vec!["--errand".to_owned(), updates.to_string()],
            environment: BTreeMap::new(),
            workspace: std::env::temp_dir().canonicalize()?,
            confinement: Confinement::Off,
            missing: Vec::new(),
            temp: None,
            mcp_servers: Vec::new(),
            start: Start::New { id: "11111111-1111-4111-8111-111111111111".to_owned() },
            patience: Duration::from_secs(20),
            leftovers: None,
            gate: None,
        };
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
        seat.send(Order::Prompt { turn, text: text.to_owned() }).await?;
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
                | Report::Spent(_)
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
