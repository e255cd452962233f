//! Errors in the format of RFC 9457 (`application/problem+json`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stable words for problems, so that programs need not read sentences. More may come.
pub mod code {
    /// The request makes no sense: bad JSON, an unknown field, a value out of range.
    pub const INVALID: &str = "invalid";
    /// Whether it was done is not known.
    pub const CONFLICT: &str = "conflict";
    /// The node that must be asked is away.
    pub const NODE_AWAY: &str = "node_away";
    /// The session has just moved to another node; nothing was done, and it can be tried again.
    pub const SESSION_MOVED: &str = "session_moved";
    /// An id that is no id, or too little of one.
    pub const INVALID_ID: &str = "invalid_id";
    /// The beginning of an id fits several; `candidates` lists them.
    pub const AMBIGUOUS: &str = "ambiguous";
    /// The token is missing or wrong.
    pub const UNAUTHORIZED: &str = "unauthorized";
    /// The Host or Origin is a foreign one.
    pub const FORBIDDEN: &str = "forbidden";
    /// The folder lies outside of the workspace root.
    pub const OUTSIDE_WORKSPACE: &str = "outside_workspace";
    /// There is no such folder.
    pub const NO_SUCH_DIRECTORY: &str = "no_such_directory";
    /// No such path in the API.
    pub const NOT_FOUND: &str = "not_found";
    /// No such session.
    pub const SESSION_NOT_FOUND: &str = "session_not_found";
    /// No such project.
    pub const REPO_NOT_FOUND: &str = "repo_not_found";
    /// The folder is already a project.
    pub const REPO_EXISTS: &str = "repo_exists";
    /// No such request in the inbox.
    pub const REQUEST_NOT_FOUND: &str = "request_not_found";
    /// No such user.
    pub const USER_NOT_FOUND: &str = "user_not_found";
    /// There is such a user already.
    pub const USER_EXISTS: &str = "user_exists";
    /// No such rule.
    pub const RULE_NOT_FOUND: &str = "rule_not_found";
    /// A rule that would hold for everything, or for nothing; the detail says why.
    pub const INVALID_RULE: &str = "invalid_rule";
    /// Another client answered or rejected the request first.
    pub const ALREADY_SETTLED: &str = "already_settled";
    /// The answer does not fit what was asked; it can still be answered.
    pub const INVALID_ANSWER: &str = "invalid_answer";
    /// No such agent in the catalogue.
    pub const UNKNOWN_AGENT: &str = "unknown_agent";
    /// The agent did not start.
    pub const AGENT_FAILED: &str = "agent_failed";
    /// The session has ended; the detail says how to resume it.
    pub const SESSION_ENDED: &str = "session_ended";
    /// The session was cancelled, which is for good.
    pub const SESSION_CANCELLED: &str = "session_cancelled";
    /// The session accepts prompts already.
    pub const SESSION_ACTIVE: &str = "session_active";
    /// No turn is running.
    pub const NO_TURN: &str = "no_turn";
    /// The prompt is not in the queue.
    pub const NOT_QUEUED: &str = "not_queued";
    /// A prompt says nothing.
    pub const EMPTY_PROMPT: &str = "empty_prompt";
    /// The title says nothing, or too much.
    pub const INVALID_TITLE: &str = "invalid_title";
    /// The queue is full.
    pub const QUEUE_FULL: &str = "queue_full";
    /// The limit of active sessions is reached.
    pub const TOO_MANY_SESSIONS: &str = "too_many_sessions";
    /// All connections that a credential may use are busy.
    pub const TOO_MANY_CONNECTIONS: &str = "too_many_connections";
    /// No such team in the configuration.
    pub const UNKNOWN_TEAM: &str = "unknown_team";
    /// No such conversation of teams.
    pub const TEAM_SESSION_NOT_FOUND: &str = "team_session_not_found";
    /// Teams would ask each other in a circle, or through too many of them.
    pub const ASK_LOOP: &str = "ask_loop";
    /// As many asks as may be have followed from one, or were made within an hour.
    pub const ASK_BUDGET: &str = "ask_budget";
    /// The teams' file does not say what it should.
    pub const INVALID_TEAMS: &str = "invalid_teams";
    /// `config.toml` has mistakes, or was changed at the same time.
    pub const INVALID_CONFIG: &str = "invalid_config";
    /// The daemon is still preparing the teams.
    pub const STARTING: &str = "starting";
    /// Files that a restore would overwrite were changed since the last checkpoint; `files` lists them.
    pub const FILES_CHANGED: &str = "files_changed";
    /// A checkout has uncommitted changes; `files` lists them.
    pub const UNCOMMITTED_CHANGES: &str = "uncommitted_changes";
    /// The folder of a work tree was deleted by hand; it can be restored.
    pub const WORKTREE_MISSING: &str = "worktree_missing";
    /// Files would be deleted that no snapshot holds; `files` lists them.
    pub const FILES_NOT_CAPTURED: &str = "files_not_captured";
    /// The body exceeds the size limit.
    pub const TOO_LARGE: &str = "too_large";
    /// The daemon is about to stop.
    pub const STOPPING: &str = "stopping";
    /// An error in Convoke itself; the log has more.
    pub const INTERNAL: &str = "internal";
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// What sort of problem, as a URI; `about:blank` means that `status` says everything.
    #[serde(rename = "type", default = "about_blank")]
    pub kind: String,
    /// The sort of problem in a few words.
    #[serde(default)]
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What exactly, in words that a person can act on.
    #[serde(default)]
    pub detail: String,
    /// This very occurrence: the id of the request, under which the log has more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// What to do about it, when there is an obvious next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// A stable word for programs, such as `session_not_found`.
    #[serde(default)]
    pub code: String,
    /// What an ambiguous id could mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// The files that are in the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// One thing that an ambiguous id could mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// Its whole id.
    pub id: String,
    /// What people call it.
    pub title: String,
}

fn about_blank() -> String {
    Problem::ABOUT_BLANK.to_owned()
}

impl Problem {
    /// The type of a problem about which `status` and `code` tell all.
    const ABOUT_BLANK: &'static str = "about:blank";

    /// A problem without anything that is optional.
    pub fn new(
        status: u16,
        code: impl Into<String>,
        title: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            kind: about_blank(),
            title: title.into(),
            status,
            detail: detail.into(),
            instance: None,
            hint: None,
            code: code.into(),
            candidates: Vec::new(),
            files: Vec::new(),
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let said = if self.detail.is_empty() { &self.title } else { &self.detail };
        f.write_str(said)
    }
}
