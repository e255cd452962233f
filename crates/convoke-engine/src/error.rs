//! What can go wrong, and what kind of trouble that is.

use std::path::PathBuf;

use convoke_core::id::{AgentName, RequestId, SessionId};
use convoke_core::question::AnswerFault;
use convoke_core::session::{EndReason, Refusal, Status};
use convoke_core::{Invalid, request};

/// What the engine's functions return.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the engine could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such session.
    #[error("there is no session {text}")]
    UnknownSession {
        /// What was asked for.
        text: String,
    },
    /// There is no such project.
    #[error("there is no project {text}")]
    UnknownProject {
        /// What was asked for.
        text: String,
    },
    /// There is no such agent.
    #[error("there is no agent called {name}")]
    UnknownAgent {
        /// What was asked for.
        name: String,
    },
    /// There is no such request to a human.
    #[error("there is no request {text}")]
    UnknownRequest {
        /// What was asked for.
        text: String,
    },
    /// A prefix that several ids begin with.
    #[error("{prefix} is a prefix of {} ids", candidates.len())]
    Ambiguous {
        /// The prefix.
        prefix: String,
        /// Some of the ids.
        candidates: Vec<String>,
    },
    /// There is no such folder.
    #[error("there is no folder {}", path.display())]
    NoFolder {
        /// What was asked for.
        path: PathBuf,
    },
    /// A path that does not begin at the root.
    #[error("the path {} is not absolute", path.display())]
    RelativePath {
        /// The path.
        path: PathBuf,
    },
    /// A folder outside of the workspace root, once links are followed.
    #[error("{} is outside of the workspace root {}", path.display(), root.display())]
    Outside {
        /// The folder.
        path: PathBuf,
        /// Where projects may be.
        root: PathBuf,
    },
    /// The folder is already a project.
    #[error("{} is already a project", path.display())]
    ProjectExists {
        /// The folder.
        path: PathBuf,
    },
    /// The limit of active sessions is reached.
    #[error("{max} sessions are active, which is the limit")]
    SessionLimit {
        /// How many may be.
        max: usize,
    },
    /// The queue is full.
    #[error("the session has {max} waiting prompts, which is the limit")]
    QueueFull {
        /// How many may wait.
        max: usize,
    },
    /// The session holds as much as it may.
    #[error(
        "the session holds {bytes} bytes and accepts no more prompts: limits.session_bytes allows {max}"
    )]
    SessionFull {
        /// How much it holds.
        bytes: u64,
        /// How much it may hold.
        max: u64,
    },
    /// The session has ended.
    #[error("the session is {status}")]
    Ended {
        /// Which one.
        session: SessionId,
        /// How.
        status: Status,
        /// Why.
        reason: Option<EndReason>,
    },
    /// The session does not follow.
    #[error(transparent)]
    Refused(Refusal),
    /// The verdict on a request cannot stand.
    #[error(transparent)]
    Verdict(request::Refusal),
    /// The answers do not fit the questions.
    #[error(transparent)]
    Answers(AnswerFault),
    /// The answer cannot be remembered, because there is nothing to compare a later request with, or it allows nothing.
    #[error(
        "the answer cannot be remembered: this works only for an allowed request in which the agent gave the exact command or file"
    )]
    NothingToRemember,
    /// A name, an id or a path of the wrong form.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The questions are not allowed.
    #[error("{0}")]
    Questions(String),
    /// The agent did not start.
    #[error("the agent {agent} did not start")]
    NotStarted {
        /// Which one.
        agent: AgentName,
        /// Why not.
        #[source]
        source: convoke_agents::Error,
    },
    /// The agent has no process that could be told.
    #[error("the agent of this session is not running")]
    NotRunning,
    /// The files of questions.
    #[error(transparent)]
    Files(convoke_files::Error),
    /// The session's task broke down over this.
    #[error("the session {session} broke down")]
    Broken {
        /// Which one.
        session: SessionId,
    },
    /// There is no such pair of teams.
    #[error("there is no team session {text}")]
    UnknownPair {
        /// What was asked for.
        text: String,
    },
    /// A team would be asked because of itself.
    #[error("this ask would make a circle: {chain}")]
    AskLoop {
        /// Who would ask whom.
        chain: String,
    },
    /// One ask would lead through too many teams.
    #[error("a chain of asks may have at most {max} teams: {chain}")]
    TooManyHops {
        /// Who would ask whom.
        chain: String,
        /// How many may be.
        max: usize,
    },
    /// Too many asks followed from one.
    #[error("one ask has caused more than {max} asks: {chain}")]
    ChainBudget {
        /// Who would ask whom.
        chain: String,
        /// How many may be.
        max: u64,
    },
    /// A pair asks too often.
    #[error("{pair} has asked {max} times within an hour, which is the limit")]
    PairBudget {
        /// Which one.
        pair: String,
        /// How often it may.
        max: usize,
    },
    /// Agents would wait for each other, with no process left for those who are to answer.
    #[error("all {max} agent processes would wait for each other")]
    Standstill {
        /// How many there may be.
        max: usize,
    },
    /// Not letters, digits, `-`, `_` and `.`, or too many of them.
    #[error("Invalid thread name: {text}")]
    ThreadName {
        /// What was given.
        text: String,
    },
    /// The agent of a team failed.
    #[error("Process error for team \"{team}\"")]
    TeamProcess {
        /// The team.
        team: String,
        /// What went wrong.
        #[source]
        source: convoke_agents::Error,
    },
    /// A pair is already being compacted.
    #[error("{pair} is already being compacted")]
    Compacting {
        /// Which one.
        pair: String,
    },
    /// A pair is kept for reference only.
    #[error("{pair} is archived")]
    ArchivedPair {
        /// Which one.
        pair: String,
    },
    /// A pair has no such question.
    #[error("{pair} has no question {which}")]
    UnknownQuestion {
        /// Which pair.
        pair: String,
        /// Which question.
        which: String,
    },
    /// An agent did not compact its conversation.
    #[error("the conversation was not compacted: {reason}")]
    CompactionFailed {
        /// Why not.
        reason: String,
    },
    /// Somebody else tried the same at the same time, and failed.
    #[error(transparent)]
    Shared(std::sync::Arc<Self>),
    /// Turns of a transcript were left out.
    #[error("the session has {known} turns of this transcript, so turn {after} cannot be followed")]
    ImportGap {
        /// How many turns are there.
        known: u64,
        /// How many the caller thinks there are.
        after: u64,
    },
    /// A transcript says something else than what was imported of it.
    #[error("turn {turn} of this transcript is not the one that the session has")]
    ImportDiffers {
        /// Which turn, counted from 1.
        turn: u64,
    },
    /// The daemon is about to end.
    #[error("the daemon is stopping")]
    Stopping,
    /// The store failed.
    #[error(transparent)]
    Store(convoke_store::Error),
    /// The operating system refuses something.
    #[error("cannot use {}", path.display())]
    Io {
        /// What.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

/// What kind of trouble an error is, for those who translate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What was asked for is not there.
    NotFound,
    /// It was asked wrongly.
    Invalid,
    /// It is not allowed.
    Forbidden,
    /// It does not fit how things stand.
    Conflict,
    /// There is no room; later there may be.
    Busy,
    /// An agent failed.
    Agent,
    /// The daemon cannot do it now: it stops, or the disk is full.
    Unavailable,
    /// Convoke has a bug, or the machine has.
    Internal,
}

