//! Sessions and agents as the WebSocket shows them.

use convoke_core::content::Cost;
use convoke_core::files::{ChangeTotals, OwnWorktree};
use convoke_core::id::{AgentName, NodeId, ProjectId, SessionId};
use convoke_core::session::{Attention, EndReason, Status};
use convoke_core::state::OfferedChoice;
use convoke_core::time::Timestamp;
use convoke_core::turn::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bodies::{Activity, Agent, AgentLogin, Session};

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionItem {
    /// Its canonical id; its own id as long as there is none.
    pub id: String,
    /// Its own id, which never changes.
    pub uid: SessionId,
    /// Its project.
    pub project_id: ProjectId,
    /// Its agent.
    pub cli_type: AgentName,
    /// “New Session” until something was said in it or it was named.
    pub title: String,
    /// When a prompt last came or a turn last ended.
    pub last_active_at: Timestamp,
    /// When it was created.
    pub created_at: Timestamp,
    /// Where it is in its life.
    pub status: Status,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<EndReason>,
    /// Whether a prompt is accepted, as in `Session`.
    pub accepts_prompts: bool,
    /// Whether lists hide it.
    pub archived: bool,
    /// What it does now.
    pub activity: Activity,
    /// How many messages its log has.
    pub message_count: u64,
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

impl From<Session> for SessionItem {
    fn from(session: Session) -> Self {
        let canonical = session.canonical_id();
        Self {
            id: canonical.map_or_else(|| session.id.to_string(), |id| id.to_string()),
            uid: session.id,
            project_id: session.repo_id,
            cli_type: session.agent,
            title: session.title,
            last_active_at: session.last_active_at,
            created_at: session.created_at,
            status: session.status,
            reason: session.metadata.reason,
            accepts_prompts: session.accepts_prompts,
            archived: session.archived,
            activity: session.activity,
            message_count: session.message_count,
            attention: session.attention,
            unseen: session.unseen,
            failure: session.failure,
            running_since: session.running_since,
            step: session.step,
            last_line: session.last_line,
            cost: session.cost,
            changes: session.changes,
            worktree: session.worktree,
            node: session.node,
        }
    }
}

/// An agent that sessions can be begun with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentItem {
    /// Its name in the catalogue.
    pub cli_type: AgentName,
    /// What people call it.
    pub title: String,
    /// Two letters for lists.
    pub badge: String,
    /// Whether it can be started here.
    pub installed: bool,
    /// What it calls its version, when that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether the user has logged in at it, as far as that shows without asking it.
    pub login: AgentLogin,
    /// The modes that it offered when it was last started; none as long as it never was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<OfferedChoice>,
    /// The mode that it begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The models that it offered when it was last started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<OfferedChoice>,
    /// The model that it begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How to install it, when that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
}

impl From<Agent> for AgentItem {
    fn from(agent: Agent) -> Self {
        let Agent { name, title, badge, installed, version, login, install, .. } = agent;
        let Agent { modes, mode, models, model, .. } = agent;
        Self {
            cli_type: name,
            title,
            badge,
            installed,
            version,
            login,
            modes,
            mode,
            models,
            model,
            install,
        }
    }
}
