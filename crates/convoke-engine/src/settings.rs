//! What the engine is handed: limits, and the world around it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use convoke_agents::catalogue::Agent;
use convoke_core::time::Timestamp;

pub use convoke_agents::pool::Settings as PoolSettings;
pub use convoke_agents::sandbox::Settings as SandboxSettings;
pub use convoke_files::questions::Settings as QuestionSettings;

use crate::keys::Keys;

/// How the engine is to work.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Sessions of humans that may be active at once, archived ones not counted.
    pub sessions_max: usize,
    /// How long a session may be idle before it is completed.
    pub idle_timeout: Duration,
    /// How much agents may say.
    pub limits: Limits,
    /// Projects outside of this folder are refused.
    pub workspace_root: PathBuf,
    /// How many processes there may be, and how long one is kept.
    pub pool: PoolSettings,
    /// Whether a process is kept ready for the next new session.
    pub spare: Spare,
    /// The folder of questions that are asked in files.
    pub questions_dir: PathBuf,
    /// How much may be asked at once.
    pub questions: QuestionSettings,
    /// How long an agent's question waits for an answer; `None` waits for ever.
    pub question_timeout: Option<Duration>,
    /// The agents that can be talked to.
    pub agents: Vec<Agent>,
    /// How they are confined.
    pub sandbox: SandboxSettings,
}

/// How much agents may say, in bytes of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// In one turn; a turn that says more is cancelled.
    pub turn_bytes: u64,
    /// In one session; one that holds more accepts no further prompts.
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
    /// One, of the agent and in the project that were used last.
    One,
    /// None.
    None,
}

/// The world around the engine.
#[derive(Debug, Clone)]
pub struct Around {
    /// The variables that Convoke was started with.
    pub environment: BTreeMap<OsString, OsString>,
    /// Convoke itself, which confines agents and serves them tools.
    pub program: PathBuf,
    /// Convoke's home.
    pub home: PathBuf,
    /// What time it is.
    pub clock: fn() -> Timestamp,
    /// Sixteen random bytes.
    pub random: fn() -> [u8; 16],
    /// How agents reach this daemon.
    pub door: Option<Door>,
}

impl Around {
    /// The time by the clock that was handed in.
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// A random text that is used once, to mark a quotation.
    pub(crate) fn nonce(&self) -> String {
        format!("{:032x}", u128::from_be_bytes((self.random)()))
    }
}

/// How the tools that agents are given reach the daemon.
#[derive(Debug, Clone)]
pub struct Door {
    /// The address of the MCP endpoint.
    pub url: String,
    /// The keys of the agent processes.
    pub keys: Keys,
}
