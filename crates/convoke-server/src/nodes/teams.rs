//! Forwards requests for teams to the node that has their folder.

use std::sync::Arc;

use axum::http::StatusCode;
use convoke_core::id::NodeId;
use convoke_core::team::TeamName;
use convoke_engine::{Error, TeamAnswer, TeamAsk};
use serde::de::DeserializeOwned;

use super::owner::Owner;
use super::{RemoteCommand, RemoteResponse, send};
use crate::actor::found;
use crate::app::App;
use crate::failure::Failure;

/// The other node that a request for a team, or for a conversation of teams, is for. Asks that wait
/// for an answer, and reads that only need the database, are handled here.
pub(super) async fn node_of(app: &App, team: &str, what: &str) -> Result<Option<Owner>, Error> {
    let teams = app.engine.teams();
    let node = match (team, what) {
        ("sessions", pair) => {
            let node = found(teams.find_pair(pair).await)?.and_then(|pair| pair.node);
            Ok(node.filter(|node| app.engine.nodes().own() != Some(*node)))
        }
        (team, "report" | "cancel" | "sleep" | "wake") => match team.parse::<TeamName>() {
            Ok(name) => match teams.node_of(&name).await {
                Err(Error::Invalid(_)) => Ok(None),
                found => found,
            },
            Err(_) => Ok(None),
        },
        _ => Ok(None),
    }?;
    Ok(node.map(Owner::node))
}

/// Asks a team of another node, and waits for the answer here.
pub(crate) async fn ask_elsewhere(
    app: &Arc<App>,
    node: NodeId,
    asked: TeamAsk,
) -> Result<TeamAnswer, Failure> {
    let own = Arc::clone(app);
    let placing = |question| async move {
        let question = RemoteCommand::Question { question: Box::new(question) };
        match send(&own, Owner::node(node), question).await? {
            RemoteResponse::Placed { placed } => Ok(placed),
            RemoteResponse::Problem { problem } => Err(Failure::from_problem(*problem)),
            RemoteResponse::Response { .. } | RemoteResponse::Frames { .. } => {
                Err(Failure::internal("a node answered a question with something else"))
            }
        }
    };
    app.engine.teams().ask_elsewhere(asked, node, placing).await
}

/// Sends a REST request to another node on behalf of an interface that is not REST.
pub(crate) async fn request_elsewhere<T: DeserializeOwned>(
    app: &App,
    node: NodeId,
    method: &str,
    uri: String,
    body: String,
) -> Result<T, Failure> {
    let command = RemoteCommand::Request { method: method.to_owned(), uri, body, by: None };
    match send(app, Owner::node(node), command).await? {
        RemoteResponse::Response { status, body, .. }
            if status < StatusCode::BAD_REQUEST.as_u16() =>
        {
            serde_json::from_str(&body).map_err(|error| Failure::internal(error.to_string()))
        }
        RemoteResponse::Response { body, .. } => match serde_json::from_str(&body) {
            Ok(problem) => Err(Failure::from_problem(problem)),
            Err(_) => Err(Failure::internal("a node answered with an error")),
        },
        RemoteResponse::Problem { problem } => Err(Failure::from_problem(*problem)),
        RemoteResponse::Frames { .. } | RemoteResponse::Placed { .. } => {
            Err(Failure::internal("a node answered a request with something else"))
        }
    }
}
