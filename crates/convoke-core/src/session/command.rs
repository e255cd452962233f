//! Commands to a session, decisions and effects that follow from them, and refusals.

use serde_json::Value;

use crate::bounds::{PROMPT_BYTES_MAX, json_bytes};
use crate::content::{Content, PlanStep, ToolResult, ToolStatus};
use crate::id::{MessageId, RequestId};
use crate::message::{Draft, Seq};
use crate::notice::{Notice, Resumed};
use crate::process::Exit;
use crate::question::Answer;
use crate::request::{self, Request, Verdict};
use crate::state::SessionState;
use crate::time::Timestamp;
use crate::turn::{self, FailureKind, Stop};

use super::{Change, EndReason, PENDING_MAX, QUEUE_BYTES_MAX, QUEUE_MAX, Status};

/// A wish about a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Say this to the agent.
    Prompt {
        /// What is said.
        text: String,
        /// The id of the message that it becomes, and when it was said.
        stamp: Stamp,
    },
    /// Change a prompt that waits.
    EditQueued {
        /// Which one.
        id: MessageId,
        /// What is said instead.
        text: String,
    },
    /// Remove a prompt that waits.
    RemoveQueued {
        /// Which one.
        id: MessageId,
    },
    /// Send a prompt that waits next, and stop the running turn for it.
    SendQueued {
        /// Which one.
        id: MessageId,
    },
    /// Stop the running turn; the session goes on.
    CancelTurn,
    /// Stop the running turn and all that wait; the session goes on.
    CancelTurns,
    /// End the session well.
    Complete {
        /// Why.
        reason: EndReason,
    },
    /// End the session for good.
    Cancel {
        /// Why.
        reason: EndReason,
    },
    /// Let an ended session accept prompts again.
    Resume,
    /// Call the session this.
    Rename {
        /// The new title.
        title: String,
    },
    /// Hide the session from lists.
    Archive,
    /// Show the session in lists again.
    Unarchive,
    /// Settle a pending request.
    Settle {
        /// Which one.
        request: RequestId,
        /// What is said to it.
        verdict: Verdict,
    },
    /// Settle a request that is no longer pending, as the store has it.
    SettleLate {
        /// The request as it stands.
        request: Request,
        /// The place of its message.
        seq: Seq,
        /// What is said to it.
        verdict: Verdict,
        /// For the prompt that a late answer becomes.
        stamp: Stamp,
    },
    /// Recover a session that was cut off in the middle.
    Recover(Cut),
    /// The agent reports.
    Agent(Report),
}

/// What the engine gives a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The id of its message.
    pub id: MessageId,
    /// When it was sent.
    pub at: Timestamp,
}

/// What cut a session off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    /// Convoke was ended.
    Ended,
    /// The task that keeps the session broke down.
    Broken,
    /// What the agent said could not be stored.
    Unstored {
        /// Why not.
        error: String,
    },
}

impl Cut {
    pub(super) fn stop(&self) -> Stop {
        match self {
            Self::Ended => {
                Stop::failed(FailureKind::Interrupted, "Convoke stopped during the turn")
            }
            Self::Broken => Stop::failed(
                FailureKind::Internal,
                "an internal error in Convoke interrupted the turn",
            ),
            Self::Unstored { error } => {
                let detail = format!("the agent's output could not be stored: {error}");
                Stop::failed(FailureKind::Internal, detail)
            }
        }
    }
}

/// What an agent's driver reports.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// A new process resumed the conversation.
    Resumed(Resumed),
    /// It began another session of its own in the middle of this one.
    Renewed {
        /// What it calls that one.
        agent_session: String,
    },
    /// It said a piece of its answer.
    Said(String),
    /// It thought aloud.
    Thought(String),
    /// It made or changed its plan.
    Planned(Vec<PlanStep>),
    /// It called a tool, or more is known of a call.
    ToolCalled(ToolUpdate),
    /// It offers commands, modes or settings, or counted what it has used.
    State(SessionState),
    /// It let people know something about itself.
    Noticed(Notice),
    /// It asked the human.
    Asked(Request),
    /// It took a request back.
    Withdrew(RequestId),
    /// Its turn ended.
    TurnEnded {
        /// The place of the turn's prompt.
        turn: Seq,
        /// How it ended.
        stop: Stop,
    },
    /// Its process ended by itself.
    Exited(Exit),
    /// Its process was stopped because it was idle.
    Stopped,
    /// It can be neither started nor resumed.
    Failed {
        /// What went wrong.
        error: String,
    },
}

