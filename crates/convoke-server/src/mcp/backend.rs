//! The interface between the MCP tools and their back ends.

use std::future::Future;

use axum::http::request::Parts;
use convoke_api::bodies::{Team, TeamAnswer, TeamQuestion, TeamReport, TeamSession, TeamStatus};
use convoke_api::mcp::recall::{ReadHistory, SearchHistory};
use convoke_api::mcp::teams::{CancelTeam, ReportOfTeam};
use convoke_api::mcp::{Approval, Approve};
use convoke_core::id::RequestId;
use convoke_core::question::{Limits, Question};
use convoke_core::request::{Answers, State};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

/// The name that rmcp gives a client that did not introduce itself.
const UNNAMED: &str = "rmcp";

/// Why a call has no result.
#[derive(Debug)]
pub enum CallError {
    /// There is no such tool.
    UnknownTool,
    /// An error that the agent reads.
    Message(String),
}

/// Which tools for asking the human a back end offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// Questions.
    Questions,
    /// Questions, and permission requests.
    QuestionsAndPermissions,
}

/// Whether earlier sessions can be searched and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecallOffer {
    /// They can, within the scope that the user allows.
    Yes,
    /// They cannot.
    No,
}

/// Whether a call waits for the human.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Until the questions are no longer pending.
    Yes,
    /// It returns at once.
    No,
}

/// Questions and their state.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Their id.
    pub id: RequestId,
    /// What was asked.
    pub questions: Vec<Question>,
    /// Their state.
    pub state: State<Answers>,
}

/// A call, without rmcp's types.
#[derive(Debug)]
pub struct Call<'a> {
    context: &'a RequestContext<RoleServer>,
}

impl<'a> Call<'a> {
    pub(super) const fn new(context: &'a RequestContext<RoleServer>) -> Self {
        Self { context }
    }

    /// The id of the call.
    pub fn id(&self) -> String {
        self.context.id.to_string()
    }

    /// The client's name.
    pub fn client(&self) -> Option<String> {
        let client = self.context.client_info().filter(|client| client.name != UNNAMED);
        client.map(|client| format!("{} {}", client.name, client.version))
    }

    /// The head of the HTTP request, if there is one.
    pub(super) fn parts(&self) -> Option<&'a Parts> {
        self.context.extensions.get::<Parts>()
    }
}

/// What a back end does for the tools.
///
/// Dropping the future of a call ends the call: the questions that it waits for are abandoned and stay answerable.
pub trait Backend: Send + Sync + 'static {
    /// The back end's own notion of the caller.
    type Caller: Send + Sync;

    /// The limits of a set of questions.
    fn limits(&self) -> Limits;

    /// Which tools for asking the human are offered.
    fn offer(&self) -> Offer;

    /// Whether earlier sessions can be searched and read; a back end without sessions has none.
    fn recall(&self) -> RecallOffer {
        RecallOffer::No
    }

    /// Searches earlier sessions.
    fn search_history(
        &self,
        _caller: &Self::Caller,
        _search: SearchHistory,
    ) -> impl Future<Output = Result<String, CallError>> + Send {
        std::future::ready(Err(CallError::UnknownTool))
    }

    /// Reads a part of an earlier session.
    fn read_history(
        &self,
        _caller: &Self::Caller,
        _read: ReadHistory,
    ) -> impl Future<Output = Result<String, CallError>> + Send {
        std::future::ready(Err(CallError::UnknownTool))
    }

    /// Identifies the caller.
    fn caller(&self, call: &Call<'_>) -> Result<Self::Caller, ErrorData>;

    /// Asks the human questions.
    fn ask(
        &self,
        caller: &Self::Caller,
        questions: Vec<Question>,
        waiting: Waiting,
    ) -> impl Future<Output = Result<Found, CallError>> + Send;

    /// The state of questions that were asked before. They stay pending if a waiting call ends.
    fn asked(
        &self,
        caller: &Self::Caller,
        id: &str,
        waiting: Waiting,
    ) -> impl Future<Output = Result<Found, CallError>> + Send;

    /// Asks the human whether a tool may be used.
    fn approve(
        &self,
        caller: &Self::Caller,
        approve: Approve,
    ) -> impl Future<Output = Result<Approval, CallError>> + Send;

    /// Asks a team.
    fn ask_team(
        &self,
        caller: &Self::Caller,
        team: &str,
        question: TeamQuestion,
    ) -> impl Future<Output = Result<TeamAnswer, CallError>> + Send;

    /// Lists the teams.
    fn teams(&self) -> impl Future<Output = Result<Vec<Team>, CallError>> + Send;

    /// The status of one team, or of every team.
    fn team_statuses(
        &self,
        team: Option<&str>,
    ) -> impl Future<Output = Result<Vec<TeamStatus>, CallError>> + Send;

    /// The answer to a question to a team, or its status.
    fn team_report(
        &self,
        caller: &Self::Caller,
        report: ReportOfTeam,
    ) -> impl Future<Output = Result<TeamReport, CallError>> + Send;

    /// Cancels the caller's questions to a team.
    fn cancel_team(
        &self,
        caller: &Self::Caller,
        cancel: CancelTeam,
    ) -> impl Future<Output = Result<TeamSession, CallError>> + Send;
}
