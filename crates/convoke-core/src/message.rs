//! The one vocabulary: a session is an append-only list of these messages, numbered 1, 2, 3….
//!
//! This file and `content` are a contract: what is stored, what REST returns and what streams carry.
//! Fields and variants may be added; none may change its meaning or its JSON (snapshots pin them).

use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::id::{MessageId, SessionId};
use crate::time::Timestamp;

/// The place of a message in its session's log: the first is 1, and 0 stands before all of them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
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

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The human, or whoever prompts in their place.
    User,
    /// The agent, in words.
    Agent,
    /// Convoke: plans, tools, requests, usage and notices.
    System,
}

/// One entry of a session's log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Unique among all messages.
    pub id: MessageId,
    /// The session whose log this is.
    pub session_id: SessionId,
    /// The place in the log, without gaps.
    pub seq: Seq,
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Content,
    /// When it was stored; never earlier than the message before.
    pub timestamp: Timestamp,
}

/// A message that has been decided on, before it gets its id, place and time.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

impl Draft {
    /// What the human says.
    pub fn user(text: impl Into<String>) -> Self {
        let content = Content::Text { text: text.into(), partial: None };
        Self { role: Role::User, content }
    }

    /// What the agent says in words.
    pub const fn agent(content: Content) -> Self {
        Self { role: Role::Agent, content }
    }

    /// What Convoke records.
    pub fn system(content: impl Into<Content>) -> Self {
        Self { role: Role::System, content: content.into() }
    }

    /// Gives the draft its place in a log.
    pub fn stamp(self, id: MessageId, session_id: SessionId, seq: Seq, at: Timestamp) -> Message {
        Message { id, session_id, seq, role: self.role, content: self.content, timestamp: at }
    }
}

impl Message {
    /// Whether a human said or decided this, so that it must be on disk before it is acknowledged.
    pub fn is_human(&self) -> bool {
        match &self.content {
            Content::Text { .. } => self.role == Role::User,
            Content::Permission(record) => record.state.is_settled(),
            Content::Question(record) => record.state.is_settled(),
            Content::Thinking { .. }
            | Content::Plan { .. }
            | Content::Tool(_)
            | Content::Usage(_)
            | Content::Notice(_) => false,
        }
    }
}

#[cfg(test)]
mod tests;
