//! Transcripts that become sessions.

use convoke_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Session;

/// Some turns of a transcript: `POST /api/imports`.
///
/// A transcript becomes one session, however often it is imported: by its id if that is a UUID, else by its name and the
/// moment it was begun. Turns that are there already are passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Import {
    /// The project, by its id or an unambiguous beginning of it.
    pub repo_id: String,
    /// What the transcript is called.
    pub transcript: String,
    /// Whom was talked with.
    pub agent: String,
    /// When the transcript was begun.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// How many of its turns come before these.
    #[serde(default)]
    pub after: u64,
    /// The next turns, first to last.
    pub turns: Vec<ImportTurn>,
}

/// A turn of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportTurn {
    /// Who speaks.
    pub role: TurnRole,
    /// What is said.
    pub content: String,
    /// When it was said.
    #[schema(value_type = String, format = DateTime)]
    pub timestamp: Timestamp,
    /// How long it is for a model.
    pub tokens: u64,
}

/// Who speaks in a turn of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnRole {
    /// The human.
    User,
    /// The agent.
    Assistant,
}

/// What came of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// The session that the transcript became.
    pub session: Session,
    /// How many turns of the transcript it has now; the next ones come after them.
    pub turns: u64,
    /// How many of them are new.
    pub added: u64,
    /// Whether anything was added.
    pub outcome: ImportOutcome,
}

/// Whether an import added anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportOutcome {
    /// Turns were added.
    Added,
    /// All of them were there already.
    Known,
    /// The session began here, or goes on since it was imported; nothing is added to it.
    Continued,
}
