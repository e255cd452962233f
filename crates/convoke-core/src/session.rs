//! The life of a session: a durable conversation of one agent in one project.
//!
//! `handle` decides, `apply` folds. State changes only by applying messages, so a log always folds into the
//! state that wrote it. A session never ends because a process ended.

mod agent;
mod command;
mod fold;
mod human;
mod output;
mod unsettled;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::message::Seq;
use crate::request::Request;
use crate::time::Timestamp;
use crate::turn::Turn;
use output::Output;

pub use command::{Command, Cut, Decision, Effect, Refusal, Reply, Report, ToolUpdate};
pub use unsettled::Unsettled;

/// Prompts that may wait behind a running turn; one more is refused, and its sender told to wait.
pub const QUEUE_MAX: usize = 32;
/// Requests that may be pending at once; one more is refused, and the agent told so.
pub const PENDING_MAX: usize = 32;

/// Where a session is in its life; nothing leaves `cancelled`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Accepts prompts.
    Active,
    /// Ended well; can be resumed.
    Completed,
    /// Ended by a human, for good.
    Cancelled,
    /// Its agent can be neither started nor resumed; can be tried again.
    Error,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Active, Self::Completed, Self::Cancelled, Self::Error];

    /// The word that stores and wires use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Error => "error",
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What lists show of a session, kept beside its log so that nobody folds a log to show a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Where it is in its life.
    pub status: Status,
    /// Why it completed, as in `metadata.reason`.
    pub reason: Option<String>,
    /// Whether lists hide it.
    pub archived: bool,
    /// Its title, once something was said in it or it was named.
    pub title: Option<String>,
    /// The place of the newest message; also their number.
    pub last_seq: Seq,
    /// The newest place at which nothing was under way: folding may begin here.
    pub settled_seq: Seq,
    /// When anything last happened.
    pub updated_at: Timestamp,
    /// When a prompt last came or a turn last ended.
    pub last_active_at: Timestamp,
}

impl Summary {
    /// What a session looks like before its first message.
    pub const fn new(created_at: Timestamp) -> Self {
        Self {
            status: Status::Active,
            reason: None,
            archived: false,
            title: None,
            last_seq: Seq::START,
            settled_seq: Seq::START,
            updated_at: created_at,
            last_active_at: created_at,
        }
    }

    /// Whether everything that was begun has ended.
    pub fn is_settled(&self) -> bool {
        self.settled_seq == self.last_seq
    }
}

/// A session as it stands after the messages applied so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    summary: Summary,
    running: Option<Running>,
    queue: VecDeque<Seq>,
    output: Output,
    /// Oldest first; those that are no longer pending live in the store.
    pending: Vec<Request>,
}

/// The turn that is with the agent.
#[derive(Debug, Clone, PartialEq)]
struct Running {
    prompt: Seq,
    /// Running or cancelling, never queued or done.
    turn: Turn,
}

impl Session {
    /// A session without messages.
    pub fn new(created_at: Timestamp) -> Self {
        Self::restore(Summary::new(created_at), Vec::new())
    }

    /// The session as it stood at its `settled_seq`; apply the messages after that to bring it up to date.
    ///
    /// `pending` are the requests that are pending now, oldest first.
    pub fn restore(summary: Summary, pending: Vec<Request>) -> Self {
        let summary = Summary { last_seq: summary.settled_seq, ..summary };
        let (running, queue, output) = (None, VecDeque::new(), Output::default());
        Self { summary, running, queue, output, pending }
    }

    /// What lists show of it.
    pub const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The turn that the agent works on, by the place of its prompt.
    pub fn running(&self) -> Option<Seq> {
        self.running.as_ref().map(|running| running.prompt)
    }

    /// The turns that wait, by the places of their prompts.
    pub fn queue(&self) -> impl ExactSizeIterator<Item = Seq> {
        self.queue.iter().copied()
    }

    /// The requests that the human has not settled, oldest first.
    pub fn pending(&self) -> &[Request] {
        &self.pending
    }

    /// Whether nothing runs and nothing is asked. Waiting is not idle.
    pub fn is_idle(&self) -> bool {
        self.running.is_none() && self.queue.is_empty() && self.pending.is_empty()
    }
}

#[cfg(test)]
mod tests;
