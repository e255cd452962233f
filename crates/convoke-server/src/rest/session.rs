//! One session.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::{
    ChosenMode, ChosenSetting, Prompt, Prompted, QueuePatch, Session, SessionPatch, StateOfSession,
};
use convoke_api::schema::WholeSession;
use convoke_core::message::Seq;
use convoke_engine::{NewPrompt, SessionView};

use super::messages::{self, Part};
use super::{Daemon, Named, Queued, Written, named_or_none};
use crate::failure::Failure;
use crate::json::{self, Json};
use crate::view;

/// Show a session with its project and all of its messages
///
/// However many there are, they are sent as they are read.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}",
    operation_id = "showSession",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or an unambiguous beginning of its id")),
    responses(
        (status = 200, description = "The session", body = WholeSession),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "Several ids begin so"),
    )
)]
pub(super) async fn show(State(app): Daemon, Written(name): Written) -> Result<Response, Failure> {
    let named = named_or_none(&name, app.engine.session_named(&name).await)?;
    let (id, session) = (named.stored.id, view::session(named));
    let repo = view::repo(app.engine.project(session.repo_id).await?);
    let last = Seq::new(session.message_count);
    let detail = convoke_api::bodies::SessionDetail { session, repo };
    let mut head = serde_json::to_string(&detail)
        .map_err(|error| Failure::internal(format!("a session cannot be written: {error}")))?;
    // The messages become the last field of the object.
    head.pop();
    head.push_str(",\"messages\":[");
    messages::stream(&app.engine, Part::upto(id, last), head, "]}").await
}

/// Say something to the agent
///
/// Answered as soon as it is stored; the agent's answer comes as a message. Behind a running turn it waits in the queue.
/// A session that Convoke completed, because it was idle or to make room, is resumed.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/prompt",
    operation_id = "prompt",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or an unambiguous beginning of its id")),
    request_body = Prompt,
    responses(
        (status = 202, description = "The prompt is stored", body = Prompted),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The session has ended, or several ids begin so"),
        (status = 429, description = "As many prompts wait as may"),
    )
)]
pub(super) async fn prompt(
    State(app): Daemon,
    Named(id): Named,
    Json(prompt): Json<Prompt>,
) -> Result<Response, Failure> {
    let Prompt { text, message_id } = prompt;
    let prompted = app.engine.prompt(id, NewPrompt { text, id: message_id }).await?;
    let answer = Prompted {
        accepted: true,
        message_id: prompted.message_id,
        seq: prompted.seq,
        queued: prompted.queued > 0,
        rev: prompted.rev,
    };
    Ok(json::answer(StatusCode::ACCEPTED, &answer))
}

/// Show what is true of a session now and is not conversation
///
/// The prompts that wait, what the agent offers, and what it has used.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/state",
    operation_id = "showState",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or an unambiguous beginning of its id")),
    responses(
        (status = 200, description = "The state", body = StateOfSession),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "Several ids begin so"),
    )
)]
pub(super) async fn state(State(app): Daemon, Named(id): Named) -> Result<Response, Failure> {
    let snapshot = app.engine.snapshot(id, 0, 0).await?;
    let state = snapshot.state.into_iter().map(|(_, state)| state).collect();
    let generation = app.generation().await;
    Ok(json::ok(&StateOfSession { generation, rev: snapshot.rev, state }))
}

/// Change a prompt that waits
#[utoipa::path(
    patch,
    path = "/api/sessions/{id}/queue/{prompt}",
    operation_id = "editQueued",
    tag = "sessions",
    params(
        ("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id"),
        ("prompt" = String, Path, format = "uuid", description = "The prompt's id"),
    ),
    request_body = QueuePatch,
    responses(
        (status = 200, description = "The session", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The prompt does not wait any more, or several ids begin so"),
    )
)]
pub(super) async fn edit_queued(
    State(app): Daemon,
    Queued { session, prompt }: Queued,
    Json(patch): Json<QueuePatch>,
) -> Result<Response, Failure> {
    Ok(shown(app.engine.edit_queued(session, prompt, patch.text).await?))
}

/// Remove a prompt that waits
#[utoipa::path(
    delete,
    path = "/api/sessions/{id}/queue/{prompt}",
    operation_id = "removeQueued",
    tag = "sessions",
    params(
        ("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id"),
        ("prompt" = String, Path, format = "uuid", description = "The prompt's id"),
    ),
    responses(
        (status = 200, description = "The session", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The prompt does not wait any more, or several ids begin so"),
    )
)]
pub(super) async fn remove_queued(
    State(app): Daemon,
    Queued { session, prompt }: Queued,
) -> Result<Response, Failure> {
    Ok(shown(app.engine.remove_queued(session, prompt).await?))
}

