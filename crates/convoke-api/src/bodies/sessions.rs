//! Sessions, and requests to them.

use convoke_core::content::Cost;
use convoke_core::files::{ChangeTotals, OwnWorktree};
use convoke_core::id::{AgentName, CanonicalId, MessageId, NodeId, ProjectId, SessionId};
use convoke_core::message::{Rev, Seq};
use convoke_core::session::{Attention, EndReason, QueueChoice, Status};
use convoke_core::state::SessionState;
use convoke_core::time::Timestamp;
use convoke_core::turn::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AGENT_NAME, GivenAttachment, GivenComment, NOT_BLANK, NewWorktree, Repo, whole};

/// A session: a durable conversation of one agent in one project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Its id, which never changes.
    pub id: SessionId,
    /// The project in which its agent works.
    pub repo_id: ProjectId,
    /// The agent's name in the catalogue.
    pub agent: AgentName,
    /// What the agent itself calls the session now; `null` until it was started.
    pub agent_session_id: Option<String>,
    /// “New Session” until something was said in it or it was named.
    pub title: String,
    /// Where it is in its life.
    pub status: Status,
    /// Whether a prompt is accepted: by an active session, and by one that was imported or that Convoke completed itself
    /// (because it was idle, or to make room), which the prompt resumes. Another session must be resumed first.
    pub accepts_prompts: bool,
    /// Whether lists hide it.
    pub archived: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// When anything last happened in it.
    pub updated_at: Timestamp,
    /// When a prompt last came or a turn last ended.
    pub last_active_at: Timestamp,
    /// How many messages it has; also the seq of the newest.
    pub message_count: u64,
    /// What else is known of it.
    pub metadata: SessionMetadata,
    /// What it does now.
    pub activity: Activity,
    /// What it wants of its human.
    pub attention: Attention,
    /// Whether a turn ended that no human has looked at.
    pub unseen: bool,
    /// Why the last turn failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// When the running turn began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_since: Option<Timestamp>,
    /// The step of the plan that is in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The last line of the newest answer, as plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<String>,
    /// Money spent on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// What its turns changed in its project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeTotals>,
    /// The work tree that it has for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<OwnWorktree>,
    /// The node that it belongs to, as `GET /api/nodes` lists it; absent if the database is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
}

impl Session {
    /// The id that the agent's own session gives it, once there is one.
    pub(crate) fn canonical_id(&self) -> Option<CanonicalId> {
        let agent_session = self.agent_session_id.clone()?;
        Some(CanonicalId { agent: self.agent.clone(), agent_session })
    }
}

/// Further facts about a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionMetadata {
    /// Why it ended: `user`, `idle_timeout`, `made_room`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
}

/// What a session does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// Nothing.
    Idle,
    /// Its agent works.
    Running,
    /// It waits for its human.
    Waiting,
}

impl Activity {
    /// The word that wires use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Waiting => "waiting",
        }
    }
}

impl std::fmt::Display for Activity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// A session to begin: `POST /api/sessions`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSession {
    /// The project, by its id or an unambiguous beginning of it.
    #[schemars(extend("minLength" = 4))]
    pub repo_id: String,
    /// The agent's name in the catalogue; by default the configured agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = AGENT_NAME))]
    pub agent: Option<String>,
    /// The model that the agent is to use, by its id or name; by default the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub model: Option<String>,
    /// The mode that the agent is to be in, by its id or name; by default the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub mode: Option<String>,
    /// The first prompt, which is sent in the same step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub prompt: Option<String>,
    /// Files that were uploaded, to go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("maxItems" = 16))]
    pub attachments: Vec<GivenAttachment>,
    /// Files and folders of the project that the words mention, relative to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("maxItems" = 64))]
    pub files: Vec<String>,
    /// A work tree that the session is to have for itself; by default it works in the project's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<NewWorktree>,
}

/// A session that was created.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedSession {
    /// The session.
    #[serde(flatten)]
    pub session: Session,
    /// The first prompt, if one was given and accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Prompted>,
    /// Why the first prompt was not accepted. The session is there nevertheless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Some sessions, newest first: `GET /api/sessions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sessions {
    /// The sessions of this page.
    pub sessions: Vec<Session>,
    /// How many there are in all pages.
    pub total: u64,
    /// How many a page holds.
    pub limit: u64,
    /// How many come before this page.
    pub offset: u64,
}

/// A session and its project: `GET /api/sessions/:id`, where `messages` follow, one by one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionDetail {
    /// The session.
    #[serde(flatten)]
    pub session: Session,
    /// Its project.
    pub repo: Repo,
}

/// Something to say to the agent: `POST /api/sessions/:id/prompt`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Prompt {
    /// The words; they may be blank where something is attached or commented on.
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub text: String,
    /// Files that were uploaded, to go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("maxItems" = 16))]
    pub attachments: Vec<GivenAttachment>,
    /// Files and folders of the project that the words mention, relative to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("maxItems" = 64))]
    pub files: Vec<String>,
    /// Comments on lines of changed files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("maxItems" = 200))]
    pub review: Vec<GivenComment>,
    /// The id of the message that it becomes, made by the client; a request that is sent again with the same one is
    /// accepted once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
}

/// What to change of a queued prompt: `PATCH /api/sessions/:id/queue/:prompt`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QueuePatch {
    /// What it is to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = NOT_BLANK))]
    pub text: Option<String>,
    /// Its place in the queue, counted from 0; beyond the end is the end.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole::optional"
    )]
    #[schemars(extend("maximum" = u32::MAX))]
    pub position: Option<u32>,
}

/// How to cancel the running turn: `POST /api/sessions/:id/cancel`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CancelTurn {
    /// What becomes of the queued prompts; by default the next one is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueChoice>,
}

/// A prompt that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prompted {
    /// Always true; what is not taken is a problem.
    pub accepted: bool,
    /// The message that the prompt became.
    pub message_id: MessageId,
    /// Its place in the conversation; `null` as long as it waits.
    pub seq: Option<Seq>,
    /// Whether it waits behind a running turn.
    pub queued: bool,
    /// The session's revision when it was accepted: all that comes of it is newer.
    pub rev: Rev,
    /// The node that it waits for, which is away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
}

/// What is true of a session now and is not conversation: `GET /api/sessions/:id/state`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateOfSession {
    /// What revisions belong to.
    pub generation: String,
    /// The session's revision.
    pub rev: Rev,
    /// The state of each kind that there is: the prompt `queue`, `commands`, `modes`, `settings`, `usage`.
    pub state: Vec<SessionState>,
}

/// What to change of a session: `PATCH /api/sessions/:id`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionPatch {
    /// What to call it from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = NOT_BLANK, "maxLength" = 200))]
    pub title: Option<String>,
    /// Whether lists are to hide it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
}

/// A mode to put an agent into: `POST /api/sessions/:id/mode`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChosenMode {
    /// The mode's id, as the agent offers it.
    pub mode: String,
}

/// A value for one of an agent's settings: `POST /api/sessions/:id/setting`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChosenSetting {
    /// The setting's id, as the agent offers it.
    pub setting: String,
    /// The id of the value.
    pub choice: String,
}
