//! Attachments: stored by their hash, and served with headers that keep browsers from sniffing or
//! executing them.

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use convoke_api::bodies::StoredAttachment;
use serde::Deserialize;
use utoipa::IntoParams;

use super::Daemon;
use crate::failure::Failure;
use crate::json;
use crate::query::Query;

/// The largest body: one byte more than the largest attachment, which then is refused with its name.
const BODY_BYTES_MAX: usize = (32 << 20) + 1;
/// The policy for what users upload: nothing in it is loaded or run, also when it is opened as a page.
const POLICY: HeaderValue = HeaderValue::from_static(
    "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'",
);
/// The bytes of a hash never change.
const FOR_EVER: HeaderValue = HeaderValue::from_static("private, max-age=31536000, immutable");
/// What browsers may show; everything else is downloaded.
const SHOWN: [&str; 5] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"];

/// What people call an attachment.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Named {
    /// Its name; `attachment`, by default.
    name: Option<String>,
}

/// Store a file, to be attached to a prompt
///
/// The body is the file. It is stored once, by its hash, and removed a day after no message refers to it.
#[utoipa::path(
    post,
    path = "/api/blobs",
    operation_id = "storeBlob",
    tag = "sessions",
    params(Named),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 201, description = "The file is stored", body = StoredAttachment),
        (status = 413, description = "The file is larger than 32 MiB"),
        (status = 422, description = "The file is empty"),
    )
)]
pub(super) async fn store(
    State(app): Daemon,
    Query(named): Query<Named>,
    request: Request,
) -> Result<Response, Failure> {
    let (parts, body) = request.into_parts();
    let bytes = json::read(&parts.headers, body, BODY_BYTES_MAX).await?;
    let name = named.name.as_deref().unwrap_or_default();
    let stored = app.engine.sessions().attachments().put(bytes.to_vec(), name).await?;
    Ok(json::answer(StatusCode::CREATED, &StoredAttachment::from(stored)))
}

/// Read a stored file
#[utoipa::path(
    get,
    path = "/api/blobs/{hash}",
    operation_id = "readBlob",
    tag = "sessions",
    params(("hash" = String, Path, description = "Its SHA-256, in hexadecimal"), Named),
    responses(
        (status = 200, description = "The file", content_type = "*/*"),
        (status = 404, description = "There is no such file"),
    )
)]
pub(super) async fn read(
    State(app): Daemon,
    Path(hash): Path<String>,
    Query(named): Query<Named>,
) -> Result<Response, Failure> {
    let name = named.name.unwrap_or_else(|| "attachment".to_owned());
    let blob = app.engine.sessions().attachments().get(&hash, &name).await?;
    let is_shown = SHOWN.contains(&blob.media_type);
    let mut response = Response::new(Body::from(blob.bytes));
    let headers = response.headers_mut();
    let media_type = match blob.media_type {
        // HTML of users is served as text.
        "text/html" => "text/plain; charset=utf-8",
        "text/plain" => "text/plain; charset=utf-8",
        other => other,
    };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(CACHE_CONTROL, FOR_EVER);
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{hash}\"")) {
        headers.insert(ETAG, tag);
    }
    if let Ok(disposition) = HeaderValue::from_str(&disposition(is_shown, &name)) {
        headers.insert(CONTENT_DISPOSITION, disposition);
    }
    Ok(response)
}

/// How a browser treats the file, with its name as RFC 8187 writes it.
fn disposition(is_shown: bool, name: &str) -> String {
    let how = if is_shown { "inline" } else { "attachment" };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let escaped = name.bytes().map(|byte| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    format!("{how}; filename*=UTF-8''{}", escaped.collect::<String>())
}
