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

/// Start a backup
///
/// It is made in the background; GET shows its progress and its result.
#[utoipa::path(
    post,
    path = "/api/backups",
    operation_id = "beginBackup",
    tag = "system",
    request_body = NewBackup,
    responses(
        (status = 202, description = "The backup has started", body = Backups),
        (status = 409, description = "A backup is already being made"),
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

/// Show the progress of the running backup and the result of the last one
#[utoipa::path(
    get,
    path = "/api/backups",
    operation_id = "backups",
    tag = "system",
    responses((status = 200, description = "The running and the last backup", body = Backups))
)]
pub(super) async fn show(State(app): Daemon) -> Response {
    json::ok(&app.backups.state())
}
