//! Work trees that sessions have for themselves: finished, listed, removed and restored.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use convoke_api::bodies::{FinishWorktree, FinishedWorktree, Session, Worktrees};
use convoke_engine::LostFiles;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Daemon, Named};
use crate::actor::Actor;
use crate::failure::Failure;
use crate::json::{self, Json};
use crate::query::Query;
use crate::view;

/// How a work tree is removed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RemovalQuery {
    /// Whether files are deleted that no snapshot holds.
    force: Option<bool>,
}

/// Finish the work tree of a session
///
/// Uncommitted files are committed first, unless it is discarded. Folder and branch are removed
/// only after a snapshot of them, and the session is completed. With conflicts, nothing else is changed.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/finish",
    operation_id = "finishWorktree",
    tag = "worktrees",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    request_body = FinishWorktree,
    responses(
        (status = 200, description = "What became of it", body = FinishedWorktree),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The session has no work tree or is working, the base is not clean or has moved, git is in the middle of something, no pull request can be made, files would be lost, or the prefix matches several ids"),
    )
)]
pub(super) async fn finish(
    State(app): Daemon,
    Extension(actor): Extension<Actor>,
    Named(id): Named,
    Json(finish): Json<FinishWorktree>,
) -> Result<Response, Failure> {
    let order = view::worktrees::order(finish, actor.name);
    let finished = app.engine.worktrees().finish(id, order).await?;
    Ok(json::ok(&view::worktrees::finished(finished)))
}

/// List the work trees of sessions
///
/// Those that were removed, too, since they can be restored.
#[utoipa::path(
    get,
    path = "/api/worktrees",
    operation_id = "listWorktrees",
    tag = "worktrees",
    responses((status = 200, description = "The work trees, of the newest session first", body = Worktrees))
)]
pub(super) async fn list(State(app): Daemon) -> Result<Response, Failure> {
    let listed = app.engine.worktrees().list().await?;
    let worktrees = listed.into_iter().map(view::worktrees::listed).collect();
    Ok(json::ok(&Worktrees { worktrees }))
}

/// Restore a work tree that was removed
///
/// Branch, commits and files are what they were before the removal.
#[utoipa::path(
    post,
    path = "/api/worktrees/{id}/restore",
    operation_id = "restoreWorktree",
    tag = "worktrees",
    params(("id" = String, Path, description = "The session: its id, its canonical id, or a unique prefix of its id")),
    responses(
        (status = 200, description = "The session", body = Session),
        (status = 404, description = "There is no such session, or nothing is kept of the work tree"),
        (status = 409, description = "The work tree is there, its branch is checked out elsewhere, or the prefix matches several ids"),
    )
)]
pub(super) async fn restore(State(app): Daemon, Named(id): Named) -> Result<Response, Failure> {
    let session = app.engine.worktrees().restore(id).await?;
    Ok(json::ok(&view::session(session)))
}

/// Remove the folder of a work tree
///
/// After a snapshot; its branch stays as it is, and the session is completed.
#[utoipa::path(
    delete,
    path = "/api/worktrees/{id}",
    operation_id = "removeWorktree",
    tag = "worktrees",
    params(
        ("id" = String, Path, description = "The session: its id, its canonical id, or a unique prefix of its id"),
        RemovalQuery
    ),
    responses(
        (status = 200, description = "The session", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The session has no work tree or is working, files would be lost, or the prefix matches several ids"),
    )
)]
pub(super) async fn remove(
    State(app): Daemon,
    Named(id): Named,
    Query(RemovalQuery { force }): Query<RemovalQuery>,
) -> Result<Response, Failure> {
    let lost = if force == Some(true) { LostFiles::Delete } else { LostFiles::Refuse };
    let session = app.engine.worktrees().remove(id, lost).await?;
    Ok(json::ok(&view::session(session)))
}
