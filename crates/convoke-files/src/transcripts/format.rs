//! The lines of a transcript. A contract with all programs that read or write these files.
//!
//! One JSON object per line: first the metadata, then turns and other events, with a `type`. Types may be added, and
//! lines of an unknown type are kept and skipped; no field may change its meaning.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use convoke_core::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The agent of a transcript whose metadata names none.
pub const UNKNOWN_AGENT: &str = "unknown";

/// One line of a known type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    /// The first line.
    Metadata(Metadata),
    /// A turn.
    Turn(Turn),
    /// The status of the session changes.
    Status {
        /// How.
        status: Status,
        /// Since when.
        timestamp: Timestamp,
    },
    /// Another agent takes over, and has not received any of the conversation.
    Agent {
        /// Which one, as asked for.
        agent: String,
        /// Since when.
        timestamp: Timestamp,
    },
    /// An agent takes part and has received everything, in its own session with this id.
    AgentSession(AgentSession),
    /// The turns so far are no longer part of the conversation.
    Cleared {
        /// Since when.
        timestamp: Timestamp,
    },
    /// The next turns come from another source, and the agent has not received them.
    Imported {
        /// From which file.
        from: String,
        /// Since when.
        timestamp: Timestamp,
    },
}

/// The first line of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Metadata {
    /// The name of the transcript when it was made.
    pub session_id: String,
    /// The agent, as requested.
    pub agent: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Its status when it was created.
    pub status: Status,
}

/// A turn of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Turn {
    /// The author.
    pub role: Role,
    /// The text.
    pub content: String,
    /// When it was saved.
    pub timestamp: Timestamp,
    /// How long it is for a model, as the agent counts or as [`estimate`] guesses.
    pub tokens: u64,
}

/// The speaker of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The human.
    User,
    /// The agent.
    Assistant,
}

/// The status of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A process has it open.
    Active,
    /// It was left in order.
    Completed,
    /// Its process was killed.
    Interrupted,
}

/// An agent's own id of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentSession {
    /// The agent, as asked for.
    pub agent: String,
    /// The agent's own id of the session.
    pub agent_session_id: String,
    /// Since when.
    pub timestamp: Timestamp,
}

impl Record {
    /// When it was written.
    pub const fn time(&self) -> Timestamp {
        match self {
            Self::Metadata(metadata) => metadata.created_at,
            Self::Turn(turn) => turn.timestamp,
            Self::AgentSession(session) => session.timestamp,
            Self::Status { timestamp, .. }
            | Self::Agent { timestamp, .. }
            | Self::Cleared { timestamp }
            | Self::Imported { timestamp, .. } => *timestamp,
        }
    }
}

/// Estimates the tokens of a text: about one per four characters, and at least one if it is not
/// empty.
pub fn estimate(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

impl Role {
    /// The name in the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Active, Self::Completed, Self::Interrupted];

    /// The name in the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Status {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|status| status.as_str() == text);
        found.ok_or_else(|| format!("the status {text:?} is unknown"))
    }
}

/// A parsed line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parsed {
    /// A line of a known type.
    Known(Record),
    /// A line of an unknown type, which is kept and skipped, or an empty one.
    Other,
    /// A line that ends too early: its writer was cut off.
    Cut(String),
    /// A line that cannot be understood.
    Bad(String),
}

/// Every field that any of our lines has; which of them are needed depends on the type.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Fields<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    session_id: Option<String>,
    agent: Option<String>,
    created_at: Option<Timestamp>,
    status: Option<String>,
    role: Option<String>,
    content: Option<String>,
    timestamp: Option<Timestamp>,
    tokens: Option<u64>,
    agent_session_id: Option<String>,
    from: Option<String>,
}

/// Only the type of a line; its other fields are not checked.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Kind<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

/// The types that this program validates.
const KNOWN: [&str; 7] =
    ["metadata", "turn", "status", "agent", "agent_session", "cleared", "imported"];

