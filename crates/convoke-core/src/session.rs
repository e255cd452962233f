//! The life of a session: a durable conversation of one agent in one project.
//!
//! `handle` decides, `apply` changes: a session changes only by applying changes, and the stored changes restore it.
//! The end of a process never ends a session.

mod agent;
mod apply;
mod change;
mod command;
mod human;
mod output;
mod queue;
mod reason;
mod work;

use std::collections::{BTreeMap, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::message::{Message, Rev, Seq};
use crate::request::Request;
use crate::state::{QueuedPrompt, SessionState, StateKind};
use crate::time::Timestamp;
use crate::turn::Turn;
use output::Output;
use work::LastLine;

pub use change::Change;
pub use command::{
    Command, Decision, Effect, Interruption, QueueChoice, Refusal, Reply, Report, Stamp, ToolUpdate,
};
pub use human::check_prompt;
pub use reason::EndReason;
pub use work::{Activity, Attention, Work};

/// Prompts that may wait behind a running turn; one more is refused.
pub const QUEUE_MAX: usize = 32;
/// The size of all queued prompts; the queue is stored and sent as a whole.
pub(crate) const QUEUE_BYTES_MAX: usize = 1 << 20;
/// Requests that may be pending at once; one more is refused, and the agent gets a cancellation as its reply.
pub const PENDING_MAX: usize = 32;

/// The state of a session; `cancelled` is final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SessionStatus")]
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

    /// The name in the database and on the wire.
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

/// What lists show of a session, stored in one row so that a list reads no messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The state of the session.
    pub status: Status,
    /// Why it was completed or cancelled, as in `metadata.reason`.
    pub reason: Option<EndReason>,
    /// Whether lists hide it.
    pub archived: bool,
    /// The title, once there was a prompt or the session was renamed.
    pub title: Option<String>,
    /// The seq of the newest message, which is also the number of messages.
    pub last_seq: Seq,
    /// `last_seq` when the session was last settled; equal to it while nothing is in progress.
    pub settled_seq: Seq,
    /// The revision of the newest change.
    pub rev: Rev,
    /// When the session last changed.
    pub updated_at: Timestamp,
    /// When a prompt last came or a turn last ended.
    pub last_active_at: Timestamp,
    /// What lists show of the agent's work.
    pub work: Work,
}

impl Summary {
    /// What a session looks like before its first message.
    pub fn new(created_at: Timestamp) -> Self {
        Self {
            status: Status::Active,
            reason: None,
            archived: false,
            title: None,
            last_seq: Seq::START,
            settled_seq: Seq::START,
            rev: Rev::START,
            updated_at: created_at,
            last_active_at: created_at,
            work: Work::default(),
        }
    }

    /// Whether a prompt is accepted: by an active session, and by a completed one that the prompt resumes
    /// (`EndReason::is_resumed_by_prompt`).
    pub const fn accepts_prompts(&self) -> bool {
        match (self.status, &self.reason) {
            (Status::Active, _) => true,
            (Status::Completed, Some(reason)) => reason.is_resumed_by_prompt(),
            (Status::Completed | Status::Cancelled | Status::Error, _) => false,
        }
    }

    /// Whether nothing is in progress.
    pub fn is_settled(&self) -> bool {
        self.settled_seq == self.last_seq
    }
}

/// A session as it stands after the changes applied so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    summary: Summary,
    running: Option<Running>,
    queue: VecDeque<QueuedPrompt>,
    /// Whether the queue waits for a human, since the turn before it was stopped so.
    is_held: bool,
    output: Output,
    /// The last line of the open answer.
    line: LastLine,
    /// Oldest first; requests that are no longer pending are only in the store.
    pending: Vec<Asked>,
    /// The commands, modes, settings and usage that the agent reports.
    state: BTreeMap<StateKind, SessionState>,
}

/// A pending request, and the seq of its message.
#[derive(Debug, Clone, PartialEq)]
struct Asked {
    seq: Seq,
    request: Request,
}

/// The running turn.
#[derive(Debug, Clone, PartialEq)]
struct Running {
    prompt: Seq,
    /// Running or cancelling, never ended.
    turn: Turn,
}

impl Session {
    /// A session without messages.
    pub fn new(created_at: Timestamp) -> Self {
        Self::restore(Summary::new(created_at), &[], Vec::new())
    }

    /// Restores a session from the store: its summary, its open messages in order, and its state.
    ///
    /// What matters only during a turn is not restored: a turn is never continued after a restart.
    pub fn restore(summary: Summary, open: &[Message], state: Vec<SessionState>) -> Self {
        let mut session = Self {
            summary,
            running: None,
            queue: VecDeque::new(),
            is_held: false,
            output: Output::default(),
            line: LastLine::default(),
            pending: Vec::new(),
            state: BTreeMap::new(),
        };
        open.iter().for_each(|message| session.restore_open(message));
        state.into_iter().for_each(|state| session.restore_state(state));
        session
    }

    /// Skips revisions that readers may have seen and a crash has lost.
    pub fn skip_lost_revisions(&mut self) {
        self.summary.rev = self.summary.rev.plus(Rev::CRASH_GAP);
    }

    /// The summary.
    pub const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The running turn, by the seq of its prompt.
    pub fn running(&self) -> Option<Seq> {
        self.running.as_ref().map(|running| running.prompt)
    }

    /// The queued prompts in order.
    pub fn queue(&self) -> impl ExactSizeIterator<Item = &QueuedPrompt> {
        self.queue.iter()
    }

    /// The pending requests, oldest first.
    pub fn pending(&self) -> impl ExactSizeIterator<Item = &Request> {
        self.pending.iter().map(|asked| &asked.request)
    }

    /// Whether an answer or thought is open that belongs to no turn, so that no end of a turn closes it.
    pub fn is_speaking_between_turns(&self) -> bool {
        self.running.is_none() && self.output.stream().is_some()
    }

    /// Whether the queued prompts wait for a human, not for the running turn.
    pub const fn is_held(&self) -> bool {
        self.is_held
    }

    /// What the session is doing.
    pub const fn activity(&self) -> Activity {
        match () {
            () if !self.pending.is_empty() => Activity::Waiting,
            () if self.running.is_some() => Activity::Running,
            () => Activity::Idle,
        }
    }

    /// Whether no queued prompt waits for the running turn to end.
    fn is_queue_quiet(&self) -> bool {
        self.queue.is_empty() || self.is_held
    }

    /// Whether a turn runs, a request is pending, or a prompt waits for the turn. Such a session
    /// needs a task; if the task exited in this state, it failed.
    pub fn is_under_way(&self) -> bool {
        self.activity() != Activity::Idle || !self.is_queue_quiet()
    }

    /// Whether no turn runs, no request is pending and no prompt is queued.
    pub fn is_idle(&self) -> bool {
        self.activity() == Activity::Idle && self.queue.is_empty()
    }
}

#[cfg(test)]
impl Session {
    /// The session as a restart would restore it.
    fn without_memory_of_turn(&self) -> Self {
        Self { output: self.output.without_memory_of_turn(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests;
