//! Browsers: one-time links, signing in, and who is signed in.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header::{SET_COOKIE, USER_AGENT};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use convoke_api::bodies::{
    BrowserLink, BrowserSessions, LinkForm, NewBrowserLink, SignIn, SignedIn, code,
};
use convoke_core::explain;
use convoke_core::time::Timestamp;

use super::{Daemon, Written};
use crate::actor::{Actor, Login};
use crate::app::App;
use crate::auth::{BrowserUser, Credential, LINK_LIFE, NewBrowser, Redeemed, Revoked};
use crate::failure::Failure;
use crate::json::{self, MaybeJson, ShortJson};
use crate::middleware::{Caller, Peer};

/// Characters of a browser session's id.
const ID_CHARS: usize = 8;

/// Make a one-time link for a browser
///
/// It signs in one browser of the caller, once, within five minutes.
#[utoipa::path(
    post,
    path = "/api/browser-links",
    operation_id = "makeBrowserLink",
    tag = "browsers",
    request_body = Option<NewBrowserLink>,
    responses((status = 201, description = "The link, or the file that redirects to it", body = BrowserLink))
)]
pub(super) async fn link(
    State(app): Daemon,
    Extension(caller): Extension<Caller>,
    Extension(actor): Extension<Actor>,
    MaybeJson(new): MaybeJson<NewBrowserLink>,
) -> Result<Response, Failure> {
    if let Caller::Human(Login::Browser(_)) = caller {
        let detail = "a browser cannot sign in other browsers";
        return Err(
            Failure::new(StatusCode::FORBIDDEN, code::FORBIDDEN, detail).hint("run `convoke open`")
        );
    }
    // A link of a user signs in that user, never the owner of the daemon.
    let user = match &actor.name {
        Some(name) => Some(app.engine.users().get(name.as_str()).await?),
        None => None,
    };
    let user = user.map(|user| BrowserUser { name: user.name, epoch: user.epoch });
    let life = i64::try_from(LINK_LIFE.as_millis()).unwrap_or(i64::MAX);
    let now = app.auth.browsers.now();
    let expires_at = Timestamp::from_millis(now.as_millis().saturating_add(life));
    let link = match new.r#as {
        LinkForm::Url => {
            let url = app.auth.links.make(&app.identity.url, &app.new_token(), user);
            BrowserLink { url: Some(url), file: None, expires_at }
        }
        LinkForm::File => {
            let made = make_file(&app, user).await;
            let file = made.map_err(|error| Failure::internal(explain(&error)))?;
            BrowserLink { url: None, file: Some(file.display().to_string()), expires_at }
        }
    };
    Ok(json::answer(StatusCode::CREATED, &link))
}

/// Makes a link and a file that redirects to it; the file is removed when the link is used or
/// expires.
pub(crate) async fn make_file(
    app: &Arc<App>,
    user: Option<BrowserUser>,
) -> Result<PathBuf, convoke_files::Error> {
    let making = Arc::clone(app);
    let made = tokio::task::spawn_blocking(move || {
        let name: String = making.new_token().as_str().chars().take(ID_CHARS).collect();
        making.auth.links.make_file(&making.identity.url, &making.new_token(), &name, user)
    });
    let path = made.await.unwrap_or_else(|error| {
        Err(convoke_files::Error::Write {
            path: PathBuf::from(&app.identity.home),
            step: "making the redirect file",
            source: std::io::Error::other(error),
        })
    })?;
    let app = Arc::clone(app);
    tokio::spawn(async move {
        tokio::select! {
            () = tokio::time::sleep(LINK_LIFE) => app.auth.links.expire(),
            // Dropping the links deletes their files.
            () = app.stop.cancelled() => {}
        }
    });
    Ok(path)
}

