//! The typed client: one method for each REST call, readers for streams, and the WebSocket.
//!
//! Plain HTTP to this machine, over TCP or the control socket, without TLS. Connections are pooled; nothing is
//! retried.

mod browsers;
mod calls;
mod connect;
mod elements;
mod events;
mod query;
mod raw;
mod socket;
mod teams;
mod transcript;
mod users;

use std::path::Path;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bodies::Problem;
use crate::error::{Error, Result};

use connect::Endpoint;

pub use events::{
    Cursor, DeltaEvent, Events, EventsSince, InvalidCursor, SessionEvent, StateEvent,
};
pub use query::{SearchQuery, SessionQuery};
pub use raw::Reply;
pub use socket::Socket;
pub use teams::{TeamReportQuery, TeamSessionQuery};
pub use transcript::{Messages, Text, Transcript};
pub use users::AuditQuery;

/// The timeout of most calls.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The timeout of calls that start an agent; the daemon itself gives up earlier.
const START_TIMEOUT: Duration = Duration::from_secs(180);
/// The timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest excerpt of an unexpected response in an error.
const EXCERPT_CHARS: usize = 200;

/// A client of the daemon.
#[derive(Clone)]
pub struct Client {
    http: legacy::Client<Endpoint, Full<Bytes>>,
    endpoint: Endpoint,
    /// The base URL of requests, without a trailing slash.
    base: String,
    /// The daemon in error messages: its URL, or the path of its control socket.
    place: String,
    authorization: HeaderValue,
}

impl std::fmt::Debug for Client {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("place", &self.place).finish_non_exhaustive()
    }
}

/// A REST call.
struct Call {
    method: Method,
    /// Path and query, encoded.
    path: String,
    body: Option<Bytes>,
    media_type: &'static str,
    timeout: Duration,
    /// An error status whose body is read like that of a success.
    accepted: Option<StatusCode>,
}

impl Client {
    /// A client of the daemon at this URL, over TCP. Connects with the first call.
    pub fn connect(base_url: &str, token: &str) -> Result<Self> {
        let base = base_url.trim_end_matches('/');
        let endpoint = base.parse::<Uri>().ok().as_ref().and_then(Endpoint::of_url);
        let endpoint = endpoint.ok_or_else(|| Error::Address { url: base.to_owned() })?;
        Self::at(endpoint, base, base.to_owned(), token)
    }

    /// A client of the daemon with this control socket. `base_url` becomes the Host of its requests.
    pub fn connect_control(socket: &Path, base_url: &str, token: &str) -> Result<Self> {
        let place = socket.display().to_string();
        Self::at(Endpoint::Control(socket.to_owned()), base_url, place, token)
    }

    fn at(endpoint: Endpoint, base_url: &str, place: String, token: &str) -> Result<Self> {
        let base = base_url.trim_end_matches('/').to_owned();
        let is_plain = base.parse::<Uri>().is_ok_and(|uri| {
            uri.scheme_str() == Some("http") && uri.authority().is_some() && uri.query().is_none()
        });
        let authorization = HeaderValue::try_from(format!("Bearer {token}"));
        let (true, Ok(mut authorization)) = (is_plain, authorization) else {
            return Err(Error::Address { url: base });
        };
        authorization.set_sensitive(true);
        let http = legacy::Client::builder(TokioExecutor::new()).build(endpoint.clone());
        Ok(Self { http, endpoint, base, place, authorization })
    }

    /// The daemon's URL.
    pub fn url(&self) -> &str {
        &self.base
    }

    /// Calls, and reads the whole response.
    async fn fetch<T: DeserializeOwned>(&self, call: Call) -> Result<T> {
        let body = self.fetch_bytes(call).await?;
        serde_json::from_slice(&body).map_err(|source| self.malformed(source))
    }

    /// Calls, and discards the body of a successful response.
    async fn done(&self, call: Call) -> Result<()> {
        self.fetch_bytes(call).await.map(drop)
    }

