//! Commands to a session, the decisions and effects that follow from them, and refusals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bounds::{PROMPT_BYTES_MAX, json_bytes};
use crate::content::{Content, PlanStep, ToolResult, ToolStatus};
use crate::id::{MessageId, RequestId};
use crate::message::{Draft, Seq};
use crate::notice::{Notice, Resumed, SessionMove};
use crate::process::Exit;
use crate::prompt::{ATTACHMENTS_MAX, FILES_MAX, Prompt};
use crate::question::Answer;
use crate::request::{self, Request, Verdict};
use crate::review::{COMMENTS_MAX, InvalidComment};
use crate::state::SessionState;
use crate::time::Timestamp;
use crate::turn::{self, FailureKind, Stop};
use crate::user::UserName;

use super::{Change, EndReason, PENDING_MAX, QUEUE_BYTES_MAX, QUEUE_MAX, Status};

/// A command to a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Send a prompt to the agent.
    Prompt {
        /// What is said.
        prompt: Prompt,
        /// The id and time of its message.
        stamp: Stamp,
    },
    /// Change a queued prompt.
    EditQueued {
        /// The prompt.
        id: MessageId,
        /// The new text.
        text: String,
        /// The user whose words these are; `None` for the owner of the daemon.
        by: Option<UserName>,
    },
    /// Remove a queued prompt.
    RemoveQueued {
        /// The prompt.
        id: MessageId,
    },
    /// Move a queued prompt to another place in the queue.
    MoveQueued {
        /// The prompt.
        id: MessageId,
        /// Its new place, counted from 0; beyond the end is the end.
        to: usize,
    },
    /// Move a queued prompt to the front, and cancel the running turn for it.
    SendQueued {
        /// The prompt.
        id: MessageId,
    },
    /// Cancel the running turn; the session stays active.
    CancelTurn {
        /// What becomes of the queued prompts.
        queue: QueueChoice,
    },
    /// Record that a human has looked at the session.
    See,
    /// Close the answer or thought that the agent left open outside of a turn.
    CloseStream,
    /// Complete the session.
    Complete {
        /// The reason.
        reason: EndReason,
    },
    /// Cancel the session for good.
    Cancel {
        /// The reason.
        reason: EndReason,
    },
    /// Reopen an ended session.
    Resume,
    /// Change the title.
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
        /// The request.
        request: RequestId,
        /// The verdict.
        verdict: Verdict,
    },
    /// Settle a request from its stored copy, pending or not. A late answer becomes a prompt.
    SettleLate {
        /// The stored request.
        request: Request,
        /// The seq of its message.
        seq: Seq,
        /// The verdict.
        verdict: Verdict,
        /// The user who says it; the owner of the daemon without one.
        by: Option<UserName>,
        /// The id and time of the prompt that a late answer becomes.
        stamp: Stamp,
    },
    /// Recover an interrupted session.
    Recover(Interruption),
    /// Record that the session is on this machine now, whatever its status.
    Arrive(Box<SessionMove>),
    /// Handle a report of the agent.
    Agent(Report),
}

/// What becomes of the queued prompts when the running turn is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueChoice {
    /// The next one is sent.
    #[default]
    Send,
    /// They wait for the next prompt, or until one of them is sent.
    Keep,
    /// They are cancelled, too.
    Discard,
}

/// The id and time that the engine assigns to a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The id of its message.
    pub id: MessageId,
    /// When it was sent.
    pub at: Timestamp,
}

/// What interrupted a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interruption {
    /// The daemon was stopped or killed.
    Ended,
    /// The session's task failed.
    Broken,
    /// The session was taken from a machine that was away.
    Moved,
    /// The agent's output could not be stored.
    Unstored {
        /// The error.
        error: String,
    },
}

impl Interruption {
    pub(super) fn stop(&self) -> Stop {
        match self {
            Self::Ended => {
                Stop::failed(FailureKind::Interrupted, "Convoke stopped during the turn")
            }
            Self::Broken => Stop::failed(
                FailureKind::Internal,
                "an internal error in Convoke interrupted the turn",
            ),
            Self::Moved => Stop::failed(
                FailureKind::Interrupted,
                "the session was moved to another machine during the turn",
            ),
            Self::Unstored { error } => {
                let detail = format!("the agent's output could not be stored: {error}");
                Stop::failed(FailureKind::Internal, detail)
            }
        }
    }
}