/// Sign a browser in
///
/// For the page: takes the secret of a one-time link, sets a cookie, and returns the second secret
/// that every further request needs. A browser that is already signed in keeps its secrets.
#[utoipa::path(
    post,
    path = "/api/browser-sessions",
    operation_id = "signInBrowser",
    tag = "browsers",
    security(()),
    request_body = SignIn,
    responses(
        (status = 200, description = "The browser was already signed in", body = SignedIn),
        (status = 201, description = "The browser is signed in", body = SignedIn),
        (status = 403, description = "The link was used before, has expired or is invalid"),
    )
)]
pub(super) async fn sign_in(
    State(app): Daemon,
    Peer(peer): Peer,
    headers: HeaderMap,
    ShortJson(SignIn { link }): ShortJson<SignIn>,
) -> Result<Response, Failure> {
    let user = match redeem(&app, &link).await? {
        Redeemed::Valid(user) => user,
        Redeemed::Invalid => {
            tracing::warn!(target: "security", %peer, "refused a link");
            tokio::time::sleep(app.auth.record_failure(peer)).await;
            let detail = "this link was used before, or has expired";
            return Err(Failure::new(StatusCode::FORBIDDEN, code::FORBIDDEN, detail)
                .hint("run `convoke open` to get another one"));
        }
    };
    if let Credential::Browser(visit) = app.auth.credential(&headers)
        && visit.user == user
    {
        return Ok(json::ok(&SignedIn { id: visit.id, secret: None }));
    }
    let (cookie, secret) = (app.new_token(), app.new_token());
    let id: String = app.new_token().as_str().chars().take(ID_CHARS).collect();
    let user_agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
    let user_agent = user_agent.unwrap_or_default();
    app.auth
        .browsers
        .add(NewBrowser { id: id.clone(), cookie: &cookie, secret: &secret, user_agent, user })
        .await;
    tracing::info!(target: "security", browser = id, "a browser signed in");
    let signed_in = SignedIn { id, secret: Some(secret.as_str().to_owned()) };
    let mut response = json::answer(StatusCode::CREATED, &signed_in);
    let cookie = HeaderValue::from_str(&app.auth.cookie(&cookie, &headers));
    let cookie = cookie.map_err(|error| Failure::internal(error.to_string()))?;
    response.headers_mut().insert(SET_COOKIE, cookie);
    Ok(response)
}

/// Consumes a link. It is not valid if its user was removed or signed out since it was made, on whichever node.
async fn redeem(app: &App, link: &str) -> Result<Redeemed, Failure> {
    let redeemed = app.auth.links.redeem(link);
    let Redeemed::Valid(Some(user)) = &redeemed else { return Ok(redeemed) };
    let known = app.engine.users().find(user.name.clone()).await?;
    let is_same = known.is_some_and(|known| known.epoch == user.epoch);
    Ok(if is_same { redeemed } else { Redeemed::Invalid })
}

/// List the browsers that are signed in
#[utoipa::path(
    get,
    path = "/api/browser-sessions",
    operation_id = "listBrowserSessions",
    tag = "browsers",
    responses((status = 200, description = "All browser sessions, last used first", body = BrowserSessions))
)]
pub(super) async fn list(State(app): Daemon) -> Response {
    json::ok(&BrowserSessions { browser_sessions: app.auth.browsers.list() })
}

/// Sign a browser out
///
/// Its open pages are disconnected at once.
#[utoipa::path(
    delete,
    path = "/api/browser-sessions/{id}",
    operation_id = "revokeBrowserSession",
    tag = "browsers",
    params(("id" = String, Path, description = "The id of the browser session")),
    responses(
        (status = 204, description = "The browser is signed out"),
        (status = 404, description = "There is no such browser session"),
    )
)]
pub(super) async fn revoke(
    State(app): Daemon,
    Written(id): Written,
) -> Result<StatusCode, Failure> {
    let revoked = app.auth.browsers.revoke(&id).await;
    match revoked.map_err(|error| Failure::internal(explain(&error)))? {
        Revoked::Done => {
            tracing::info!(target: "security", browser = id, "a browser was signed out");
            Ok(StatusCode::NO_CONTENT)
        }
        Revoked::Unknown => {
            let detail = format!("there is no browser session {id}");
            Err(Failure::new(StatusCode::NOT_FOUND, code::NOT_FOUND, detail)
                .hint("`convoke browser list` shows those that are signed in"))
        }
    }
}