    async fn fetch_bytes(&self, call: Call) -> Result<Bytes> {
        let timeout = call.timeout;
        let whole = async {
            let response = self.send(call).await?;
            let body = response.into_body().collect().await;
            body.map(|body| body.to_bytes()).map_err(|error| self.broken(error))
        };
        self.within(timeout, whole).await
    }

    /// Calls, and returns the body of a successful response as a stream.
    async fn open(&self, call: Call) -> Result<Incoming> {
        let timeout = call.timeout;
        self.within(timeout, async { Ok(self.send(call).await?.into_body()) }).await
    }

    async fn send(&self, call: Call) -> Result<Response<Incoming>> {
        let (url, accepted) = (format!("{}{}", self.base, call.path), call.accepted);
        let mut request = Request::builder()
            .method(call.method)
            .uri(&url)
            .header(AUTHORIZATION, &self.authorization)
            .header(ACCEPT, "application/json, text/event-stream");
        if call.body.is_some() {
            request = request.header(CONTENT_TYPE, call.media_type);
        }
        let request = request
            .body(Full::new(call.body.unwrap_or_default()))
            .map_err(|_| Error::Address { url })?;
        let response = self.http.request(request).await.map_err(|error| self.failed(error))?;
        if response.status().is_success() || accepted == Some(response.status()) {
            return Ok(response);
        }
        Err(self.refused(response).await)
    }

    /// The error in an unsuccessful response.
    async fn refused(&self, response: Response<Incoming>) -> Error {
        let status = response.status();
        let body = match response.into_body().collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => return self.broken(error),
        };
        match serde_json::from_slice::<Problem>(&body) {
            Ok(problem) => Error::Problem(Box::new(problem)),
            Err(_) => self.unexpected(status, &body),
        }
    }

    fn unexpected(&self, status: StatusCode, body: &[u8]) -> Error {
        let text = String::from_utf8_lossy(body);
        let body = text.trim().chars().take(EXCERPT_CHARS).collect();
        Error::Unexpected { url: self.place.clone(), status: status.as_u16(), body }
    }

    fn failed(&self, error: legacy::Error) -> Error {
        let url = self.place.clone();
        if error.is_connect() {
            Error::Unreachable { url, source: said_by_system(error) }
        } else {
            Error::Broken { url, source: error.into() }
        }
    }

    fn broken(&self, error: hyper::Error) -> Error {
        Error::Broken { url: self.place.clone(), source: error.into() }
    }

    fn malformed(&self, source: serde_json::Error) -> Error {
        Error::Malformed { url: self.place.clone(), source }
    }

    async fn within<T>(
        &self,
        timeout: Duration,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        match tokio::time::timeout(timeout, work).await {
            Ok(result) => result,
            Err(_) => Err(Error::TimedOut { url: self.place.clone(), after: timeout }),
        }
    }
}

/// The I/O error of a failed connection, without the layers above it that add nothing.
fn said_by_system(error: legacy::Error) -> Box<dyn std::error::Error + Send + Sync> {
    let mut cause: Option<&dyn std::error::Error> = Some(&error);
    while let Some(layer) = cause {
        let code = layer.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error);
        if let Some(code) = code {
            return std::io::Error::from_raw_os_error(code).into();
        }
        cause = layer.source();
    }
    error.into()
}

impl Call {
    fn new(method: Method, path: String) -> Self {
        let media_type = "application/json";
        Self { method, path, body: None, media_type, timeout: TIMEOUT, accepted: None }
    }

    fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path.into())
    }

    fn post(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path.into())
    }

    fn json(self, body: &impl Serialize) -> Self {
        // Serialising our own bodies cannot fail: all keys are strings.
        let body = serde_json::to_vec(body).unwrap_or_default();
        Self { body: Some(body.into()), ..self }
    }

    /// With any bytes as its body.
    fn bytes(self, body: Vec<u8>) -> Self {
        Self { body: Some(body.into()), media_type: "application/octet-stream", ..self }
    }

    /// Accepts this status as success, too.
    fn also(self, status: StatusCode) -> Self {
        Self { accepted: Some(status), ..self }
    }

    /// Uses the timeout for starting an agent.
    fn patient(self) -> Self {
        Self { timeout: START_TIMEOUT, ..self }
    }
}
