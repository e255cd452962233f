//! What a session changed in its project: lists, diffs, restores, reverts and forks.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::{
    FileDiff, Fork, Restore, RestoreScope, Restored, Revert, Session, SessionChanges, Undo,
};
use convoke_core::message::Seq;
use convoke_engine::{DiffRange, ForkAt, RestoreGuard};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Daemon, Named};
use crate::failure::Failure;
use crate::json::{self, Json, MaybeJson};
use crate::query::{self, Query};
use crate::view;

/// Whose changes are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ChangesQuery {
    /// Only those of one turn, by the `seq` of its prompt.
    #[serde(default, deserialize_with = "query::within::<_, 1, 9_007_199_254_740_991>")]
    #[param(minimum = 1, maximum = 9_007_199_254_740_991_i64)]
    turn: Option<u64>,
}

/// Which file's changes are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct WhichFile {
    /// The file, as the list of changes names it.
    path: String,
    /// Only the changes of one turn, by the `seq` of its prompt.
    #[serde(default, deserialize_with = "query::within::<_, 1, 9_007_199_254_740_991>")]
    #[param(minimum = 1, maximum = 9_007_199_254_740_991_i64)]
    turn: Option<u64>,
}

fn range(turn: Option<Seq>) -> DiffRange {
    turn.map_or(DiffRange::Session, DiffRange::Turn)
}

const fn guard(force: bool) -> RestoreGuard {
    if force { RestoreGuard::Force } else { RestoreGuard::Unchanged }
}

/// List the files that a session or a turn changed
///
/// What its turns changed, without what others changed between them, or from before one turn to after it. While a turn
/// runs, up to the files as they are now.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/changes",
    operation_id = "listChanges",
    tag = "sessions",
    params(
        ("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id"),
        ChangesQuery
    ),
    responses(
        (status = 200, description = "The files", body = SessionChanges),
        (status = 404, description = "There is no such session, or no checkpoint of it or of the turn"),
        (status = 409, description = "Checkpoints are switched off, or the prefix matches several ids"),
    )
)]
pub(super) async fn list(
    State(app): Daemon,
    Named(id): Named,
    Query(ChangesQuery { turn }): Query<ChangesQuery>,
) -> Result<Response, Failure> {
    let turn = turn.map(Seq::new);
    let found = app.engine.changes().list(id, range(turn)).await?;
    Ok(json::ok(&view::changes::changes(found, turn)))
}

/// Show the diff of one changed file
///
/// The hunks with their lines, and marks of the words that differ.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/changes/file",
    operation_id = "showChangedFile",
    tag = "sessions",
    params(
        ("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id"),
        WhichFile
    ),
    responses(
        (status = 200, description = "The diff", body = FileDiff),
        (status = 404, description = "There is no such session, turn or changed file"),
        (status = 409, description = "Checkpoints are switched off, or the prefix matches several ids"),
    )
)]
pub(super) async fn file(
    State(app): Daemon,
    Named(id): Named,
    Query(WhichFile { path, turn }): Query<WhichFile>,
) -> Result<Response, Failure> {
    let found = app.engine.changes().file(id, range(turn.map(Seq::new)), path).await?;
    Ok(json::ok(&view::changes::file_diff(&found)))
}

/// Restore files or conversation to what they were before a turn
///
/// Only files that differ are written, and what they replace can be had back with `undo`. The
/// conversation is not rewritten: a new session has what was said before the turn. Files that
/// someone else changed since the last checkpoint are listed in the problem's `files`, and
/// nothing is done, unless `force` is set.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/restore",
    operation_id = "restoreFiles",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    request_body = Restore,
    responses(
        (status = 200, description = "What was restored", body = Restored),
        (status = 404, description = "There is no such session, or no checkpoint of the turn"),
        (status = 409, description = "A turn is running, files were changed by someone else, or the prefix matches several ids"),
        (status = 429, description = "The limit of active sessions is reached"),
        (status = 502, description = "The agent did not start"),
    )
)]
pub(super) async fn restore(
    State(app): Daemon,
    Named(id): Named,
    Json(Restore { turn, what, force }): Json<Restore>,
) -> Result<Response, Failure> {
    let what = what.unwrap_or(RestoreScope::Both);
    let mut restored =
        Restored { written: Vec::new(), removed: Vec::new(), blocked: Vec::new(), session: None };
    if let RestoreScope::Files | RestoreScope::Both = what {
        let done = app.engine.changes().restore(id, turn, guard(force)).await?;
        restored = view::changes::restored(&done);
    }
    if let RestoreScope::Conversation | RestoreScope::Both = what {
        let forked = app.engine.sessions().fork(id, ForkAt::Before(turn), None).await?;
        restored.session = Some(view::session(forked));
    }
    Ok(json::ok(&restored))
}

/// Undo the last restore of files
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/undo",
    operation_id = "undoRestore",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    request_body = Option<Undo>,
    responses(
        (status = 200, description = "What was restored", body = Restored),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "There is no restore to undo, a turn is running, files were changed by someone else, or the prefix matches several ids"),
    )
)]
pub(super) async fn undo(
    State(app): Daemon,
    Named(id): Named,
    MaybeJson(Undo { force }): MaybeJson<Undo>,
) -> Result<Response, Failure> {
    let done = app.engine.changes().undo(id, guard(force)).await?;
    Ok(json::ok(&view::changes::restored(&done)))
}

/// Revert one changed file, or one hunk of it
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/revert",
    operation_id = "revertFile",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    request_body = Revert,
    responses(
        (status = 200, description = "What was restored", body = Restored),
        (status = 404, description = "There is no such session, turn, changed file or hunk"),
        (status = 409, description = "A turn is running, the file was changed by someone else, or the prefix matches several ids"),
    )
)]
pub(super) async fn revert(
    State(app): Daemon,
    Named(id): Named,
    Json(Revert { path, turn, hunk, force }): Json<Revert>,
) -> Result<Response, Failure> {
    let hunk = hunk.map(|hunk| usize::try_from(hunk).unwrap_or(usize::MAX));
    let done = app.engine.changes().revert(id, range(turn), path, hunk, guard(force)).await?;
    Ok(json::ok(&view::changes::restored(&done)))
}

/// Fork a session at a turn
///
/// A new session with the same agent in the same project has the conversation up to and with the
/// turn. Its agent is given the transcript with the next prompt. With `worktree`, it has a work
/// tree of its own, with the files as they were after the turn.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/fork",
    operation_id = "forkSession",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    request_body = Option<Fork>,
    responses(
        (status = 201, description = "The new session", body = Session),
        (status = 404, description = "There is no such session or turn"),
        (status = 409, description = "There can be no such work tree, or the prefix matches several ids"),
        (status = 429, description = "The limit of active sessions is reached"),
        (status = 502, description = "The agent did not start"),
    )
)]
pub(super) async fn fork(
    State(app): Daemon,
    Named(id): Named,
    MaybeJson(Fork { turn, worktree }): MaybeJson<Fork>,
) -> Result<Response, Failure> {
    let at = turn.map_or(ForkAt::End, ForkAt::After);
    let worktree = view::worktrees::wanted(worktree);
    let forked = app.engine.sessions().fork(id, at, worktree).await?;
    Ok(json::answer(StatusCode::CREATED, &view::session(forked)))
}
