//! Messages, page by page: only one page of a conversation is in memory at a time.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use convoke_api::schema::Messages;
use convoke_core::explain;
use convoke_core::id::SessionId;
use convoke_core::message::{Message, Rev, Seq};
use convoke_core::time::Timestamp;
use convoke_core::update::Update;
use convoke_engine::{Engine, Error};
use futures_util::stream;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{Daemon, Named};
use crate::failure::Failure;
use crate::json;
use crate::query::{self, Query};

/// Messages that are read and written at once.
const PAGE: u32 = 250;
/// The header with the generation of the revisions.
const GENERATION: HeaderName = HeaderName::from_static("convoke-generation");

/// Selects messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    session: SessionId,
    order: Order,
    /// How many are still wanted; `None` wants all.
    left: Option<u64>,
}

/// The order in which messages are read, and the cursor.
#[derive(Debug, Clone, Copy)]
enum Order {
    /// By seq.
    ArrayPosition(Seq),
    /// By revision; only messages before a seq, if one is given.
    Revision(Rev, Option<Seq>),
    /// One page backwards from a seq; written in ascending order.
    Before(Seq),
}

/// Some messages, and the cursor after them.
struct Page {
    messages: Vec<Message>,
    rest: Option<Part>,
}

impl Part {
    /// The messages up to a seq, inclusive.
    pub(super) fn upto(session: SessionId, last: Seq) -> Self {
        Self { session, order: Order::ArrayPosition(Seq::START), left: Some(last.get()) }
    }

    async fn page(&self, engine: &Engine) -> Result<Page, Error> {
        let left = self.left.and_then(|left| u32::try_from(left).ok()).unwrap_or(u32::MAX);
        let limit = left.min(PAGE);
        if limit == 0 {
            return Ok(Page { messages: Vec::new(), rest: None });
        }
        match self.order {
            Order::ArrayPosition(after) => {
                let page = engine.sessions().messages(self.session, after, limit).await?;
                let last = page.messages.last().map(|message| Order::ArrayPosition(message.seq));
                Ok(self.with_rest(page.messages, last.filter(|_| page.more)))
            }
            Order::Revision(after, before) => {
                let page = engine.sessions().updates_after(self.session, after, limit).await?;
                let next = page.more.then_some(Order::Revision(page.rev, before));
                let messages = page.updates.into_iter().filter_map(|update| match update {
                    Update::Message(message) => Some(Arc::unwrap_or_clone(message)),
                    Update::Delta(_) | Update::State { .. } => None,
                });
                let is_before =
                    |message: &Message| before.is_none_or(|before| message.seq < before);
                Ok(self.with_rest(messages.filter(is_before).collect(), next))
            }
            Order::Before(before) => {
                let page = engine.sessions().messages_before(self.session, before, limit).await?;
                Ok(Page { messages: page.messages, rest: None })
            }
        }
    }

    fn with_rest(&self, messages: Vec<Message>, next: Option<Order>) -> Page {
        let left = self.left.map(|left| left.saturating_sub(messages.len() as u64));
        let next = next.filter(|_| left != Some(0));
        Page { messages, rest: next.map(|order| Self { order, left, ..*self }) }
    }
}

/// Which messages are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct MessagesQuery {
    /// Only messages that changed after this time, in the order of their changes.
    #[serde(default, deserialize_with = "query::parsed")]
    #[param(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// Only messages that changed after this revision, in the order of their changes: the `rev` of
    /// the last one is the next cursor.
    #[serde(default, deserialize_with = "query::within::<_, 0, 9_007_199_254_740_991>")]
    #[param(minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    after: Option<u64>,
    /// The messages just before this `seq`, newest last. With `after` or `since`: only changes of messages before it.
    #[serde(default, deserialize_with = "query::within::<_, 1, 9_007_199_254_740_991>")]
    #[param(minimum = 1, maximum = 9_007_199_254_740_991_i64)]
    before: Option<u64>,
    /// How many at most; all, by default, or 250 with `before`.
    #[serde(default, deserialize_with = "query::within::<_, 1, 10_000>")]
    #[param(minimum = 1, maximum = 10_000)]
    limit: Option<u64>,
}

