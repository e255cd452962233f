//! Translates errors into HTTP statuses and problem bodies (RFC 9457). No other file does.
//!
//! A client's mistake is explained to the client. An internal error is logged once with its causes, and the client
//! gets the id of the log entry.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use convoke_api::bodies::{Problem, code};
use convoke_core::session::{EndReason, Refusal, Status};
use convoke_core::{Invalid, explain, request};
use convoke_engine::{AgentError, ChangesError, Error, GitError, Kind, UserError, WorktreeError};

use crate::health;

/// The media type of problem bodies.
const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");
/// The `Retry-After` of a 429, in seconds. A contract.
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("60");
/// The `Retry-After` of a 503, in seconds: a database that was restarted is back in less. A contract.
const UNAVAILABLE_SECONDS: HeaderValue = HeaderValue::from_static("5");

/// Models or modes that an error names; some agents offer hundreds.
const OFFERED_MAX: usize = 20;

/// An error response.
#[derive(Debug)]
pub(crate) struct Failure {
    problem: Box<Problem>,
    /// The error with its causes, for the log only.
    chain: Option<String>,
}

/// An internal error in the extensions of a response, for the middleware that knows the request id.
#[derive(Debug, Clone)]
struct LoggedFailure {
    problem: Box<Problem>,
    chain: String,
}

/// A response extension: the session belongs to another node, and nothing was done here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MovedAway;

impl Failure {
    /// Whether the session belongs to another node, and nothing was done here.
    pub(crate) fn is_moved_away(&self) -> bool {
        self.problem.code == code::SESSION_MOVED
    }

    /// An error that the client caused.
    pub(crate) fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Problem");
        let problem = Problem::new(status.as_u16(), code, title, detail);
        Self { problem: Box::new(problem), chain: None }
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.problem.hint = Some(hint.into());
        self
    }

    /// Replaces the detail.
    pub(crate) fn with_detail(mut self, detail: &str) -> Self {
        detail.clone_into(&mut self.problem.detail);
        self
    }

    /// A value that is not valid.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code::INVALID, detail)
    }

    /// An internal error, 500.
    pub(crate) fn internal(chain: impl Into<String>) -> Self {
        let (status, detail) = (StatusCode::INTERNAL_SERVER_ERROR, "internal error");
        Self { chain: Some(chain.into()), ..Self::new(status, code::INTERNAL, detail) }
    }

    /// The response did not start in time, 503.
    pub(crate) fn timeout(after: Duration) -> Self {
        let (status, detail) =
            (StatusCode::SERVICE_UNAVAILABLE, "the request timed out in the daemon");
        let chain = format!("no answer within {} s", after.as_secs());
        Self { chain: Some(chain), ..Self::new(status, "timeout", detail) }
    }

    /// The failure that another node reported.
    pub(crate) fn from_problem(problem: Problem) -> Self {
        Self { problem: Box::new(problem), chain: None }
    }

    /// The problem that is sent to the node that forwarded the request.
    pub(crate) fn into_problem(self) -> Problem {
        if let Some(chain) = &self.chain {
            tracing::error!(status = self.problem.status, "{chain}");
        }
        *self.problem
    }

    /// Detail and hint, for clients that do not get an HTTP status.
    pub(crate) fn message(&self) -> (&str, Option<&str>) {
        (&self.problem.detail, self.problem.hint.as_deref())
    }

    /// The error with its causes, if it is to be logged.
    pub(crate) fn chain(&self) -> Option<&str> {
        self.chain.as_deref()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            Kind::NotFound => StatusCode::NOT_FOUND,
            Kind::Invalid if matches!(error, Error::LargeAttachment { .. }) => {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            Kind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            Kind::Forbidden => StatusCode::FORBIDDEN,
            Kind::Conflict => StatusCode::CONFLICT,
            Kind::Busy => StatusCode::TOO_MANY_REQUESTS,
            Kind::Agent => StatusCode::BAD_GATEWAY,
            Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Kind::Internal => return Self::internal(explain(&error)),
        };
        let mut failure = Self::new(status, code_of(&error), detail(&error));
        failure.problem.hint = hint(&error);
        failure.problem.files = files(&error);
        if status.is_server_error() {
            failure.chain = Some(explain(&error));
        }
        failure
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let Self { problem, chain } = self;
        let mut response = to_response(&problem);
        if problem.code == code::SESSION_MOVED {
            response.extensions_mut().insert(MovedAway);
        }
        if let Some(chain) = chain {
            response.extensions_mut().insert(LoggedFailure { problem, chain });
        }
        response
    }
}

