//! The protocol-independent interface to an agent.
//!
//! A driver is one running process of one agent, for one session. Orders go in, reports come out,
//! both as the core's types; no protocol type is visible outside of its driver's module.

use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use convoke_core::id::RequestId;
use convoke_core::message::Seq;
use convoke_core::process::Exit;
use convoke_core::session::{Reply, Report};
use convoke_core::state::SessionState;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::catalogue::{Mentions, Protocol, Tools};
use crate::connections::{Broker, Gate};
use crate::error::{Error, Result};
pub use crate::prompt_attachment::{AttachmentContent, PromptAttachment};
use crate::sandbox::{Missing, Network, Policy};
use crate::temp::TempFolder;

/// How one process of an agent is started, and for which session.
#[derive(Clone)]
pub struct Launch {
    /// The protocol.
    pub protocol: Protocol,
    /// The program, by its absolute path.
    pub program: PathBuf,
    /// Its arguments, with all placeholders replaced.
    pub args: Vec<String>,
    /// All of its environment: nothing is inherited. May hold keys, so it does not belong in a log.
    pub environment: BTreeMap<OsString, OsString>,
    /// The project's folder: absolute, existing, links resolved.
    pub workspace: PathBuf,
    /// How it is confined.
    pub confinement: Confinement,
    /// Requested layers that are not in effect.
    pub missing: Vec<Missing>,
    /// Whether the agent's own sandbox works.
    pub own_sandbox: OwnSandbox,
    /// The folder for its temporary files, removed with its process.
    pub temp: Option<Arc<TempFolder>>,
    /// The servers of tools that the agent is given.
    pub mcp_servers: Vec<McpServer>,
    /// How the agent is given them.
    pub tools: Tools,
    /// How files that a prompt mentions are given to it.
    pub mentions: Mentions,
    /// The conversation that it takes part in.
    pub start: Start,
    /// The timeout until it is ready for a prompt; then it is killed.
    pub start_timeout: Duration,
    /// The folder with a record of each running process, for [`crate::leftovers::reap`] after a kill; `None` to write
    /// no record.
    pub leftovers: Option<PathBuf>,
    /// Rights that are revoked when the process ends.
    pub lease: Option<Lease>,
    /// The channel on which its supervisors ask about connections that are not on the list; set
    /// when the agent is started.
    pub gate: Option<Gate>,
}

/// Whether an agent's own sandbox works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnSandbox {
    /// The agent has none.
    None,
    /// It works inside of the active layers.
    Nested,
    /// It cannot work, and is switched off: the agent runs commands without asking, and Landlock
    /// alone confines them.
    Off,
}

/// A right of one process, such as the key of its tools. The pool drops it when it stops the process, or when the
/// process has ended; dropping it revokes the right.
pub type Lease = Arc<dyn Any + Send + Sync>;

/// The conversation that a process takes part in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// A new one.
    New {
        /// A fresh UUID, for agents that take their session's id as an argument; others choose their own.
        id: String,
    },
    /// One that the agent has stored.
    Resume {
        /// The agent's own id of it.
        agent_session: String,
    },
    /// A fork of one that the agent has stored; the original is not changed.
    Fork {
        /// The agent's own id of the original.
        agent_session: String,
        /// A fresh UUID for the copy.
        id: String,
    },
}

/// How a process and all its children are confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confinement {
    /// Not at all, and without a supervisor: a child that moves to its own session outlives the process.
    Off,
    /// By a supervisor, and by the layers of its policy.
    Supervised {
        /// Convoke itself, which is the supervisor.
        helper: PathBuf,
        /// What the process may do.
        policy: Box<Policy>,
    },
}

impl Confinement {
    /// The network policy of the process.
    pub fn network(&self) -> Network {
        match self {
            Self::Off => Network::Open,
            Self::Supervised { policy, .. } => policy.network,
        }
    }

    /// Whether any layer is active.
    pub fn confines(&self) -> bool {
        match self {
            Self::Off => false,
            Self::Supervised { policy, .. } => policy.layers.confine(),
        }
    }
}

/// An MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// What the agent calls it.
    pub name: String,
    /// The program, by its absolute path, which speaks MCP on its standard input and output.
    pub command: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables it gets.
    pub env: BTreeMap<String, String>,
    /// The same server over HTTP, if there is one.
    pub http: Option<HttpServer>,
}

/// An MCP server over HTTP.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpServer {
    /// Its address.
    pub url: String,
    /// Its bearer token. A secret.
    pub token: String,
}

impl std::fmt::Debug for HttpServer {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpServer").field("url", &self.url).finish_non_exhaustive()
    }
}

/// An order to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Work on this prompt; there is never a second one before the turn has ended.
    Prompt {
        /// The seq of the prompt, which identifies the turn in reports.
        turn: Seq,
        /// What is said.
        text: String,
        /// Its attachments.
        attachments: Vec<PromptAttachment>,
    },
    /// Cancel the running turn. Its open permissions are answered as cancelled by separate orders.
    Cancel,
    /// The session is over: the agent stops all work for it. The process is released after this.
    End,
    /// The outcome of a request that the agent made.
    Reply {
        /// Which one.
        request: RequestId,
        /// The reply.
        reply: Reply,
    },
    /// Change the mode.
    SetMode {
        /// The id that the agent gave it.
        mode: String,
    },
    /// Change a setting.
    SetSetting {
        /// The id that the agent gave it.
        setting: String,
        /// The id of the choice.
        choice: String,
    },
}

/// An agent that is ready for a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Started {
    /// The agent's own id of the session.
    pub agent_session: String,
    /// The agent's name and version, if it reports them.
    pub introduced_as: Option<String>,
    /// Its capabilities.
    pub abilities: Abilities,
    /// The modes and settings that it offers, with the current ones.
    pub offers: Vec<SessionState>,
}

