//! Raw POST requests, such as for MCP: the response is returned as it is, whatever its status.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request};

use super::Client;
use super::events::Lines;
use super::transcript::piece;
use crate::error::{Error, Result};

/// The longest response that is read into memory; the daemon's own are far shorter.
const REPLY_BYTES_MAX: usize = 64 << 20;

/// A response that is read as it arrives. Dropping it closes the connection, which the daemon notices.
#[derive(Debug)]
pub struct Reply {
    client: Client,
    status: u16,
    headers: HeaderMap,
    body: Incoming,
    lines: Lines,
}

impl Client {
    /// Posts JSON to the URL that this client was made for, and waits for the response without a timeout.
    pub async fn post_raw(
        &self,
        headers: &[(&'static str, String)],
        body: String,
    ) -> Result<Reply> {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(&self.base)
            .header(AUTHORIZATION, &self.authorization)
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json");
        for (name, value) in headers {
            // An invalid header value is dropped; the server reports it if it needs it.
            if let Ok(value) = HeaderValue::try_from(value) {
                request = request.header(HeaderName::from_static(name), value);
            }
        }
        let request = request
            .body(Full::new(Bytes::from(body)))
            .map_err(|_| Error::Address { url: self.place.clone() })?;
        let response = self.http.request(request).await.map_err(|error| self.failed(error))?;
        let (parts, body) = response.into_parts();
        Ok(Reply {
            client: self.clone(),
            status: parts.status.as_u16(),
            headers: parts.headers,
            body,
            lines: Lines::default(),
        })
    }
}

impl Reply {
    /// The HTTP status.
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Whether the status is a success.
    pub const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// The value of a header, if it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Whether the response is a stream of server-sent events.
    pub fn is_event_stream(&self) -> bool {
        let kind = self.header(CONTENT_TYPE.as_str()).unwrap_or_default();
        kind.split(';').next().is_some_and(|it| it.trim().eq_ignore_ascii_case("text/event-stream"))
    }

    /// The data of the next event; `None` when the daemon ends the stream.
    pub async fn next_event(&mut self) -> Result<Option<String>> {
        loop {
            if let Some(event) = self.lines.next_event() {
                return Ok(Some(event.data));
            }
            match piece(&self.client, &mut self.body).await? {
                Some(bytes) => self.lines.push(&bytes),
                None => return Ok(None),
            }
        }
    }

    /// The whole response.
    pub async fn text(mut self) -> Result<String> {
        let mut bytes = Vec::new();
        while let Some(piece) = piece(&self.client, &mut self.body).await? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > REPLY_BYTES_MAX {
                let url = self.client.place.clone();
                return Err(Error::Unexpected {
                    url,
                    status: self.status,
                    body: format!("more than {REPLY_BYTES_MAX} bytes"),
                });
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
