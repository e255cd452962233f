//! A session's updates as server-sent events: what changed after a cursor, and then what changes.
//!
//! Nothing is queued here. A client that does not read blocks its own stream; when it reads again,
//! the watcher continues from the store.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, HeaderMap};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use convoke_api::Cursor;
use convoke_core::explain;
use convoke_core::message::Rev;
use convoke_core::update::Update;
use convoke_engine::{Error, Published, Watcher};
use futures_util::stream;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use utoipa::IntoParams;

use super::{Daemon, Named};
use crate::failure::Failure;
use crate::query::{self, Query};

/// How often a silent stream sends a comment, so that proxies keep it open.
const ALIVE: Duration = Duration::from_secs(15);
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// From where on updates are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct From {
    /// Only what changed after this revision.
    #[serde(default, deserialize_with = "query::within::<_, 0, 9_007_199_254_740_991>")]
    #[param(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    after: Option<u64>,
    /// The `id` of the last event that the client has, for clients that cannot send `Last-Event-ID`.
    #[serde(default)]
    cursor: Option<String>,
}

/// Follow a session
///
/// Server-sent events: `message` is a whole message, which replaces the one with its `id`; `delta`
/// is `{id, seq, rev, text}`, text to append to an open message; `state` is state that is not
/// conversation, with its `kind`. The id of each is `generation-rev`. An unknown cursor is answered
/// with `reset` and everything.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/events",
    operation_id = "followSession",
    tag = "sessions",
    params(
        ("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id"),
        From,
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that the client has"),
    ),
    responses(
        (status = 200, description = "The updates as they come", body = String, content_type = "text/event-stream"),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn follow(
    State(app): Daemon,
    Named(session): Named,
    Query(from): Query<From>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let header = headers.get(LAST_EVENT_ID).map(|id| id.to_str().unwrap_or_default().to_owned());
    let cursor = header.or(from.cursor).map(|text| text.parse::<Cursor>());
    let cursor = cursor.transpose().map_err(|error| Failure::invalid(error.to_string()))?;
    let newest = app.engine.sessions().get(session).await?.stored.summary.rev;
    let generation = app.generation().await?;
    let after = match cursor {
        Some(cursor) => Some(cursor.rev).filter(|_| cursor.generation == generation),
        None => Some(Rev::new(from.after.unwrap_or(0))),
    };
    let after = after.filter(|after| *after <= newest);
    let watcher = app.engine.sessions().watch(session, after.unwrap_or_default()).await?;
    let mut head = "retry: 1000\n\n".to_owned();
    if after.is_none() {
        head.push_str("event: reset\ndata: {}\n\n");
    }
    let following = Following { watcher, stop: app.stop.clone(), head: Some(head), generation };
    let events = stream::unfold(following, Following::next);
    let mut response = Response::new(Body::from_stream(events));
    let media = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(CONTENT_TYPE, media);
    Ok(response)
}

struct Following {
    watcher: Watcher,
    stop: CancellationToken,
    /// The first event, with the reconnection delay.
    head: Option<String>,
    generation: String,
}

impl Following {
    async fn next(mut self) -> Option<(Result<Bytes, Error>, Self)> {
        if let Some(head) = self.head.take() {
            return Some((Ok(Bytes::from(head)), self));
        }
        tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            published = self.watcher.next() => match published {
                Ok(published) => Some((Ok(event(&published, &self.generation)), self)),
                Err(Error::Stopping) => None,
                Err(error) => {
                    tracing::error!("a stream breaks off: {}", explain(&error));
                    Some((Err(error), self))
                }
            },
            () = tokio::time::sleep(ALIVE) => Some((Ok(Bytes::from_static(b": alive\n\n")), self)),
        }
    }
}

fn event(published: &Arc<Published>, generation: &str) -> Bytes {
    let name = match &published.update {
        Update::Message(_) => "message",
        Update::Delta(_) => "delta",
        Update::State { .. } => "state",
    };
    let rev = published.update.rev();
    // JSON has no line breaks outside of its texts, and writes those inside of them as `\n`.
    format!("event: {name}\nid: {generation}-{rev}\ndata: {}\n\n", published.json()).into()
}
