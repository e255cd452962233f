//! People who use a daemon besides its owner, and what they may do. A contract, see `message`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::name;

/// The longest name of a user.
const NAME_MAX: usize = 64;

name! {
    /// The name of a user: letters, digits, `-`, `_`, `.` and `@`.
    UserName, is_user_name, UserName
}

fn is_user_name(text: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    let is_first = |c: char| c.is_ascii_alphanumeric();
    text.len() <= NAME_MAX && text.starts_with(is_first) && text.chars().all(is_safe)
}

/// What a user may do. Each role includes those before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "UserRole")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Prompts agents and answers them.
    Member,
    /// Manages projects, rules, settings and users.
    Owner,
}

impl Role {
    /// Every role, from the least to the most powerful.
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Member, Self::Owner];

    /// The name in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Member => "member",
            Self::Owner => "owner",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n7_a_name_is_a_short_word_and_roles_include_those_before_them() {
        for name in ["ada", "Ada.Lovelace@example.org", "a-1_b"] {
            assert_eq!(name.parse::<UserName>().unwrap().to_string(), name);
        }
        for name in ["", " ada", "ada lovelace", "-ada", ".ada", "adé", "a/b", &"a".repeat(65)] {
            assert!(name.parse::<UserName>().is_err(), "{name}");
        }
        assert!(Role::Viewer < Role::Member && Role::Member < Role::Owner);
    }
}
