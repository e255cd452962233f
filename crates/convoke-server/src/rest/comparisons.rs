//! Comparisons: one prompt, several agents, each in a work tree of its own.

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::{
    self, Comparison, Comparisons, FinishWay, FinishWorktree, KeepEntry, KeptEntry, NewComparison,
};
use convoke_core::prompt::Prompt;
use convoke_engine::Choices;

use super::Daemon;
use crate::actor::Actor;
use crate::failure::Failure;
use crate::json::{self, Json};
use crate::view;

/// Compare agents
///
/// Creates a session for each entry, in a work tree of its own, with the same prompt. When an agent
/// is done, the test runs in its work tree.
#[utoipa::path(
    post,
    path = "/api/comparisons",
    operation_id = "beginComparison",
    tag = "comparisons",
    request_body = NewComparison,
    responses(
        (status = 201, description = "The comparison; an entry that could not be begun has an `error`", body = Comparison),
        (status = 404, description = "There is no such project or agent"),
        (status = 409, description = "There can be no work tree, or the prefix matches several projects"),
        (status = 422, description = "An agent does not offer this model or mode"),
        (status = 429, description = "The limit of active sessions is reached"),
        (status = 502, description = "No agent started"),
    )
)]
pub(super) async fn begin(
    State(app): Daemon,
    Extension(actor): Extension<Actor>,
    Json(new): Json<NewComparison>,
) -> Result<Response, Failure> {
    if new.entries.is_empty() || new.entries.len() > ENTRIES_MAX {
        return Err(Failure::invalid(format!("give 1 to {ENTRIES_MAX} entries")));
    }
    let project = app.engine.projects().find(&new.repo_id).await?;
    let mut entries = Vec::new();
    for entry in new.entries {
        let agent = entry.agent.parse().map_err(convoke_engine::Error::from)?;
        entries.push((Some(agent), Choices { model: entry.model, mode: entry.mode }));
    }
    let prompt = bodies::prompt(new.prompt, Vec::new(), Vec::new());
    let prompt = Prompt { by: actor.name, ..prompt }.into();
    let new = convoke_engine::NewComparison { project, prompt, entries, test: new.test };
    let begun = app.engine.comparisons().begin(new).await?;
    Ok(json::answer(StatusCode::CREATED, &view::comparisons::comparison(begun)))
}

/// More agents than that are no comparison any more.
const ENTRIES_MAX: usize = 10;

/// List comparisons
///
/// Newest first, the last hundred.
#[utoipa::path(
    get,
    path = "/api/comparisons",
    operation_id = "listComparisons",
    tag = "comparisons",
    responses((status = 200, description = "The comparisons", body = Comparisons))
)]
pub(super) async fn list(State(app): Daemon) -> Result<Response, Failure> {
    let listed = app.engine.comparisons().list().await?;
    let comparisons = listed.into_iter().map(view::comparisons::comparison).collect();
    Ok(json::ok(&Comparisons { comparisons }))
}

/// Show a comparison
#[utoipa::path(
    get,
    path = "/api/comparisons/{id}",
    operation_id = "showComparison",
    tag = "comparisons",
    params(("id" = String, Path, description = "Its id, or a unique prefix of it")),
    responses(
        (status = 200, description = "The comparison as it is now", body = Comparison),
        (status = 404, description = "There is no such comparison"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn show(State(app): Daemon, Path(id): Path<String>) -> Result<Response, Failure> {
    let found = app.engine.comparisons().get(&id).await?;
    Ok(json::ok(&view::comparisons::comparison(found)))
}

/// Keep one session of a comparison
///
/// Its work tree is finished, and the others are discarded after a snapshot, from which they can be
/// restored. With conflicts, nothing is discarded; `resolve` prompts the agent to resolve them.
#[utoipa::path(
    post,
    path = "/api/comparisons/{id}/keep",
    operation_id = "keepEntry",
    tag = "comparisons",
    params(("id" = String, Path, description = "Its id, or a unique prefix of it")),
    request_body = KeepEntry,
    responses(
        (status = 200, description = "What became of it", body = KeptEntry),
        (status = 404, description = "There is no such comparison, or no such session in it"),
        (status = 409, description = "An agent is still working, the work tree cannot be finished, or the prefix matches several ids"),
    )
)]
pub(super) async fn keep(
    State(app): Daemon,
    Extension(actor): Extension<Actor>,
    Path(id): Path<String>,
    Json(KeepEntry { session_id, how, message, force, resolve }): Json<KeepEntry>,
) -> Result<Response, Failure> {
    let session = app.engine.sessions().find(&session_id).await?;
    let how = how.unwrap_or(FinishWay::Keep);
    let order = FinishWorktree { how, message, force, resolve };
    let order = view::worktrees::order(order, actor.name);
    let (finished, comparison) = app.engine.comparisons().keep(&id, session, order).await?;
    Ok(json::ok(&KeptEntry {
        finished: view::worktrees::finished(finished),
        comparison: view::comparisons::comparison(comparison),
    }))
}
