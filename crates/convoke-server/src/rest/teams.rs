//! Teams: who there is, and asking them.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::{
    StoppedAgents, TeamAnswer, TeamCancel, TeamMessage, TeamQuestion, TeamReport, TeamSession,
    TeamStatus, Teams,
};
use convoke_core::id::MessageId;
use convoke_core::message::Seq;
use convoke_core::team::{AnswerStatus, Pair, TeamName};
use convoke_core::user::UserName;
use convoke_engine::{Caller, Engine, Error, Stopped, TeamAsk, Wait, WhichQuestion};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Daemon, Written};
use crate::actor::Actor;
use crate::app::App;
use crate::failure::Failure;
use crate::json::{self, Json, MaybeJson};
use crate::nodes;
use crate::query::{self, Query};
use crate::view::teams as view;

/// List the teams
#[utoipa::path(
    get,
    path = "/api/teams",
    operation_id = "listTeams",
    tag = "teams",
    responses((status = 200, description = "All teams, by name", body = Teams))
)]
pub(super) async fn list(State(app): Daemon) -> Result<Response, Failure> {
    Ok(json::ok(&all(&app).await?))
}

/// Reload teams.json
///
/// Waits until every team is ready. If the file has errors, nothing changes.
#[utoipa::path(
    post,
    path = "/api/teams/reload",
    operation_id = "reloadTeams",
    tag = "teams",
    responses(
        (status = 200, description = "All teams, by name", body = Teams),
        (status = 422, description = "The file is invalid"),
        (status = 502, description = "The agent of a team did not start"),
    )
)]
pub(super) async fn reload(State(app): Daemon) -> Result<Response, Failure> {
    let own = Arc::clone(&app);
    // In a task of its own, so that the reload completes even if the client disconnects.
    let reloading = tokio::spawn(async move { own.teams.reload(&own.engine).await });
    reloading.await.map_err(|_| Error::Stopping)??;
    Ok(json::ok(&all(&app).await?))
}

async fn all(app: &App) -> Result<Teams, Failure> {
    let statuses = app.engine.teams().statuses(None).await?;
    Ok(Teams { teams: statuses.iter().map(view::team).collect() })
}

/// Show the status of a team
#[utoipa::path(
    get,
    path = "/api/teams/{team}/status",
    operation_id = "showTeam",
    tag = "teams",
    params(("team" = String, Path, description = "Its name")),
    responses(
        (status = 200, description = "The team and its conversations", body = TeamStatus),
        (status = 404, description = "There is no such team"),
    )
)]
pub(super) async fn status(
    State(app): Daemon,
    Written(team): Written,
) -> Result<Response, Failure> {
    let status = app.engine.teams().statuses(Some(&named(&team)?)).await?.pop();
    let status = status.ok_or_else(|| Failure::internal("a team was there and is not"))?;
    Ok(json::ok(&view::status(status)))
}

/// Ask a team
///
/// Waits for the answer as long as `timeout` says. Only the status `answered` is an answer.
#[utoipa::path(
    post,
    path = "/api/teams/{team}/ask",
    operation_id = "askTeam",
    tag = "teams",
    params(("team" = String, Path, description = "Its name")),
    request_body = TeamQuestion,
    responses(
        (status = 200, description = "The answer, or the status of the question", body = TeamAnswer),
        (status = 202, description = "There is no answer yet; the question is running or queued", body = TeamAnswer),
        (status = 404, description = "There is no such team"),
        (status = 409, description = "The ask would make a circle, or a chain that is too long"),
        (status = 429, description = "The queue is full, or the limit of asks per hour is reached"),
        (status = 502, description = "The agent of the team did not start"),
    )
)]
pub(super) async fn ask(
    State(app): Daemon,
    Extension(actor): Extension<Actor>,
    Written(team): Written,
    Json(question): Json<TeamQuestion>,
) -> Result<Response, Failure> {
    answered(&app, actor, &team, question).await
}

