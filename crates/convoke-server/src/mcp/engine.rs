//! The daemon's back end: agents of sessions ask in the session's log, other callers in files.

use std::fmt;
use std::sync::Arc;

use axum::http::Method;
use convoke_api::bodies::{
    Team, TeamAnswer, TeamCancel, TeamQuestion, TeamReport, TeamSession, TeamStatus,
};
use convoke_api::mcp::recall::{ReadHistory, SearchHistory};
use convoke_api::mcp::teams::{CancelTeam, ReportOfTeam};
use convoke_api::mcp::{Approval, Approve};
use convoke_core::explain;
use convoke_core::question::{Limits, Question};
use convoke_core::request::{Answers, State};
use convoke_core::team::TeamName;
use convoke_engine::{Asker, Caller as TeamCaller, Engine, Error, Outcome, Recall, WhichQuestion};
use rmcp::ErrorData;

use super::backend::{Backend, Call, CallError, Found, Offer, RecallOffer, Waiting};
use super::own_questions::own_question;
use super::recall;
use crate::access;
use crate::actor::{Actor, Login, Subject};
use crate::app::App;
use crate::failure::Failure;
use crate::middleware::Caller;
use crate::nodes::request_elsewhere;
use crate::rest::teams as rest;
use crate::view::teams as view;

/// Who calls a tool.
#[derive(Debug)]
pub(crate) struct McpCaller {
    pub(super) asker: Asker,
    /// The human behind a program; none behind the agent of a session, which acts for the session.
    actor: Option<Actor>,
}

/// The tools' view of the engine.
pub(crate) struct EngineBackend {
    pub(super) engine: Engine,
    pub(super) app: Arc<App>,
}

impl fmt::Debug for EngineBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineBackend").field("engine", &self.engine).finish_non_exhaustive()
    }
}

impl EngineBackend {
    pub(super) fn new(app: &Arc<App>) -> Self {
        Self { engine: app.engine.clone(), app: Arc::clone(app) }
    }
}

impl Backend for EngineBackend {
    type Caller = McpCaller;

    fn limits(&self) -> Limits {
        self.engine.settings().questions.limits
    }

    fn offer(&self) -> Offer {
        Offer::QuestionsAndPermissions
    }

    fn recall(&self) -> RecallOffer {
        match self.engine.settings().history.recall {
            Recall::Off => RecallOffer::No,
            Recall::Project | Recall::All => RecallOffer::Yes,
        }
    }

    async fn search_history(
        &self,
        caller: &McpCaller,
        search: SearchHistory,
    ) -> Result<String, CallError> {
        recall::search(&self.engine, &caller.asker, search).await
    }

    async fn read_history(
        &self,
        caller: &McpCaller,
        read: ReadHistory,
    ) -> Result<String, CallError> {
        recall::read(&self.engine, &caller.asker, read).await
    }

    /// By the caller that the middleware authenticated.
    fn caller(&self, call: &Call<'_>) -> Result<McpCaller, ErrorData> {
        let extensions = call.parts().map(|parts| &parts.extensions);
        let actor = extensions.and_then(|extensions| extensions.get::<Actor>()).cloned();
        let asker = match extensions.and_then(|extensions| extensions.get::<Caller>()) {
            Some(Caller::Session(id)) => Ok(Asker::Session(*id)),
            Some(Caller::Human(Login::Owner | Login::Token(_))) => Ok(Asker::Outside {
                name: call.client(),
                working_directory: None,
                call_id: Some(call.id()),
            }),
            // The middleware admits no other caller to this route.
            Some(
                Caller::Anonymous | Caller::Human(Login::Browser(_)) | Caller::UnverifiedBrowser,
            )
            | None => Err(ErrorData::internal_error("the caller has no token", None)),
        };
        Ok(McpCaller { asker: asker?, actor })
    }

    async fn ask(
        &self,
        caller: &McpCaller,
        questions: Vec<Question>,
        waiting: Waiting,
    ) -> Result<Found, CallError> {
        let mut asked = self.engine.inbox().ask(caller.asker.clone(), questions.clone()).await?;
        let id = asked.id();
        let state = match waiting {
            Waiting::Yes => state(asked.wait().await?),
            Waiting::No => {
                asked.leave();
                State::Pending
            }
        };
        Ok(Found { id, questions, state })
    }

    async fn asked(
        &self,
        caller: &McpCaller,
        id: &str,
        waiting: Waiting,
    ) -> Result<Found, CallError> {
        let (id, questions, outcome) = self.engine.inbox().asked(&caller.asker, id).await?;
        let state = match (outcome, waiting) {
            (Some(outcome), _) => state(outcome),
            (None, Waiting::Yes) => {
                state(self.engine.inbox().asked_again(&caller.asker, id).await?)
            }
            (None, Waiting::No) => State::Pending,
        };
        Ok(Found { id, questions, state })
    }

    async fn approve(&self, caller: &McpCaller, approve: Approve) -> Result<Approval, CallError> {
        let Approve { tool_name, input, tool_use_id: _ } = approve;
        let mut asked =
            self.engine.inbox().ask_permission(caller.asker.clone(), tool_name, &input).await?;
        let deny = |message: &str| Approval::Deny { message: message.to_owned() };
        Ok(match asked.wait().await? {
            Outcome::Allowed | Outcome::Answered(_) => Approval::Allow { updated_input: input },
            Outcome::Rejected { reason: Some(reason) } => {
                deny(&format!("The user said no: {reason}"))
            }
            Outcome::Rejected { reason: None } => deny("The user said no."),
            Outcome::TimedOut => {
                deny("The user did not answer in time. This is not a refusal; ask again later.")
            }
            Outcome::Abandoned => deny(
                "The request ended before the user answered. This is not a refusal; ask again.",
            ),
        })
    }

