//! The typed client: one method for each call of the REST interface, readers for what streams, and the WebSocket.
//!
//! Plain HTTP to this machine, over TCP or the control socket, no TLS. Connections are kept and used again; nothing is
//! retried on its own.

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
pub use query::{MessageQuery, SearchQuery, SessionQuery};
pub use raw::Reply;
pub use socket::Socket;
pub use teams::{TeamReportQuery, TeamSessionQuery};
pub use transcript::{Messages, Text, Transcript};

/// How long the daemon may take for what it has at hand.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long it may take for what needs an agent to be started; the daemon itself gives up earlier.
const START_PATIENCE: Duration = Duration::from_secs(180);
/// How long the way to the daemon may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// How much of an answer that makes no sense is shown.
const EXCERPT_CHARS: usize = 200;

/// A way to the daemon.
#[derive(Clone)]
pub struct Client {
    http: legacy::Client<Endpoint, Full<Bytes>>,
    endpoint: Endpoint,
    /// What requests name as their host, without a slash at its end.
    base: String,
    /// What errors call the daemon: its URL, or the path of its control socket.
    place: String,
    authorization: HeaderValue,
}

impl std::fmt::Debug for Client {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("place", &self.place).finish_non_exhaustive()
    }
}

/// What is asked of the daemon.
struct Call {
    method: Method,
    /// Path and query, encoded.
    path: String,
    body: Option<Bytes>,
    patience: Duration,
    /// A status whose answer is of use like that of a success.
    accepted: Option<StatusCode>,
}

impl Client {
    /// A client of the daemon at this URL, over TCP. The connection is made with the first call.
    pub fn connect(base_url: &str, token: &str) -> Result<Self> {
        let base = base_url.trim_end_matches('/');
        let endpoint = base.parse::<Uri>().ok().as_ref().and_then(Endpoint::of_url);
        let endpoint = endpoint.ok_or_else(|| Error::Address { url: base.to_owned() })?;
        Self::at(endpoint, base, base.to_owned(), token)
    }

    /// A client of the daemon with this control socket. Its requests name the daemon's URL as their host.
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

    /// Where the daemon is.
    pub fn url(&self) -> &str {
        &self.base
    }

    /// Calls, and reads the whole answer.
    async fn fetch<T: DeserializeOwned>(&self, call: Call) -> Result<T> {
        let body = self.fetch_bytes(call).await?;
        serde_json::from_slice(&body).map_err(|source| self.malformed(source))
    }

    /// Calls, and reads an answer that says no more than that it went well.
    async fn done(&self, call: Call) -> Result<()> {
        self.fetch_bytes(call).await.map(drop)
    }

    async fn fetch_bytes(&self, call: Call) -> Result<Bytes> {
        let patience = call.patience;
        let whole = async {
            let response = self.send(call).await?;
            let body = response.into_body().collect().await;
            body.map(|body| body.to_bytes()).map_err(|error| self.broken(error))
        };
        self.within(patience, whole).await
    }

    /// Calls, and gives the body of a good answer to be read piece by piece.
    async fn open(&self, call: Call) -> Result<Incoming> {
        let patience = call.patience;
        self.within(patience, async { Ok(self.send(call).await?.into_body()) }).await
    }

    async fn send(&self, call: Call) -> Result<Response<Incoming>> {
        let (url, accepted) = (format!("{}{}", self.base, call.path), call.accepted);
        let mut request = Request::builder()
            .method(call.method)
            .uri(&url)
            .header(AUTHORIZATION, &self.authorization)
            .header(ACCEPT, "application/json, text/event-stream");
        if call.body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
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

    /// What an answer that is no good says.
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
        patience: Duration,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        match tokio::time::timeout(patience, work).await {
            Ok(result) => result,
            Err(_) => Err(Error::TimedOut { url: self.place.clone(), patience }),
        }
    }
}

/// What the system says of a failed connection, without the layers above that say no more.
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
        Self { method, path, body: None, patience: PATIENCE, accepted: None }
    }

    fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path.into())
    }

    fn post(path: impl Into<String>) -> Self {
        Self::new(Method::POST, path.into())
    }

    fn json(self, body: &impl Serialize) -> Self {
        // Our own bodies are written without fail: their keys are words.
        let body = serde_json::to_vec(body).unwrap_or_default();
        Self { body: Some(body.into()), ..self }
    }

    /// Takes an answer with this status for a good one, too.
    fn also(self, status: StatusCode) -> Self {
        Self { accepted: Some(status), ..self }
    }

    /// Gives the daemon time to start an agent.
    fn patient(self) -> Self {
        Self { patience: START_PATIENCE, ..self }
    }
}
