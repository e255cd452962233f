//! Reading a session's log past messages that cannot be read: a damaged one must not hide all that follow.

use convoke_core::id::SessionId;
use convoke_core::message::Seq;
use convoke_core::time::Timestamp;
use convoke_store::{Error as StoreError, MessagePage, Result, Store};

/// Some messages after a place.
pub(crate) async fn after(
    store: &Store,
    session: SessionId,
    mut place: Seq,
    limit: u32,
) -> Result<MessagePage> {
    loop {
        match store.messages(session, place, limit).await {
            Ok(page) => return Ok(page),
            Err(error) => place = passed_by(error)?,
        }
    }
}

/// Some messages after a place that are later than a moment.
pub(crate) async fn since(
    store: &Store,
    session: SessionId,
    since: Timestamp,
    mut place: Seq,
    limit: u32,
) -> Result<MessagePage> {
    loop {
        match store.messages_since(session, since, place, limit).await {
            Ok(page) => return Ok(page),
            Err(error) => place = passed_by(error)?,
        }
    }
}

/// Some messages before a place, oldest first.
pub(crate) async fn before(
    store: &Store,
    session: SessionId,
    mut place: Seq,
    limit: u32,
) -> Result<MessagePage> {
    loop {
        match store.messages_before(session, place, limit).await {
            Ok(page) => return Ok(page),
            Err(error) => place = passed_by(error)?,
        }
    }
}

/// The place of a message that cannot be read, which is said; reading goes on from there.
fn passed_by(error: StoreError) -> Result<Seq> {
    let StoreError::UnreadableMessage { session, seq, source } = error else { return Err(error) };
    tracing::error!(session.id = %session, "message {seq} cannot be read: {source}");
    Ok(seq)
}
