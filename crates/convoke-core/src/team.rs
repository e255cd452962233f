//! Teams: their names, the shape of their paths, and the pairs that talk to each other.

use std::fmt;
use std::path::{Component, Path};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Invalid;
use crate::id::name;

name! {
    /// The name of a team: letters, digits and hyphens.
    TeamName, is_team_name, TeamName
}

fn is_team_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Checks the form of a project path; whether it exists is checked elsewhere.
pub fn check_path_shape(team: &TeamName, path: &Path) -> Result<(), Invalid> {
    let fault = |reason: &str| Invalid::Team {
        team: team.to_string(),
        reason: format!("{reason}: {}", path.display()),
    };
    if path.as_os_str().is_empty() {
        return Err(fault("Project path is empty"));
    }
    if !path.is_absolute() {
        return Err(fault("Project path must be absolute"));
    }
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(fault("Project path must not contain '..'"));
    }
    if path.as_os_str().as_encoded_bytes().iter().any(u8::is_ascii_control) {
        return Err(fault("Project path must not contain control characters"));
    }
    Ok(())
}

/// Who talks to whom: one lasting conversation for each of these.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The team that asks; `None` is a caller from outside.
    pub from: Option<TeamName>,
    /// The team that answers.
    pub to: TeamName,
    /// A named thread beside the pair's main conversation.
    pub thread: Option<String>,
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.as_ref().map_or("external", TeamName::as_str);
        write!(f, "{from}->{}", self.to)?;
        match &self.thread {
            Some(thread) => write!(f, "#{thread}"),
            None => Ok(()),
        }
    }
}

/// The status of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "TeamSessionStatus")]
pub enum PairStatus {
    /// In use.
    Active,
    /// Without a process.
    Idle,
    /// Long enough that it should be compacted.
    CompactPending,
    /// Being compacted.
    Compacting,
    /// Kept for reference only.
    Archived,
    /// Failed.
    Error,
    /// Being moved to a successor session.
    Migrating,
}

impl PairStatus {
    /// Every status.
    pub const ALL: [Self; 7] = [
        Self::Active,
        Self::Idle,
        Self::CompactPending,
        Self::Compacting,
        Self::Archived,
        Self::Error,
        Self::Migrating,
    ];

    /// The name in files and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Idle => "idle",
            Self::CompactPending => "compact_pending",
            Self::Compacting => "compacting",
            Self::Archived => "archived",
            Self::Error => "error",
            Self::Migrating => "migrating",
        }
    }
}

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerStatus {
    /// There is an answer.
    Answered,
    /// It is in the queue, and the caller does not wait.
    Queued,
    /// The caller waited long enough; the team works on.
    TimedOut,
    /// There is no answer, and none will come.
    Failed,
}

impl AnswerStatus {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Queued => "queued",
            Self::TimedOut => "timed_out",
            Self::Failed => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InvalidKind;

    fn team(name: &str) -> TeamName {
        name.parse().unwrap()
    }

    #[test]
    fn t2_t15_a_team_name_is_letters_digits_and_hyphens() {
        for good in ["a", "front-end", "Team2", "-"] {
            assert_eq!(team(good).as_str(), good);
        }
        for bad in ["", "../etc", "a/b", "a\\b", "a b", "a_b", "a.b", "a->b", "größe", "a\n"] {
            let error = bad.parse::<TeamName>().unwrap_err();
            assert_eq!(error.to_string(), format!("Invalid team name: {bad}"));
            assert_eq!(error.kind(), InvalidKind::Validation);
        }
    }

    #[test]
    fn t2_a_team_path_is_absolute_and_free_of_traversal() {
        let check = |path: &str| check_path_shape(&team("backend"), Path::new(path));
        for good in ["/", "/srv/app", "/srv/..app/...", "/srv/ü b"] {
            assert_eq!(check(good), Ok(()));
        }
        let cases = [
            ("", "Project path is empty: "),
            ("srv/app", "Project path must be absolute: srv/app"),
            ("~/app", "Project path must be absolute: ~/app"),
            ("/srv/../etc", "Project path must not contain '..': /srv/../etc"),
            ("/srv/app/..", "Project path must not contain '..': /srv/app/.."),
            ("/srv/\u{7}", "Project path must not contain control characters: /srv/\u{7}"),
        ];
        for (path, reason) in cases {
            let error = check(path).unwrap_err();
            let text = format!("Invalid configuration for team 'backend': {reason}");
            assert_eq!(error.to_string(), text);
            assert_eq!(error.kind(), InvalidKind::Configuration);
        }
    }

    #[test]
    fn t15_an_unknown_team_is_a_matter_of_configuration() {
        let error = Invalid::UnknownTeam { name: "nonexistent".to_owned() };
        assert_eq!(error.to_string(), "Unknown team: nonexistent");
        assert_eq!(error.kind(), InvalidKind::Configuration);
    }

    #[test]
    fn t10_a_pair_is_keyed_by_who_asks_whom() {
        let pair = |from: Option<&str>, thread: Option<&str>| Pair {
            from: from.map(team),
            to: team("backend"),
            thread: thread.map(str::to_owned),
        };
        assert_eq!(pair(Some("frontend"), None).to_string(), "frontend->backend");
        assert_eq!(pair(None, None).to_string(), "external->backend");
        assert_eq!(pair(None, Some("api")).to_string(), "external->backend#api");
    }

    #[test]
    fn t7_a_pair_status_reads_as_it_is_written() {
        for status in PairStatus::ALL {
            let json = serde_json::to_string(&status).unwrap();
            assert_eq!(json, format!("\"{}\"", status.as_str()));
            assert_eq!(serde_json::from_str::<PairStatus>(&json).unwrap(), status);
        }
    }
}
