//! Following a session: what changed after a revision, and then what changes.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use convoke_core::id::SessionId;
use convoke_core::message::Rev;
use convoke_core::update::Update;
use convoke_store::Store;
use serde_json::json;
use tokio::sync::broadcast;

use crate::error::{Error, Result};

/// Updates that a watcher may fall behind before it must read the store again.
pub(crate) const BACKLOG: usize = 256;
/// The largest update that is kept in memory for slow watchers, so that a session's backlog holds at most 1 MiB. A
/// larger one is read from the store, one page at a time.
const SHARED_BYTES_MAX: usize = 4 << 10;
/// The page size of a watcher's reads.
const PAGE: u32 = 500;

/// An update that is sent to watchers.
#[derive(Debug)]
pub struct Published {
    /// The update.
    pub update: Update,
    json: OnceLock<String>,
}

/// An update that is broadcast to the watchers of a session.
#[derive(Debug, Clone)]
pub(crate) struct WatchEvent {
    /// The revision before it.
    after: Rev,
    rev: Rev,
    /// `None` if it is too large to be kept for slow watchers.
    published: Option<Arc<Published>>,
}

impl WatchEvent {
    pub(crate) fn of(after: Rev, update: Update) -> Self {
        let rev = update.rev();
        let is_small = update.bytes() <= SHARED_BYTES_MAX;
        let published = is_small.then(|| Arc::new(Published::new(update)));
        Self { after, rev, published }
    }

    /// A change in a session of another node, which is in the store up to this revision, if known.
    pub(crate) fn elsewhere(rev: Option<Rev>) -> Self {
        let beyond = Rev::new(u64::MAX);
        Self { after: beyond, rev: rev.unwrap_or(beyond), published: None }
    }
}

impl Published {
    pub(crate) const fn new(update: Update) -> Self {
        Self { update, json: OnceLock::new() }
    }

    /// The update as JSON; encoded once for all watchers.
    pub fn json(&self) -> &str {
        // Serialising an update cannot fail: it was serialised for the store before.
        self.json.get_or_init(|| match &self.update {
            Update::Message(message) => serde_json::to_string(&**message).unwrap_or_default(),
            Update::Delta(delta) => {
                json!({"id": delta.id, "seq": delta.seq, "rev": delta.rev, "text": delta.text})
                    .to_string()
            }
            Update::State { rev, state } => {
                let mut value = serde_json::to_value(&**state).unwrap_or_default();
                if let Some(fields) = value.as_object_mut() {
                    fields.insert("rev".to_owned(), json!(rev));
                }
                value.to_string()
            }
        })
    }
}

/// Follows one session. A watcher that falls behind reads the store again; the session never waits for it.
#[derive(Debug)]
pub struct Watcher {
    store: Store,
    session: SessionId,
    /// Everything up to this revision was delivered, or is in `read`.
    rev: Rev,
    live: broadcast::Receiver<WatchEvent>,
    /// Read from the store, and not yet delivered.
    read: VecDeque<Arc<Published>>,
    is_behind: bool,
}

impl Watcher {
    /// Follows from a revision on. `live` must be subscribed before, so that no update is missed
    /// between the read of the store and the subscription.
    pub(crate) const fn new(
        store: Store,
        session: SessionId,
        after: Rev,
        live: broadcast::Receiver<WatchEvent>,
    ) -> Self {
        Self { store, session, rev: after, live, read: VecDeque::new(), is_behind: true }
    }

    /// As `new`, for a caller that knows that nothing has changed since that revision.
    pub(crate) fn expecting(
        store: Store,
        session: SessionId,
        after: Rev,
        live: broadcast::Receiver<WatchEvent>,
    ) -> Self {
        Self { is_behind: false, ..Self::new(store, session, after, live) }
    }

    /// The store.
    pub(crate) const fn store(&self) -> &Store {
        &self.store
    }

    /// Everything up to this revision was delivered, or was read and is delivered next.
    pub const fn rev(&self) -> Rev {
        self.rev
    }

    /// The session that is followed.
    pub const fn session(&self) -> SessionId {
        self.session
    }

    /// Waits for the next update. Fails if the store cannot be read or the daemon is stopping.
    ///
    /// Cancel-safe: no update is lost when the future is dropped.
    pub async fn next(&mut self) -> Result<Arc<Published>> {
        loop {
            if let Some(published) = self.read.pop_front() {
                return Ok(published);
            }
            if self.is_behind {
                self.read_on().await?;
                continue;
            }
            match self.live.recv().await {
                // Already read from the store.
                Ok(sent) if sent.rev <= self.rev => {}
                Ok(WatchEvent { after, rev, published: Some(published) }) if after == self.rev => {
                    self.rev = rev;
                    return Ok(published);
                }
                // An update in between was missed, or this one is too large for the backlog.
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => self.is_behind = true,
                Err(broadcast::error::RecvError::Closed) => return Err(self.closed().await),
            }
        }
    }

    /// Why there are no more updates: the session was erased, or the daemon is stopping.
    async fn closed(&self) -> Error {
        match self.store.session(self.session).await {
            Ok(None) => Error::UnknownSession { text: self.session.to_string() },
            Ok(Some(_)) | Err(_) => Error::Stopping,
        }
    }

    async fn read_on(&mut self) -> Result<()> {
        // Everything that was published until now is in the store, so a burst of announcements
        // needs one read.
        while let Ok(_) | Err(broadcast::error::TryRecvError::Lagged(_)) = self.live.try_recv() {}
        let page = self.store.updates_after(self.session, self.rev, PAGE).await?;
        self.is_behind = page.more;
        self.rev = page.rev;
        self.read =
            page.updates.into_iter().map(|update| Arc::new(Published::new(update))).collect();
        Ok(())
    }
}
