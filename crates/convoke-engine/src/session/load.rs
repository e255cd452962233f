//! Loads a session from the store: its summary, its open messages and its state.

use convoke_core::id::SessionId;
use convoke_core::session::Session;
use convoke_core::update::OpenMessages;
use convoke_store::{Store, StoredSession};

use crate::error::{Error, Result};

/// A loaded session.
pub(super) struct Loaded {
    pub(super) stored: StoredSession,
    pub(super) session: Session,
    pub(super) open: OpenMessages,
}

/// Loads a session.
pub(super) async fn load(store: &Store, id: SessionId) -> Result<Loaded> {
    let stored = store.session(id).await?;
    let stored = stored.ok_or_else(|| Error::UnknownSession { text: id.to_string() })?;
    let open = store.open_messages(id).await?;
    let state = store.session_state(id).await?.into_iter().map(|(_, state)| state).collect();
    let session = Session::restore(stored.summary.clone(), &open, state);
    Ok(Loaded { stored, session, open: OpenMessages::restore(open) })
}
