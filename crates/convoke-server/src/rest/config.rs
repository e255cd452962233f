//! The settings in `config.toml`.

use axum::extract::State;
use axum::response::Response;
use convoke_api::bodies::{Config, ConfigPatch};

use super::Daemon;
use crate::failure::Failure;
use crate::json::{self, Json};

/// Show all settings
#[utoipa::path(
    get,
    path = "/api/config",
    operation_id = "showConfig",
    tag = "system",
    responses(
        (status = 200, description = "The settings, with what sets each of them", body = Config),
        (status = 409, description = "config.toml has mistakes"),
    )
)]
pub(super) async fn show(State(app): Daemon) -> Result<Response, Failure> {
    Ok(json::ok(&app.config.read().await?))
}

/// Change settings
///
/// Writes `config.toml` and keeps its comments. All changes are made, or none.
#[utoipa::path(
    patch,
    path = "/api/config",
    operation_id = "changeConfig",
    tag = "system",
    request_body = ConfigPatch,
    responses(
        (status = 200, description = "All settings after the change", body = Config),
        (status = 404, description = "There is no such setting"),
        (status = 409, description = "config.toml has mistakes, or was changed at the same time"),
    )
)]
pub(super) async fn change(
    State(app): Daemon,
    Json(patch): Json<ConfigPatch>,
) -> Result<Response, Failure> {
    Ok(json::ok(&app.config.change(patch).await?))
}
