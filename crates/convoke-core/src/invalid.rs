//! Why a name, an id or a path is refused.

/// Who must correct an invalid input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidKind {
    /// The person who wrote the configuration.
    Configuration,
    /// The caller, by sending another value.
    Validation,
}

/// An input that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// Not a UUID v4 in its hyphenated form, where a session or a request is named. The text is a contract.
    #[error("Invalid session ID format: {text}")]
    SessionId {
        /// What was given.
        text: String,
    },
    /// Not a UUID v4 in its hyphenated form, where something else is named.
    #[error("Invalid ID format: {text}")]
    Id {
        /// What was given.
        text: String,
    },
    /// Not a UUID in its hyphenated form.
    #[error("Invalid message ID format: {text}")]
    MessageId {
        /// What was given.
        text: String,
    },
    /// Not `{agent}:{agent session id}`.
    #[error("Invalid canonical session ID: {text}")]
    CanonicalId {
        /// What was given.
        text: String,
    },
    /// Not letters, digits, `-`, `_` and `.`.
    #[error("Invalid agent name: {text}")]
    AgentName {
        /// What was given.
        text: String,
    },
    /// Not letters, digits, `-`, `_`, `.` and `@`, or too long.
    #[error("Invalid user name: {text:?}")]
    UserName {
        /// What was given.
        text: String,
    },
    /// Not letters, digits and hyphens.
    #[error("Invalid team name: {text}")]
    TeamName {
        /// What was given.
        text: String,
    },
    /// A well-formed team name that the configuration does not have.
    #[error("Unknown team: {name}")]
    UnknownTeam {
        /// The name asked for.
        name: String,
    },
    /// A team that cannot work as configured.
    #[error("Invalid configuration for team '{team}': {reason}")]
    Team {
        /// The team's name.
        team: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Invalid {
    /// Who must correct it.
    pub const fn kind(&self) -> InvalidKind {
        match self {
            Self::SessionId { .. }
            | Self::Id { .. }
            | Self::MessageId { .. }
            | Self::CanonicalId { .. }
            | Self::AgentName { .. }
            | Self::UserName { .. }
            | Self::TeamName { .. } => InvalidKind::Validation,
            Self::UnknownTeam { .. } | Self::Team { .. } => InvalidKind::Configuration,
        }
    }
}
