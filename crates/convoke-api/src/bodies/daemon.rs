//! The daemon itself: its address, its health, and its state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the daemon is: `run/daemon.json` in the home, there as long as it is ready to serve.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Daemon {
    /// Its process.
    pub pid: u32,
    /// Where it listens, such as `http://127.0.0.1:7717`.
    pub url: String,
    /// The bearer token that its API requires.
    pub token: String,
    /// Its version.
    pub version: String,
    /// The Unix socket through which commands reach it; older daemons have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
}

impl std::fmt::Debug for Daemon {
    /// Without the token: what is printed for debugging ends up in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Daemon")
            .field("pid", &self.pid)
            .field("url", &self.url)
            .field("version", &self.version)
            .field("control", &self.control)
            .finish_non_exhaustive()
    }
}

/// Whether the daemon can do its work: `GET /healthz`, open to all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// `ok`; `degraded` when something is wrong and work continues; `failing` when nothing can be stored.
    pub status: String,
    /// What keeps the daemon from doing its work; left out when nothing does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<HealthProblem>,
}

/// Something that keeps the daemon from doing its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthProblem {
    /// A word for programs, such as `database_lost`.
    pub code: String,
    /// What is wrong, for people. No paths: everybody on the machine may read it.
    pub text: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Health {
    /// What the problems come to; none means that all is well.
    pub fn of(problems: Vec<HealthProblem>) -> Self {
        let fails = problems.iter().any(|problem| problem.code.starts_with("database_"));
        let status = match (problems.is_empty(), fails) {
            (true, _) => "ok",
            (false, false) => "degraded",
            (false, true) => "failing",
        };
        Self { status: status.to_owned(), problems }
    }

    /// Whether nothing can be stored.
    pub fn is_failing(&self) -> bool {
        self.status == "failing"
    }
}

/// What the daemon has to do: `GET /api/status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Sessions with a running turn; those of teams are not counted.
    #[serde(default)]
    pub working: u64,
    /// Sessions with a turn that ended well and was not seen.
    #[serde(default)]
    pub unseen: u64,
    /// Sessions with a turn that failed and was not seen.
    #[serde(default)]
    pub failed: u64,
    /// What keeps the daemon from doing its work; left out when nothing does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<HealthProblem>,
    /// When the newest backup in the configured folder was made; left out when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_backup_at: Option<String>,
}