/// List the messages of a session
///
/// Whole messages in the order of the conversation; with `after` or `since` in the order of their
/// changes, each once. A message that is still being written has `partial: true` and the text so
/// far. The header `Convoke-Generation` names the generation of the revisions.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/messages",
    operation_id = "listMessages",
    tag = "sessions",
    params(
        ("id" = String, Path, description = "Its id, its canonical id, or a unique prefix of its id"),
        MessagesQuery
    ),
    responses(
        (status = 200, description = "The messages", body = Messages),
        (status = 404, description = "There is no such session"),
        (status = 409, description = "The prefix matches several ids"),
    )
)]
pub(super) async fn list(
    State(app): Daemon,
    Named(session): Named,
    Query(which): Query<MessagesQuery>,
) -> Result<Response, Failure> {
    let order = match which {
        MessagesQuery { before: Some(before), after: None, since: None, .. } => {
            Order::Before(Seq::new(before))
        }
        MessagesQuery { after: None, since: None, .. } => Order::ArrayPosition(Seq::START),
        MessagesQuery { after, since, before, .. } => {
            let since = match since {
                Some(time) => app.engine.sessions().rev_at(session, time).await?,
                None => Rev::START,
            };
            Order::Revision(since.max(Rev::new(after.unwrap_or(0))), before.map(Seq::new))
        }
    };
    let part = Part { session, order, left: which.limit };
    let mut response = stream(&app.engine, part, "[".to_owned(), "]").await?;
    if let Ok(generation) = HeaderValue::from_str(&app.generation().await?) {
        response.headers_mut().insert(GENERATION, generation);
    }
    Ok(response)
}

/// Writes `head`, the messages with commas between them, and `tail`. A single page is sent as one
/// piece.
pub(super) async fn stream(
    engine: &Engine,
    part: Part,
    head: String,
    tail: &'static str,
) -> Result<Response, Failure> {
    let Page { messages, rest } = part.page(engine).await?;
    let mut first = head.into_bytes();
    write(&mut first, &messages, ArrayPosition::Beginning)?;
    let Some(rest) = rest else {
        first.extend_from_slice(tail.as_bytes());
        return Ok(json::written(StatusCode::OK, first));
    };
    let place = if messages.is_empty() { ArrayPosition::Beginning } else { ArrayPosition::Later };
    let reading = Reading { engine: engine.clone(), part: Some(rest), place, tail };
    let pieces = stream::unfold(Some(Step::First(first, reading)), |step| async move {
        match step? {
            Step::First(bytes, reading) => Some((Ok(Bytes::from(bytes)), Some(Step::On(reading)))),
            Step::On(reading) => reading.go_on().await,
        }
    });
    Ok(json::written(StatusCode::OK, Body::from_stream(pieces)))
}

/// The position in the array.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArrayPosition {
    Beginning,
    Later,
}

enum Step {
    First(Vec<u8>, Reading),
    On(Reading),
}

/// Reads messages page by page, as the client reads the response.
struct Reading {
    engine: Engine,
    part: Option<Part>,
    place: ArrayPosition,
    tail: &'static str,
}

type Piece = (Result<Bytes, Error>, Option<Step>);

impl Reading {
    async fn go_on(mut self) -> Option<Piece> {
        let part = self.part.take()?;
        let mut bytes = Vec::new();
        match part.page(&self.engine).await {
            Ok(page) => {
                self.part = page.rest;
                if write(&mut bytes, &page.messages, self.place).is_err() {
                    return Some((Err(Error::Broken { session: part.session }), None));
                }
                if !page.messages.is_empty() {
                    self.place = ArrayPosition::Later;
                }
            }
            // The head was sent, so the response is cut off, which clients see as an error.
            Err(error) => {
                tracing::error!("a list of messages is cut off: {}", explain(&error));
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

fn write(bytes: &mut Vec<u8>, messages: &[Message], place: ArrayPosition) -> Result<(), Failure> {
    for (index, message) in messages.iter().enumerate() {
        if index > 0 || place == ArrayPosition::Later {
            bytes.push(b',');
        }
        serde_json::to_writer(&mut *bytes, message)
            .map_err(|error| Failure::internal(format!("a message cannot be written: {error}")))?;
    }
    Ok(())
}
