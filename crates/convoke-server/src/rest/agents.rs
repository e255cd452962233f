//! The agents of the catalogue.

use axum::extract::State;
use axum::response::Response;
use convoke_api::bodies::Agents;

use super::Daemon;
use crate::json;
use crate::view;

/// List the agents
#[utoipa::path(
    get,
    path = "/api/agents",
    operation_id = "listAgents",
    tag = "agents",
    responses((status = 200, description = "All agents, installed or not", body = Agents))
)]
pub(super) async fn list(State(app): Daemon) -> Response {
    // Looks through the folders of the search path.
    let engine = app.engine.clone();
    let listed = tokio::task::spawn_blocking(move || engine.agents()).await.unwrap_or_default();
    json::ok(&Agents { agents: listed.into_iter().map(view::agent).collect() })
}
