//! Full-text search over what was said.

use convoke_core::id::SessionId;
use convoke_core::message::Seq;
use convoke_core::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Some hits, newest first: `GET /api/search?q&repoId&sessionId&before&limit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hits {
    /// The hits of this page.
    pub hits: Vec<Hit>,
    /// What to say as `before` for older ones, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// A message in which the words are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// Its session.
    pub session_id: SessionId,
    /// Its place there; of an answer in pieces, that of the last piece.
    pub seq: Seq,
    /// When it was stored.
    pub timestamp: Timestamp,
    /// The surroundings of the match, in order.
    pub excerpt: Vec<Fragment>,
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
