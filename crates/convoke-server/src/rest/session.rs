//! One session.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::{
    self, CancelTurn, ChosenMode, ChosenSetting, Prompt, Prompted, QueuePatch, Session,
    SessionPatch, StateOfSession,
};
use convoke_api::schema::WholeSession;
use convoke_core::message::Seq;
use convoke_core::session::Refusal;
use convoke_engine::{Error, NewPrompt, SessionView};

use super::messages::{self, Part};
use super::{Daemon, Named, Queued, Written, named_or_none};
use crate::actor::Actor;
use crate::failure::Failure;
use crate::json::{self, Json, MaybeJson};
use crate::nodes::with_waiting;
use crate::view;

/// Show a session with its project and all of its messages
///
/// The messages are streamed as they are read.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}",
    operation_id = "showSession",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    responses(
        (status = 200, description = "The session", body = WholeSession),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn show(State(app): Daemon, Written(name): Written) -> Result<Response, Failure> {
    let named = named_or_none(&name, app.engine.sessions().named(&name).await)?;
    let (id, session) = (named.stored.id, view::session(named));
    let repo = view::repo(app.engine.projects().get(session.repo_id).await?);
    let last = Seq::new(session.message_count);
    let detail = convoke_api::bodies::SessionDetail { session, repo };
    let mut head = serde_json::to_string(&detail)
        .map_err(|error| Failure::internal(format!("a session cannot be written: {error}")))?;
    // The messages become the last field of the object.
    head.pop();
    head.push_str(",\"messages\":[");
    messages::stream(&app.engine, Part::upto(id, last), head, "]}").await
}

/// Send a prompt to the agent
///
/// Returns as soon as the prompt is stored; the agent's answer arrives as a message. During a turn
/// the prompt is queued. A session that Convoke completed, because it was idle or to make room, is
/// resumed.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/prompt",
    operation_id = "prompt",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    request_body = Prompt,
    responses(
        (status = 202, description = "The prompt is stored", body = Prompted),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The session has ended, or the prefix matches several ids"),
        (status = 422, description = "The prompt is empty or too long, or one of its comments is not valid"),
        (status = 429, description = "The queue is full"),
    )
)]
pub(super) async fn prompt(
    State(app): Daemon,
    Extension(actor): Extension<Actor>,
    Named(id): Named,
    Json(prompt): Json<Prompt>,
) -> Result<Response, Failure> {
    let Prompt { text, attachments, files, review, message_id } = prompt;
    let mut prompt = bodies::prompt(text, attachments, files);
    prompt.review = review.into_iter().map(Into::into).collect();
    prompt.by = actor.name;
    let prompted = app.engine.sessions().prompt(id, NewPrompt { prompt, id: message_id }).await?;
    Ok(json::answer(StatusCode::ACCEPTED, &view::prompted(&prompted)))
}

/// Show the state of a session
///
/// The queued prompts, the agent's commands, modes and settings, and its usage.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/state",
    operation_id = "showState",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    responses(
        (status = 200, description = "The state", body = StateOfSession),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn state(State(app): Daemon, Named(id): Named) -> Result<Response, Failure> {
    let snapshot = app.engine.sessions().snapshot(id, 0, 0).await?;
    let state = snapshot.state.into_iter().map(|(_, state)| state).collect();
    let state = with_waiting(&app, id, state).await?;
    let generation = app.generation().await?;
    Ok(json::ok(&StateOfSession { generation, rev: snapshot.rev, state }))
}

/// Change or move a queued prompt
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
        (status = 409, description = "The prompt is no longer queued, or the prefix matches several ids"),
    )
)]
pub(super) async fn edit_queued(
    State(app): Daemon,
    Extension(actor): Extension<Actor>,
    Queued { session, prompt }: Queued,
    Json(patch): Json<QueuePatch>,
) -> Result<Response, Failure> {
    let sessions = app.engine.sessions();
    let mut changed = None;
    if let Some(text) = patch.text {
        changed = Some(sessions.edit_queued(session, prompt, text, actor.name).await?);
    }
    if let Some(position) = patch.position {
        let to = usize::try_from(position).unwrap_or(usize::MAX);
        changed = Some(sessions.move_queued(session, prompt, to).await?);
    }
    match changed {
        Some(changed) => Ok(shown(changed)),
        None if sessions.live(session).queue.contains(&prompt) => {
            Ok(shown(sessions.get(session).await?))
        }
        None => Err(Error::Refused(Refusal::NotQueued { id: prompt }).into()),
    }
}

/// Remove a queued prompt
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
        (status = 409, description = "The prompt is no longer queued, or the prefix matches several ids"),
    )
)]
pub(super) async fn remove_queued(
    State(app): Daemon,
    Queued { session, prompt }: Queued,
) -> Result<Response, Failure> {
    Ok(shown(app.engine.sessions().remove_queued(session, prompt).await?))
}

/// Send a queued prompt next
///
/// The running turn is cancelled for it.
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
        (status = 409, description = "The prompt is no longer queued, or the prefix matches several ids"),
    )
)]
pub(super) async fn send_queued(
    State(app): Daemon,
    Queued { session, prompt }: Queued,
) -> Result<Response, Failure> {
    Ok(shown(app.engine.sessions().send_queued(session, prompt).await?))
}

