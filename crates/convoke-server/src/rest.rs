//! REST: one file for each resource. Handlers parse the request, call the engine, and encode the response.

mod agents;
mod backups;
mod blobs;
pub(crate) mod browsers;
mod changes;
mod comparisons;
mod config;
mod events;
mod histories;
mod home;
mod imports;
mod inbox;
mod long_list;
mod messages;
pub(crate) mod moving;
mod nodes;
pub(crate) mod repos;
pub(crate) mod rules;
mod search;
mod session;
mod sessions;
mod system;
mod team_sessions;
pub(crate) mod teams;
mod users;
mod worktrees;

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use convoke_api::bodies::code;
use convoke_core::id::{MessageId, SessionId};
use convoke_engine::Error;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::failure::Failure;

/// The state extractor of all handlers.
pub(crate) type Daemon = State<Arc<App>>;

/// Every route with its description.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(repos::add, repos::list))
        .routes(routes!(repos::remove))
        .routes(routes!(repos::files))
        .routes(routes!(blobs::store))
        .routes(routes!(blobs::read))
        .routes(routes!(sessions::create, sessions::list))
        .routes(routes!(session::show, session::cancel, session::patch))
        .routes(routes!(session::prompt))
        .routes(routes!(session::edit_queued, session::remove_queued))
        .routes(routes!(session::send_queued))
        .routes(routes!(session::state))
        .routes(routes!(session::cancel_turn))
        .routes(routes!(session::seen))
        .routes(routes!(session::erase))
        .routes(routes!(session::complete))
        .routes(routes!(session::resume))
        .routes(routes!(session::mode))
        .routes(routes!(session::setting))
        .routes(routes!(moving::targets, moving::go))
        .routes(routes!(changes::list))
        .routes(routes!(changes::file))
        .routes(routes!(changes::restore))
        .routes(routes!(changes::undo))
        .routes(routes!(changes::revert))
        .routes(routes!(changes::fork))
        .routes(routes!(worktrees::finish))
        .routes(routes!(worktrees::list))
        .routes(routes!(worktrees::restore))
        .routes(routes!(worktrees::remove))
        .routes(routes!(comparisons::begin, comparisons::list))
        .routes(routes!(comparisons::show))
        .routes(routes!(comparisons::keep))
        .routes(routes!(messages::list))
        .routes(routes!(imports::import))
        .routes(routes!(histories::list))
        .routes(routes!(histories::begin, histories::show))
        .routes(routes!(events::follow))
        .routes(routes!(home::show))
        .routes(routes!(inbox::list))
        .routes(routes!(inbox::answer))
        .routes(routes!(inbox::reject))
        .routes(routes!(rules::add, rules::list))
        .routes(routes!(rules::remove))
        .routes(routes!(agents::list))
        .routes(routes!(nodes::list))
        .routes(routes!(teams::stop_agents))
        .routes(routes!(teams::list))
        .routes(routes!(teams::reload))
        .routes(routes!(team_sessions::list))
        .routes(routes!(team_sessions::delete))
        .routes(routes!(team_sessions::compact))
        .routes(routes!(team_sessions::stats))
        .routes(routes!(team_sessions::analytics))
        .routes(routes!(teams::status))
        .routes(routes!(teams::ask))
        .routes(routes!(teams::send))
        .routes(routes!(teams::report))
        .routes(routes!(teams::cancel))
        .routes(routes!(teams::sleep))
        .routes(routes!(teams::wake))
        .routes(routes!(search::find))
        .routes(routes!(backups::begin, backups::show))
        .routes(routes!(config::show, config::change))
        .routes(routes!(browsers::link))
        .routes(routes!(browsers::sign_in, browsers::list))
        .routes(routes!(browsers::revoke))
        .routes(routes!(users::add, users::list))
        .routes(routes!(users::change, users::remove))
        .routes(routes!(users::link))
        .routes(routes!(users::make_token))
        .routes(routes!(users::sign_out))
        .routes(routes!(users::sign_device_out))
        .routes(routes!(users::me))
        .routes(routes!(users::audit))
        .routes(routes!(system::status))
        .routes(routes!(system::health))
        .routes(routes!(system::metrics))
}

/// The session in a path: by its id, its canonical id, or a unique prefix of its id.
pub(crate) struct Named(pub(crate) SessionId);

impl FromRequestParts<Arc<App>> for Named {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        let text = in_path(parts, app).await?;
        Ok(Self(find_session(app, &text).await?))
    }
}

/// A queued prompt in a path, with its session.
pub(crate) struct Queued {
    pub(crate) session: SessionId,
    pub(crate) prompt: MessageId,
}

impl FromRequestParts<Arc<App>> for Queued {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        let Path((session, prompt)) = Path::<(String, String)>::from_request_parts(parts, app)
            .await
            .map_err(|rejection| Failure::invalid(rejection.body_text()))?;
        let session = find_session(app, &session).await?;
        let prompt = prompt.parse().map_err(Error::from)?;
        Ok(Self { session, prompt })
    }
}

/// The id of the session that a text names.
pub(crate) async fn find_session(app: &App, text: &str) -> Result<SessionId, Error> {
    named_or_none(text, app.engine.sessions().find(text).await)
}

/// A text that cannot be an id or prefix names no session.
fn named_or_none<T>(text: &str, found: Result<T, Error>) -> Result<T, Error> {
    match found {
        Err(Error::Invalid(_)) => Err(Error::UnknownSession { text: text.to_owned() }),
        found => found,
    }
}

/// The only parameter of a path, as text.
pub(crate) struct Written(pub(crate) String);

impl FromRequestParts<Arc<App>> for Written {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        in_path(parts, app).await.map(Self)
    }
}

async fn in_path(parts: &mut Parts, app: &Arc<App>) -> Result<String, Failure> {
    let Path(text) = Path::<String>::from_request_parts(parts, app)
        .await
        .map_err(|rejection| Failure::invalid(rejection.body_text()))?;
    Ok(text)
}

/// 404 for an unknown path.
pub(crate) fn not_found() -> Failure {
    Failure::new(StatusCode::NOT_FOUND, code::NOT_FOUND, "there is nothing at this path")
        .hint("GET /api/openapi.json lists all paths")
}

/// 405 for a known path.
pub(crate) fn wrong_method() -> Failure {
    let detail =
        "this path does not allow this method; the header Allow lists those that it allows";
    Failure::new(StatusCode::METHOD_NOT_ALLOWED, code::INVALID, detail)
}
