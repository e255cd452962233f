//! Messages, page by page: however long a log is, no more than a page of it is held.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::{Repo, Session};
use convoke_api::schema::Message as MessageSchema;
use convoke_core::id::SessionId;
use convoke_core::message::{Message, Seq};
use convoke_core::time::Timestamp;
use convoke_engine::{Engine, Error, MessagePage};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Daemon, Named};
use crate::failure::{self, Failure};
use crate::json;
use crate::query::{self, Query};

/// Messages that are read and written at once.
const PAGE: u32 = 250;

/// A session with everything: `GET /api/sessions/:id`. Only its schema is used; nothing makes one in memory.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WholeSession {
    /// The session.
    #[serde(flatten)]
    session: Session,
    /// Its project.
    repo: Repo,
    /// Everything that was said, oldest first.
    #[schema(value_type = Vec<MessageSchema>)]
    messages: Vec<Message>,
}

/// Which messages are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    session: SessionId,
    since: Option<Timestamp>,
    after: Seq,
    /// How many are still wanted; `None` wants all.
    left: Option<u64>,
}

impl Part {
    /// Those up to and with a place.
    pub(super) fn upto(session: SessionId, last: Seq) -> Self {
        Self { session, since: None, after: Seq::START, left: Some(last.get()) }
    }

    async fn page(&self, engine: &Engine) -> Result<MessagePage, Error> {
        let left = self.left.and_then(|left| u32::try_from(left).ok()).unwrap_or(u32::MAX);
        let limit = left.min(PAGE);
        if limit == 0 {
            return Ok(MessagePage { messages: Vec::new(), more: false });
        }
        match self.since {
            None => engine.messages(self.session, self.after, limit).await,
            Some(since) => engine.messages_since(self.session, since, self.after, limit).await,
        }
    }

    /// What is left after this page; `None` when that is nothing.
    fn rest(&self, page: &MessagePage) -> Option<Self> {
        let last = page.messages.last()?;
        let left = self.left.map(|left| left.saturating_sub(page.messages.len() as u64));
        let is_done = !page.more || left == Some(0);
        (!is_done).then_some(Self { after: last.seq, left, ..*self })
    }
}

/// Which messages are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Which {
    /// Only those later than this moment.
    #[serde(default, deserialize_with = "query::parsed")]
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// Only those after this place.
    #[serde(default, deserialize_with = "query::within::<_, 0, 9_007_199_254_740_991>")]
    #[param(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    after: Option<u64>,
    /// How many at most; all, if nothing is said.
    #[serde(default, deserialize_with = "query::within::<_, 1, 10_000>")]
    #[param(minimum = 1, maximum = 10_000)]
    limit: Option<u64>,
}

/// List the messages of a session
///
/// Oldest first, and strictly after what is given.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/messages",
    operation_id = "listMessages",
    tag = "sessions",
    params(
        ("id" = String, Path, description = "Its id, its canonical id, or an unambiguous beginning of its id"),
        Which
    ),
    responses(
        (status = 200, description = "The messages", body = Vec<MessageSchema>),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "Several ids begin so"),
    )
)]
pub(super) async fn list(
    State(app): Daemon,
    Named(session): Named,
    Query(which): Query<Which>,
) -> Result<Response, Failure> {
    let after = Seq::new(which.after.unwrap_or(0));
    let part = Part { session, since: which.since, after, left: which.limit };
    stream(&app.engine, part, "[".to_owned(), "]").await
}

/// Writes `head`, the messages with commas between them, and `tail`. What fits one page is sent as one piece.
pub(super) async fn stream(
    engine: &Engine,
    part: Part,
    head: String,
    tail: &'static str,
) -> Result<Response, Failure> {
    let page = part.page(engine).await?;
    let rest = part.rest(&page);
    let mut first = head.into_bytes();
    write(&mut first, &page.messages, Place::Beginning)?;
    let Some(rest) = rest else {
        first.extend_from_slice(tail.as_bytes());
        return Ok(json::written(StatusCode::OK, first));
    };
    let reading = Reading { engine: engine.clone(), part: Some(rest), tail };
    let pieces = stream::unfold(Some(Step::First(first, reading)), |step| async move {
        match step? {
            Step::First(bytes, reading) => Some((Ok(Bytes::from(bytes)), Some(Step::On(reading)))),
            Step::On(reading) => reading.go_on().await,
        }
    });
    Ok(json::written(StatusCode::OK, Body::from_stream(pieces)))
}

/// Where in an array messages are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Beginning,
    Later,
}

enum Step {
    First(Vec<u8>, Reading),
    On(Reading),
}

/// Reading a log for somebody who takes it page by page.
struct Reading {
    engine: Engine,
    part: Option<Part>,
    tail: &'static str,
}

type Piece = (Result<Bytes, Error>, Option<Step>);

impl Reading {
    async fn go_on(mut self) -> Option<Piece> {
        let part = self.part.take()?;
        let mut bytes = Vec::new();
        match part.page(&self.engine).await {
            Ok(page) => {
                self.part = part.rest(&page);
                if write(&mut bytes, &page.messages, Place::Later).is_err() {
                    return Some((Err(Error::Broken { session: part.session }), None));
                }
            }
            // The head has gone out, so all that is left is to break off where nobody takes it for the end.
            Err(error) => {
                tracing::error!("a log breaks off: {}", failure::chain(&error));
                return Some((Err(error), None));
            }
        }
        if self.part.is_none() {
            bytes.extend_from_slice(self.tail.as_bytes());
            return Some((Ok(bytes.into()), None));
        }
        Some((Ok(bytes.into()), Some(Step::On(self))))
    }
}

fn write(bytes: &mut Vec<u8>, messages: &[Message], place: Place) -> Result<(), Failure> {
    for (index, message) in messages.iter().enumerate() {
        if index > 0 || place == Place::Later {
            bytes.push(b',');
        }
        serde_json::to_writer(&mut *bytes, message)
            .map_err(|error| Failure::internal(format!("a message cannot be written: {error}")))?;
    }
    Ok(())
}
