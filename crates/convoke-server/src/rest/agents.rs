//! The agents of the catalogue.

use axum::extract::State;
use axum::response::Response;
use convoke_api::bodies::Agents;

use serde::Deserialize;
use utoipa::IntoParams;

use super::Daemon;
use crate::failure::Failure;
use crate::json;
use crate::query::Query;
use crate::view;

/// The query of `GET /api/agents`.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct AgentsQuery {
    /// `true`: installed agents whose version is not known are asked for it first, which takes up to five seconds.
    versions: Option<bool>,
}

/// List the agents
#[utoipa::path(
    get,
    path = "/api/agents",
    operation_id = "listAgents",
    tag = "agents",
    params(AgentsQuery),
    responses((status = 200, description = "All agents, installed or not", body = Agents))
)]
pub(super) async fn list(
    State(app): Daemon,
    Query(which): Query<AgentsQuery>,
) -> Result<Response, Failure> {
    if which.versions == Some(true) {
        app.engine.ask_versions().await;
    }
    let listed = app.engine.agents().await?;
    Ok(json::ok(&Agents { agents: listed.into_iter().map(view::agent).collect() }))
}
