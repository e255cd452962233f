//! The web page: files embedded in the binary. A debug build reads them from the source tree.
//!
//! They contain no secrets and are public; the page authenticates its own requests.

use axum::body::Body;
use axum::extract::Path;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use data_encoding::HEXLOWER;
use rust_embed::RustEmbed;

use crate::rest::not_found;

#[derive(RustEmbed)]
#[folder = "../../web"]
#[include = "*.html"]
#[include = "assets/*"]
#[exclude = "node_modules/*"]
#[exclude = "test/*"]
struct Files;

/// Browsers revalidate each time, and mostly get a 304: a page and its scripts must be of one version.
const ASK_FIRST: HeaderValue = HeaderValue::from_static("no-cache");

/// The shell: projects, sessions, tabs.
pub(crate) async fn shell(headers: HeaderMap) -> Response {
    file("index.html", &headers)
}

/// One session.
pub(crate) async fn session(headers: HeaderMap) -> Response {
    file("session.html", &headers)
}

/// The page about teams.
pub(crate) async fn teams(headers: HeaderMap) -> Response {
    file("teams.html", &headers)
}

/// Whether a browser shows the response to a person: it is no call of a program, which is answered with JSON.
pub(crate) fn is_visit(method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let is_page = accepts.flat_map(|it| it.split(',')).any(|media| {
        media.split(';').next().is_some_and(|it| it.trim().eq_ignore_ascii_case("text/html"))
    });
    let is_api = uri.path() == "/api" || uri.path().starts_with("/api/");
    method == Method::GET && is_page && !is_api
}

/// The answer at an unknown path: a page for people, and a problem for programs.
pub(crate) async fn fallback(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if !is_visit(&method, &uri, &headers) {
        return not_found().into_response();
    }
    // The validator of the file must not turn the status into 304.
    let mut response = file("nothing.html", &HeaderMap::new());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

/// Scripts, styles and images.
pub(crate) async fn asset(Path(path): Path<String>, headers: HeaderMap) -> Response {
    // Our file names begin with a letter; anything else may be path traversal.
    if path.split('/').any(|part| part.is_empty() || part.starts_with('.')) {
        return not_found().into_response();
    }
    file(&format!("assets/{path}"), &headers)
}

fn file(path: &str, headers: &HeaderMap) -> Response {
    let Some(file) = Files::get(path) else { return not_found().into_response() };
    let hash = file.metadata.sha256_hash();
    let hex = HEXLOWER.encode(hash.get(..16).unwrap_or(&hash));
    let Ok(tag) = HeaderValue::from_str(&format!("\"{hex}\"")) else {
        return not_found().into_response();
    };
    let mut response = if is_known(headers, &tag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let mut response = Response::new(match file.data {
            std::borrow::Cow::Borrowed(bytes) => Body::from(bytes),
            std::borrow::Cow::Owned(bytes) => Body::from(bytes),
        });
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type(path)));
        response
    };
    response.headers_mut().insert(ETAG, tag);
    response.headers_mut().insert(CACHE_CONTROL, ASK_FIRST);
    response
}

fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let (known, Ok(tag)) = (headers.get_all(IF_NONE_MATCH), tag.to_str()) else { return false };
    let mut known =
        known.iter().filter_map(|value| value.to_str().ok()).flat_map(|it| it.split(','));
    known.any(|known| known.trim().trim_start_matches("W/") == tag)
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("json" | "webmanifest") => "application/json",
        Some(_) | None => "application/octet-stream",
    }
}