    async fn ask_team(
        &self,
        caller: &McpCaller,
        team: &str,
        question: TeamQuestion,
    ) -> Result<TeamAnswer, CallError> {
        self.check(caller, team).await?;
        let by = caller.actor.as_ref().and_then(|actor| actor.name.clone());
        let caller = match &caller.asker {
            Asker::Session(session) => {
                self.from(&caller.asker, question.from_team.clone()).await?;
                TeamCaller::Session(*session)
            }
            Asker::Outside { .. } => {
                let team = question.from_team.as_deref().map(rest::named).transpose()?;
                TeamCaller::Outside { team }
            }
        };
        match rest::ask_team(&self.app, caller, by, team, question).await {
            Ok(answer) => Ok(answer),
            Err(failure) => Err(self.refused(&failure).await),
        }
    }

    async fn teams(&self) -> Result<Vec<Team>, CallError> {
        Ok(self.engine.teams().statuses(None).await?.iter().map(view::team).collect())
    }

    async fn team_statuses(&self, team: Option<&str>) -> Result<Vec<TeamStatus>, CallError> {
        let team = team.map(rest::named).transpose()?;
        let statuses = self.engine.teams().statuses(team.as_ref()).await?;
        Ok(statuses.into_iter().map(view::status).collect())
    }

    async fn team_report(
        &self,
        caller: &McpCaller,
        report: ReportOfTeam,
    ) -> Result<TeamReport, CallError> {
        let ReportOfTeam { team, from_team, thread, message_id } = report;
        let from = self.from(&caller.asker, from_team).await?;
        let named = from.as_ref().map(TeamName::as_str);
        let pair = rest::pair(&self.engine, &team, named, thread).await?;
        let which = match self.own_questions(caller, &pair) {
            None => message_id.map_or(WhichQuestion::Last, WhichQuestion::Message),
            Some(own) => WhichQuestion::Message(own_question(&pair, &own, message_id)?),
        };
        self.report(&pair, which).await
    }

    async fn cancel_team(
        &self,
        caller: &McpCaller,
        cancel: CancelTeam,
    ) -> Result<TeamSession, CallError> {
        let CancelTeam { team, from_team, thread } = cancel;
        self.check(caller, &team).await?;
        let from = self.from(&caller.asker, from_team).await?;
        let named = from.as_ref().map(TeamName::as_str);
        let pair = rest::pair(&self.engine, &team, named, thread).await?;
        if let Some(own) = self.own_questions(caller, &pair) {
            return self.cancel_own(&pair, &own).await;
        }
        if let Some(node) = self.engine.teams().node_of(&pair.to).await? {
            let uri = format!("/api/teams/{team}/cancel");
            let body = TeamCancel { from_team: pair.from.map(String::from), thread: pair.thread };
            let body = serde_json::to_string(&body).unwrap_or_default();
            return Ok(request_elsewhere(&self.app, node, "POST", uri, body).await?);
        }
        Ok(view::session(self.engine.teams().cancel_pair(&pair).await?))
    }
}

impl EngineBackend {
    /// Refuses what the role of a human in the project of a team does not allow.
    async fn check(&self, caller: &McpCaller, team: &str) -> Result<(), CallError> {
        let Some(actor) = &caller.actor else { return Ok(()) };
        let about = Subject::of_team(&self.app, team).await?;
        let rule = access::of_route(&Method::POST, "/api/teams/{team}/ask");
        Ok(actor.check(rule, about.project)?)
    }

    /// The team that a caller speaks for. The agent of a session speaks for its own team only.
    async fn from(
        &self,
        asker: &Asker,
        wanted: Option<String>,
    ) -> Result<Option<TeamName>, CallError> {
        let wanted = wanted.as_deref().map(rest::named).transpose()?;
        let session = match asker {
            Asker::Session(session) => *session,
            Asker::Outside { .. } => return Ok(wanted),
        };
        let own = self.engine.teams().speaks_for(&TeamCaller::Session(session)).await?;
        match (&own, wanted) {
            (Some(own), Some(wanted)) if *own != wanted => Err(CallError::Message(format!(
                "this session belongs to the team {own}, not to {wanted}; leave fromTeam out"
            ))),
            (None, Some(wanted)) => Err(CallError::Message(format!(
                "this session belongs to no team and cannot ask for {wanted}; leave fromTeam out"
            ))),
            (Some(_) | None, _) => Ok(own),
        }
    }

    /// Why a team was not asked, with the names of the teams that there are.
    async fn refused(&self, failure: &Failure) -> CallError {
        let (detail, hint) = failure.message();
        let mut text = detail.to_owned();
        if let Some(hint) = hint {
            text.push_str(&format!("\n\n{hint}"));
        }
        if detail.starts_with("Unknown team") {
            let names = self.engine.teams().names().await.unwrap_or_default();
            let names: Vec<String> = names.into_iter().map(String::from).collect();
            text.push_str(&match names.is_empty() {
                true => "\n\nThere are no teams.".to_owned(),
                false => format!("\n\nThere are: {}.", names.join(", ")),
            });
        }
        CallError::Message(text)
    }
}

fn state(outcome: Outcome) -> State<Answers> {
    match outcome {
        Outcome::Answered(answers) => State::Answered(Answers { answers }),
        Outcome::Rejected { reason } => State::Rejected { reason },
        Outcome::TimedOut => State::TimedOut,
        Outcome::Abandoned => State::Abandoned,
        // Questions have answers; this outcome is for permissions.
        Outcome::Allowed => State::Answered(Answers { answers: Vec::new() }),
    }
}

impl From<Error> for CallError {
    fn from(error: Error) -> Self {
        Self::Message(explain(&error))
    }
}

impl From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        Self::Message(failure.message().0.to_owned())
    }
}
