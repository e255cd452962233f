//! Conversations that other programs keep.

use std::path::PathBuf;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::{Histories, HistoryImport, NewHistoryImport};
use convoke_engine::{HistoryAgent, ImportRequest, Purpose};

use super::Daemon;
use crate::failure::Failure;
use crate::json::{self, Json};
use crate::view;

/// Names of sources in a request; the route's description has the same limit.
const SOURCES_MAX: usize = 20;

/// List the conversations of other programs that can be imported
///
/// Counts only: nothing of what was said is read.
#[utoipa::path(
    get,
    path = "/api/histories",
    operation_id = "histories",
    tag = "sessions",
    responses((status = 200, description = "What was found", body = Histories))
)]
pub(super) async fn list(State(app): Daemon) -> Result<Response, Failure> {
    let histories = app.engine.histories();
    let (found, run) = (histories.found().await?, histories.run());
    Ok(json::ok(&view::histories(found, run)))
}

/// Import conversations of other programs
///
/// It is done in the background; GET shows its progress, and so does the frame `history:import`. What is imported is
/// followed from then on: a conversation that goes on elsewhere appears here.
#[utoipa::path(
    post,
    path = "/api/histories/import",
    operation_id = "importHistories",
    tag = "sessions",
    request_body = NewHistoryImport,
    responses(
        (status = 202, description = "The import has started", body = HistoryImport),
        (status = 409, description = "An import is already running, or history.import is never"),
    )
)]
pub(super) async fn begin(
    State(app): Daemon,
    Json(new): Json<NewHistoryImport>,
) -> Result<Response, Failure> {
    if new.sources.len() > SOURCES_MAX {
        return Err(Failure::invalid(format!("sources: there are at most {SOURCES_MAX}")));
    }
    let mut agents = Vec::new();
    for source in &new.sources {
        let agent: HistoryAgent = source.parse().map_err(|_| {
            let known: Vec<&str> = HistoryAgent::ALL.iter().map(|agent| agent.as_str()).collect();
            Failure::invalid(format!("sources: {source} is none of {}", known.join(", ")))
        })?;
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    let folder = new.folder.map(PathBuf::from);
    if folder
        .as_ref()
        .is_some_and(|path| !path.is_absolute() || path.as_os_str().as_encoded_bytes().contains(&0))
    {
        return Err(Failure::invalid("folder: it must be an absolute path"));
    }
    let purpose = if new.dry_run { Purpose::DryRun } else { Purpose::Import };
    let request = ImportRequest { agents, since: new.since, folder, purpose };
    let run = app.engine.histories().import(request)?;
    Ok(json::answer(StatusCode::ACCEPTED, &view::history_import(run)))
}

/// Show the progress of the running import, or the result of the last one
#[utoipa::path(
    get,
    path = "/api/histories/import",
    operation_id = "historyImport",
    tag = "sessions",
    responses((status = 200, description = "The running or the last import", body = HistoryImport))
)]
pub(super) async fn show(State(app): Daemon) -> Response {
    json::ok(&view::history_import(app.engine.histories().run()))
}
