//! Conversations of other programs: what was found, and the progress of an import.

use convoke_core::id::ProjectId;
use convoke_core::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What there is to import: `GET /api/histories`. Nothing of what was said is read for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Histories {
    /// The setting `history.import`.
    pub import: ImportMode,
    /// The agents with at least one conversation, in the order of lists.
    pub agents: Vec<FoundAgent>,
    /// Folders of imported sessions that are no projects and are inside the workspace root; `POST /api/repos` with its
    /// path adds one. At most 1000.
    pub projects: Vec<FoundRepo>,
    /// The import that runs, or the last one since the daemon started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<HistoryImport>,
}

/// The setting `history.import`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "HistoryImportMode")]
pub enum ImportMode {
    /// The user is asked.
    Ask,
    /// Everything is imported.
    Always,
    /// Nothing is.
    Never,
}

/// The conversations of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundAgent {
    /// The source, as `POST /api/histories/import` names it: `claude`, `codex`, ….
    pub source: String,
    /// What people call the agent.
    pub name: String,
    /// How many conversations there are, those of subagents included.
    pub found: u64,
    /// Of how many something is stored here.
    pub imported: u64,
    /// When the newest last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<Timestamp>,
    /// Whether new ones are imported as they come.
    pub followed: bool,
}

/// A folder that only imported sessions name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundRepo {
    /// The id of its sessions' project, which it keeps when it is added.
    pub id: ProjectId,
    /// The last part of its path.
    pub name: String,
    /// The folder, which may be gone.
    pub path: String,
    /// How many sessions it has.
    pub sessions: u64,
}

/// What is to be imported: `POST /api/histories/import`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewHistoryImport {
    /// The sources; all if there are none.
    #[serde(default)]
    #[schemars(extend("maxItems" = 20, "items" = {"type": "string", "enum": [
        "claude", "codex", "gemini", "opencode", "goose", "qwen", "copilot", "cline", "kimi", "vibe", "droid",
    ]}))]
    pub sources: Vec<String>,
    /// Only what changed then or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Only what was said in this folder or below, as an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = "^/[^\\x00]*$"))]
    pub folder: Option<String>,
    /// Only count what would be imported.
    #[serde(default)]
    pub dry_run: bool,
}

/// An import that runs, or the last one: `GET /api/histories/import`, and the frame `history:import`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryImport {
    /// Its number since the daemon started; 0 if there was none.
    pub number: u64,
    /// Whether it still runs.
    pub running: bool,
    /// How far it is with each source.
    pub sources: Vec<SourceImport>,
    /// Conversations and lines that could not be read, at most 100.
    pub failed: Vec<FailedHistory>,
    /// Why it ended early, if it did; what was imported before stays, and the next import continues there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How far an import is with a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceImport {
    /// The source.
    pub source: String,
    /// What people call the agent.
    pub name: String,
    /// Conversations that are new or have changed.
    pub total: u64,
    /// Those of them that were looked at.
    pub done: u64,
    /// New sessions, those of subagents included.
    pub added: u64,
    /// Sessions that got more messages.
    pub grown: u64,
    /// New sessions of files that were rewritten; the former sessions stay.
    pub rewritten: u64,
    /// Conversations that are not imported: empty ones, those outside of the folder, those that were deleted here, and
    /// those that agents of Convoke wrote.
    pub skipped: u64,
    /// Messages that were added or changed.
    pub messages: u64,
    /// Lines that could not be read.
    pub broken_lines: u64,
    /// Lines of unknown kinds, which are kept as they are.
    pub unknown_lines: u64,
    /// Conversations that could not be read.
    pub failed: u64,
}

/// A conversation, or a line of it, that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedHistory {
    /// The file.
    pub file: String,
    /// The line, if only that could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Why.
    pub error: String,
}
