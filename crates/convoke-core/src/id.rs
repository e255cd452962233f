//! Names of things: UUID ids, agent names, and the canonical id of a session.
//!
//! Nothing here makes randomness: the caller of `from_random` passes sixteen random bytes.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Invalid;

/// Characters of an id where people read it; any unambiguous prefix of an id is accepted.
const SHORT_CHARS: usize = 8;

/// The start of an id, enough for people.
pub fn short(id: impl fmt::Display) -> String {
    id.to_string().chars().take(SHORT_CHARS).collect()
}

/// Defines one UUID newtype, so that ids of different things cannot be mixed up. `$accepts` says which UUIDs are such ids,
/// and `$invalid` is the error for others.
macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $accepts:path, $invalid:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(try_from = "String", into = "String")]
        #[schemars(inline, extend("format" = "uuid"))]
        pub struct $name(Uuid);

        impl $name {
            /// Makes a UUID v4 of random bytes.
            pub fn from_random(bytes: [u8; 16]) -> Self {
                Self(uuid::Builder::from_random_bytes(bytes).into_uuid())
            }

            /// The sixteen bytes of the id.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// The id with these sixteen bytes, or `None` when they are no such id.
            pub fn from_bytes(bytes: [u8; 16]) -> Option<Self> {
                let uuid = Uuid::from_bytes(bytes);
                $accepts(&uuid).then_some(Self(uuid))
            }
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                let uuid = parse(text).filter($accepts);
                uuid.map(Self).ok_or_else(|| Invalid::$invalid { text: text.to_owned() })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl TryFrom<String> for $name {
            type Error = Invalid;

            fn try_from(text: String) -> Result<Self, Invalid> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }
    };
}

uuid_id! {
    /// A session: a durable conversation with one agent in one project.
    SessionId, is_v4, SessionId
}
uuid_id! {
    /// A message in a session. Clients make ids of prompts, and may use any version of UUID.
    MessageId, is_any, MessageId
}
uuid_id! {
    /// A project: a directory in which agents work (`repo` on the wire).
    ProjectId, is_v4, Id
}
uuid_id! {
    /// A request to a human: a permission or a set of questions.
    RequestId, is_v4, SessionId
}
uuid_id! {
    /// A node: one of several daemons that share a database.
    NodeId, is_v4, Id
}
uuid_id! {
    /// A chain of asks between teams: all asks that follow from one.
    ChainId, is_v4, Id
}
uuid_id! {
    /// A rule: what agents may do without asking, or may not.
    RuleId, is_v4, Id
}

/// Defines one newtype of a text that names something. `$accepts` says which texts are such names, and `$invalid` is the
/// error for others.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $accepts:path, $invalid:ident) => {
        $(#[$doc])*
        #[derive(
            Debug,
            Clone,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            serde::Serialize,
            serde::Deserialize,
            schemars::JsonSchema,
        )]
        #[serde(try_from = "String", into = "String")]
        #[schemars(inline)]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Invalid;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let name = $accepts(text).then(|| Self(text.to_owned()));
                name.ok_or_else(|| Self::Err::$invalid { text: text.to_owned() })
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::Invalid;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}
pub(crate) use name;

/// Characters of `8-4-4-4-12` hexadecimal digits with their hyphens.
const UUID_CHARS: usize = 36;

fn parse(text: &str) -> Option<Uuid> {
    // The crate also reads braces, URNs and bare digits; a file or URL holds one form only.
    (text.len() == UUID_CHARS).then(|| Uuid::try_parse(text).ok()).flatten()
}

const fn is_any(_: &Uuid) -> bool {
    true
}

fn is_v4(uuid: &Uuid) -> bool {
    uuid.get_version_num() == 4 && uuid.get_variant() == uuid::Variant::RFC4122
}

name! {
    /// The name of an agent in the catalogue, such as `claude-code`.
    AgentName, is_agent_name, AgentName
}

fn is_agent_name(text: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.chars().all(is_safe)
}

/// A session as the agent names it: `{agent}:{the agent's own session id}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CanonicalId {
    /// The agent that owns the session.
    pub agent: AgentName,
    /// The agent's own id: opaque, not empty, and free to contain colons.
    pub agent_session: String,
}

impl FromStr for CanonicalId {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::CanonicalId { text: text.to_owned() };
        let (agent, agent_session) = text.split_once(':').ok_or_else(invalid)?;
        if agent_session.is_empty() {
            return Err(invalid());
        }
        let agent = agent.parse().map_err(|_| invalid())?;
        Ok(Self { agent, agent_session: agent_session.to_owned() })
    }
}

impl TryFrom<String> for CanonicalId {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl From<CanonicalId> for String {
    fn from(id: CanonicalId) -> Self {
        id.to_string()
    }
}

impl fmt::Display for CanonicalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.agent, self.agent_session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InvalidKind;

    #[test]
    fn w1_a_canonical_id_is_split_at_the_first_colon_only() {
        let id: CanonicalId = "claude-code:ses:20261115_1:x".parse().unwrap();
        assert_eq!((id.agent.as_str(), &*id.agent_session), ("claude-code", "ses:20261115_1:x"));
        assert_eq!(id.to_string(), "claude-code:ses:20261115_1:x");
        for text in ["", ":", "claude-code", "claude-code:", ":abc", "../x:abc"] {
            let error = text.parse::<CanonicalId>().unwrap_err();
            assert_eq!(error.to_string(), format!("Invalid canonical session ID: {text}"));
        }
    }

    #[test]
    fn t15_q16_only_a_hyphenated_uuid_v4_is_a_session_id() {
        let good = "A1B2C3D4-5678-4abc-9def-1234567890ab";
        assert_eq!(good.parse::<SessionId>().unwrap().to_string(), good.to_lowercase());
        for bad in [
            "",
            "not-a-uuid",
            "../../etc/passwd",
            "a1b2c3d456784abc9def1234567890ab",
            "{a1b2c3d4-5678-4abc-9def-1234567890ab}",
            "a1b2c3d4-5678-1abc-9def-1234567890ab",
            "a1b2c3d4-5678-4abc-cdef-1234567890ab",
            "00000000-0000-0000-0000-000000000000",
            "a1b2c3d4-5678-4abc-9def-1234567890ab/",
        ] {
            let error = bad.parse::<SessionId>().unwrap_err();
            assert_eq!(error.to_string(), format!("Invalid session ID format: {bad}"));
        }
    }

    #[test]
    fn an_invalid_id_of_something_else_is_not_called_a_session_id() {
        let error = "rule".parse::<RuleId>().unwrap_err();
        assert_eq!(error.to_string(), "Invalid ID format: rule");
        assert_eq!(error.kind(), InvalidKind::Validation);
    }

    #[test]
    fn random_bytes_always_give_a_v4_id_that_reads_back() {
        for byte in [0, 0x5a, 0xff] {
            let id = MessageId::from_random([byte; 16]);
            assert_eq!(id.to_string().parse::<MessageId>().unwrap(), id);
            assert_eq!(MessageId::from_bytes(*id.as_bytes()), Some(id));
        }
        assert_eq!(SessionId::from_bytes([0; 16]), None);
    }

    #[test]
    fn a_message_may_have_any_uuid() {
        let time_ordered = "0190a1b2-c3d4-7abc-9def-1234567890ab";
        assert_eq!(time_ordered.parse::<MessageId>().unwrap().to_string(), time_ordered);
        let error = "0".parse::<MessageId>().unwrap_err();
        assert_eq!(error.to_string(), "Invalid message ID format: 0");
    }
}
