//! The daemons that share the database.

use axum::extract::State;
use axum::response::Response;
use convoke_api::bodies::{Node, Nodes};

use super::Daemon;
use crate::failure::Failure;
use crate::json;

/// List the nodes
#[utoipa::path(
    get,
    path = "/api/nodes",
    operation_id = "listNodes",
    tag = "daemon",
    responses((status = 200, description = "All daemons that share the database; none if it is a file", body = Nodes))
)]
pub(super) async fn list(State(app): Daemon) -> Result<Response, Failure> {
    let own = app.engine.nodes().own();
    let shown = |node: convoke_engine::Node| Node {
        own: Some(node.id) == own,
        id: node.id,
        name: node.name,
        version: node.version,
        started_at: node.started_at,
        seen_at: node.seen_at,
        away: node.is_away,
    };
    let nodes = app.engine.nodes().list().await?.into_iter().map(shown).collect();
    Ok(json::ok(&Nodes { nodes }))
}
