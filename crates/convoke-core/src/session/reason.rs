//! Why a session ended. The words are a contract: they are stored and sent as they are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a session was completed or cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String", inline)]
pub enum EndReason {
    /// A human ended it.
    User,
    /// Nothing happened in it for `sessions.idle_timeout_minutes`.
    IdleTimeout,
    /// It had been idle for long when another session needed a place among the active ones.
    MadeRoom,
    /// It was imported from a transcript or from the store of another program.
    Imported,
    /// Its team has another agent or folder now, and continues in another session.
    TeamReconfigured,
    /// Its pair of teams was deleted.
    PairDeleted,
    /// It grew too long, and another session continues it with a summary.
    Compacted,
    /// A reason written by another version or program.
    Other(String),
}

impl EndReason {
    const KNOWN: [Self; 7] = [
        Self::User,
        Self::IdleTimeout,
        Self::MadeRoom,
        Self::Imported,
        Self::TeamReconfigured,
        Self::PairDeleted,
        Self::Compacted,
    ];

    /// The name in the database and on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::User => "user",
            Self::IdleTimeout => "idle_timeout",
            Self::MadeRoom => "made_room",
            Self::Imported => "imported",
            Self::TeamReconfigured => "team_reconfigured",
            Self::PairDeleted => "pair_deleted",
            Self::Compacted => "compacted",
            Self::Other(word) => word,
        }
    }

    /// The reason for people, worded to follow a colon; `None` where a human needs no explanation.
    pub fn explained(&self) -> Option<&str> {
        match self {
            Self::User => None,
            Self::IdleTimeout => Some("it was idle"),
            Self::MadeRoom => Some("it was idle and another session needed its place"),
            Self::Imported => Some("it was imported"),
            Self::TeamReconfigured => Some("its team is configured differently now"),
            Self::PairDeleted => Some("its pair of teams was deleted"),
            Self::Compacted => Some("another session continues it"),
            Self::Other(word) => Some(word),
        }
    }

    /// Whether the next prompt resumes a session that was completed for this reason: Convoke completed it only because it
    /// was idle, or it was imported and no user of Convoke completed it.
    pub const fn is_resumed_by_prompt(&self) -> bool {
        match self {
            Self::IdleTimeout | Self::MadeRoom | Self::Imported => true,
            Self::User
            | Self::TeamReconfigured
            | Self::PairDeleted
            | Self::Compacted
            | Self::Other(_) => false,
        }
    }
}

impl From<String> for EndReason {
    fn from(word: String) -> Self {
        let known = Self::KNOWN.into_iter().find(|reason| reason.as_str() == word);
        known.unwrap_or(Self::Other(word))
    }
}

impl From<EndReason> for String {
    fn from(reason: EndReason) -> Self {
        reason.as_str().to_owned()
    }
}

impl std::fmt::Display for EndReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s10_h4_only_what_idleness_or_an_import_ended_is_resumed_by_a_prompt() {
        let words =
            "user idle_timeout made_room imported team_reconfigured pair_deleted compacted retired";
        let reasons: Vec<EndReason> = words.split(' ').map(|it| it.to_owned().into()).collect();
        let resumed: Vec<&str> =
            reasons.iter().filter(|it| it.is_resumed_by_prompt()).map(EndReason::as_str).collect();
        assert_eq!(resumed, ["idle_timeout", "made_room", "imported"]);
        let known = reasons.iter().filter(|it| !matches!(it, EndReason::Other(_))).count();
        assert_eq!(known, EndReason::KNOWN.len());
    }

    #[test]
    fn an_unknown_end_reason_is_kept() {
        let read: EndReason = serde_json::from_str("\"retired\"").unwrap();
        assert_eq!(read, EndReason::Other("retired".to_owned()));
        assert_eq!(serde_json::to_string(&read).unwrap(), "\"retired\"");
        assert_eq!(serde_json::to_string(&EndReason::MadeRoom).unwrap(), "\"made_room\"");
    }
}
