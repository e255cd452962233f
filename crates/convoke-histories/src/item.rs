//! What is read from a store, in Convoke's own types.

use convoke_core::content::{Content, Usage};
use convoke_core::message::Role;
use convoke_core::time::Timestamp;
use serde::{Deserialize, Serialize};

/// One message of a conversation. An item with the key of an earlier one replaces its content, but
/// not its position and its time: a result arrived, or the agent wrote the message again.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its identity within the conversation, made of the agent's own ids; the same however often it is read.
    pub key: String,
    /// When it began, if the store has a time.
    pub at: Option<Timestamp>,
    /// When it last changed.
    pub updated_at: Option<Timestamp>,
    /// Who speaks.
    pub role: Role,
    /// What is said. A tool call whose result is not recorded is `running`.
    pub content: Content,
}

/// A line of an unknown kind, stored so that a later version can read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLine {
    /// The kind as the agent names it; empty if it names none.
    pub kind: String,
    /// Its number in the file, from 1.
    pub line: u64,
    /// The line, or its beginning if it is longer than 64 KiB.
    pub json: String,
}

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenLine {
    /// Its number in the file, from 1.
    pub line: u64,
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub bytes: u64,
    /// What is wrong with it.
    pub why: String,
}

/// Some of a conversation, in its order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// Messages.
    pub items: Vec<Item>,
    /// Lines of unknown kinds.
    pub unknown: Vec<UnknownLine>,
}

impl Batch {
    /// Whether there is nothing in it.
    pub const fn is_empty(&self) -> bool {
        self.items.is_empty() && self.unknown.is_empty()
    }
}

/// The metadata of a conversation, as far as it was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// The agent's id of the session, with which it resumes it; for a subagent its own id.
    pub id: String,
    /// The folder in which the agent worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The title that the agent or its user set, else the beginning of the first prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// The session whose subagent this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The session from which this one was forked; its turns are not repeated here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<String>,
    /// The session of an earlier version of the agent that this one continues; its entries are repeated here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// The model that answered last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the last turn and the session used, as the core has it.
    pub usage: Usage,
    /// Tokens of the whole session.
    pub tokens: Tokens,
}

/// Tokens of a whole session, as far as the store counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Read by the model and not from a cache.
    pub input: u64,
    /// Written by the model, thoughts included.
    pub output: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Written to a cache.
    pub cache_write: u64,
}

impl Tokens {
    /// Adds those of another request.
    pub(crate) const fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }
}

/// Broken lines that are listed; further ones are only counted.
pub(crate) const BROKEN_NAMED_MAX: usize = 100;

/// Counts of what was read of a file since its beginning, and of what could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Lines, rows or elements.
    pub lines: u64,
    /// Those that could not be read.
    pub broken: u64,
    /// Those of them that are longer than a line may be.
    pub too_long: u64,
    /// Those with bytes that are not UTF-8, which were replaced.
    pub repaired: u64,
    /// Those of kinds that are not known.
    pub unknown: u64,
    /// The first hundred broken ones.
    pub broken_lines: Vec<BrokenLine>,
}

impl Tally {
    pub(crate) fn add_broken(&mut self, line: BrokenLine) {
        self.broken += 1;
        if self.broken_lines.len() < BROKEN_NAMED_MAX {
            self.broken_lines.push(line);
        }
    }
}
