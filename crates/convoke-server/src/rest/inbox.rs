//! What waits for a human.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::{Answer, Inbox, Rejection};
use convoke_engine::Remember;

use super::{Daemon, Written};
use crate::actor::Actor;
use crate::failure::Failure;
use crate::json::{self, Json, MaybeJson};
use crate::view::{self, Naming};

/// List pending requests
///
/// Permissions and questions of all sessions, and questions that programs asked.
#[utoipa::path(
    get,
    path = "/api/inbox",
    operation_id = "listInbox",
    tag = "inbox",
    responses((status = 200, description = "All requests, oldest first", body = Inbox))
)]
pub(super) async fn list(State(app): Daemon) -> Result<Response, Failure> {
    let items = app.engine.inbox().list().await?.into_iter();
    Ok(json::ok(&Inbox { items: items.map(|item| view::inbox_item(item, Naming::Own)).collect() }))
}

/// Answer a permission or questions
///
/// The first answer wins.
#[utoipa::path(
    post,
    path = "/api/inbox/{id}/answer",
    operation_id = "answerRequest",
    tag = "inbox",
    params(("id" = String, Path, description = "Its id, or a unique prefix of it")),
    request_body = Answer,
    responses(
        (status = 204, description = "The answer is stored"),
        (status = 404, description = "There is no such request"),
        (status = 409, description = "It is already settled, or the prefix matches several ids"),
    )
)]
pub(super) async fn answer(
    State(app): Daemon,
    Extension(actor): Extension<Actor>,
    Written(id): Written,
    Json(answer): Json<Answer>,
) -> Result<StatusCode, Failure> {
    match answer {
        Answer::Option { option_id, rule } => {
            let remember = rule.map_or(Remember::No, Remember::Rule);
            app.engine.inbox().choose(&id, option_id, remember, actor.name).await?;
        }
        Answer::Answers(answers) => app.engine.inbox().answer(&id, answers, actor.name).await?,
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Reject a permission or questions
#[utoipa::path(
    post,
    path = "/api/inbox/{id}/reject",
    operation_id = "rejectRequest",
    tag = "inbox",
    params(("id" = String, Path, description = "Its id, or a unique prefix of it")),
    request_body = Option<Rejection>,
    responses(
        (status = 204, description = "The rejection is stored and sent to the asker"),
        (status = 404, description = "There is no such request"),
        (status = 409, description = "It is already settled, or the prefix matches several ids"),
    )
)]
pub(super) async fn reject(
    State(app): Daemon,
    Extension(actor): Extension<Actor>,
    Written(id): Written,
    MaybeJson(rejection): MaybeJson<Rejection>,
) -> Result<StatusCode, Failure> {
    app.engine.inbox().reject(&id, rejection.reason, actor.name).await?;
    Ok(StatusCode::NO_CONTENT)
}