/// Send a prompt that waits next
///
/// The running turn is stopped for it.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/queue/{prompt}/send",
    operation_id = "sendQueued",
    tag = "sessions",
    params(
        ("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id"),
        ("prompt" = String, Path, format = "uuid", description = "The prompt's id"),
    ),
    responses(
        (status = 200, description = "The session", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The prompt does not wait any more, or several ids begin so"),
    )
)]
pub(super) async fn send_queued(
    State(app): Daemon,
    Queued { session, prompt }: Queued,
) -> Result<Response, Failure> {
    Ok(shown(app.engine.send_queued(session, prompt).await?))
}

/// Stop the running turn
///
/// The session goes on.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/cancel",
    operation_id = "cancelTurn",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or an unambiguous beginning of its id")),
    responses(
        (status = 200, description = "The agent was told to stop", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "No turn is running, or several ids begin so"),
    )
)]
pub(super) async fn cancel_turn(State(app): Daemon, Named(id): Named) -> Result<Response, Failure> {
    Ok(shown(app.engine.cancel_turn(id).await?))
}

/// End a session well
///
/// It can be resumed.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/complete",
    operation_id = "completeSession",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or an unambiguous beginning of its id")),
    responses(
        (status = 200, description = "The session, completed", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The session has ended, or several ids begin so"),
    )
)]
pub(super) async fn complete(State(app): Daemon, Named(id): Named) -> Result<Response, Failure> {
    Ok(shown(app.engine.complete(id).await?))
}

/// End a session for good
///
/// The agent is told, and its process ended. A session that has ended already stays as it is.
#[utoipa::path(
    delete,
    path = "/api/sessions/{id}",
    operation_id = "cancelSession",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or an unambiguous beginning of its id")),
    responses(
        (status = 200, description = "The session, cancelled, or as it had ended before", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "Several ids begin so"),
    )
)]
pub(super) async fn cancel(State(app): Daemon, Named(id): Named) -> Result<Response, Failure> {
    Ok(shown(app.engine.cancel(id).await?))
}

/// Let an ended session accept prompts again
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/resume",
    operation_id = "resumeSession",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or an unambiguous beginning of its id")),
    responses(
        (status = 200, description = "The session, active again", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The session was cancelled, or is active, or several ids begin so"),
        (status = 429, description = "As many sessions are active as may be"),
    )
)]
pub(super) async fn resume(State(app): Daemon, Named(id): Named) -> Result<Response, Failure> {
    Ok(shown(app.engine.resume(id).await?))
}

/// Rename, archive or unarchive a session
#[utoipa::path(
    patch,
    path = "/api/sessions/{id}",
    operation_id = "changeSession",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or an unambiguous beginning of its id")),
    request_body = SessionPatch,
    responses(
        (status = 200, description = "The session", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "Several ids begin so"),
    )
)]
pub(super) async fn patch(
    State(app): Daemon,
    Named(id): Named,
    Json(patch): Json<SessionPatch>,
) -> Result<Response, Failure> {
    let mut session = app.engine.session(id).await?;
    if let Some(title) = patch.title {
        session = app.engine.rename(id, title).await?;
    }
    match patch.archived {
        Some(true) if !session.stored.summary.archived => session = app.engine.archive(id).await?,
        Some(false) if session.stored.summary.archived => {
            session = app.engine.unarchive(id).await?;
        }
        Some(_) | None => {}
    }
    Ok(shown(session))
}

/// Set the agent's mode
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/mode",
    operation_id = "setMode",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or an unambiguous beginning of its id")),
    request_body = ChosenMode,
    responses(
        (status = 200, description = "The agent was told", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The agent is not running, or several ids begin so"),
        (status = 502, description = "The agent does not follow"),
    )
)]
pub(super) async fn mode(
    State(app): Daemon,
    Named(id): Named,
    Json(ChosenMode { mode }): Json<ChosenMode>,
) -> Result<Response, Failure> {
    app.engine.set_mode(id, mode).await?;
    Ok(shown(app.engine.session(id).await?))
}

/// Change one of the agent's settings
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/setting",
    operation_id = "setSetting",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or an unambiguous beginning of its id")),
    request_body = ChosenSetting,
    responses(
        (status = 200, description = "The agent was told", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The agent is not running, or several ids begin so"),
        (status = 502, description = "The agent does not follow"),
    )
)]
pub(super) async fn setting(
    State(app): Daemon,
    Named(id): Named,
    Json(ChosenSetting { setting, choice }): Json<ChosenSetting>,
) -> Result<Response, Failure> {
    app.engine.set_setting(id, setting, choice).await?;
    Ok(shown(app.engine.session(id).await?))
}

fn shown(session: SessionView) -> Response {
    json::ok(&view::session(session))
}