/// The capabilities that an agent declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Abilities {
    /// Resume a session with its history replayed.
    pub load: bool,
    /// Resume a session without a replay.
    pub resume: bool,
    /// List its sessions.
    pub list: bool,
    /// Close a session.
    pub close: bool,
}

/// Starts an agent and opens its session. Its further reports are sent to `reports`.
pub async fn start(
    launch: Launch,
    random: Random,
    reports: mpsc::Sender<Report>,
) -> Result<(Driver, Started)> {
    match launch.confinement.network() {
        Network::Open | Network::Off => start_process(launch, random, reports).await,
        Network::Proxy => {
            let (broker, gate, reports) = Broker::open(random, reports);
            let launch = Launch { gate: Some(gate), ..launch };
            let (driver, started) = start_process(launch, random, reports).await?;
            Ok((Driver { broker: Some(broker), ..driver }, started))
        }
    }
}

async fn start_process(
    launch: Launch,
    random: Random,
    reports: mpsc::Sender<Report>,
) -> Result<(Driver, Started)> {
    match launch.protocol {
        Protocol::Acp => crate::acp::start(launch, random, reports).await,
        Protocol::Claude => crate::claude::start(launch, random, reports).await,
    }
}

/// A source of sixteen random bytes, injected by the caller.
pub type Random = fn() -> [u8; 16];

/// Reports that may be queued for the session's task; with more, the driver stops reading from its
/// agent.
pub const REPORTS_MAX: usize = 256;
/// The size of a report up to which the queue may be filled, so that it holds at most 1 MiB.
const SHORT_BYTES_MAX: usize = 4 << 10;
/// The number of queued reports up to which a larger one is added, which is at most about one
/// message long.
const BEFORE_LONG_MAX: usize = 8;
/// The longest text in one report; a longer one keeps its head and its tail.
pub(crate) const WORDS_BYTES_MAX: usize = 1 << 20;
/// Orders that may be queued for the driver; further senders wait. Never for long: a driver also
/// accepts orders while its agent or its session blocks it.
pub(crate) const ORDERS_MAX: usize = 32;

/// Waits until the session's queue has room for this report. Cancel-safe; fails if the session no longer reads
/// reports.
pub(crate) async fn reserve<'a>(
    session: &'a mpsc::Sender<Report>,
    report: &Report,
) -> Result<mpsc::Permit<'a, Report>> {
    if report.bytes() > SHORT_BYTES_MAX {
        // This many permits are available only while few reports are queued. They are released
        // before the report takes one.
        let free = session.max_capacity().saturating_sub(BEFORE_LONG_MAX);
        drop(session.reserve_many(free).await.map_err(|_| Error::Gone)?);
    }
    session.reserve().await.map_err(|_| Error::Gone)
}

/// A running agent. Dropping this kills it with all its descendants.
///
/// Its reports are sent to the queue that it was started with, including an exit that was not
/// requested. If the queue closes without such a report, the driver itself panicked.
#[derive(Debug)]
pub struct Driver {
    pid: u32,
    requests: mpsc::Sender<DriverRequest>,
    task: JoinHandle<Exit>,
    /// Answers requests about connections, if the agent's network is a proxy.
    broker: Option<Broker>,
}

/// A message to a driver's task.
#[derive(Debug)]
pub(crate) enum DriverRequest {
    /// Send this to the agent.
    Order(Order),
    /// Ask the agent for its sessions, from the cursor on.
    List { cursor: Option<String>, reply: oneshot::Sender<Result<Page>> },
    /// Shut the agent down, and end.
    Stop,
}

/// A page of an agent's sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// The sessions, in the agent's order.
    pub sessions: Vec<Listed>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

/// A session in an agent's own list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The agent's own id of it.
    pub agent_session: String,
    /// The folder that it works in.
    pub workspace: Option<PathBuf>,
    /// The agent's title of it.
    pub title: Option<String>,
    /// The time of its last activity, as the agent formats it.
    pub updated_at: Option<String>,
}

impl Driver {
    /// The handle of a driver's task. The task kills its agent when the queue is closed.
    pub(crate) const fn new(
        pid: u32,
        requests: mpsc::Sender<DriverRequest>,
        task: JoinHandle<Exit>,
    ) -> Self {
        Self { pid, requests, task, broker: None }
    }

    /// The number by which the operating system knows the agent's process.
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends an order. Reports show whether it was carried out.
    pub async fn send(&self, order: Order) -> Result<()> {
        let order = match &self.broker {
            Some(broker) => broker.intercept(order),
            None => Some(order),
        };
        // An answer about a connection is not sent to the agent.
        let Some(order) = order else { return Ok(()) };
        self.requests.send(DriverRequest::Order(order)).await.map_err(|_| Error::Gone)
    }

    /// Requests the agent's sessions, from the cursor of an earlier page on.
    pub async fn list(&self, cursor: Option<String>) -> Result<Page> {
        let (reply, answer) = oneshot::channel();
        let request = DriverRequest::List { cursor, reply };
        self.requests.send(request).await.map_err(|_| Error::Gone)?;
        answer.await.map_err(|_| Error::Gone)?
    }

    /// Completes when the agent exits.
    pub(crate) async fn closed(&self) {
        self.requests.closed().await;
    }

    /// Stops the agent after all queued orders, with escalating signals, and returns its exit
    /// status. Nothing more is reported.
    pub async fn stop(self) -> Exit {
        // If the task has ended, its result has the exit status.
        self.requests.send(DriverRequest::Stop).await.ok();
        // If the task panicked, its agent was killed when the task was dropped.
        self.task.await.unwrap_or_default()
    }
}
