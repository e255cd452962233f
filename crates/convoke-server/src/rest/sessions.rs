//! Sessions as a list.

use axum::Extension;
use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use convoke_api::bodies::{self, CreatedSession, NewSession, Sessions};
use convoke_core::prompt::Prompt;
use convoke_core::session::Status;
use convoke_engine::{
    Archived, Choices, NodeScope, SessionFilter, SessionKind, SessionOrder, Window,
};
use serde::{Deserialize, Deserializer, de};
use utoipa::IntoParams;

use super::Daemon;
use super::long_list::LongList;
use crate::actor::Actor;
use crate::failure::Failure;
use crate::json::{self, Json};
use crate::query::{self, Query};
use crate::view;

/// Sessions in a page, by default.
const LIMIT: u64 = 20;
/// Sessions of a longer list that are read at once; the first ones are on their way while the others are read.
const PIECE: usize = 250;

/// Create a session
///
/// Waits until the agent is ready. With `prompt`, the first prompt is sent in the same step.
#[utoipa::path(
    post,
    path = "/api/sessions",
    operation_id = "createSession",
    tag = "sessions",
    request_body = NewSession,
    responses(
        (
            status = 201,
            description = "The session was created",
            body = CreatedSession,
            headers(("Location" = String, description = "The path of the session")),
        ),
        (status = 404, description = "There is no such project or agent"),
        (status = 409, description = "There can be no such work tree, or the prefix matches several projects"),
        (status = 422, description = "The agent does not offer this model or mode"),
        (status = 429, description = "The limit of active sessions is reached"),
        (status = 502, description = "The agent did not start"),
    )
)]
pub(super) async fn create(
    State(app): Daemon,
    Extension(actor): Extension<Actor>,
    Json(new): Json<NewSession>,
) -> Result<Response, Failure> {
    let project = app.engine.projects().find(&new.repo_id).await?;
    let agent = new.agent.map(|name| name.parse()).transpose();
    let agent = agent.map_err(convoke_engine::Error::from)?;
    let choices = Choices { model: new.model, mode: new.mode };
    let worktree = view::worktrees::wanted(new.worktree);
    let beginning = convoke_engine::NewSession { project, agent, choices, worktree };
    let sessions = app.engine.sessions();
    let text = new.prompt.or_else(|| (!new.attachments.is_empty()).then(String::new));
    let (session, prompted) = match text {
        Some(text) => {
            let prompt = bodies::prompt(text, new.attachments, new.files);
            let prompt = Prompt { by: actor.name, ..prompt };
            let created = sessions.create_with_prompt(beginning, prompt.into()).await?;
            (created.session, Some(created.prompted))
        }
        None => (sessions.begin(beginning).await?, None),
    };
    let id = session.stored.id;
    let (prompt, refused) = match prompted {
        Some(Ok(prompted)) => (Some(view::prompted(&prompted)), None),
        Some(Err(error)) => (None, Some(Failure::from(error).message().0.to_owned())),
        None => (None, None),
    };
    let created = CreatedSession { session: view::session(session), prompt, refused };
    let mut response = json::answer(StatusCode::CREATED, &created);
    if let Ok(place) = HeaderValue::from_str(&format!("/api/sessions/{id}")) {
        response.headers_mut().insert(LOCATION, place);
    }
    Ok(response)
}

/// Which sessions are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SessionsQuery {
    /// Only those of this project: its id, or a unique prefix of it.
    repo_id: Option<String>,
    /// Only those with one of these statuses, separated by commas: `active`, `completed`, `cancelled`, `error`.
    #[serde(default, deserialize_with = "statuses")]
    #[param(
        value_type = Option<String>,
        pattern = "^(active|completed|cancelled|error)(,(active|completed|cancelled|error))*$"
    )]
    status: Vec<Status>,
    /// `true`: only archived ones; else only the others.
    archived: Option<bool>,
    /// How many at most; 20, by default.
    #[serde(default, deserialize_with = "query::within::<_, 1, 10_000>")]
    #[param(minimum = 1, maximum = 10_000)]
    limit: Option<u64>,
    /// How many to leave out at the beginning.
    #[serde(default, deserialize_with = "query::within::<_, 0, 4_294_967_295>")]
    #[param(minimum = 0, maximum = 4_294_967_295_i64)]
    offset: Option<u64>,
}

fn statuses<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Status>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let status = |word: &str| {
        let found = Status::ALL.into_iter().find(|status| status.as_str() == word);
        found.ok_or_else(|| {
            let known = Status::ALL.map(Status::as_str).join(", ");
            de::Error::custom(format!("`{word}` is not one of {known}"))
        })
    };
    text.split(',').map(status).collect()
}

/// List sessions
/// Newest first, without messages.
#[utoipa::path(
    get,
    path = "/api/sessions",
    operation_id = "listSessions",
    tag = "sessions",
    params(SessionsQuery),
    responses(
        (status = 200, description = "A page of sessions, and the total number", body = Sessions),
        (status = 404, description = "There is no such project"),
        (status = 409, description = "The prefix matches several projects"),
    )
)]
pub(super) async fn list(
    State(app): Daemon,
    Query(which): Query<SessionsQuery>,
) -> Result<Response, Failure> {
    let project = match &which.repo_id {
        Some(text) => Some(app.engine.projects().find(text).await?),
        None => None,
    };
    let filter = SessionFilter {
        project,
        statuses: which.status,
        archived: if which.archived == Some(true) { Archived::Only } else { Archived::Hidden },
        kind: Some(SessionKind::Session),
        of: NodeScope::All,
    };
    let (limit, offset) = (which.limit.unwrap_or(LIMIT), which.offset.unwrap_or(0));
    // Both are within these bounds already.
    let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let window = Window { limit: narrow(limit), offset: narrow(offset) };
    if limit > PIECE as u64 {
        let pieces =
            app.engine.sessions().list_in_pieces(filter, SessionOrder::Created, window, PIECE);
        return LongList::new(pieces, limit, offset).send().await;
    }
    let listed = app.engine.sessions().list(filter, SessionOrder::Created, window).await?;
    let sessions = listed.sessions.into_iter().map(view::session).collect();
    Ok(json::ok(&Sessions { sessions, total: listed.total, limit, offset }))
}