/// Cancel the running turn
///
/// The session stays active. `queue` says what becomes of the queued prompts.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/cancel",
    operation_id = "cancelTurn",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    request_body = Option<CancelTurn>,
    responses(
        (status = 200, description = "The agent was asked to stop", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "No turn is running, or the prefix matches several ids"),
    )
)]
pub(super) async fn cancel_turn(
    State(app): Daemon,
    Named(id): Named,
    MaybeJson(CancelTurn { queue }): MaybeJson<CancelTurn>,
) -> Result<Response, Failure> {
    Ok(shown(app.engine.sessions().cancel_turn(id, queue.unwrap_or_default()).await?))
}

/// Record that a human has looked at a session
///
/// It is no longer `unseen`.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/seen",
    operation_id = "seeSession",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    responses(
        (status = 204, description = "It is seen"),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn seen(State(app): Daemon, Named(id): Named) -> Result<StatusCode, Failure> {
    app.engine.sessions().see(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Delete a session for good
///
/// Its agent is stopped, and its messages, requests and search entries are deleted. What the agent
/// itself stores, and backups, are not touched.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/erase",
    operation_id = "eraseSession",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    responses(
        (status = 204, description = "It is deleted"),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "It belongs to a pair of teams, or the prefix matches several ids"),
    )
)]
pub(super) async fn erase(State(app): Daemon, Named(id): Named) -> Result<StatusCode, Failure> {
    app.engine.sessions().erase(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Complete a session
///
/// It can be resumed.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/complete",
    operation_id = "completeSession",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    responses(
        (status = 200, description = "The session, completed", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The session has ended, or the prefix matches several ids"),
    )
)]
pub(super) async fn complete(State(app): Daemon, Named(id): Named) -> Result<Response, Failure> {
    Ok(shown(app.engine.sessions().complete(id).await?))
}

/// Cancel a session for good
///
/// The running turn is cancelled and the agent process stopped. A session that has already ended is
/// unchanged.
#[utoipa::path(
    delete,
    path = "/api/sessions/{id}",
    operation_id = "cancelSession",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    responses(
        (status = 200, description = "The session, cancelled, or as it ended before", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn cancel(State(app): Daemon, Named(id): Named) -> Result<Response, Failure> {
    Ok(shown(app.engine.sessions().cancel(id).await?))
}

/// Resume a completed or failed session
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/resume",
    operation_id = "resumeSession",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    responses(
        (status = 200, description = "The session, active again", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The session was cancelled, or is active, or the prefix matches several ids"),
        (status = 429, description = "The limit of active sessions is reached"),
    )
)]
pub(super) async fn resume(
    State(app): Daemon,
    Extension(actor): Extension<Actor>,
    Named(id): Named,
) -> Result<Response, Failure> {
    Ok(shown(app.engine.sessions().resume(id, actor.name).await?))
}

/// Rename, archive or unarchive a session
#[utoipa::path(
    patch,
    path = "/api/sessions/{id}",
    operation_id = "changeSession",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    request_body = SessionPatch,
    responses(
        (status = 200, description = "The session", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn patch(
    State(app): Daemon,
    Named(id): Named,
    Json(patch): Json<SessionPatch>,
) -> Result<Response, Failure> {
    let mut session = app.engine.sessions().get(id).await?;
    if let Some(title) = patch.title {
        session = app.engine.sessions().rename(id, title).await?;
    }
    match patch.archived {
        Some(true) if !session.stored.summary.archived => {
            session = app.engine.sessions().archive(id).await?;
        }
        Some(false) if session.stored.summary.archived => {
            session = app.engine.sessions().unarchive(id).await?;
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
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    request_body = ChosenMode,
    responses(
        (status = 200, description = "The change was sent to the agent", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The agent is not running, or the prefix matches several ids"),
        (status = 502, description = "The agent rejected the change"),
    )
)]
pub(super) async fn mode(
    State(app): Daemon,
    Named(id): Named,
    Json(ChosenMode { mode }): Json<ChosenMode>,
) -> Result<Response, Failure> {
    app.engine.sessions().set_mode(id, mode).await?;
    Ok(shown(app.engine.sessions().get(id).await?))
}

/// Change one of the agent's settings
#[utoipa::path(
    post,
    path = "/api/sessions/{id}/setting",
    operation_id = "setSetting",
    tag = "sessions",
    params(("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id")),
    request_body = ChosenSetting,
    responses(
        (status = 200, description = "The change was sent to the agent", body = Session),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The agent is not running, or the prefix matches several ids"),
        (status = 502, description = "The agent rejected the change"),
    )
)]
pub(super) async fn setting(
    State(app): Daemon,
    Named(id): Named,
    Json(ChosenSetting { setting, choice }): Json<ChosenSetting>,
) -> Result<Response, Failure> {
    app.engine.sessions().set_setting(id, setting, choice).await?;
    Ok(shown(app.engine.sessions().get(id).await?))
}

fn shown(session: SessionView) -> Response {
    json::ok(&view::session(session))
}
