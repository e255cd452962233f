//! Backups.

use std::path::PathBuf;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::{Backups, NewBackup};

use super::Daemon;
use crate::backups;
use crate::failure::Failure;
use crate::json::{self, Json};

/// Begin a backup
///
/// It is made in the background; GET tells how far it is and what came of it.
#[utoipa::path(
    post,
    path = "/api/backups",
    operation_id = "beginBackup",
    tag = "system",
    request_body = NewBackup,
    responses(
        (status = 202, description = "It was begun", body = Backups),
        (status = 409, description = "One is being made already"),
    )
)]
pub(super) async fn begin(
    State(app): Daemon,
    Json(new): Json<NewBackup>,
) -> Result<Response, Failure> {
    let to = new.to.map(PathBuf::from);
    if to
        .as_ref()
        .is_some_and(|to| !to.is_absolute() || to.as_os_str().as_encoded_bytes().contains(&0))
    {
        return Err(Failure::invalid("to: the folder for backups must be an absolute path"));
    }
    if new.keep.is_some_and(|keep| !(1..=NewBackup::KEEP_MAX).contains(&keep)) {
        return Err(Failure::invalid("keep: from 1 to 1000000 backups are kept"));
    }
    let keep = new.keep.and_then(|keep| usize::try_from(keep).ok());
    Ok(json::answer(StatusCode::ACCEPTED, &backups::begin(&app, to, keep)?))
}

/// Tell how far the backup is that is being made, and what came of the last one
#[utoipa::path(
    get,
    path = "/api/backups",
    operation_id = "backups",
    tag = "system",
    responses((status = 200, description = "How things stand", body = Backups))
)]
pub(super) async fn show(State(app): Daemon) -> Response {
    json::ok(&app.backups.state())
}
