//! JSON request bodies with limits, and JSON responses.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use convoke_api::bodies::code;
use futures_util::StreamExt as _;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;

/// The longest request body; limits the memory that one connection can use.
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The longest body with imported turns: the longest turn of a transcript, as JSON.
const LONG_BODY_BYTES_MAX: usize = 65 * 1024 * 1024;
/// The longest body of a request that is not authenticated.
const SHORT_BODY_BYTES_MAX: usize = 1024;
/// The longest body that is read to its end although it is too large.
const DISCARDED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The media type of responses.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A JSON body.
pub(crate) struct Json<T>(pub(crate) T);

/// A short JSON body of a request that is not authenticated.
pub(crate) struct ShortJson<T>(pub(crate) T);

/// A long JSON body with imported turns.
pub(crate) struct LongJson<T>(pub(crate) T);

/// A JSON body that may be absent, which means the default.
pub(crate) struct MaybeJson<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        check_type(&parts.headers)?;
        let bytes = read(&parts.headers, body, BODY_BYTES_MAX).await;
        bytes.and_then(|bytes| parse(&bytes)).map(Self)
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for ShortJson<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        check_type(&parts.headers)?;
        // The rest of a longer body is not read.
        let bytes = collect(body, SHORT_BODY_BYTES_MAX);
        let bytes =
            tokio::time::timeout(BODY_TIMEOUT, bytes).await.unwrap_or_else(|_| Err(body_timeout()));
        bytes.and_then(|bytes| parse(&bytes)).map(Self)
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for LongJson<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        check_type(&parts.headers)?;
        let bytes = read(&parts.headers, body, LONG_BODY_BYTES_MAX).await;
        bytes.and_then(|bytes| parse(&bytes)).map(Self)
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for MaybeJson<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts.headers, body, BODY_BYTES_MAX).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        check_type(&parts.headers)?;
        if bytes.trim_ascii() == b"null" {
            return Ok(Self(T::default()));
        }
        parse(&bytes).map(Self)
    }
}

fn check_type(headers: &HeaderMap) -> Result<(), Failure> {
    let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence == "application/json" {
        return Ok(());
    }
    let said = if media.is_empty() { "no Content-Type" } else { media };
    let detail = format!("the body must be application/json, and this request has {said}");
    Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, code::INVALID, detail)
        .hint("add the header Content-Type: application/json"))
}

/// Reads a body of limited length.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Body,
    bytes_max: usize,
) -> Result<Bytes, Failure> {
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|bytes: usize| bytes > bytes_max) {
        // A client that is disconnected while it sends may never read the response.
        tokio::time::timeout(BODY_TIMEOUT, discard(body)).await.ok();
        return Err(too_large(bytes_max));
    }
    match tokio::time::timeout(BODY_TIMEOUT, collect(body, bytes_max)).await {
        Ok(bytes) => bytes,
        Err(_) => Err(body_timeout()),
    }
}

fn body_timeout() -> Failure {
    let detail = "the body did not arrive in time";
    Failure::new(StatusCode::REQUEST_TIMEOUT, code::INVALID, detail)
}

/// Reads and drops the rest of a body, up to a limit.
async fn discard(body: Body) {
    let mut left = DISCARDED_BYTES_MAX;
    let mut pieces = body.into_data_stream();
    while let Some(Ok(piece)) = pieces.next().await {
        left = left.saturating_sub(piece.len());
        if left == 0 {
            return;
        }
    }
}

/// The whole body, if it is not too large.
pub(crate) async fn collect(body: Body, bytes_max: usize) -> Result<Bytes, Failure> {
    let mut pieces = body.into_data_stream();
    let mut whole = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| {
            let detail = format!("the body is incomplete: {error}");
            Failure::new(StatusCode::BAD_REQUEST, code::INVALID, detail)
        })?;
        if whole.len() + piece.len() > bytes_max {
            return Err(too_large(bytes_max));
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.into())
}

fn too_large(bytes_max: usize) -> Failure {
    let detail = format!("the body is larger than {bytes_max} bytes");
    Failure::new(StatusCode::PAYLOAD_TOO_LARGE, code::TOO_LARGE, detail)
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    // serde would also accept the fields of an object as an array, in their order.
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    if !is_object && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok() {
        return Err(Failure::invalid("the body must be a JSON object"));
    }
    serde_json::from_slice(bytes).map_err(|error| {
        if error.is_data() {
            return Failure::invalid(format!("invalid body: {error}"));
        }
        let detail = if bytes.is_empty() {
            "the body is empty".to_owned()
        } else {
            format!("the body is not JSON: {error}")
        };
        Failure::new(StatusCode::BAD_REQUEST, code::INVALID, detail)
    })
}

/// A JSON response.
pub(crate) fn answer<T: Serialize>(status: StatusCode, value: &T) -> Response {
    match serde_json::to_vec(value) {
        Ok(bytes) => written(status, bytes),
        Err(error) => {
            Failure::internal(format!("an answer cannot be written: {error}")).into_response()
        }
    }
}

/// A JSON response with status 200.
pub(crate) fn ok<T: Serialize>(value: &T) -> Response {
    answer(StatusCode::OK, value)
}

/// A response whose body is already JSON.
pub(crate) fn written(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}
