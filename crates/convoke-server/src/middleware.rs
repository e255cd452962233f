//! The middleware of every request: authentication, timeout, panics, response cache, security headers, metrics.

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

use crate::actor::{Actor, Login, Subject};
use crate::app::App;
use crate::auth::{self, Auth, Credential, OriginError};
use crate::failure::{self, Failure};
use crate::nodes::Forwarded;
use crate::{access, listen, page, response_cache, teams};

/// The header with the id of a request, which is also in the log.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// The content security policy of the page.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self' data:; font-src 'self'; frame-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'self'",
);

/// How long a handler may take until its response starts; starting an agent times out earlier.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// Who sent a request.
#[derive(Clone)]
pub(crate) enum Caller {
    /// No credential needed: the route is public.
    Anonymous,
    /// The owner of the daemon or a user, or a program of theirs.
    Human(Login),
    /// A WebSocket with a browser's cookie; it must send the secret before it is served.
    UnverifiedBrowser,
    /// An agent process, with the key of its session.
    Session(SessionId),
}

/// The address of the peer.
pub(crate) struct Peer(pub(crate) IpAddr);

impl Peer {
    fn of(extensions: &Extensions) -> Self {
        let peer = extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        // Only tests call the router without a connection.
        Self(peer.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)))
    }
}

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions))
    }
}

/// How the middleware treats a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RouteClass {
    /// Public: the page's files, and the health check.
    Open,
    /// Exchanges a one-time link for a browser session.
    SignIn,
    /// The WebSocket.
    Socket,
    /// MCP, which agents may call, too.
    Tools,
    /// Waits for a team's answer, so it has no timeout.
    Teams,
    /// Everything else.
    Api,
}

impl RouteClass {
    /// An unknown path that a browser opens is answered with a page, which is public like the others.
    fn of_request(request: &Request) -> Self {
        let (method, uri) = (request.method(), request.uri());
        let is_unknown = request.extensions().get::<MatchedPath>().is_none();
        match is_unknown && page::is_visit(method, uri, request.headers()) {
            true => Self::Open,
            false => Self::of(method, uri.path()),
        }
    }

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

/// Authenticates and answers one request.
pub(crate) async fn handle(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
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
        let response = failure::log_internal(response, &id);
        tracing::debug!(status = response.status().as_u16(), "answered");
        response
    };
    let mut response = answered.instrument(span).await;
    add_headers(response.headers_mut(), &id);
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    app.metrics.count(route, response.status(), began.elapsed());
    response
}

async fn answer(app: &Arc<App>, mut request: Request, next: Next) -> Response {
    let class = RouteClass::of_request(&request);
    let Peer(peer) = Peer::of(request.extensions());
    let head = RequestHead { peer, uri: request.uri(), headers: request.headers() };
    let forwarded = request.extensions().get::<Forwarded>().cloned();
    let caller = match &forwarded {
        Some(_) => Ok(Caller::Human(Login::Owner)),
        None => authenticate(app, class, head).await,
    };
    let caller = match caller {
        Ok(caller) => caller,
        Err(response) => return *response,
    };
    if class != RouteClass::Open
        && let Err(full) = listen::assign(request.extensions(), &caller)
    {
        return full.into_response();
    }
    let is_agent = class == RouteClass::Tools && matches!(caller, Caller::Session(_));
    if !app.teams.is_ready() && !is_agent {
        return teams::not_ready().into_response();
    }
    let login = if let Caller::Human(login) = &caller { Some(login.clone()) } else { None };
    let mut done = None;
    match (&login, forwarded) {
        (Some(_), Some(Forwarded(by))) => {
            request.extensions_mut().insert(Actor::at_node(by));
        }
        (Some(login), None) => match authorize(app, login, peer, request).await {
            Ok(authorized) => (request, done) = authorized,
            Err(response) => return *response,
        },
        (None, _) => {}
    }
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
    let answered = match class {
        // A question to the human or to a team has no time limit.
        RouteClass::Tools | RouteClass::Teams => Ok(answering.await),
        RouteClass::Open | RouteClass::SignIn | RouteClass::Socket | RouteClass::Api => {
            tokio::time::timeout(ANSWER_TIMEOUT, answering).await
        }
    };
    match answered {
        Ok(Ok(response)) => {
            if let Some(AuditedAction { actor, action, about }) = done
                && response.status().is_success()
            {
                app.record(actor, action, about);
            }
            match login {
                Some(login) => until_signed_out(Arc::clone(app), response, login, peer),
                None => response,
            }
        }
        Ok(Err(panic)) => {
            Failure::internal(format!("a panic: {}", panic_message(&*panic))).into_response()
        }
        Err(_) => Failure::timeout(ANSWER_TIMEOUT).into_response(),
    }
}

/// An action for the audit trail.
struct AuditedAction {
    actor: Actor,
    action: &'static str,
    about: Subject,
}