/// Send a team a message
///
/// The same as asking, optionally without waiting for the answer.
#[utoipa::path(
    post,
    path = "/api/teams/{team}/send",
    operation_id = "sendToTeam",
    tag = "teams",
    params(("team" = String, Path, description = "Its name")),
    request_body = TeamMessage,
    responses(
        (status = 200, description = "The answer, or the status of the message", body = TeamAnswer),
        (status = 202, description = "There is no answer yet; the question is running or queued", body = TeamAnswer),
        (status = 404, description = "There is no such team"),
        (status = 409, description = "The ask would make a circle, or a chain that is too long"),
        (status = 429, description = "The queue is full, or the limit of asks per hour is reached"),
        (status = 502, description = "The agent of the team did not start"),
    )
)]
pub(super) async fn send(
    State(app): Daemon,
    Extension(actor): Extension<Actor>,
    Written(team): Written,
    Json(message): Json<TeamMessage>,
) -> Result<Response, Failure> {
    answered(&app, actor, &team, message.into()).await
}

async fn answered(
    app: &Arc<App>,
    actor: Actor,
    team: &str,
    question: TeamQuestion,
) -> Result<Response, Failure> {
    let caller = Caller::Outside { team: question.from_team.as_deref().map(named).transpose()? };
    let answer = ask_team(app, caller, actor.name, team, question).await?;
    let status = match answer.status {
        AnswerStatus::Answered | AnswerStatus::Failed => StatusCode::OK,
        AnswerStatus::Queued | AnswerStatus::TimedOut => StatusCode::ACCEPTED,
    };
    Ok(json::answer(status, &answer))
}

/// Asks a team on behalf of a caller, behind whom is a user (`None` for the owner).
pub(crate) async fn ask_team(
    app: &Arc<App>,
    caller: Caller,
    by: Option<UserName>,
    team: &str,
    question: TeamQuestion,
) -> Result<TeamAnswer, Failure> {
    let TeamQuestion { question, from_team: _, thread, timeout } = question;
    let wait = Wait::from_millis(timeout.unwrap_or(0)).ok_or_else(|| {
        Failure::invalid("timeout must be -1 (return at once), 0 (wait), or milliseconds")
    })?;
    let ask = TeamAsk { caller, to: named(team)?, thread, question, by, wait };
    let teams = app.engine.teams();
    Ok(view::answer(match teams.node_of(&ask.to).await? {
        Some(node) => nodes::ask_elsewhere(app, node, ask).await?,
        None => teams.ask(ask).await?,
    }))
}

/// Which question is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ReportQuery {
    /// The team that asked; a caller outside of teams, by default.
    from: Option<String>,
    /// In which thread.
    thread: Option<String>,
    /// The question's `seq` in its session; the last one, by default.
    #[serde(default, deserialize_with = "query::within::<_, 1, 9_007_199_254_740_991>")]
    #[param(minimum = 1, maximum = 9_007_199_254_740_991_i64)]
    seq: Option<u64>,
    /// The question's id.
    #[serde(default, deserialize_with = "query::parsed")]
    #[param(value_type = Option<String>, format = "uuid")]
    message_id: Option<MessageId>,
}

/// Show the answer to a question, or its status
///
/// Also works if the caller did not wait for the answer.
#[utoipa::path(
    get,
    path = "/api/teams/{team}/report",
    operation_id = "reportOfTeam",
    tag = "teams",
    params(("team" = String, Path, description = "The team that was asked"), ReportQuery),
    responses(
        (status = 200, description = "The question, and its answer so far", body = TeamReport),
        (status = 404, description = "There is no such team or question"),
    )
)]
pub(super) async fn report(
    State(app): Daemon,
    Written(team): Written,
    Query(query): Query<ReportQuery>,
) -> Result<Response, Failure> {
    let pair = pair(&app.engine, &team, query.from.as_deref(), query.thread).await?;
    let which = match (query.message_id, query.seq) {
        (Some(id), _) => WhichQuestion::Message(id),
        (None, Some(seq)) => WhichQuestion::At(Seq::new(seq)),
        (None, None) => WhichQuestion::Last,
    };
    let report = app.engine.teams().report(&pair, which).await?;
    Ok(json::ok(&view::report(report)))
}

