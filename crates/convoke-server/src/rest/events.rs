//! A session's log as server-sent events: what is stored from a place on, and then what comes.
//!
//! Nothing is queued here. A reader that does not read stops its own stream, falls behind, and is given the rest from
//! the log when it reads on.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, HeaderMap};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use convoke_core::message::Seq;
use convoke_engine::{Error, Published, Watcher};
use futures_util::stream;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use utoipa::IntoParams;

use super::{Daemon, Named};
use crate::failure::{self, Failure};
use crate::query::{self, Query};

/// How often a silent stream says that it is alive, so that nothing in between takes it for dead.
const ALIVE: Duration = Duration::from_secs(15);
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// From where on the log is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct From {
    /// Only messages after this place; the header `Last-Event-ID` beats it.
    #[serde(default, deserialize_with = "query::within::<_, 0, 9_007_199_254_740_991>")]
    #[param(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    after: Option<u64>,
}

/// Follow a session
///
/// Server-sent events; the data of each is one message, its id the message's place.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/events",
    operation_id = "followSession",
    tag = "sessions",
    params(
        ("id" = String, Path, description = "Its id, its canonical id, or an unambiguous beginning of its id"),
        From,
        ("Last-Event-ID" = Option<u64>, Header, description = "The last place that the client has"),
    ),
    responses(
        (status = 200, description = "The messages as they come", body = String, content_type = "text/event-stream"),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "Several ids begin so"),
    )
)]
pub(super) async fn follow(
    State(app): Daemon,
    Named(session): Named,
    Query(from): Query<From>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let after = match headers.get(LAST_EVENT_ID) {
        Some(id) => last_event_id(id)?,
        None => Seq::new(from.after.unwrap_or(0)),
    };
    let watcher = app.engine.watch(session, after).await?;
    let events = stream::unfold(Following::new(watcher, app.stop.clone()), Following::next);
    let mut response = Response::new(Body::from_stream(events));
    let media = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(CONTENT_TYPE, media);
    Ok(response)
}

fn last_event_id(value: &HeaderValue) -> Result<Seq, Failure> {
    let number = value.to_str().ok().and_then(|text| text.parse().ok());
    number.map(Seq::new).ok_or_else(|| Failure::invalid("Last-Event-ID must be a whole number"))
}

struct Following {
    watcher: Watcher,
    stop: CancellationToken,
    has_begun: bool,
}

impl Following {
    const fn new(watcher: Watcher, stop: CancellationToken) -> Self {
        Self { watcher, stop, has_begun: false }
    }

    async fn next(mut self) -> Option<(Result<Bytes, Error>, Self)> {
        if !self.has_begun {
            self.has_begun = true;
            // Tells the reader at once that it is heard, and how soon to come back.
            return Some((Ok(Bytes::from_static(b"retry: 1000\n\n")), self));
        }
        tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            published = self.watcher.next() => match published {
                Ok(published) => Some((Ok(event(&published)), self)),
                Err(Error::Stopping) => None,
                Err(error) => {
                    tracing::error!("a stream breaks off: {}", failure::chain(&error));
                    Some((Err(error), self))
                }
            },
            () = tokio::time::sleep(ALIVE) => Some((Ok(Bytes::from_static(b": alive\n\n")), self)),
        }
    }
}

fn event(published: &Arc<Published>) -> Bytes {
    // JSON has no line breaks outside of its texts, and writes those inside of them as `\n`.
    format!("id: {}\ndata: {}\n\n", published.message.seq, published.json()).into()
}
