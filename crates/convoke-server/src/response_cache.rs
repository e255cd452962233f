//! A cache of responses, valid until the next change of stored or displayed session data.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::{self, Body, Bytes, HttpBody as _};
use axum::extract::{MatchedPath, Request};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use convoke_engine::{Engine, Version};

use crate::failure::Failure;
use crate::json;

/// Routes that clients poll, and whose responses depend only on stored and displayed session data.
const ROUTES: [&str; 2] = ["/api/sessions", "/api/sessions/{id}"];

/// The size of all entries with their keys; beyond that the cache is emptied.
const BYTES_MAX: usize = 1024 * 1024;

/// The cached responses.
#[derive(Default)]
pub(crate) struct ResponseCache {
    answers: Mutex<Answers>,
}

#[derive(Default)]
struct Answers {
    /// The version that the entries belong to.
    version: Option<Version>,
    by_name: HashMap<String, Bytes>,
    bytes: usize,
}

/// The cache key of a request, if its response is cached: path and query.
pub(crate) fn name(request: &Request) -> Option<String> {
    let route = request.extensions().get::<MatchedPath>()?;
    let is_kept = request.method() == Method::GET && ROUTES.contains(&route.as_str());
    is_kept.then(|| request.uri().to_string())
}

impl ResponseCache {
    /// Answers from the cache, else with `fresh`, which is then cached.
    pub(crate) async fn answer(
        &self,
        engine: &Engine,
        name: String,
        fresh: impl Future<Output = Response>,
    ) -> Response {
        // Read before anything else, so that a change meanwhile makes the entry stale.
        let version = engine.sessions().version();
        if let Some(body) = self.answers().of(version).get(&name) {
            return json::written(StatusCode::OK, body.clone());
        }
        let (parts, body) = fresh.await.into_parts();
        let bytes = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok());
        let is_short = bytes.is_some_and(|bytes| bytes <= BYTES_MAX);
        if parts.status != StatusCode::OK || !is_short {
            return Response::from_parts(parts, body);
        }
        match body::to_bytes(body, BYTES_MAX).await {
            Ok(body) => {
                self.answers().keep(version, name, body.clone());
                Response::from_parts(parts, Body::from(body))
            }
            Err(error) => {
                Failure::internal(format!("an answer broke off: {error}")).into_response()
            }
        }
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        // Entries that a panic left behind are dropped at the next change.
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answers {
    /// The entries of this version; drops those of another.
    fn of(&mut self, version: Version) -> &mut HashMap<String, Bytes> {
        if self.version != Some(version) {
            self.version = Some(version);
            self.forget();
        }
        &mut self.by_name
    }

    fn keep(&mut self, version: Version, name: String, body: Bytes) {
        if self.version != Some(version) {
            return;
        }
        let bytes = name.len() + body.len();
        if self.bytes + bytes > BYTES_MAX {
            self.forget();
        }
        if bytes <= BYTES_MAX && self.by_name.insert(name, body).is_none() {
            self.bytes += bytes;
        }
    }

    fn forget(&mut self) {
        self.by_name = HashMap::new();
        self.bytes = 0;
    }
}
