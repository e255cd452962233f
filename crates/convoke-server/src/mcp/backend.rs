//! What a back end of the MCP server does for the tools.

use std::future::Future;

use axum::http::request::Parts;
use convoke_api::bodies::{Team, TeamAnswer, TeamQuestion, TeamReport, TeamSession, TeamStatus};
use convoke_api::mcp::teams::{CancelTeam, ReportOfTeam};
use convoke_api::mcp::{Approval, Approve};
use convoke_core::id::RequestId;
use convoke_core::question::{Limits, Question};
use convoke_core::request::{Answers, State};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

/// What rmcp calls a client that did not introduce itself.
const UNNAMED: &str = "rmcp";

/// Why a call has no result.
#[derive(Debug)]
pub enum Refused {
    /// There is no such tool.
    NoSuchTool,
    /// This is for the agent to read.
    Said(String),
}

/// Which tools for asking the human a back end has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// Questions.
    Questions,
    /// Questions, and whether a tool may be used.
    QuestionsAndPermissions,
}

/// Whether a call waits for the human.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Until the questions are not pending any more.
    Yes,
    /// It returns at once.
    No,
}

/// Questions, and what has become of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Their id.
    pub id: RequestId,
    /// What was asked.
    pub questions: Vec<Question>,
    /// What has become of them.
    pub state: State<Answers>,
}

/// A call as the protocol describes it, free of the library's types.
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

    /// What the client calls itself.
    pub fn client(&self) -> Option<String> {
        let client = self.context.client_info().filter(|client| client.name != UNNAMED);
        client.map(|client| format!("{} {}", client.name, client.version))
    }

    /// The head of the HTTP request, where it came by one.
    pub(super) fn parts(&self) -> Option<&'a Parts> {
        self.context.extensions.get::<Parts>()
    }
}

/// What a back end of the MCP server does for the tools.
///
/// Dropping the future of a call ends the call: questions that it waits for are abandoned and stay answerable.
pub trait Backend: Send + Sync + 'static {
    /// Who calls, as far as this back end has to know.
    type Caller: Send + Sync;

    /// How much may be asked at once.
    fn limits(&self) -> Limits;

    /// Which tools there are for asking the human.
    fn offer(&self) -> Offer;

    /// Who makes a call.
    fn caller(&self, call: &Call<'_>) -> Result<Self::Caller, ErrorData>;

    /// Puts questions to the human.
    fn ask(
        &self,
        caller: &Self::Caller,
        questions: Vec<Question>,
        waiting: Waiting,
    ) -> impl Future<Output = Result<Found, Refused>> + Send;

    /// What has become of questions that were asked before. A call that waits leaves them pending when it ends.
    fn asked(
        &self,
        caller: &Self::Caller,
        id: &str,
        waiting: Waiting,
    ) -> impl Future<Output = Result<Found, Refused>> + Send;

    /// Asks the human whether a tool may be used.
    fn approve(
        &self,
        caller: &Self::Caller,
        approve: Approve,
    ) -> impl Future<Output = Result<Approval, Refused>> + Send;

    /// Asks a team.
    fn ask_team(
        &self,
        caller: &Self::Caller,
        team: &str,
        question: TeamQuestion,
    ) -> impl Future<Output = Result<TeamAnswer, Refused>> + Send;

    /// Lists the teams.
    fn teams(&self) -> impl Future<Output = Result<Vec<Team>, Refused>> + Send;

    /// What one team, or every team, is doing.
    fn team_statuses(
        &self,
        team: Option<&str>,
    ) -> impl Future<Output = Result<Vec<TeamStatus>, Refused>> + Send;

    /// What has become of a question to a team.
    fn team_report(
        &self,
        caller: &Self::Caller,
        report: ReportOfTeam,
    ) -> impl Future<Output = Result<TeamReport, Refused>> + Send;

    /// Stops what a team works on for the caller.
    fn cancel_team(
        &self,
        caller: &Self::Caller,
        cancel: CancelTeam,
    ) -> impl Future<Output = Result<TeamSession, Refused>> + Send;
}
