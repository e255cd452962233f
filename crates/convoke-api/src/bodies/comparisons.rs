//! Comparisons: one prompt, several agents, each in a work tree of its own.

use convoke_core::id::{AgentName, ProjectId, SessionId};
use convoke_core::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AGENT_NAME, FinishWay, FinishedWorktree, NOT_BLANK, Session};

/// A comparison to begin: `POST /api/comparisons`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewComparison {
    /// The project, by its id or an unambiguous beginning of it.
    #[schemars(extend("minLength" = 4))]
    pub repo_id: String,
    /// The prompt that every agent gets.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub prompt: String,
    /// The agents; one may be there several times with different models.
    #[schemars(extend("minItems" = 1, "maxItems" = 10))]
    pub entries: Vec<NewComparisonEntry>,
    /// A line of shell that runs in each work tree when its agent is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub test: Option<String>,
}

/// An agent that is to be compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewComparisonEntry {
    /// The agent's name in the catalogue.
    #[schemars(extend("pattern" = AGENT_NAME))]
    pub agent: String,
    /// The model that it is to use, by its id or name; by default the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub model: Option<String>,
    /// The mode that it is to be in, by its id or name; by default the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub mode: Option<String>,
}

/// Comparisons: `GET /api/comparisons`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Comparisons {
    /// Those, newest first.
    pub comparisons: Vec<Comparison>,
}

/// A comparison as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Its id.
    pub id: String,
    /// The project.
    pub repo_id: ProjectId,
    /// What the agents were told.
    pub prompt: String,
    /// The line of shell that tests their work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// When it began.
    pub created_at: Timestamp,
    /// The session that was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<SessionId>,
    /// Whether every entry is done, with its test.
    pub done: bool,
    /// The agents, in the order in which they were given.
    pub entries: Vec<ComparisonEntry>,
}

/// What one agent made of the prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonEntry {
    /// The agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The model that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it does.
    pub state: ComparisonState,
    /// Its session, with `changes`, `cost` and `worktree`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
    /// Why it could not be begun, or not be discarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long the turn took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The result of the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<TestResult>,
}

/// What an entry of a comparison does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonState {
    /// Its agent works.
    Working,
    /// Its agent waits for the human.
    Waiting,
    /// The test runs.
    Testing,
    /// It is done.
    Ended,
    /// It was not begun, or its turn failed.
    Failed,
}

/// The result of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestResult {
    /// Its exit code; absent when it did not end by itself, or could not be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The end of what it printed.
    pub output: String,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// Which session is kept: `POST /api/comparisons/:id/keep`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeepEntry {
    /// The session, by its id or an unambiguous beginning of it.
    #[schemars(extend("minLength" = 4))]
    pub session_id: String,
    /// What becomes of its work tree; by default its branch is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<FinishWay>,
    /// The message of commits; by default the session's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub message: Option<String>,
    /// Whether files are deleted that no snapshot holds. Without it, a session that has such files is not discarded, and
    /// its entry has an `error`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Whether its agent is prompted to resolve conflicts; nothing is discarded then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resolve: bool,
}

/// A comparison of which one session was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeptEntry {
    /// What became of the session that was kept; with conflicts, nothing was discarded.
    pub finished: FinishedWorktree,
    /// The comparison; an entry that could not be discarded has an `error`.
    pub comparison: Comparison,
}
