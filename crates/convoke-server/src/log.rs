//! Reading a session's log past messages that cannot be read: a damaged one must not hide all that follow.

use convoke_core::id::SessionId;
use convoke_core::message::Seq;
use convoke_core::time::Timestamp;
use convoke_engine::{Engine, Error, Kind, MessagePage, Result};

use crate::failure;

/// Messages in a row that are passed over; more than that is a database that cannot be read.
const DAMAGED_MAX: usize = 16;

/// Some messages after a place, and later than a moment if one is given.
pub(crate) async fn after(
    engine: &Engine,
    id: SessionId,
    since: Option<Timestamp>,
    after: Seq,
    limit: u32,
) -> Result<MessagePage> {
    let mut place = after;
    for _ in 0..DAMAGED_MAX {
        match read_after(engine, id, since, place, limit).await {
            Err(error) if is_damage(&error) => {
                place = place.next();
                pass_over(id, place, &error);
            }
            read => return read,
        }
    }
    read_after(engine, id, since, place, limit).await
}

async fn read_after(
    engine: &Engine,
    id: SessionId,
    since: Option<Timestamp>,
    after: Seq,
    limit: u32,
) -> Result<MessagePage> {
    match since {
        None => engine.messages(id, after, limit).await,
        Some(since) => engine.messages_since(id, since, after, limit).await,
    }
}

/// Some messages before a place, oldest first.
pub(crate) async fn before(
    engine: &Engine,
    id: SessionId,
    before: Seq,
    limit: u32,
) -> Result<MessagePage> {
    let mut place = before;
    for _ in 0..DAMAGED_MAX {
        match engine.messages_before(id, place, limit).await {
            Err(error) if is_damage(&error) => {
                place = Seq::new(place.get().saturating_sub(1));
                pass_over(id, place, &error);
            }
            read => return read,
        }
    }
    engine.messages_before(id, place, limit).await
}

fn is_damage(error: &Error) -> bool {
    matches!(error, Error::Store(_)) && error.kind() == Kind::Internal
}

fn pass_over(id: SessionId, place: Seq, error: &Error) {
    tracing::error!(session.id = %id, "passed over message {place}: {}", failure::chain(error));
}
