//! What every request passes on its way in, and every answer on its way out.

use std::any::Any;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, FromRequestParts, MatchedPath, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use convoke_api::bodies::code;
use convoke_core::id::SessionId;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::app::App;
use crate::doors::{Doors, Foreign, Shown, Visit};
use crate::failure::{self, Failure};
use crate::{listen, response_cache, teams};

/// The id of a request, in the request, its answer and the log.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// What the page may load, and who may show it.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self' data:; font-src 'self'; frame-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'self'",
);

/// How long an answer may take to begin; an agent that is slow to start is given up before that.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// Who was let in.
#[derive(Clone)]
pub(crate) enum Caller {
    /// Anyone on this machine: what lies there is no secret.
    Anyone,
    /// The human, or a program of theirs, with the daemon's token.
    Owner,
    /// The human's browser, with both parts of its browser session.
    Browser(Visit),
    /// A socket with the cookie of a browser; it must send the secret before it is served.
    Unproven,
    /// The agent of a session.
    Session(SessionId),
}

/// The address that a request comes from.
pub(crate) struct Peer(pub(crate) IpAddr);

impl Peer {
    fn of(extensions: &Extensions) -> Self {
        let peer = extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        // Only a test has no peer.
        Self(peer.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)))
    }
}

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions))
    }
}

/// What lies behind a path, as far as the gate is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    /// Nothing secret: the page's files, and whether the daemon lives.
    Open,
    /// Where a one-time link becomes a browser session.
    SignIn,
    /// The WebSocket.
    Socket,
    /// What agents may call, too.
    Tools,
    /// Where an answer may take as long as a team does.
    Teams,
    /// Everything else.
    Api,
}

impl Room {
    fn of(method: &Method, path: &str) -> Self {
        match path {
            "/healthz" | "/" | "/teams" => Self::Open,
            "/mcp" => Self::Tools,
            "/ws" => Self::Socket,
            "/api/browser-sessions" if method == Method::POST => Self::SignIn,
            _ if path.starts_with("/assets/") || path.starts_with("/s/") => Self::Open,
            _ if path.starts_with("/api/teams/") || path == "/api/agents/stop" => Self::Teams,
            _ => Self::Api,
        }
    }
}

/// Lets a request in, or turns it away; sees to what every answer carries.
pub(crate) async fn pass(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = app.request_id(request.headers());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let span = tracing::info_span!(
        "request",
        %id,
        method = %request.method(),
        path = request.uri().path()
    );
    let answered = async {
        let response = answer(&app, request, next).await;
        let response = failure::account_for(response, &id);
        tracing::debug!(status = response.status().as_u16(), "answered");
        response
    };
    let mut response = answered.instrument(span).await;
    seal(response.headers_mut(), &id);
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    app.metrics.count(route, response.status(), began.elapsed());
    response
}

async fn answer(app: &App, mut request: Request, next: Next) -> Response {
    let room = Room::of(request.method(), request.uri().path());
    let Peer(peer) = Peer::of(request.extensions());
    let visitor = Visitor { peer, uri: request.uri(), headers: request.headers() };
    let caller = match admit(app, room, visitor).await {
        Ok(caller) => caller,
        Err(response) => return *response,
    };
    if room != Room::Open
        && let Err(full) = listen::recognise(request.extensions(), &caller)
    {
        return full.into_response();
    }
    let is_agent = room == Room::Tools && matches!(caller, Caller::Session(_));
    if !app.teams.is_ready() && !is_agent {
        return teams::not_yet().into_response();
    }
    let visit = if let Caller::Browser(visit) = &caller { Some(visit.clone()) } else { None };
    request.extensions_mut().insert(caller);
    let name = response_cache::name(&request);
    let fresh = next.run(request);
    let answering = async {
        match name {
            Some(name) => app.response_cache.answer(&app.engine, name, fresh).await,
            None => fresh.await,
        }
    };
    let answering = AssertUnwindSafe(answering).catch_unwind();
    let answered = match room {
        // Whoever asks a human or a team may wait for long.
        Room::Tools | Room::Teams => Ok(answering.await),
        Room::Open | Room::SignIn | Room::Socket | Room::Api => {
            tokio::time::timeout(ANSWER_TIMEOUT, answering).await
        }
    };
    match answered {
        Ok(Ok(response)) => match visit {
            Some(visit) => until_revoked(response, visit),
            None => response,
        },
        Ok(Err(panic)) => Failure::internal(format!("a panic: {}", words(&*panic))).into_response(),
        Err(_) => Failure::too_slow(ANSWER_TIMEOUT).into_response(),
    }
}

