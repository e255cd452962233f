//! The daemon itself.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use convoke_api::bodies::{Health, Status};
use convoke_engine::{Counts, Figures};

use super::Daemon;
use crate::failure::Failure;
use crate::health::problems;
use crate::json;

/// Check whether the daemon works
///
/// Needs no token. The status is `ok`, or `degraded` with the reasons.
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "health",
    tag = "system",
    security(()),
    responses(
        (status = 200, description = "It works", body = Health),
        (status = 503, description = "It does not work, with the reasons", body = Health),
    )
)]
pub(super) async fn health(State(app): Daemon) -> Response {
    let health = Health::of(problems(&app));
    let fails = health.is_failing();
    let status = if fails { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    json::answer(status, &health)
}

/// Show the state of the daemon
#[utoipa::path(
    get,
    path = "/api/status",
    operation_id = "status",
    tag = "system",
    responses((status = 200, description = "Its state and its work", body = Status))
)]
pub(super) async fn status(State(app): Daemon) -> Result<Response, Failure> {
    let problems = problems(&app);
    let figures = match app.engine.figures().await {
        // The health check itself must answer.
        Err(error) if !problems.is_empty() => {
            tracing::warn!("cannot count sessions and processes: {error}");
            Figures::default()
        }
        figures => figures?,
    };
    let counts = match app.engine.counts().await {
        Err(error) if !problems.is_empty() => {
            tracing::warn!("cannot count unseen sessions: {error}");
            Counts::default()
        }
        counts => counts?,
    };
    let wide = |count: usize| count as u64;
    let identity = &app.identity;
    let uptime = identity.started.elapsed().as_millis();
    Ok(json::ok(&Status {
        version: identity.version.clone(),
        pid: std::process::id(),
        uptime_ms: u64::try_from(uptime).unwrap_or(u64::MAX),
        url: identity.url.clone(),
        home: identity.home.clone(),
        active_sessions: figures.active_sessions,
        processes: wide(figures.processes),
        busy: wide(figures.busy),
        waiting: wide(figures.waiting),
        inbox: figures.inbox,
        working: counts.working,
        unseen: counts.finished,
        failed: counts.failed,
        problems,
        last_backup_at: app.backups.newest().map(|at| at.to_string()),
    }))
}

/// Show metrics for Prometheus
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "metrics",
    tag = "system",
    responses((status = 200, description = "The counts", body = String, content_type = "text/plain"))
)]
pub(super) async fn metrics(State(app): Daemon) -> Result<Response, Failure> {
    let text = app.metrics.text(&app.engine.figures().await?);
    let format = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    Ok(([(CONTENT_TYPE, format)], text).into_response())
}