/// Logs an internal error, and puts the request id into the response.
pub(crate) fn log_internal(mut response: Response, request_id: &str) -> Response {
    let Some(LoggedFailure { mut problem, chain }) = response.extensions_mut().remove() else {
        return response;
    };
    tracing::error!(status = problem.status, "{chain}");
    problem.instance = Some(request_id.to_owned());
    if problem.status == StatusCode::INTERNAL_SERVER_ERROR.as_u16() {
        problem.hint = Some(format!("see the log for the request {request_id}"));
    }
    to_response(&problem)
}

fn to_response(problem: &Problem) -> Response {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    // Serialising strings and numbers cannot fail.
    let mut response = Response::new(Body::from(serde_json::to_vec(problem).unwrap_or_default()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, PROBLEM_JSON);
    if status == StatusCode::TOO_MANY_REQUESTS {
        response.headers_mut().insert(RETRY_AFTER, RETRY_AFTER_SECONDS);
    }
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(RETRY_AFTER, UNAVAILABLE_SECONDS);
    }
    response
}

#[expect(clippy::wildcard_enum_match_arm, reason = "most errors say all in one line")]
fn detail(error: &Error) -> String {
    match error {
        Error::Ambiguous { prefix, candidates } => {
            format!("{prefix} matches several ids: {}", candidates.join(", "))
        }
        Error::NotOffered { what, offered, .. } if offered.is_empty() => {
            format!("{error}: its {what} cannot be chosen")
        }
        Error::NotOffered { offered, .. } => {
            let offered = offered.iter().take(OFFERED_MAX).map(String::as_str);
            format!("{error}; it offers {}", offered.collect::<Vec<_>>().join(", "))
        }
        Error::Ended { status: Status::Cancelled, .. } => {
            format!("{error} and cannot be resumed; create a new one")
        }
        // A contract: the detail states how to resume.
        Error::Ended { session, reason, .. } => {
            let why = reason.as_ref().and_then(EndReason::explained);
            let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
            format!("{error}{why}; resume it first: POST /api/sessions/{session}/resume")
        }
        Error::NotStarted { source: source @ AgentError::NotInstalled { .. }, .. } => {
            explain(source)
        }
        // The user who installed the agent needs the cause.
        Error::NotStarted { source, .. } => format!("{error}: {}", explain(source)),
        Error::TeamProcess { .. } | Error::Worktree(_) => explain(error),
        Error::Shared(error) => detail(error),
        error => error.to_string(),
    }
}

/// The files that conflict with a restore.
#[expect(clippy::wildcard_enum_match_arm, reason = "only restores are about files")]
fn files(error: &Error) -> Vec<String> {
    let paths = match error {
        Error::Changes(error) => error.files(),
        _ => &[],
    };
    paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "most errors say by themselves what to do")]