/// Reads a line, without its line break.
pub(super) fn parse(line: &[u8]) -> Parsed {
    match line.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None => return Parsed::Other,
        // A power cut can leave a file with zeros where the last line should be.
        Some(0) if line.iter().all(|byte| *byte == 0) => {
            return Parsed::Cut("only zero bytes".to_owned());
        }
        // serde would accept a list of the fields in place of an object.
        Some(b'[') => return Parsed::Bad("a list instead of an object".to_owned()),
        Some(_) => {}
    }
    match serde_json::from_slice::<Fields<'_>>(line) {
        Ok(fields) => match fields.record() {
            Ok(Some(record)) => Parsed::Known(record),
            Ok(None) => Parsed::Other,
            Err(problem) => Parsed::Bad(problem),
        },
        Err(error) if error.is_eof() => Parsed::Cut(worded(&error)),
        Err(error) => match serde_json::from_slice::<Kind<'_>>(line) {
            Ok(Kind { kind }) if !KNOWN.contains(&&*kind) => Parsed::Other,
            Ok(_) | Err(_) => Parsed::Bad(worded(&error)),
        },
    }
}

/// An error of the parser, which knows of one line only.
fn worded(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

impl Fields<'_> {
    /// The record of a known type, or an error that names a missing field.
    fn record(self) -> Result<Option<Record>, String> {
        let Self { kind, timestamp, .. } = &self;
        let time = || timestamp.ok_or_else(|| lacks(kind, "timestamp"));
        let status = |word: &Option<String>| word.as_deref().map(Status::from_str).transpose();
        Ok(Some(match &**kind {
            "metadata" => {
                let created_at = self.created_at.ok_or_else(|| lacks(kind, "created_at"))?;
                let status = status(&self.status)?.unwrap_or(Status::Active);
                let agent = self.agent.unwrap_or_else(|| UNKNOWN_AGENT.to_owned());
                let session_id = self.session_id.unwrap_or_default();
                Record::Metadata(Metadata { session_id, agent, created_at, status })
            }
            "turn" => {
                let role = match self.role.as_deref() {
                    Some("user") => Role::User,
                    Some("assistant") => Role::Assistant,
                    Some(other) => return Err(format!("the role {other:?} is unknown")),
                    None => return Err(lacks(kind, "role")),
                };
                let timestamp = time()?;
                let content = self.content.ok_or_else(|| lacks("turn", "content"))?;
                let tokens = self.tokens.unwrap_or_else(|| estimate(&content));
                Record::Turn(Turn { role, content, timestamp, tokens })
            }
            "status" => {
                let status = status(&self.status)?.ok_or_else(|| lacks(kind, "status"))?;
                Record::Status { status, timestamp: time()? }
            }
            "agent" => {
                let timestamp = time()?;
                let agent = self.agent.ok_or_else(|| lacks("change of agent", "agent"))?;
                Record::Agent { agent, timestamp }
            }
            "agent_session" => {
                let timestamp = time()?;
                let id = self.agent_session_id.filter(|id| !id.is_empty());
                Record::AgentSession(AgentSession {
                    agent: self.agent.ok_or_else(|| lacks("agent_session", "agent"))?,
                    agent_session_id: id
                        .ok_or_else(|| lacks("agent_session", "agent_session_id"))?,
                    timestamp,
                })
            }
            "cleared" => Record::Cleared { timestamp: time()? },
            "imported" => {
                let timestamp = time()?;
                Record::Imported { from: self.from.unwrap_or_default(), timestamp }
            }
            _ => return Ok(None),
        }))
    }
}

fn lacks(kind: &str, field: &str) -> String {
    format!("the {kind} has no {field}")
}

/// A record as the line that is written, with its line break.
pub(super) fn line(record: &Record) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(record)?;
    bytes.push(b'\n');
    Ok(bytes)
}

#[cfg(test)]
mod tests;
