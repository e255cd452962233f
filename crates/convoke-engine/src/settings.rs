//! The engine's settings, and its platform: clock, randomness, environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use convoke_agents::catalogue::Agent;
use convoke_core::time::Timestamp;

pub use convoke_agents::pool::Settings as PoolSettings;
pub use convoke_agents::sandbox::Settings as SandboxSettings;
pub use convoke_files::questions::Settings as QuestionSettings;

use crate::histories::HistorySettings;
use crate::keys::Keys;

/// The settings of the engine.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Sessions of humans that may be active at once, archived ones not counted.
    pub sessions_max: usize,
    /// How long a session may be idle before it is completed.
    pub idle_timeout: Duration,
    /// Limits on the output of agents.
    pub limits: Limits,
    /// The folder that all projects must be inside.
    pub workspace_root: PathBuf,
    /// How many processes there may be, and how long an idle one is kept.
    pub pool: PoolSettings,
    /// Whether a process is kept ready for the next new session.
    pub spare: Spare,
    /// The folder of questions that are asked in files.
    pub questions_dir: PathBuf,
    /// The limits of a set of questions.
    pub questions: QuestionSettings,
    /// How long an agent's question waits for an answer; `None` waits for ever.
    pub question_timeout: Option<Duration>,
    /// The catalogue of agents.
    pub agents: Vec<Agent>,
    /// How agents are confined.
    pub sandbox: SandboxSettings,
    /// Whether checkpoints of the projects are made.
    pub checkpoints: Checkpointing,
    /// Where the work trees of sessions are, and how they are set up.
    pub worktrees: WorktreeSettings,
    /// A database on a server, instead of the file in the home.
    pub server: Option<convoke_store::location::Server>,
    /// What this daemon is called among those that share the database, and the version of its program.
    pub node: (String, String),
    /// Whether histories of other agents are imported, and what agents may recall.
    pub history: HistorySettings,
}

/// Whether checkpoints of the projects are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpointing {
    /// Before and after every turn.
    On,
    /// None; changes are not shown and cannot be undone.
    Off,
}

/// Where the work trees of sessions are, and how they are set up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorktreeSettings {
    /// The folder with all of them. It counts as inside of the workspace root.
    pub root: PathBuf,
    /// Commands that run in new ones, by the folder of the project.
    pub set_up: BTreeMap<PathBuf, String>,
}

/// Limits on the output of agents, in bytes of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Per turn; a turn above it is cancelled.
    pub turn_bytes: u64,
    /// Per session; a session above it accepts no further prompts.
    pub session_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { turn_bytes: 64 << 20, session_bytes: 1 << 30 }
    }
}

/// Whether a process is kept ready for the next new session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spare {
    /// One, for the agent and project used last.
    One,
    /// None.
    None,
}

/// What the engine needs of its host: environment, clock and randomness are passed in, so that tests can replace
/// them.
#[derive(Debug, Clone)]
pub struct HostContext {
    /// The environment variables of Convoke.
    pub environment: BTreeMap<OsString, OsString>,
    /// The path of Convoke's own program, which confines agents and serves them tools.
    pub program: PathBuf,
    /// Convoke's home.
    pub home: PathBuf,
    /// The clock.
    pub clock: fn() -> Timestamp,
    /// The source of randomness.
    pub random: fn() -> [u8; 16],
    /// How agents reach this daemon.
    pub mcp: Option<McpEndpoint>,
}

impl HostContext {
    /// The current time of the injected clock.
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// A random text that is used once, to mark a quotation.
    pub(crate) fn nonce(&self) -> String {
        format!("{:032x}", u128::from_be_bytes((self.random)()))
    }
}

/// The MCP endpoint for the tools that agents are given.
#[derive(Debug, Clone)]
pub struct McpEndpoint {
    /// Its URL.
    pub url: String,
    /// The keys of the agent processes.
    pub keys: Keys,
}
