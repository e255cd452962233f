//! The daemon itself: where it is, whether it lives, and what it has to do.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where the daemon is: `run/daemon.json` in the home, there as long as it is ready to serve.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Daemon {
    /// Its process.
    pub pid: u32,
    /// Where it listens, such as `http://127.0.0.1:7717`.
    pub url: String,
    /// What opens its doors.
    pub token: String,
    /// Its version.
    pub version: String,
}

impl std::fmt::Debug for Daemon {
    /// Without the token: what is printed for debugging ends up in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Daemon")
            .field("pid", &self.pid)
            .field("url", &self.url)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// Whether the daemon lives: `GET /healthz`, open to all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// `ok`.
    pub status: String,
}

impl Health {
    /// All is well.
    pub fn ok() -> Self {
        Self { status: "ok".to_owned() }
    }
}

/// What the daemon has to do: `GET /api/status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Its version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// How long it has been serving.
    pub uptime_ms: u64,
    /// Where it listens.
    pub url: String,
    /// Its home.
    pub home: String,
    /// Sessions that accept prompts.
    pub active_sessions: u64,
    /// Running agent programs.
    pub processes: u64,
    /// Those of them that work on a turn.
    pub busy: u64,
    /// Turns that wait for a free process.
    pub waiting: u64,
    /// Requests that wait for the human.
    pub inbox: u64,
}
