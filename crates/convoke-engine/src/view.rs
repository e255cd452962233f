//! What others see of a session, and what they hear when anything changes.

use convoke_core::id::{AgentName, MessageId, ProjectId, SessionId};
use convoke_core::message::Seq;
use convoke_store::{Project, StoredSession};

/// A session as lists show it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionView {
    /// What is stored of it.
    pub stored: StoredSession,
    /// Whether something goes on in it.
    pub activity: Activity,
}

/// The version of everything that is stored and shown of sessions: a read is current as long as the version from before
/// it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    pub(crate) stored: u64,
    pub(crate) shown: u64,
}

/// Whether something goes on in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activity {
    /// Nothing.
    #[default]
    Idle,
    /// Its agent works, or a prompt waits.
    Running,
    /// A human is asked.
    Waiting,
}

/// What goes on in a session, as long as its task lives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Live {
    /// Whether something goes on.
    pub activity: Activity,
    /// The prompt whose turn runs.
    pub running: Option<RunningTurn>,
    /// The prompts that wait behind it.
    pub queue: Vec<MessageId>,
}

/// The turn that a session's agent works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningTurn {
    /// The prompt.
    pub id: MessageId,
    /// Its place.
    pub seq: Seq,
}

/// Something that everybody who looks at lists wants to know.
#[derive(Debug, Clone)]
pub enum Change {
    /// A session is new.
    SessionCreated(SessionView),
    /// A session's summary, activity or canonical id is another.
    SessionChanged(SessionView),
    /// A project is new.
    ProjectAdded(Project),
    /// A project is gone.
    ProjectRemoved(ProjectId),
    /// The agent of a session started or ended.
    Agent {
        /// Which agent.
        agent: AgentName,
        /// In which session.
        session: SessionId,
        /// What it did.
        status: AgentStatus,
    },
    /// Something was asked or settled.
    Inbox,
}

/// What an agent's process did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentStatus {
    /// It is being started.
    Starting,
    /// It can be prompted.
    Ready,
    /// It has ended.
    Exited,
}
