//! What callers see of a session, and the changes that the engine announces.

use convoke_core::id::{AgentName, MessageId, ProjectId, SessionId};
use convoke_core::message::Seq;
use convoke_core::session::{Activity, Attention};
use convoke_store::{Project, StoredSession};

use crate::histories::ImportRun;

/// A session as lists show it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionView {
    /// The stored session.
    pub stored: StoredSession,
    /// Its activity.
    pub activity: Activity,
}

impl SessionView {
    /// What the session needs from its human.
    pub const fn attention(&self) -> Attention {
        self.stored.summary.attention(self.activity)
    }
}

/// The version of all data of sessions: a read is current as long as the version that was taken
/// before it has not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    pub(crate) stored: u64,
    pub(crate) shown: u64,
}

/// What a session is doing, as long as its task runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Live {
    /// Its activity.
    pub activity: Activity,
    /// The running turn.
    pub running: Option<RunningTurn>,
    /// The queued prompts.
    pub queue: Vec<MessageId>,
}

/// A running turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningTurn {
    /// The id of its prompt.
    pub id: MessageId,
    /// The seq of its prompt.
    pub seq: Seq,
}

/// A change of what lists show, as `Engine::follow` announces it.
#[derive(Debug, Clone)]
pub enum Change {
    /// A session was created.
    SessionCreated(Box<SessionView>),
    /// What lists show of a session has changed.
    SessionChanged(Box<SessionChange>),
    /// A session was erased.
    SessionErased(Box<StoredSession>),
    /// A project was added.
    ProjectAdded(Project),
    /// A project was removed.
    ProjectRemoved(ProjectId),
    /// The process of a session's agent started or exited.
    Agent {
        /// The agent.
        agent: AgentName,
        /// The session.
        session: SessionId,
        /// The agent's own session id, once it is known.
        agent_session: Option<String>,
        /// The status of the process.
        status: AgentStatus,
    },
    /// A checkpoint of a session was made, or its files were restored.
    ChangesUpdated {
        /// The session.
        session: Box<StoredSession>,
        /// The turn whose files are captured; `None` after a restore.
        turn: Option<Seq>,
    },
    /// An import of histories made progress, or has ended.
    Histories(Box<ImportRun>),
    /// A rule was made or revoked.
    Rules,
    /// A comparison began, a test of it began or ended, or one of its sessions was kept.
    Comparison {
        /// Its id.
        id: String,
    },
    /// Something was asked or settled.
    Inbox {
        /// How many requests can be answered now.
        count: u64,
    },
}

/// A session before and after a change of its summary, its activity or its canonical id.
#[derive(Debug, Clone)]
pub struct SessionChange {
    /// The session before.
    pub before: SessionView,
    /// The session now.
    pub now: SessionView,
}

impl SessionChange {
    /// The title, if it has changed.
    pub fn new_title(&self) -> Option<&str> {
        let [before, now] = [&self.before, &self.now].map(|view| &view.stored.summary.title);
        now.as_deref().filter(|_| before != now)
    }

    /// Whether the session was archived or unarchived by the change.
    pub const fn archiving(&self) -> Option<Archiving> {
        let (before, now) = (&self.before.stored.summary, &self.now.stored.summary);
        match (before.archived, now.archived) {
            (false, true) => Some(Archiving::Archived),
            (true, false) => Some(Archiving::Unarchived),
            (true, true) | (false, false) => None,
        }
    }
}

/// How the visibility of a session in lists changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Archiving {
    /// It is hidden now.
    Archived,
    /// It is shown again.
    Unarchived,
}

/// The status of an agent process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentStatus {
    /// It is being started.
    Starting,
    /// It can be prompted.
    Ready,
    /// It has ended.
    Exited,
}
