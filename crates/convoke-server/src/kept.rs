//! Answers that were given lately and still hold. Who asks again before anything has changed is answered without the store.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::{self, Body, Bytes, HttpBody as _};
use axum::extract::{MatchedPath, Request};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use convoke_engine::{Engine, Moment};

use crate::failure::Failure;
use crate::json;

/// What is asked again and again, and depends on nothing but what is stored and shown of sessions.
const ROUTES: [&str; 2] = ["/api/sessions", "/api/sessions/{id}"];

/// Bytes of all answers that are kept, their names included.
const BYTES_MAX: usize = 1024 * 1024;

/// The answers that hold.
#[derive(Default)]
pub(crate) struct Kept {
    answers: Mutex<Answers>,
}

#[derive(Default)]
struct Answers {
    /// The moment that they were given in.
    moment: Option<Moment>,
    by_name: HashMap<String, Bytes>,
    bytes: usize,
}

/// What an answer is kept by, if it is kept: path and query.
pub(crate) fn name(request: &Request) -> Option<String> {
    let route = request.extensions().get::<MatchedPath>()?;
    let is_kept = request.method() == Method::GET && ROUTES.contains(&route.as_str());
    is_kept.then(|| request.uri().to_string())
}

impl Kept {
    /// Answers as before, if that still holds, else as `fresh` does.
    pub(crate) async fn answer(
        &self,
        engine: &Engine,
        name: String,
        fresh: impl Future<Output = Response>,
    ) -> Response {
        // Before anything is read, so that a change meanwhile does not go unnoticed.
        let moment = engine.moment();
        if let Some(body) = self.answers().of(moment).get(&name) {
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
                self.answers().keep(moment, name, body.clone());
                Response::from_parts(parts, Body::from(body))
            }
            Err(error) => {
                Failure::internal(format!("an answer broke off: {error}")).into_response()
            }
        }
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        // At worst what a panic left here is forgotten with the next change.
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answers {
    /// Those that hold in this moment.
    fn of(&mut self, moment: Moment) -> &mut HashMap<String, Bytes> {
        if self.moment != Some(moment) {
            self.moment = Some(moment);
            self.forget();
        }
        &mut self.by_name
    }

    fn keep(&mut self, moment: Moment, name: String, body: Bytes) {
        if self.moment != Some(moment) {
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
