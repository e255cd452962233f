//! From the store to a session in memory: its summary, and the fold of what was under way.

use convoke_core::id::SessionId;
use convoke_core::message::Seq;
use convoke_core::session::{PENDING_MAX, Session};
use convoke_store::{Store, StoredSession, Window};

use crate::error::{Error, Result};
use crate::reading;

/// Messages that are folded at once.
const PAGE: u32 = 500;

/// A session as it stands.
pub(super) async fn load(store: &Store, id: SessionId) -> Result<(StoredSession, Session)> {
    let stored = store.session(id).await?;
    let stored = stored.ok_or_else(|| Error::UnknownSession { text: id.to_string() })?;
    let most = u32::try_from(PENDING_MAX).unwrap_or(u32::MAX);
    let pending = store.pending_requests_of(id, Window::first(most)).await?;
    let pending = pending.into_iter().map(|stored| stored.request).collect();
    let mut session = Session::restore(stored.summary.clone(), pending);
    let mut after: Seq = stored.summary.settled_seq;
    while after < stored.summary.last_seq {
        // What cannot be read cannot be folded; what follows it can.
        let page = reading::after(store, id, after, PAGE).await?;
        for message in &page.messages {
            session.apply(message);
            after = message.seq;
        }
        if !page.more {
            break;
        }
    }
    Ok((stored, session))
}