/// Cancel the questions of a caller to a team
///
/// Cancels the running question and the queued ones.
#[utoipa::path(
    post,
    path = "/api/teams/{team}/cancel",
    operation_id = "cancelTeam",
    tag = "teams",
    params(("team" = String, Path, description = "The team that was asked")),
    request_body = Option<TeamCancel>,
    responses(
        (status = 200, description = "The agent was asked to stop", body = TeamSession),
        (status = 404, description = "There is no such team or question"),
        (status = 409, description = "It has no running question"),
    )
)]
pub(super) async fn cancel(
    State(app): Daemon,
    Written(team): Written,
    MaybeJson(cancel): MaybeJson<TeamCancel>,
) -> Result<Response, Failure> {
    let pair = pair(&app.engine, &team, cancel.from_team.as_deref(), cancel.thread).await?;
    Ok(json::ok(&view::session(app.engine.teams().cancel_pair(&pair).await?)))
}

/// Stop the idle processes of a team
///
/// The next ask starts one again.
#[utoipa::path(
    post,
    path = "/api/teams/{team}/sleep",
    operation_id = "sleepTeam",
    tag = "teams",
    params(("team" = String, Path, description = "Its name")),
    responses(
        (status = 200, description = "How many processes were stopped", body = StoppedAgents),
        (status = 404, description = "There is no such team"),
    )
)]
pub(super) async fn sleep(State(app): Daemon, Written(team): Written) -> Result<Response, Failure> {
    let processes = app.engine.teams().sleep(&named(&team)?).await?;
    Ok(json::ok(&view::stopped(Stopped { sessions: 0, processes })))
}

/// Start the process of a team
///
/// The next ask then does not wait for it.
#[utoipa::path(
    post,
    path = "/api/teams/{team}/wake",
    operation_id = "wakeTeam",
    tag = "teams",
    params(("team" = String, Path, description = "Its name")),
    responses(
        (status = 200, description = "The conversation that is ready", body = TeamSession),
        (status = 404, description = "There is no such team"),
        (status = 409, description = "Its session was cancelled meanwhile"),
        (status = 502, description = "Its agent did not start"),
    )
)]
pub(super) async fn wake(State(app): Daemon, Written(team): Written) -> Result<Response, Failure> {
    Ok(json::ok(&view::session(app.engine.teams().wake(&named(&team)?).await?)))
}

/// Stop all agents
///
/// Running and queued turns are cancelled, and all agent processes are stopped. Sessions stay, and
/// continue with the next prompt.
#[utoipa::path(
    post,
    path = "/api/agents/stop",
    operation_id = "stopAgents",
    tag = "agents",
    responses((status = 200, description = "The number of stopped agents", body = StoppedAgents))
)]
pub(super) async fn stop_agents(State(app): Daemon) -> Result<Response, Failure> {
    tracing::warn!("all agents were stopped on request");
    Ok(json::ok(&view::stopped(app.engine.sessions().stop_agents().await?)))
}

/// The name of a team.
pub(crate) fn named(text: &str) -> Result<TeamName, Failure> {
    Ok(text.parse::<TeamName>().map_err(Error::from)?)
}

/// Who asks whom, of teams that there are.
pub(crate) async fn pair(
    engine: &Engine,
    team: &str,
    from: Option<&str>,
    thread: Option<String>,
) -> Result<Pair, Failure> {
    let (from, to) = (from.map(named).transpose()?, named(team)?);
    for name in from.iter().chain([&to]) {
        engine.teams().known(name).await?;
    }
    Ok(Pair { from, to, thread })
}