impl Report {
    /// How many bytes it has, but for its names and numbers.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Said(text) | Self::Thought(text) | Self::Failed { error: text } => text.len(),
            Self::Planned(steps) => json_bytes(steps),
            Self::ToolCalled(update) => {
                update.args.as_ref().map_or(0, json_bytes)
                    + update.result.as_ref().map_or(0, json_bytes)
            }
            Self::Noticed(notice) => json_bytes(notice),
            Self::Asked(request) => json_bytes(request),
            Self::State(state) => json_bytes(state),
            Self::Resumed(_)
            | Self::Renewed { .. }
            | Self::Withdrew(_)
            | Self::TurnEnded { .. }
            | Self::Exited(_)
            | Self::Stopped => 0,
        }
    }
}

/// What is known of a tool call so far; what is `None` stays as it was.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolUpdate {
    /// The agent's id of the call.
    pub tool_call_id: String,
    /// The tool's name.
    pub tool: Option<String>,
    /// What the agent calls this call.
    pub title: Option<String>,
    /// What sort of tool it is.
    pub kind: Option<String>,
    /// The arguments.
    pub args: Option<Value>,
    /// How far the call is.
    pub status: Option<ToolStatus>,
    /// What came of it.
    pub result: Option<ToolResult>,
}

/// What must be done outside, after the changes are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Give the prompt at this place to the agent.
    StartTurn {
        /// The place of the prompt.
        turn: Seq,
    },
    /// Tell the agent to stop this turn.
    CancelTurn {
        /// The place of its prompt.
        turn: Seq,
    },
    /// Send the reply to the asker, which waits.
    Reply {
        /// Which request.
        request: RequestId,
        /// What became of it.
        reply: Reply,
    },
    /// End the agent's process.
    StopProcess,
    /// Record what the agent calls the session from now on.
    RecordAgentSession {
        /// The agent's own id.
        agent_session: String,
    },
}

/// What an asker gets as a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The human chose this option.
    Chosen {
        /// What the agent calls it.
        option_id: String,
    },
    /// The human answered.
    Answered(Vec<Answer>),
    /// The human would not answer.
    Rejected {
        /// Why, in their words.
        reason: Option<String>,
    },
    /// The human did not answer in time.
    TimedOut,
    /// The turn or the session ended first.
    Cancelled,
}

/// What follows from a command: changes to store, and then effects to carry out.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// To store, in this order.
    pub changes: Vec<Change>,
    /// To carry out once they are stored.
    pub effects: Vec<Effect>,
    next: Seq,
}

impl Decision {
    pub(super) const fn after(last: Seq) -> Self {
        Self { changes: Vec::new(), effects: Vec::new(), next: last.next() }
    }

    /// Begins a message; gives the place that it will have.
    pub(super) fn begin(&mut self, draft: Draft) -> Seq {
        let seq = self.next;
        self.changes.push(Change::Begin(Draft { content: draft.content.bounded(), ..draft }));
        self.next = seq.next();
        seq
    }

    /// Replaces the content of a message.
    pub(super) fn replace(&mut self, seq: Seq, content: Content) {
        self.changes.push(Change::Replace { seq, content: content.bounded() });
    }
}

/// Why a session does not follow a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It has ended.
    #[error("the session is {status}")]
    Ended {
        /// How.
        status: Status,
    },
    /// It was cancelled, which is for good.
    #[error("a cancelled session cannot be resumed")]
    Cancelled,
    /// It accepts prompts already.
    #[error("the session is already active")]
    Active,
    /// There is nothing to say.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// There is more to say than fits into one message.
    #[error(
        "the prompt has {bytes} bytes, and at most {PROMPT_BYTES_MAX} are accepted; put it into a file of the project \
         and name the file instead"
    )]
    LongPrompt {
        /// How long it is.
        bytes: usize,
    },
    /// Too many prompts wait.
    #[error(
        "{QUEUE_MAX} prompts are waiting already, or more than {QUEUE_BYTES_MAX} bytes of them"
    )]
    QueueFull,
    /// No such prompt waits.
    #[error("the prompt {id} is not in the queue; its turn may have begun")]
    NotQueued {
        /// Which one.
        id: MessageId,
    },
    /// Nothing runs that could be stopped.
    #[error("no turn is running")]
    NoTurn,
    /// The turn cannot follow.
    #[error(transparent)]
    Turn(#[from] turn::Refusal),
    /// A title says nothing.
    #[error("the title is empty")]
    EmptyTitle,
    /// A title that no list could show.
    #[error("the title is longer than {max} characters")]
    LongTitle {
        /// How long it may be.
        max: usize,
    },
    /// Too many requests wait for the human.
    #[error("{PENDING_MAX} requests are waiting for the human already")]
    TooManyRequests,
    /// The same request was asked before.
    #[error("the request {id} already exists")]
    RepeatedRequest {
        /// Which one.
        id: RequestId,
    },
    /// No such request is pending here.
    #[error("the request {id} is not pending")]
    NotPending {
        /// Which one.
        id: RequestId,
    },
    /// The verdict cannot stand.
    #[error(transparent)]
    Request(#[from] request::Refusal),
}
