//! A long list of sessions, sent while it is read.

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::Response;
use convoke_api::bodies::Sessions;
use convoke_core::explain;
use convoke_engine::{Error, ListPiece, ListPieces};
use futures_util::{StreamExt as _, stream};
use serde::Serialize;

use crate::failure::Failure;
use crate::{json, view};

/// The start of a serialised `Sessions`, which is also the start of an empty one.
const HEAD: &[u8] = br#"{"sessions":["#;
const EMPTY: &[u8] = br#"{"sessions":[]"#;
/// The capacity of a piece.
const PIECE_BYTES: usize = 128 * 1024;

/// A list that is being sent.
pub(super) struct LongList {
    pieces: ListPieces,
    limit: u64,
    offset: u64,
    is_begun: bool,
}

/// Whether more is to be written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    More,
    Nothing,
}

impl LongList {
    pub(super) const fn new(pieces: ListPieces, limit: u64, offset: u64) -> Self {
        Self { pieces, limit, offset, is_begun: false }
    }

    /// Sends the list; a short one in a single piece.
    pub(super) async fn send(mut self) -> Result<Response, Failure> {
        let mut first = Vec::new();
        let mut rest = self.write(&mut first).await?;
        if rest == Rest::More {
            rest = self.write(&mut first).await?;
        }
        if rest == Rest::Nothing {
            return Ok(json::written(StatusCode::OK, first));
        }
        let first = stream::once(async { Ok(Bytes::from(first)) });
        let others = stream::unfold(Some(self), |list| async {
            let (mut list, mut bytes) = (list?, Vec::with_capacity(PIECE_BYTES));
            match list.write(&mut bytes).await {
                Ok(rest) => {
                    let list = (rest == Rest::More).then_some(list);
                    Some((Ok(Bytes::from(bytes)), list))
                }
                // The head has been sent, so the body is cut off, which clients see as an error.
                Err(error) => {
                    tracing::error!("a list breaks off: {}", explain(&error));
                    Some((Err(error), None))
                }
            }
        });
        Ok(json::written(StatusCode::OK, Body::from_stream(first.chain(others))))
    }

    /// Writes the next piece.
    async fn write(&mut self, bytes: &mut Vec<u8>) -> Result<Rest, Error> {
        match self.pieces.next().await? {
            ListPiece::Sessions(views) => {
                for view in views {
                    let is_begun = std::mem::replace(&mut self.is_begun, true);
                    bytes.extend_from_slice(if is_begun { b"," } else { HEAD });
                    bytes.extend_from_slice(&text(&view::session(view)));
                }
                Ok(Rest::More)
            }
            ListPiece::Total(total) => {
                if !self.is_begun {
                    bytes.extend_from_slice(HEAD);
                }
                let (sessions, limit, offset) = (Vec::new(), self.limit, self.offset);
                let none = text(&Sessions { sessions, total, limit, offset });
                bytes.push(b']');
                bytes.extend_from_slice(none.strip_prefix(EMPTY).unwrap_or(b"}"));
                Ok(Rest::Nothing)
            }
        }
    }
}

fn text(body: &impl Serialize) -> Vec<u8> {
    // Serialising our own bodies cannot fail: all keys are strings.
    serde_json::to_vec(body).unwrap_or_default()
}
