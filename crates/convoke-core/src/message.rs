//! The one vocabulary: a conversation is a list of whole messages, numbered 1, 2, 3….
//!
//! This file, `content`, `state` and `turn` are a contract: what is stored, what REST returns and what streams carry.
//! Fields and variants may be added; none may change its meaning or its JSON (snapshots pin them).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::id::{MessageId, SessionId};
use crate::prompt::Prompt;
use crate::time::Timestamp;
use crate::turn::Turn;

/// The place of a message in its conversation: the first is 1, and 0 stands before all of them.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Seq(u64);

impl Seq {
    /// Before the first message.
    pub const START: Self = Self(0);

    /// The place with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number of the place.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The place after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        self.plus(1)
    }

    /// The place this many after this one.
    #[must_use]
    pub const fn plus(self, count: u64) -> Self {
        Self(self.0.saturating_add(count))
    }
}

impl std::fmt::Display for Seq {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a change of a session. It grows with every change, is never used twice, and is the cursor of readers:
/// "everything that changed after this".
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Rev(u64);

impl Rev {
    /// Before the first change.
    pub const START: Self = Self(0);
    /// Revisions that are skipped after a crash: deltas that readers saw may not have reached the disk, and their
    /// revisions must not be used again.
    pub const CRASH_GAP: u64 = 1 << 20;

    /// The revision with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The revision after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        self.plus(1)
    }

    /// The revision this many after this one.
    #[must_use]
    pub const fn plus(self, count: u64) -> Self {
        Self(self.0.saturating_add(count))
    }
}

impl std::fmt::Display for Rev {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The human, or a program that prompts in their place.
    User,
    /// The agent, in words.
    Agent,
    /// Convoke: plans, tools, requests and notices.
    System,
}

/// One thing that a reader of a conversation sees, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Unique among all messages.
    pub id: MessageId,
    /// The session whose conversation this is part of.
    pub session_id: SessionId,
    /// The place in the conversation, without gaps, fixed when the message begins.
    pub seq: Seq,
    /// The session's revision at the message's newest change.
    pub rev: Rev,
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Content,
    /// For a prompt: the state of its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// When it began; never earlier than the message before.
    pub timestamp: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Message {
    /// Whether more changes are expected: an answer that is still written, a running tool, a pending request, a prompt
    /// whose turn has not ended.
    pub fn is_open(&self) -> bool {
        self.content.is_open() || self.turn.as_ref().is_some_and(|turn| !turn.is_over())
    }
}

/// A message that has been decided on, before it has a seq and a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Its id, where that is known already; a new one otherwise.
    pub id: Option<MessageId>,
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Content,
    /// For a prompt: the state of its turn.
    pub turn: Option<Turn>,
}

impl Draft {
    /// What the human says.
    pub fn prompt(id: MessageId, prompt: impl Into<Prompt>, turn: Turn) -> Self {
        let content = Content::from(prompt.into());
        Self { id: Some(id), role: Role::User, content, turn: Some(turn) }
    }

    /// What the agent says in words.
    pub const fn agent(content: Content) -> Self {
        Self { id: None, role: Role::Agent, content, turn: None }
    }

    /// What Convoke records.
    pub fn system(content: impl Into<Content>) -> Self {
        Self { id: None, role: Role::System, content: content.into(), turn: None }
    }
}

#[cfg(test)]
mod tests;