/// A report of an agent's driver.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    /// A new process resumed the conversation.
    Resumed(Resumed),
    /// The agent replaced its own session during this one.
    Renewed {
        /// The agent's new session id.
        agent_session: String,
    },
    /// A piece of the answer.
    Said(String),
    /// A piece of a thought.
    Thought(String),
    /// A new or changed plan.
    Planned(Vec<PlanStep>),
    /// A new tool call, or an update of one.
    ToolCalled(ToolUpdate),
    /// Commands, modes, settings or usage.
    State(SessionState),
    /// A notice about the agent itself.
    Noticed(Notice),
    /// A request to the human.
    Asked(Request),
    /// The agent withdrew a request.
    Withdrew(RequestId),
    /// The turn ended.
    TurnEnded {
        /// The seq of the turn's prompt.
        turn: Seq,
        /// How it ended.
        stop: Stop,
    },
    /// The process exited by itself.
    Exited(Exit),
    /// The process was stopped because it was idle.
    Stopped,
    /// The agent can be neither started nor resumed.
    Failed {
        /// What went wrong.
        error: String,
    },
}

impl Report {
    /// The approximate size, without names and numbers.
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

/// An update of a tool call; fields that are `None` stay unchanged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolUpdate {
    /// The agent's id of the call.
    pub tool_call_id: String,
    /// The tool's name.
    pub tool: Option<String>,
    /// The agent's title of this call.
    pub title: Option<String>,
    /// The kind of tool.
    pub kind: Option<String>,
    /// The arguments.
    pub args: Option<Value>,
    /// The status of the call.
    pub status: Option<ToolStatus>,
    /// The result.
    pub result: Option<ToolResult>,
}

/// An action outside of the core, after the changes are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send the prompt with this seq to the agent.
    StartTurn {
        /// The seq of the prompt.
        turn: Seq,
    },
    /// Tell the agent to cancel this turn.
    CancelTurn {
        /// The seq of its prompt.
        turn: Seq,
    },
    /// Send the reply to the waiting asker.
    Reply {
        /// The request.
        request: RequestId,
        /// The reply.
        reply: Reply,
    },
    /// Stop the agent's process.
    StopProcess,
    /// Record the agent's new session id.
    RecordAgentSession {
        /// The agent's own id.
        agent_session: String,
    },
}

/// The reply to an asker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The human chose this option.
    Chosen {
        /// The agent's id of the option.
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

    /// Begins a message; returns its seq.
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

/// Why a session refuses a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The session has ended.
    #[error("the session is {status}")]
    Ended {
        /// Its status.
        status: Status,
    },
    /// The session was cancelled, which is final.
    #[error("a cancelled session cannot be resumed")]
    Cancelled,
    /// The session is already active.
    #[error("the session is already active")]
    Active,
    /// The prompt is empty.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// The prompt is too long for one message.
    #[error(
        "the prompt has {bytes} bytes, and at most {PROMPT_BYTES_MAX} are accepted; put it into a file of the project \
         and name the file instead"
    )]
    LongPrompt {
        /// Its length.
        bytes: usize,
    },
    /// The prompt has too many attachments.
    #[error("the prompt has {count} attachments, and at most {ATTACHMENTS_MAX} are accepted")]
    TooManyAttachments {
        /// How many.
        count: usize,
    },
    /// The prompt mentions too many files.
    #[error("the prompt mentions {count} files, and at most {FILES_MAX} are accepted")]
    TooManyFiles {
        /// How many.
        count: usize,
    },
    /// The prompt has too many comments.
    #[error(
        "the prompt has {count} review comments, and at most {COMMENTS_MAX} are accepted; send the rest with the next \
         prompt"
    )]
    TooManyComments {
        /// How many.
        count: usize,
    },
    /// A comment of the prompt is not valid.
    #[error("review comment {number} is refused: {why}")]
    Comment {
        /// Its place among the comments, from 1.
        number: usize,
        /// What is wrong with it.
        why: InvalidComment,
    },
    /// The queue is full.
    #[error(
        "{QUEUE_MAX} prompts are waiting already, or more than {QUEUE_BYTES_MAX} bytes of them"
    )]
    QueueFull,
    /// The prompt is not queued.
    #[error("the prompt {id} is not in the queue; its turn may have begun")]
    NotQueued {
        /// The prompt.
        id: MessageId,
    },
    /// No turn is running.
    #[error("no turn is running")]
    NoTurn,
    /// The turn refused the command.
    #[error(transparent)]
    Turn(#[from] turn::Refusal),
    /// The title is empty.
    #[error("the title is empty")]
    EmptyTitle,
    /// The title is too long.
    #[error("the title is longer than {max} characters")]
    LongTitle {
        /// The limit.
        max: usize,
    },
    /// Too many requests are pending.
    #[error("{PENDING_MAX} requests are waiting for the human already")]
    TooManyRequests,
    /// The request's id is already in use.
    #[error("the request {id} already exists")]
    RepeatedRequest {
        /// The request.
        id: RequestId,
    },
    /// The request is not pending in this session.
    #[error("the request {id} is not pending")]
    NotPending {
        /// The request.
        id: RequestId,
    },
    /// The verdict was refused.
    #[error(transparent)]
    Request(#[from] request::Refusal),
}
