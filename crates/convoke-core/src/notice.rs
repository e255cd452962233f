//! Facts about a session that neither human nor agent said. A contract, see `message`.
//!
//! Events are grouped by what they are about. On disk and on the wire there are no groups: `event` alone tells them
//! apart, so a word may be used in one group only.

mod moved;
mod sentence;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::files::Removal;
use crate::id::{RuleId, SessionId};
use crate::message::Seq;
use crate::process::Exit;
use crate::session::EndReason;
use crate::time::Timestamp;
use crate::turn::Stop;

pub use moved::{MovedFiles, MovedMemory, SessionMove};

/// A fact about the session, with a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// The fact.
    #[serde(flatten)]
    pub event: Event,
    /// The fact in a sentence, so that no reader needs wording of its own.
    pub text: String,
}

impl Notice {
    /// A fact, worded by Convoke.
    pub fn new(event: impl Into<Event>) -> Self {
        let event = event.into();
        let text = event.sentence();
        Self { event, text }
    }

    /// A fact, worded by the agent.
    pub fn worded(event: impl Into<Event>, text: String) -> Self {
        Self { event: event.into(), text }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Event {
    /// To a turn.
    Turn(TurnEvent),
    /// To the agent's process.
    Process(ProcessEvent),
    /// To the session as a whole.
    Lifecycle(LifecycleEvent),
    /// To a rule.
    Rule(RuleEvent),
    /// To the files of the project.
    Files(FilesEvent),
    /// At the agent, by its own report.
    Agent(AgentEvent),
}

impl Event {
    /// Whether it must be on disk before it is acknowledged: a human decided it, or no other record of it exists. An
    /// agent's words can be had again, and a turn whose end is lost counts as interrupted.
    pub(crate) const fn is_decision(&self) -> bool {
        match self {
            Self::Lifecycle(_) | Self::Rule(RuleEvent::Made { .. }) => true,
            Self::Turn(_)
            | Self::Process(_)
            | Self::Rule(
                RuleEvent::Applied { .. } | RuleEvent::Denied { .. } | RuleEvent::Dropped { .. },
            )
            | Self::Files(_)
            | Self::Agent(_) => false,
        }
    }

    /// Whether its message is replaced when the same thing happens again: the place in the queue for a process changes.
    pub(crate) const fn is_replaceable(&self) -> bool {
        matches!(self, Self::Turn(TurnEvent::Waiting { .. }))
    }
}

/// What happened to a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TurnEvent {
    /// The turn that began with prompt `turn` has ended otherwise than by a whole answer.
    #[serde(rename = "turn_ended")]
    Ended {
        /// The place of the turn's prompt.
        turn: Seq,
        /// How it ended.
        #[serde(flatten)]
        stop: Stop,
    },
    /// The turn waits, because as many agents as may run at once are busy.
    Waiting {
        /// Its place in the queue, from 1.
        place: u64,
    },
    /// A prompt that had been accepted for this session's machine while that was away was refused when it was back.
    #[serde(rename = "prompt_refused")]
    Refused {
        /// The prompt.
        prompt: String,
        /// Why.
        why: String,
    },
    /// The agent sent more in one turn than it may, so the turn is stopped.
    #[serde(rename = "turn_limit")]
    Limit {
        /// How many bytes it may send.
        max: u64,
    },
}

/// What happened to the agent's process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ProcessEvent {
    /// A new process resumed the conversation.
    Resumed {
        /// What the process knows of it.
        how: Resumed,
    },
    /// The agent's process ended by itself.
    #[serde(rename = "process_exited")]
    Exited {
        /// How it ended.
        #[serde(flatten)]
        exit: Exit,
    },
    /// The kernel cannot confine the agent.
    Unconfined,
}

/// What happened to the session as a whole. These events, and no others, change what lists show of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LifecycleEvent {
    /// The session ended well.
    Completed {
        /// Why.
        reason: EndReason,
    },
    /// The session was cancelled.
    Cancelled {
        /// Why.
        reason: EndReason,
    },
    /// The session's agent can be neither started nor resumed.
    Failed {
        /// What went wrong.
        error: String,
    },
    /// The session accepts prompts again.
    Reopened,
    /// The session has a new title.
    Renamed {
        /// The title.
        title: String,
    },
    /// The session is hidden from lists.
    Archived,
    /// The session is shown in lists again.
    Unarchived,
    /// The next turns come from a transcript, and the session is completed with them.
    Imported {
        /// What the transcript is called.
        transcript: String,
        /// How many of its turns came before these.
        after: u64,
        /// These turns, each a message of its own.
        turns: Vec<ImportedTurn>,
        /// The session that has these turns, too, if this one is a fork of it.
        #[serde(rename = "forkedFrom", default, skip_serializing_if = "Option::is_none")]
        forked_from: Option<SessionId>,
    },
    /// The session is a copy of a conversation that another program keeps, and is completed with it.
    ImportedFrom {
        /// What people call the program.
        agent: String,
        /// The file or database that holds the conversation.
        file: String,
        /// The session with what the file said before it was rewritten.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<SessionId>,
        /// The agent's own id of the session whose subagent this is; lists hide a subagent's session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
    },
    /// The session continues where another one grew too long, with a summary of it.
    Continues {
        /// The one before.
        session: SessionId,
    },
    /// The session grew too long, and another one continues with a summary of it.
    ContinuedIn {
        /// The one after.
        session: SessionId,
    },
    /// The session is on another machine now.
    Moved(SessionMove),
}

