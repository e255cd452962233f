//! Transcripts that become sessions.

use convoke_core::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AGENT_NAME, NOT_BLANK, Session, whole};

/// Some turns of a transcript: `POST /api/imports`.
///
/// A transcript becomes one session, however often it is imported: by its id if that is a UUID, else by its name and
/// `createdAt`. Turns that were imported before are skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Import {
    /// The project, by its id or an unambiguous beginning of it.
    #[schemars(extend("minLength" = 4))]
    pub repo_id: String,
    /// What the transcript is called.
    #[schemars(extend("pattern" = NOT_BLANK, "maxLength" = 200))]
    pub transcript: String,
    /// Whom was talked with.
    #[schemars(extend("pattern" = AGENT_NAME))]
    pub agent: String,
    /// When the transcript was begun.
    pub created_at: Timestamp,
    /// How many of its turns come before these.
    #[serde(default, deserialize_with = "whole::count")]
    #[schemars(extend("maximum" = whole::COUNT_MAX))]
    pub after: u64,
    /// The next turns, first to last.
    #[schemars(extend("minItems" = 1, "maxItems" = 1000))]
    pub turns: Vec<ImportTurn>,
}

/// A turn of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportTurn {
    /// Who speaks.
    pub role: TurnRole,
    /// What is said.
    pub content: String,
    /// When it was said.
    pub timestamp: Timestamp,
    /// How long it is for a model.
    #[serde(deserialize_with = "whole::count")]
    #[schemars(extend("maximum" = whole::COUNT_MAX))]
    pub tokens: u64,
}

/// Who speaks in a turn of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnRole {
    /// The human.
    User,
    /// The agent.
    Assistant,
}

/// What came of an import.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportOutcome {
    /// Turns were added.
    Added,
    /// All of them were there already.
    Known,
    /// The session began here, or continued since it was imported; nothing is added to it.
    Continued,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_numbers_that_any_json_can_tell() {
        let read = |tokens: &str| {
            let turn = format!(
                r#"{{"role":"user","content":"","timestamp":"2026-11-15T12:00:00Z","tokens":{tokens}}}"#
            );
            serde_json::from_str(&turn)
                .map(|turn: ImportTurn| turn.tokens)
                .map_err(|it| it.to_string())
        };
        assert_eq!(read("7.0"), Ok(7));
        assert_eq!(read("9007199254740991"), Ok(9_007_199_254_740_991));
        for bad in ["9007199254740992", "18446744073709551615", "-1", "0.5", "1e300", "null"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