fn hint(error: &Error) -> Option<String> {
    let hint = match error {
        Error::Ambiguous { .. } => "give more characters of the id".to_owned(),
        Error::RelativePath { .. } => "give an absolute path".to_owned(),
        Error::ImportDiffers { .. } => {
            "the session is unchanged; to import the other conversation too, give the transcript another session_id"
                .to_owned()
        }
        Error::Outside { root, .. } => format!(
            "choose a folder in {}, or change sessions.workspace_root",
            root.display()
        ),
        Error::SessionLimit { .. } => "complete or cancel a session, wait for one to be idle \
            long enough, or raise sessions.max_active"
            .to_owned(),
        Error::SessionFull { .. } => {
            "continue in a new session, or raise limits.session_bytes in config.toml".to_owned()
        }
        Error::QueueFull { .. } => "wait for the running turn to end".to_owned(),
        Error::UnknownRule { .. } => "GET /api/rules lists the rules".to_owned(),
        Error::User(_) => "`convoke user list` shows the users with their devices".to_owned(),
        Error::Invalid(Invalid::UserName { .. }) => {
            "use letters, digits, `-`, `_`, `.` and `@`: at most 64, the first a letter or a digit"
                .to_owned()
        }
        Error::UnknownAgent { .. } => "GET /api/agents lists the agents".to_owned(),
        Error::Invalid(Invalid::UnknownTeam { .. }) => "GET /api/teams lists the teams".to_owned(),
        Error::UnknownPair { .. } => {
            "GET /api/teams/sessions lists the conversations of teams".to_owned()
        }
        Error::AskLoop { .. } | Error::TooManyHops { .. } => {
            "answer with what you know; the teams before you in the chain wait for it".to_owned()
        }
        Error::ChainBudget { .. } | Error::PairBudget { .. } => {
            "wait, or raise the limits under [teams] in config.toml".to_owned()
        }
        Error::Deadlock { .. } => {
            "ask with a timeout, or raise pool.max_processes in config.toml".to_owned()
        }
        Error::Store(store) => return health::store_hint(store),
        Error::NotStarted { source: AgentError::AuthRequired { methods, .. }, .. }
            if !methods.is_empty() =>
        {
            format!("log in first: {}", methods.join(" | "))
        }
        Error::NotStarted {
            source: AgentError::NotInstalled { install: Some(install), .. },
            ..
        } => format!("install it with `{install}`"),
        Error::NotRunning => "prompt the session first, which starts its agent".to_owned(),
        Error::Changes(ChangesError::Working) => {
            "`convoke session cancel ID --turn` cancels the turn".to_owned()
        }
        Error::Changes(ChangesError::Off) => {
            "set changes.checkpoints = true in config.toml".to_owned()
        }
        Error::Changes(error) if error.is_git_missing() => "install git 2.30 or newer".to_owned(),
        Error::Worktree(error) => return error.hint().map(str::to_owned),
        Error::Move(error) => return error.hint(),
        Error::Adoption(error) => error.hint(),
        Error::OtherNodesProject { node, .. } => format!("do this on {node}"),
        Error::OtherNode { .. } => "it has just moved there; try again".to_owned(),
        Error::Changes(ChangesError::Git(error)) if git_hint(error).is_some() => {
            return git_hint(error).map(str::to_owned);
        }
        Error::Changes(error) if !error.files().is_empty() => {
            "look at the files first; `force` (`--force`) overwrites them, and that can be undone".to_owned()
        }
        Error::Shared(error) => return hint(error),
        _ => return None,
    };
    Some(hint)
}