impl Error {
    /// What kind of trouble it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::UnknownSession { .. }
            | Self::UnknownProject { .. }
            | Self::UnknownAgent { .. }
            | Self::UnknownRequest { .. }
            | Self::UnknownPair { .. }
            | Self::UnknownQuestion { .. }
            | Self::Invalid(Invalid::UnknownTeam { .. })
            | Self::NoFolder { .. } => Kind::NotFound,
            Self::RelativePath { .. }
            | Self::Answers(_)
            | Self::NothingToRemember
            | Self::Invalid(_)
            | Self::ThreadName { .. }
            | Self::Questions(_) => Kind::Invalid,
            Self::Outside { .. } => Kind::Forbidden,
            Self::Ambiguous { .. }
            | Self::ProjectExists { .. }
            | Self::Ended { .. }
            | Self::SessionFull { .. }
            | Self::AskLoop { .. }
            | Self::TooManyHops { .. }
            | Self::Compacting { .. }
            | Self::ArchivedPair { .. }
            | Self::ImportGap { .. }
            | Self::ImportDiffers { .. }
            | Self::NotRunning => Kind::Conflict,
            Self::SessionLimit { .. }
            | Self::QueueFull { .. }
            | Self::Standstill { .. }
            | Self::ChainBudget { .. }
            | Self::PairBudget { .. } => Kind::Busy,
            Self::NotStarted { .. } | Self::TeamProcess { .. } | Self::CompactionFailed { .. } => {
                Kind::Agent
            }
            Self::Shared(error) => error.kind(),
            Self::Stopping => Kind::Unavailable,
            Self::Broken { .. } | Self::Io { .. } => Kind::Internal,
            Self::Refused(refusal) => refusal_kind(refusal),
            Self::Verdict(refusal) => verdict_kind(refusal),
            Self::Files(error) => files_kind(error),
            Self::Store(error) => store_kind(error),
        }
    }

    /// Whether there was no space left for what should be written.
    pub(crate) fn is_disk_full(&self) -> bool {
        use std::io::ErrorKind::{QuotaExceeded, StorageFull};
        if let Self::Files(convoke_files::Error::Write { source, .. }) = self {
            return matches!(source.kind(), StorageFull | QuotaExceeded);
        }
        matches!(self, Self::Store(convoke_store::Error::DiskFull { .. }))
    }

    /// Whether the store failed for a reason that may pass: a disk that is full, or cannot be written just now, or a
    /// database that is lost or damaged until it is restored.
    pub(crate) const fn may_pass(&self) -> bool {
        use convoke_store::Error as Store;
        matches!(
            self,
            Self::Store(
                Store::DiskFull { .. }
                    | Store::ReadOnly { .. }
                    | Store::InUse { .. }
                    | Store::Lost { .. }
                    | Store::Corrupt { .. }
                    | Store::Denied { .. }
                    | Store::Internal { .. }
            )
        )
    }
}

