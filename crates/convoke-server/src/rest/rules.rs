//! What agents may do without asking, and what they may not.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::{NewRule, Rule, Rules};
use convoke_core::id::AgentName;
use convoke_engine::{Error, NewRule as EngineRule, RuleView};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Daemon, Written};
use crate::app::App;
use crate::failure::Failure;
use crate::json::{self, Json};
use crate::query::Query;
use crate::view;

/// Which rules are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RulesQuery {
    /// Only those that hold in this project: its id, or a unique prefix of it.
    repo_id: Option<String>,
}

/// List the rules
///
/// The newest first. A rule without `projectId` holds everywhere, one without `agent` for every agent.
#[utoipa::path(
    get,
    path = "/api/rules",
    operation_id = "listRules",
    tag = "rules",
    params(RulesQuery),
    responses(
        (status = 200, description = "The rules", body = Rules),
        (status = 404, description = "There is no such project"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn list(
    State(app): Daemon,
    Query(which): Query<RulesQuery>,
) -> Result<Response, Failure> {
    let project = match &which.repo_id {
        Some(text) => Some(app.engine.projects().find(text).await?),
        None => None,
    };
    let rules = app.engine.rules().list(project).await?;
    Ok(json::ok(&Rules { rules: rules.into_iter().map(view::rule).collect() }))
}

/// Make a rule
///
/// It decides requests from now on, and none that is pending. If there is one that says the same, that one is returned.
#[utoipa::path(
    post,
    path = "/api/rules",
    operation_id = "addRule",
    tag = "rules",
    request_body = NewRule,
    responses(
        (status = 201, description = "The rule", body = Rule),
        (status = 404, description = "There is no such project or agent"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn add(State(app): Daemon, Json(new): Json<NewRule>) -> Result<Response, Failure> {
    let rule = make(&app, new).await?;
    Ok(json::answer(StatusCode::CREATED, &view::rule(rule)))
}

/// Adds a rule for a client.
pub(crate) async fn make(app: &App, new: NewRule) -> Result<RuleView, Failure> {
    let project_id = match &new.repo_id {
        Some(text) => Some(app.engine.projects().find(text).await?),
        None => None,
    };
    let agent = new.agent.map(|name| name.parse::<AgentName>()).transpose().map_err(Error::from)?;
    if let Some(name) = &agent
        && !app.engine.agents().await?.iter().any(|listed| listed.agent.name == *name)
    {
        return Err(Error::UnknownAgent { name: name.to_string() }.into());
    }
    let (effect, matcher) = (new.effect, new.matcher);
    let new = EngineRule { user: None, effect, matcher, agent, project_id, from: None };
    Ok(app.engine.rules().add(new).await?)
}

/// Revoke a rule
///
/// The agent asks again. Requests that the rule has decided stay decided.
#[utoipa::path(
    delete,
    path = "/api/rules/{id}",
    operation_id = "removeRule",
    tag = "rules",
    params(("id" = String, Path, description = "Its id, or a unique prefix of it")),
    responses(
        (status = 204, description = "The rule was revoked"),
        (status = 404, description = "There is no such rule"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn remove(
    State(app): Daemon,
    Written(text): Written,
) -> Result<StatusCode, Failure> {
    app.engine.rules().remove(&text).await?;
    Ok(StatusCode::NO_CONTENT)
}
