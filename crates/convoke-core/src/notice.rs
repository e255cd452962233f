//! Facts about a session that neither human nor agent said. A contract, see `message`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::SessionId;
use crate::message::Seq;
use crate::process::Exit;
use crate::time::Timestamp;
use crate::turn::Stop;

/// A fact about the session, with a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The fact.
    #[serde(flatten)]
    pub event: Event,
    /// The fact in a sentence, so that no reader needs wording of its own.
    pub text: String,
}

/// What happened, told apart by `event`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    /// The turn that began with prompt `turn` has ended otherwise than by a whole answer.
    TurnEnded {
        /// The place of the turn's prompt.
        turn: Seq,
        /// How it ended.
        #[serde(flatten)]
        stop: Stop,
    },
    /// A new process took the conversation up.
    Resumed {
        /// With how much of it in mind.
        how: Resumed,
    },
    /// The agent's process ended by itself.
    ProcessExited {
        /// How it ended.
        #[serde(flatten)]
        exit: Exit,
    },
    /// The agent made room in its context.
    Compacted,
    /// The session ended well.
    Completed {
        /// Why: `user`, `idle_timeout`, `made_room`, …
        reason: String,
    },
    /// The session was cancelled.
    Cancelled {
        /// Why.
        reason: String,
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
    /// The turn waits, because as many agents as may run at once are busy.
    Waiting {
        /// How many are served before it, itself included.
        place: u64,
    },
    /// The agent said more in one turn than it may, so the turn is stopped.
    TurnLimit {
        /// How many bytes it may say.
        max: u64,
    },
    /// The kernel cannot confine the agent.
    Unconfined,
    /// From now on the agent may do exactly this in this project without asking.
    RuleMade {
        /// The tool, and what it is used for.
        tool: String,
    },
    /// The agent was allowed to do this without asking, by an earlier word of the human's.
    RuleApplied {
        /// The tool, and what it is used for.
        tool: String,
    },
    /// A rule of an older version, which held for every use of a tool, was removed instead of applied.
    RuleDropped {
        /// The tool.
        tool: String,
    },
    /// The session goes on where another one grew too long, with a summary of it.
    Continues {
        /// The one before.
        session: SessionId,
    },
    /// The session grew too long, and another one goes on with a summary of it.
    ContinuedIn {
        /// The one after.
        session: SessionId,
    },
    /// The next turns come from a transcript, and the session rests with them.
    Imported {
        /// What the transcript is called.
        transcript: String,
        /// How many of its turns came before these.
        after: u64,
        /// These turns, each a message of its own.
        turns: Vec<ImportedTurn>,
    },
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

/// With how much of the conversation in mind a process took it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// What a transcript says of a turn, and its message cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedTurn {
    /// The place of its message.
    pub seq: Seq,
    /// When it was said.
    pub timestamp: Timestamp,
    /// How long it is for a model.
    pub tokens: u64,
}

impl Notice {
    /// Words the fact for people.
    pub fn new(event: Event) -> Self {
        let text = sentence(&event);
        Self { event, text }
    }

    /// A fact whose words are the agent's own.
    pub const fn worded(event: Event, text: String) -> Self {
        Self { event, text }
    }
}

impl Event {
    /// Whether a human decided this, or it could not be told from elsewhere, so that it must be on disk before it is
    /// acknowledged. An agent's words can be had again, and a turn whose end is lost counts as interrupted.
    pub const fn is_decision(&self) -> bool {
        match self {
            Self::Completed { .. }
            | Self::Cancelled { .. }
            | Self::Failed { .. }
            | Self::Reopened
            | Self::Renamed { .. }
            | Self::Archived
            | Self::Unarchived
            | Self::RuleMade { .. }
            | Self::Continues { .. }
            | Self::ContinuedIn { .. }
            | Self::Imported { .. } => true,
            Self::TurnEnded { .. }
            | Self::Resumed { .. }
            | Self::ProcessExited { .. }
            | Self::TurnLimit { .. }
            | Self::Compacted
            | Self::Waiting { .. }
            | Self::Unconfined
            | Self::RuleApplied { .. }
            | Self::RuleDropped { .. }
            | Self::Advice { .. }
            | Self::Unknown { .. } => false,
        }
    }
}

fn sentence(event: &Event) -> String {
    match event {
        Event::TurnEnded { stop, .. } => stop.sentence(),
        Event::Resumed { how: Resumed::Native } => "The agent resumed its own session.".to_owned(),
        Event::Resumed { how: Resumed::Replay } => {
            "The agent was restarted with the transcript of this conversation.".to_owned()
        }
        Event::Resumed { how: Resumed::Summary } => {
            "The agent was restarted with a summary of this conversation.".to_owned()
        }
        Event::Resumed { how: Resumed::Afresh } => {
            "The agent was restarted without any memory of this conversation.".to_owned()
        }
        Event::ProcessExited { exit } => format!("The agent's process ended: {exit}."),
        Event::Compacted => "The agent compacted its context.".to_owned(),
        Event::Completed { reason } => format!("The session was completed ({reason})."),
        Event::Cancelled { reason } => format!("The session was cancelled ({reason})."),
        Event::Failed { error } => format!("The agent cannot continue: {error}"),
        Event::Reopened => "The session was resumed.".to_owned(),
        Event::Renamed { title } => format!("The session was renamed to “{title}”."),
        Event::Archived => "The session was archived.".to_owned(),
        Event::Unarchived => "The session was restored from the archive.".to_owned(),
        Event::Waiting { place } => {
            format!("All agent processes are busy; this turn is number {place} in the queue.")
        }
        Event::TurnLimit { max } => format!(
            "The turn was stopped: the agent sent more than {max} bytes. Its further output in this turn is dropped. Raise limits.turn_bytes in config.toml if it should be allowed to send more."
        ),
        Event::Unconfined => {
            "This system cannot sandbox the agent: it can write everywhere you can.".to_owned()
        }
        Event::RuleMade { tool } => {
            format!("Exactly this is now allowed in this project without asking: {tool}")
        }
        Event::RuleApplied { tool } => {
            format!("Allowed without asking, by your earlier “always”: {tool}")
        }
        Event::RuleDropped { tool } => format!(
            "An older rule allowed every use of {tool} in this project. It was removed: “always” now holds for one exact \
             command or file."
        ),
        Event::Continues { session } => {
            format!("This session continues session {session}, with a summary of it.")
        }
        Event::ContinuedIn { session } => {
            format!("This conversation continues in session {session}, with a summary of this one.")
        }
        Event::Imported { transcript, after, turns } => {
            let (first, last) = (after + 1, after + turns.len() as u64);
            format!("Turns {first} to {last} of the transcript {transcript} were imported.")
        }
        Event::Advice { severity } => format!("The agent reports: {severity}."),
        Event::Unknown { kind, .. } => {
            format!("The agent sent an update of an unknown kind: {kind}.")
        }
    }
}
