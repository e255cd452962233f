//! The engine's errors, and their kinds.

mod convert;
mod kind;

use std::path::PathBuf;

use convoke_core::count::counted;
use convoke_core::id::{AgentName, RequestId, SessionId};
use convoke_core::question::AnswerFault;
use convoke_core::rule::InvalidRule;
use convoke_core::session::{EndReason, Refusal, Status};
use convoke_core::{Invalid, request};

use self::kind::{files_kind, refusal_kind, store_kind, verdict_kind};
use crate::users::UserError;

pub use self::kind::Kind;

/// The result of the engine's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the engine did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such session.
    #[error("there is no session {text}")]
    UnknownSession {
        /// The id or name that was given.
        text: String,
    },
    /// There is no such project.
    #[error("there is no project {text}")]
    UnknownProject {
        /// The id or name that was given.
        text: String,
    },
    /// The folder of the project is on another node.
    #[error("the project {project} is on {node}")]
    OtherNodesProject {
        /// The project.
        project: String,
        /// The name of the node.
        node: String,
    },
    /// The session belongs to another node, which must be asked.
    #[error("session {session} belongs to another node")]
    OtherNode {
        /// The session.
        session: SessionId,
    },
    /// The node that must be asked does not run, or cannot reach the database.
    #[error("{name} has been away for {} s", since.as_secs())]
    NodeAway {
        /// Its name.
        name: String,
        /// For how long.
        since: std::time::Duration,
    },
    /// The node that was asked does not answer.
    #[error("{name} does not answer")]
    NodeSilent {
        /// Its name.
        name: String,
    },
    /// Two other nodes have a team of this name.
    #[error("there are teams called {name} on {}; rename one of them", nodes.join(" and "))]
    SeveralTeams {
        /// The name.
        name: String,
        /// The names of the nodes.
        nodes: Vec<String>,
    },
    /// There is no such agent.
    #[error("there is no agent called {name}")]
    UnknownAgent {
        /// The name that was given.
        name: String,
    },
    /// The agent does not offer what was chosen.
    #[error("{agent} offers no {what} {wanted}")]
    NotOffered {
        /// The agent.
        agent: AgentName,
        /// What was chosen: a `model` or a `mode`.
        what: &'static str,
        /// What was given.
        wanted: String,
        /// What there is.
        offered: Vec<String>,
    },
    /// No file with this hash is stored.
    #[error("there is no attachment {hash}")]
    UnknownAttachment {
        /// What was given.
        hash: String,
    },
    /// A file without a single byte.
    #[error("the attachment {name} is empty")]
    EmptyAttachment {
        /// Its name.
        name: String,
    },
    /// A file that is too large.
    #[error("the attachment {name} is larger than {} MiB", max >> 20)]
    LargeAttachment {
        /// Its name.
        name: String,
        /// The limit in bytes.
        max: usize,
    },
    /// A name that is too long.
    #[error("the name of an attachment is longer than {max} bytes")]
    LongAttachmentName {
        /// The limit.
        max: usize,
    },
    /// A mentioned file that is not one of the project.
    #[error("{path} is not a file or folder of the project")]
    OutsideProject {
        /// The path that was given.
        path: String,
    },
    /// There is no such request to a human.
    #[error("there is no request {text}")]
    UnknownRequest {
        /// The id that was given.
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
        /// The path that was given.
        path: PathBuf,
    },
    /// There is no such file.
    #[error("{} is not a file", path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
    },
    /// A path that does not begin at the root.
    #[error("the path {} is not absolute", path.display())]
    RelativePath {
        /// The path.
        path: PathBuf,
    },
    /// A folder outside of the workspace root, after symbolic links were resolved.
    #[error("{} is outside of the workspace root {}", path.display(), root.display())]
    Outside {
        /// The folder.
        path: PathBuf,
        /// The workspace root.
        root: PathBuf,
    },
    /// The folder contains Convoke's home, or lies in it: no agent may work there.
    #[error("choose a folder that does not contain Convoke's home ({})", home.display())]
    ContainsHome {
        /// Convoke's home.
        home: PathBuf,
    },
    /// The folder is already a project.
    #[error("{} is already a project", path.display())]
    ProjectExists {
        /// The folder.
        path: PathBuf,
    },
    /// The limit of active sessions is reached.
    #[error("the limit of {} is reached", counted(max, "active session"))]
    SessionLimit {
        /// The limit.
        max: usize,
    },
    /// Another import runs.
    #[error("an import of histories is already running")]
    ImportRuns,
    /// The configuration forbids it.
    #[error("history.import is \"never\", so that nothing is imported")]
    ImportForbidden,
    /// The queue is full.
    #[error("the session has {max} waiting prompts, which is the limit")]
    QueueFull {
        /// The limit.
        max: usize,
    },
    /// The session has reached its size limit.
    #[error(
        "the session holds {bytes} bytes and accepts no more prompts: limits.session_bytes allows {max}"
    )]
    SessionFull {
        /// The size of its log.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// The session has ended.
    #[error("the session is {status}")]
    Ended {
        /// The session.
        session: SessionId,
        /// Its status.
        status: Status,
        /// Why it ended.
        reason: Option<EndReason>,
    },
    /// The session belongs to a pair of teams, and cannot be erased by itself.
    #[error("the session {session} belongs to a pair of teams")]
    TeamSession {
        /// The session.
        session: SessionId,
    },
    /// The session does not follow.
    #[error(transparent)]
    Refused(Refusal),
    /// The verdict on a request was refused.
    #[error(transparent)]
    Verdict(request::Refusal),
    /// The answers do not fit the questions.
    #[error(transparent)]
    Answers(AnswerFault),
    /// The request does not offer this rule.
    #[error(
        "the request offers {}, and none with the number {number} (counted from 0)",
        counted(offered, "rule")
    )]
    NothingToRemember {
        /// The number of the rule, from 0.
        number: usize,
        /// How many there are.
        offered: usize,
    },
    /// There is no such rule.
    #[error("there is no rule {text}")]
    UnknownRule {
        /// The id that was given.
        text: String,
    },
    /// There is no such user or token, or there is one already.
    #[error(transparent)]
    User(#[from] UserError),
    /// There can be no such rule.
    #[error(transparent)]
    InvalidRule(#[from] InvalidRule),
    /// A name, an id or a path of the wrong form.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The questions are invalid.
    #[error("{0}")]
    Questions(String),
    /// The agent did not start.
    #[error("the agent {agent} did not start")]
    NotStarted {
        /// The agent.
        agent: AgentName,
        /// The cause.
        #[source]
        source: convoke_agents::Error,
    },
    /// The agent has no process that could receive the order.
    #[error("the agent of this session is not running")]
    NotRunning,
    /// A question file cannot be read or written.
    #[error(transparent)]
    Files(convoke_files::Error),
    /// The session's task failed.
    #[error("the session {session} broke down")]
    Broken {
        /// The session.
        session: SessionId,
    },
    /// There is no such comparison.
    #[error("there is no comparison {text}")]
    UnknownComparison {
        /// The id that was given.
        text: String,
    },
    /// There is no such pair of teams.
    #[error("there is no team session {text}")]
    UnknownPair {
        /// The id or name that was given.
        text: String,
    },
    /// An ask would close a loop of teams.
    #[error("this ask would make a circle: {chain}")]
    AskLoop {
        /// The chain of asks.
        chain: String,
    },
    /// A chain of asks is too long.
    #[error("a chain of asks may have at most {max} teams: {chain}")]
    TooManyHops {
        /// The chain of asks.
        chain: String,
        /// The limit.
        max: usize,
    },
    /// Too many asks followed from one.
    #[error("one ask has caused more than {max} asks: {chain}")]
    ChainBudget {
        /// The chain of asks.
        chain: String,
        /// The limit.
        max: u64,
    },
    /// A pair asks too often.
    #[error("{pair} has asked {max} times within an hour, which is the limit")]
    PairBudget {
        /// The pair.
        pair: String,
        /// The limit per hour.
        max: usize,
    },
    /// All agents would wait for each other, with no process left for the ones that must answer.
    #[error("all {max} agent processes would wait for each other")]
    Deadlock {
        /// The limit of processes.
        max: usize,
    },
    /// A thread name with other characters than letters, digits, `-`, `_` and `.`, or too many.
    #[error("Invalid thread name: {text}")]
    ThreadName {
        /// The name that was given.
        text: String,
    },
    /// The agent of a team failed.
    #[error("Process error for team \"{team}\"")]
    TeamProcess {
        /// The team.
        team: String,
        /// The cause.
        #[source]
        source: convoke_agents::Error,
    },
    /// A pair is already being compacted.
    #[error("{pair} is already being compacted")]
    Compacting {
        /// The pair.
        pair: String,
    },
    /// The pair is archived.
    #[error("{pair} is archived")]
    ArchivedPair {
        /// The pair.
        pair: String,
    },
    /// The pair has no such question.
    #[error("{pair} has no question {which}")]
    UnknownQuestion {
        /// The pair.
        pair: String,
        /// The seq or id that was given.
        which: String,
    },
    /// An agent did not compact its conversation.
    #[error("the conversation was not compacted: {reason}")]
    CompactionFailed {
        /// Why not.
        reason: String,
    },
    /// A concurrent caller made the same attempt, and it failed for both.
    #[error(transparent)]
    Shared(std::sync::Arc<Self>),
    /// An import skips turns of the transcript.
    #[error(
        "the session has {} of this transcript, so turn {after} cannot be followed",
        counted(known, "turn")
    )]
    ImportGap {
        /// Turns imported so far.
        known: u64,
        /// The position that the caller gave.
        after: u64,
    },
    /// The transcript differs from what was imported before.
    #[error("turn {turn} of this transcript is not the one that the session has")]
    ImportDiffers {
        /// The first turn that differs, counted from 1.
        turn: u64,
    },
    /// The files of a session cannot be compared or restored.
    #[error(transparent)]
    Changes(#[from] crate::changes::ChangesError),
    /// The work tree of a session cannot be made, finished, removed or restored.
    #[error(transparent)]
    Worktree(#[from] crate::worktrees::WorktreeError),
    /// The folder of an imported session does not become a project.
    #[error(transparent)]
    Adoption(#[from] crate::sessions::AdoptionError),
    /// The session cannot move to another machine.
    #[error(transparent)]
    Move(#[from] crate::moving::MoveError),
    /// The daemon is stopping.
    #[error("the daemon is stopping")]
    Stopping,
    /// The store failed.
    #[error(transparent)]
    Store(convoke_store::Error),
    /// A spawned task panicked or was cancelled.
    #[error("a task of the engine failed")]
    Panicked {
        /// The cause.
        source: std::io::Error,
    },
    /// A file system operation failed.
    #[error("cannot use {}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

impl Error {
    /// The kind of this error.
    pub fn kind(&self) -> Kind {
        match self {
            Self::UnknownSession { .. }
            | Self::UnknownProject { .. }
            | Self::UnknownAgent { .. }
            | Self::UnknownRequest { .. }
            | Self::UnknownAttachment { .. }
            | Self::UnknownRule { .. }
            | Self::User(UserError::Unknown { .. } | UserError::UnknownToken { .. })
            | Self::UnknownComparison { .. }
            | Self::UnknownPair { .. }
            | Self::UnknownQuestion { .. }
            | Self::Invalid(Invalid::UnknownTeam { .. })
            | Self::NoFolder { .. }
            | Self::NoFile { .. } => Kind::NotFound,
            Self::RelativePath { .. }
            | Self::NotOffered { .. }
            | Self::EmptyAttachment { .. }
            | Self::LargeAttachment { .. }
            | Self::LongAttachmentName { .. }
            | Self::OutsideProject { .. }
            | Self::Answers(_)
            | Self::NothingToRemember { .. }
            | Self::InvalidRule(_)
            | Self::Invalid(_)
            | Self::ThreadName { .. }
            | Self::Questions(_) => Kind::Invalid,
            Self::Outside { .. } | Self::ContainsHome { .. } => Kind::Forbidden,
            Self::Ambiguous { .. }
            | Self::ProjectExists { .. }
            | Self::OtherNodesProject { .. }
            | Self::User(UserError::Exists { .. })
            | Self::Ended { .. }
            | Self::SessionFull { .. }
            | Self::TeamSession { .. }
            | Self::AskLoop { .. }
            | Self::TooManyHops { .. }
            | Self::SeveralTeams { .. }
            | Self::Compacting { .. }
            | Self::ArchivedPair { .. }
            | Self::ImportGap { .. }
            | Self::ImportDiffers { .. }
            | Self::ImportRuns
            | Self::ImportForbidden
            | Self::NotRunning => Kind::Conflict,
            Self::SessionLimit { .. }
            | Self::QueueFull { .. }
            | Self::Deadlock { .. }
            | Self::ChainBudget { .. }
            | Self::PairBudget { .. } => Kind::Busy,
            Self::NotStarted { .. } | Self::TeamProcess { .. } | Self::CompactionFailed { .. } => {
                Kind::Agent
            }
            Self::Shared(error) => error.kind(),
            Self::Changes(error) => error.kind(),
            Self::Worktree(error) => error.kind(),
            Self::Adoption(error) => error.kind(),
            Self::Move(error) => error.kind(),
            Self::Stopping
            | Self::OtherNode { .. }
            | Self::NodeAway { .. }
            | Self::NodeSilent { .. } => Kind::Unavailable,
            Self::Broken { .. } | Self::Panicked { .. } | Self::Io { .. } => Kind::Internal,
            Self::Refused(refusal) => refusal_kind(refusal),
            Self::Verdict(refusal) => verdict_kind(refusal),
            Self::Files(error) => files_kind(error),
            Self::Store(error) => store_kind(error),
        }
    }
}

pub(crate) fn no_request(id: RequestId) -> Error {
    Error::UnknownRequest { text: id.to_string() }
}