/// Checks the role of the human. Returns the request with the human, and the action to record.
async fn authorize(
    app: &App,
    login: &Login,
    peer: IpAddr,
    request: Request,
) -> Result<(Request, Option<AuditedAction>), Box<Response>> {
    let refused = |failure: Failure| Box::new(failure.into_response());
    let actor = app.actor(login, peer).await.map_err(|error| refused(error.into()))?;
    let actor = actor.ok_or_else(|| Box::new(unauthorized()))?;
    let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    // An unknown path is answered with 404 to everyone who is signed in.
    let rule = path.map(|path| access::of_route(request.method(), &path));
    let is_about = rule.is_some_and(|rule| rule.action.is_some()) || actor.has_project_roles();
    let (mut request, about) = match is_about {
        true => Subject::of_request(app, request).await.map_err(refused)?,
        false => (request, Subject::default()),
    };
    if let Some(rule) = rule {
        actor.check(rule, about.project).map_err(refused)?;
    }
    request.extensions_mut().insert(actor.clone());
    let action = rule.and_then(|rule| rule.action);
    Ok((request, action.map(|action| AuditedAction { actor, action, about })))
}

/// Ends a stream of server-sent events when the browser or the user is signed out.
fn until_signed_out(app: Arc<App>, response: Response, login: Login, peer: IpAddr) -> Response {
    let media = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    if media != Some(b"text/event-stream".as_slice()) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let signed_out = async move { app.signed_out(&login, peer).await };
    let events = body.into_data_stream().take_until(Box::pin(signed_out));
    Response::from_parts(parts, Body::from_stream(events))
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

/// The parts of a request that authentication looks at.
#[derive(Clone, Copy)]
struct RequestHead<'a> {
    peer: IpAddr,
    uri: &'a Uri,
    headers: &'a HeaderMap,
}

async fn authenticate(
    app: &App,
    class: RouteClass,
    head: RequestHead<'_>,
) -> Result<Caller, Box<Response>> {
    let RequestHead { peer, uri, headers } = head;
    if let Err(foreign) = app.auth.check_origin(uri, headers) {
        return Err(Box::new(forbidden(&foreign, peer)));
    }
    if class == RouteClass::Open {
        return Ok(Caller::Anonymous);
    }
    if let Err(foreign) = Auth::check_site(headers) {
        return Err(Box::new(forbidden(&foreign, peer)));
    }
    if class == RouteClass::SignIn {
        return Ok(Caller::Anonymous);
    }
    let key = match app.auth.credential(headers) {
        Credential::Token => return Ok(Caller::Human(Login::Owner)),
        Credential::Browser(visit) if class != RouteClass::Tools => {
            return Ok(Caller::Human(Login::Browser(visit)));
        }
        Credential::Cookie if class == RouteClass::Socket => return Ok(Caller::UnverifiedBrowser),
        Credential::Browser(_) | Credential::Cookie | Credential::Nothing => {
            return Err(Box::new(unauthorized()));
        }
        Credential::WrongSecret => None,
        Credential::Other(token) => Some(token),
    };
    match key.and_then(|key| app.engine.sessions().of_token(key)) {
        Some(id) if class == RouteClass::Tools => Ok(Caller::Session(id)),
        Some(id) => {
            tracing::warn!(target: "security", %peer, session = %id, "refused the key of a session");
            let detail = "the key of a session is valid for /mcp only";
            Err(Box::new(
                Failure::new(StatusCode::FORBIDDEN, code::FORBIDDEN, detail).into_response(),
            ))
        }
        None => {
            let digest = key.map(auth::digest).unwrap_or_default();
            match app.engine.users().of_token(digest.clone()).await {
                Ok(Some(_)) => return Ok(Caller::Human(Login::Token(digest))),
                Ok(None) => {}
                Err(error) => return Err(Box::new(Failure::from(error).into_response())),
            }
            tracing::warn!(target: "security", %peer, path = uri.path(), "refused a token");
            tokio::time::sleep(app.auth.record_failure(peer)).await;
            Err(Box::new(unauthorized()))
        }
    }
}

fn forbidden(foreign: &OriginError, peer: IpAddr) -> Response {
    let detail = match foreign {
        OriginError::Host(host) => {
            tracing::warn!(target: "security", %peer, host, "refused a foreign Host");
            format!("the Host `{host}` is not this daemon")
        }
        OriginError::Origin(origin) => {
            tracing::warn!(target: "security", %peer, origin, "refused a foreign Origin");
            format!("the Origin `{origin}` is not this daemon's page")
        }
        OriginError::Site(site) => {
            tracing::warn!(target: "security", %peer, site, "refused a page of another origin");
            format!("the browser sent this for a page of another origin ({site})")
        }
    };
    Failure::new(StatusCode::FORBIDDEN, code::FORBIDDEN, detail).into_response()
}

fn unauthorized() -> Response {
    let detail = "the token is missing or wrong";
    let failure = Failure::new(StatusCode::UNAUTHORIZED, code::UNAUTHORIZED, detail).hint(
        "in a program, send Authorization: Bearer and the token of run/daemon.json in Convoke's home; sign a browser in with `convoke open`",
    );
    let mut response = failure.into_response();
    let challenge = HeaderValue::from_static("Bearer realm=\"convoke\"");
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

/// Adds the headers that every response has.
fn add_headers(headers: &mut HeaderMap, id: &str) {
    // Attachments have a stricter one.
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(POLICY);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
}