const fn refusal_kind(refusal: &Refusal) -> Kind {
    match refusal {
        Refusal::EmptyPrompt
        | Refusal::LongPrompt { .. }
        | Refusal::EmptyTitle
        | Refusal::LongTitle { .. } => Kind::Invalid,
        Refusal::QueueFull | Refusal::TooManyRequests => Kind::Busy,
        Refusal::Ended { .. }
        | Refusal::Cancelled
        | Refusal::Active
        | Refusal::NoTurn
        | Refusal::Turn(_)
        | Refusal::RepeatedRequest { .. }
        | Refusal::NotPending { .. }
        | Refusal::NotQueued { .. } => Kind::Conflict,
        Refusal::Request(refusal) => verdict_kind(refusal),
    }
}

const fn verdict_kind(refusal: &request::Refusal) -> Kind {
    match refusal {
        request::Refusal::Settled(_) => Kind::Conflict,
        request::Refusal::Answers(_)
        | request::Refusal::UnknownOption { .. }
        | request::Refusal::WrongKind { .. } => Kind::Invalid,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "only what callers treat differently is told apart"
)]
const fn files_kind(error: &convoke_files::Error) -> Kind {
    use convoke_files::Error as Files;
    match error {
        Files::NotFound { .. } => Kind::NotFound,
        Files::Ambiguous { .. } | Files::Settled { .. } => Kind::Conflict,
        Files::Invalid(_) | Files::Questions(_) | Files::Answers(_) | Files::TooLong { .. } => {
            Kind::Invalid
        }
        Files::TooMany { .. } => Kind::Busy,
        Files::Locked { .. } => Kind::Unavailable,
        _ => Kind::Internal,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "only what callers treat differently is told apart"
)]
const fn store_kind(error: &convoke_store::Error) -> Kind {
    use convoke_store::Error as Store;
    match error {
        Store::UnknownSession { .. } | Store::UnknownProject { .. } => Kind::NotFound,
        Store::ProjectExists { .. } => Kind::Conflict,
        Store::Misuse { .. } => Kind::Invalid,
        Store::DiskFull { .. }
        | Store::ReadOnly { .. }
        | Store::Lost { .. }
        | Store::Corrupt { .. }
        | Store::Closed => Kind::Unavailable,
        _ => Kind::Internal,
    }
}

impl From<convoke_store::Error> for Error {
    fn from(error: convoke_store::Error) -> Self {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the rest stays the store's own")]
        match error {
            convoke_store::Error::UnknownSession { id } => {
                Self::UnknownSession { text: id.to_string() }
            }
            convoke_store::Error::UnknownProject { id } => {
                Self::UnknownProject { text: id.to_string() }
            }
            convoke_store::Error::ProjectExists { project_path, .. } => {
                Self::ProjectExists { path: project_path }
            }
            error => Self::Store(error),
        }
    }
}

impl From<convoke_files::Error> for Error {
    fn from(error: convoke_files::Error) -> Self {
        Self::Files(error)
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the rest stays the session's own words"
        )]
        match refusal {
            Refusal::QueueFull => Self::QueueFull { max: convoke_core::session::QUEUE_MAX },
            Refusal::Request(refusal) => Self::Verdict(refusal),
            refusal => Self::Refused(refusal),
        }
    }
}

pub(crate) fn no_request(id: RequestId) -> Error {
    Error::UnknownRequest { text: id.to_string() }
}