/// What happened to a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum RuleEvent {
    /// An answer made a rule.
    #[serde(rename = "rule_made")]
    Made {
        /// The rule; absent in what older versions stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule_id: Option<RuleId>,
        /// The rule in words.
        #[serde(alias = "tool")]
        rule: String,
    },
    /// The agent was allowed to do this without asking, by a rule.
    #[serde(rename = "rule_applied")]
    Applied {
        /// The rule; absent for a team that may do everything, and in what older versions stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule_id: Option<RuleId>,
        /// The rule in words.
        #[serde(alias = "tool")]
        rule: String,
        /// The call in a line.
        #[serde(default)]
        what: String,
    },
    /// The agent was denied this without asking, by a rule.
    #[serde(rename = "rule_denied")]
    Denied {
        /// The rule.
        rule_id: RuleId,
        /// The rule in words.
        rule: String,
        /// The call in a line.
        what: String,
    },
    /// A rule of an older version, which held for every use of a tool, was removed instead of applied.
    #[serde(rename = "rule_dropped")]
    Dropped {
        /// The tool.
        tool: String,
    },
}

/// What happened to the files of the project, by Convoke.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum FilesEvent {
    /// No checkpoint could be made, so the turn's changes cannot be shown or undone. Told once.
    CheckpointFailed {
        /// Why.
        error: String,
    },
    /// Files were restored to what they were before a turn.
    FilesRestored {
        /// The place of the turn's prompt; absent when a restore was undone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<Seq>,
        /// The number of that turn among all turns of the session, from 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u64>,
        /// How many files were written.
        written: u64,
        /// How many files were removed.
        removed: u64,
    },
    /// A restore was interrupted, and completed when Convoke started again.
    RestoreCompleted {
        /// How many files were still to be written or removed.
        files: u64,
        /// Files that were left alone, since they were changed after the interruption.
        left: u64,
    },
    /// The session has a work tree of its own.
    WorktreeMade {
        /// Its folder.
        path: String,
        /// Its branch.
        branch: String,
        /// Files that `.worktreeinclude` names, and that were copied there.
        copied: u64,
        /// Files that it names, and that were not.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<String>,
    },
    /// The project's set-up command has run in the work tree.
    WorktreeSetUp {
        /// The command.
        command: String,
        /// Its exit code; absent when it did not end by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<i32>,
        /// The end of what it printed.
        output: String,
    },
    /// Another active session works in the same folder.
    FolderShared {
        /// That session.
        session: SessionId,
        /// Whether the project is a git repository, so that a session can have a work tree of its own.
        git: bool,
    },
    /// The work tree is finished, or its folder was removed.
    WorktreeRemoved {
        /// On which occasion.
        how: Removal,
        /// Its branch.
        branch: String,
        /// The branch that got its commits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
    },
    /// A removed work tree is there again.
    WorktreeRestored {
        /// Its folder.
        path: String,
    },
    /// Finishing or removing the work tree was interrupted, and undone or completed when Convoke started again.
    WorktreeRecovered {
        /// What was done, in a sentence.
        what: String,
    },
}

/// What the agent reported about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AgentEvent {
    /// The agent made room in its context.
    Compacted,
    /// Something the agent wants people to know.
    Advice {
        /// `info`, `warning` or `error`, in the agent's words.
        severity: String,
    },
    /// An update of a kind that Convoke does not know, kept as it came.
    Unknown {
        /// The kind the agent named.
        kind: String,
        /// The whole update.
        payload: Value,
    },
}

/// What a process that resumed a conversation knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resumed {
    /// The agent loaded its own session.
    Native,
    /// The agent was given the transcript.
    Replay,
    /// The agent was given a summary.
    Summary,
    /// The agent remembers nothing.
    Afresh,
    /// The agent loaded a copy of its own session, since the original may be open in another program.
    Forked,
    /// The agent was given the transcript, since the original may be open in another program.
    ForkedReplay,
}

/// What a transcript says of a turn, and its message cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedTurn {
    /// The place of its message.
    pub seq: Seq,
    /// When it was said.
    pub timestamp: Timestamp,
    /// How long it is for a model.
    pub tokens: u64,
}

macro_rules! group {
    ($($group:ident($event:ident))*) => {
        $(impl From<$event> for Event {
            fn from(event: $event) -> Self {
                Self::$group(event)
            }
        })*
    };
}

group! {
    Turn(TurnEvent) Process(ProcessEvent) Lifecycle(LifecycleEvent) Rule(RuleEvent)
    Files(FilesEvent) Agent(AgentEvent)
}
