//! Home: the sessions that need their human.

use axum::extract::State;
use axum::response::Response;
use convoke_api::bodies::Home;
use convoke_engine::SessionView;

use super::Daemon;
use crate::failure::Failure;
use crate::json;
use crate::view::{self, Naming};

/// Show what waits for you, what is running, and what ended
#[utoipa::path(
    get,
    path = "/api/home",
    operation_id = "showHome",
    tag = "sessions",
    responses((status = 200, description = "The groups, each newest first", body = Home))
)]
pub(super) async fn show(State(app): Daemon) -> Result<Response, Failure> {
    let home = app.engine.home().await?;
    let sessions = |group: Vec<SessionView>| group.into_iter().map(view::session).collect();
    let items = home.needs_you.into_iter().map(|item| view::inbox_item(item, Naming::Own));
    Ok(json::ok(&Home {
        needs_you: items.collect(),
        working: sessions(home.working),
        finished: sessions(home.finished),
        failed: sessions(home.failed),
        recent: sessions(home.recent),
    }))
}