/// Ends the events that a browser follows when its session is revoked.
fn until_revoked(response: Response, visit: Visit) -> Response {
    let media = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    if media != Some(b"text/event-stream".as_slice()) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let events = body.into_data_stream().take_until(visit.revoked.cancelled_owned());
    Response::from_parts(parts, Body::from_stream(events))
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

/// Who is at the gate, and what they show.
#[derive(Clone, Copy)]
struct Visitor<'a> {
    peer: IpAddr,
    uri: &'a Uri,
    headers: &'a HeaderMap,
}

async fn admit(app: &App, room: Room, visitor: Visitor<'_>) -> Result<Caller, Box<Response>> {
    let Visitor { peer, uri, headers } = visitor;
    if let Err(foreign) = app.doors.check_origin(uri, headers) {
        return Err(Box::new(turned_away(&foreign, peer)));
    }
    if room == Room::Open {
        return Ok(Caller::Anyone);
    }
    if let Err(foreign) = Doors::check_site(headers) {
        return Err(Box::new(turned_away(&foreign, peer)));
    }
    if room == Room::SignIn {
        return Ok(Caller::Anyone);
    }
    let key = match app.doors.shown(headers) {
        Shown::Token => return Ok(Caller::Owner),
        Shown::Browser(visit) if room != Room::Tools => return Ok(Caller::Browser(visit)),
        Shown::Cookie if room == Room::Socket => return Ok(Caller::Unproven),
        Shown::Browser(_) | Shown::Cookie | Shown::Nothing => return Err(Box::new(no_token())),
        Shown::WrongSecret => None,
        Shown::Other(token) => Some(token),
    };
    match key.and_then(|key| app.engine.sessions().of_token(key)) {
        Some(id) if room == Room::Tools => Ok(Caller::Session(id)),
        Some(id) => {
            tracing::warn!(target: "security", %peer, session = %id, "refused the key of a session");
            let detail = "the key of a session is valid for /mcp only";
            Err(Box::new(
                Failure::new(StatusCode::FORBIDDEN, code::FORBIDDEN, detail).into_response(),
            ))
        }
        None => {
            tracing::warn!(target: "security", %peer, path = uri.path(), "refused a token");
            tokio::time::sleep(app.doors.refused(peer)).await;
            Err(Box::new(no_token()))
        }
    }
}

fn turned_away(foreign: &Foreign, peer: IpAddr) -> Response {
    let detail = match foreign {
        Foreign::Host(host) => {
            tracing::warn!(target: "security", %peer, host, "refused a foreign Host");
            format!("the Host '{host}' is not this daemon")
        }
        Foreign::Origin(origin) => {
            tracing::warn!(target: "security", %peer, origin, "refused a foreign Origin");
            format!("the Origin '{origin}' is not this daemon's page")
        }
        Foreign::Site(site) => {
            tracing::warn!(target: "security", %peer, site, "refused a page of another origin");
            format!("the browser sent this for a page of another origin ({site})")
        }
    };
    Failure::new(StatusCode::FORBIDDEN, code::FORBIDDEN, detail).into_response()
}

fn no_token() -> Response {
    let detail = "the token is missing or wrong";
    let failure = Failure::new(StatusCode::UNAUTHORIZED, code::UNAUTHORIZED, detail).hint(
        "in a program, send Authorization: Bearer and the token of run/daemon.json in Convoke's home; sign a browser in with `convoke open`",
    );
    let mut response = failure.into_response();
    let challenge = HeaderValue::from_static("Bearer realm=\"convoke\"");
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

/// Puts on an answer what every answer carries.
fn seal(headers: &mut HeaderMap, id: &str) {
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
}
