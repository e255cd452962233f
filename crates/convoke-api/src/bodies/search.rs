//! Full-text search over messages.

use convoke_core::id::{AgentName, MessageId, ProjectId, SessionId};
use convoke_core::message::{Role, Seq};
use convoke_core::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Some hits, newest first: `GET /api/search`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hits {
    /// The hits of this page.
    pub hits: Vec<Hit>,
    /// What to say as `before` for those that follow, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
    /// Whether the search index is still being filled, after an update or a large import, so that hits may be missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

/// A message in which the words are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// Its session.
    pub session_id: SessionId,
    /// The same, as a list of hits shows it.
    pub session: HitSession,
    /// Its id.
    pub message_id: MessageId,
    /// Its place there.
    pub seq: Seq,
    /// Who said it.
    pub role: Role,
    /// When it was stored.
    pub timestamp: Timestamp,
    /// The surroundings of the match, in order.
    pub excerpt: Vec<Fragment>,
}

/// What a list of hits shows of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HitSession {
    /// Its canonical id; its own id as long as there is none.
    pub id: String,
    /// Its own id, which never changes.
    pub uid: SessionId,
    /// “New Session” until something was said in it or it was named.
    pub title: String,
    /// Its agent.
    pub agent: AgentName,
    /// Its project.
    pub project_id: ProjectId,
    /// The name of its project.
    pub project: String,
    /// Whether lists hide it.
    pub archived: bool,
}

/// A part of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fragment {
    /// The words.
    pub text: String,
    /// Whether they were searched for.
    pub matched: bool,
}