/// The hint for a refusal of git in a work tree.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rest is about restores")]
const fn git_hint(error: &GitError) -> Option<&'static str> {
    match error {
        GitError::Dirty { .. } => Some("commit or stash these files first; nothing was changed"),
        GitError::NotCaptured { .. } => Some(
            "no snapshot holds these files: move them away, or delete them with `force` (`--force`)",
        ),
        GitError::InProgress { .. } => Some("finish or abort it with git first"),
        GitError::NoIdentity => Some(
            "run `git config --global user.name NAME` and `git config --global user.email ADDRESS`",
        ),
        GitError::Detached { .. } => Some("check the branch out again with `git switch`"),
        GitError::NotARepository { .. } => {
            Some("a work tree needs a project that is the root of a git repository: `git init`")
        }
        GitError::Misdirected { .. } => Some(
            "an agent may have changed it: look at it with `ls -l`, and put the original back; if you moved it, or its repository is elsewhere, run `git --work-tree=. config --worktree core.worktree \"$PWD\"` in it, or the same without `--worktree` if git refuses that",
        ),
        GitError::MovedByHand { .. } => Some(
            "if you moved it, run `git worktree repair` in it; if not, an agent may have changed its file `.git`: put the original back",
        ),
        GitError::SharedFolder { .. } => {
            Some("name a new branch, or one that is alone in its folder, such as `fix/login`")
        }
        GitError::OtherBranch { .. } => Some(
            "check its own branch out again with `git switch`, or remove the folder alone with `convoke worktree remove`",
        ),
        GitError::BranchExists { .. } => {
            Some("choose another name, or a branch that is checked out nowhere")
        }
        _ => None,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "errors without a code of their own have that of their kind"
)]
fn code_of(error: &Error) -> &'static str {
    match error {
        Error::UnknownSession { .. } => code::SESSION_NOT_FOUND,
        Error::UnknownProject { .. } => code::REPO_NOT_FOUND,
        Error::UnknownAgent { .. } => code::UNKNOWN_AGENT,
        Error::UnknownRequest { .. } => code::REQUEST_NOT_FOUND,
        Error::UnknownRule { .. } => code::RULE_NOT_FOUND,
        Error::User(UserError::Unknown { .. }) => code::USER_NOT_FOUND,
        Error::User(UserError::Exists { .. }) => code::USER_EXISTS,
        Error::User(UserError::UnknownToken { .. }) => code::NOT_FOUND,
        Error::InvalidRule(_) => code::INVALID_RULE,
        Error::UnknownPair { .. } | Error::UnknownQuestion { .. } => code::TEAM_SESSION_NOT_FOUND,
        Error::Invalid(Invalid::UnknownTeam { .. }) => code::UNKNOWN_TEAM,
        Error::Invalid(Invalid::Team { .. }) => code::INVALID_TEAMS,
        Error::AskLoop { .. } | Error::TooManyHops { .. } => code::ASK_LOOP,
        Error::ChainBudget { .. } | Error::PairBudget { .. } | Error::Deadlock { .. } => {
            code::ASK_BUDGET
        }
        Error::Ambiguous { .. } => code::AMBIGUOUS,
        Error::NoFile { .. } => code::NOT_FOUND,
        Error::NoFolder { .. } => code::NO_SUCH_DIRECTORY,
        Error::Outside { .. } => code::OUTSIDE_WORKSPACE,
        Error::ProjectExists { .. } => code::REPO_EXISTS,
        Error::SessionLimit { .. } => code::TOO_MANY_SESSIONS,
        Error::QueueFull { .. } => code::QUEUE_FULL,
        Error::Ended { status: Status::Cancelled, .. } => code::SESSION_CANCELLED,
        Error::Ended { .. } => code::SESSION_ENDED,
        Error::Refused(refusal) => refusal_code(refusal),
        Error::Verdict(refusal) => verdict_code(refusal),
        Error::Answers(_) | Error::NothingToRemember { .. } => code::INVALID_ANSWER,
        Error::Invalid(_) => code::INVALID_ID,
        Error::RelativePath { .. } | Error::Questions(_) => code::INVALID,
        Error::NotStarted { .. } | Error::NotRunning => code::AGENT_FAILED,
        Error::Worktree(WorktreeError::Missing { .. }) => code::WORKTREE_MISSING,
        Error::Changes(ChangesError::Git(GitError::Dirty { .. })) => code::UNCOMMITTED_CHANGES,
        Error::Changes(ChangesError::Git(GitError::NotCaptured { .. })) => code::FILES_NOT_CAPTURED,
        Error::Changes(error) if !error.files().is_empty() => code::FILES_CHANGED,
        Error::Stopping => code::STOPPING,
        Error::NodeAway { .. } | Error::NodeSilent { .. } => code::NODE_AWAY,
        Error::OtherNode { .. } => code::SESSION_MOVED,
        Error::Shared(error) => code_of(error),
        error => kind_code(error.kind()),
    }
}

const fn refusal_code(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::EmptyPrompt => code::EMPTY_PROMPT,
        Refusal::LongPrompt { .. }
        | Refusal::TooManyAttachments { .. }
        | Refusal::TooManyFiles { .. }
        | Refusal::TooManyComments { .. }
        | Refusal::Comment { .. } => code::INVALID,
        Refusal::EmptyTitle | Refusal::LongTitle { .. } => code::INVALID_TITLE,
        Refusal::QueueFull | Refusal::TooManyRequests => code::QUEUE_FULL,
        Refusal::Ended { .. } => code::SESSION_ENDED,
        Refusal::Cancelled => code::SESSION_CANCELLED,
        Refusal::Active => code::SESSION_ACTIVE,
        Refusal::NoTurn | Refusal::Turn(_) => code::NO_TURN,
        Refusal::NotQueued { .. } => code::NOT_QUEUED,
        Refusal::RepeatedRequest { .. } | Refusal::NotPending { .. } => code::ALREADY_SETTLED,
        Refusal::Request(refusal) => verdict_code(refusal),
    }
}

const fn verdict_code(refusal: &request::Refusal) -> &'static str {
    match refusal {
        request::Refusal::Settled(_) => code::ALREADY_SETTLED,
        request::Refusal::Answers(_)
        | request::Refusal::UnknownOption { .. }
        | request::Refusal::WrongKind { .. } => code::INVALID_ANSWER,
    }
}

const fn kind_code(kind: Kind) -> &'static str {
    match kind {
        Kind::NotFound => code::NOT_FOUND,
        Kind::Invalid => code::INVALID,
        Kind::Forbidden => code::FORBIDDEN,
        Kind::Conflict => "conflict",
        Kind::Busy => code::QUEUE_FULL,
        Kind::Agent => code::AGENT_FAILED,
        Kind::Unavailable => "unavailable",
        Kind::Internal => code::INTERNAL,
    }
}
