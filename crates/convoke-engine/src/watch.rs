//! Following a session's log: what is stored from a place on, and then what comes.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use convoke_core::id::SessionId;
use convoke_core::message::{Message, Seq};
use convoke_store::Store;
use tokio::sync::broadcast;

use crate::error::{Error, Result};
use crate::reading;

/// Messages that a watcher may fall behind before it must read the log again.
pub(crate) const BACKLOG: usize = 256;
/// The longest message that is handed to the watchers in memory, so that those who fall behind hold at most 1 MiB
/// together. They read a longer one from the log, one page at a time.
const SHARED_BYTES_MAX: usize = 4 << 10;
/// Messages that a watcher reads from the log at once.
const PAGE: u32 = 500;

/// A message on its way to those who watch.
#[derive(Debug)]
pub struct Published {
    /// The message.
    pub message: Message,
    json: OnceLock<String>,
}

/// What the watchers of a session receive.
#[derive(Debug, Clone)]
pub(crate) enum Arrival {
    /// This message.
    Message(Arc<Published>),
    /// The message at this place, which is too long to be kept for those who are slow.
    Stored(Seq),
}

impl Arrival {
    pub(crate) fn of(message: Message) -> Self {
        if message.content.bytes() > SHARED_BYTES_MAX {
            return Self::Stored(message.seq);
        }
        Self::Message(Arc::new(Published::new(message)))
    }
}

impl Published {
    pub(crate) const fn new(message: Message) -> Self {
        Self { message, json: OnceLock::new() }
    }

    /// The message as every wire carries it; written once, however many watch.
    pub fn json(&self) -> &str {
        // Everything in a message was made to be written as JSON, and is, in the store, before it comes here.
        self.json.get_or_init(|| serde_json::to_string(&self.message).unwrap_or_default())
    }
}

/// Follows one session. A watcher that falls behind reads the log again; the session never waits for it.
#[derive(Debug)]
pub struct Watcher {
    store: Store,
    session: SessionId,
    after: Seq,
    live: broadcast::Receiver<Arrival>,
    /// Read from the log and not yet told.
    read: VecDeque<Arc<Published>>,
    is_behind: bool,
}

impl Watcher {
    /// Follows from a place on. `live` was subscribed to before, so that nothing falls between log and news.
    pub(crate) const fn new(
        store: Store,
        session: SessionId,
        after: Seq,
        live: broadcast::Receiver<Arrival>,
    ) -> Self {
        Self { store, session, after, live, read: VecDeque::new(), is_behind: true }
    }

    /// The same where something is about to be said right after that place, so that there is nothing to look for yet.
    pub(crate) fn expecting(
        store: Store,
        session: SessionId,
        after: Seq,
        live: broadcast::Receiver<Arrival>,
    ) -> Self {
        Self { is_behind: false, ..Self::new(store, session, after, live) }
    }

    /// The session that is followed.
    pub const fn session(&self) -> SessionId {
        self.session
    }

    /// The next message, as soon as there is one. Fails when the log cannot be read or the daemon stops.
    ///
    /// Safe to drop while it waits: no message is lost by that.
    pub async fn next(&mut self) -> Result<Arc<Published>> {
        loop {
            if let Some(message) = self.read.pop_front() {
                self.after = message.message.seq;
                return Ok(message);
            }
            if self.is_behind {
                self.read_on().await?;
                continue;
            }
            match self.live.recv().await {
                Ok(Arrival::Message(message)) if message.message.seq == self.after.next() => {
                    self.after = message.message.seq;
                    return Ok(message);
                }
                // Read from the log already.
                Ok(Arrival::Message(message)) if message.message.seq <= self.after => {}
                Ok(Arrival::Stored(seq)) if seq <= self.after => {}
                // Something in between has not been seen, or is too long to be here.
                Ok(Arrival::Message(_) | Arrival::Stored(_))
                | Err(broadcast::error::RecvError::Lagged(_)) => self.is_behind = true,
                Err(broadcast::error::RecvError::Closed) => return Err(Error::Stopping),
            }
        }
    }

    async fn read_on(&mut self) -> Result<()> {
        let page = reading::after(&self.store, self.session, self.after, PAGE).await?;
        self.is_behind = page.more;
        self.read =
            page.messages.into_iter().map(|message| Arc::new(Published::new(message))).collect();
        Ok(())
    }
}
