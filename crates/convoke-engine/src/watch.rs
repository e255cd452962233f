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
pub(crate) const BACKLOG: usize = 1024;
/// Messages that a watcher reads from the log at once.
const PAGE: u32 = 500;

/// A message on its way to those who watch.
#[derive(Debug)]
pub struct Published {
    /// The message.
    pub message: Message,
    json: OnceLock<String>,
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
    live: broadcast::Receiver<Arc<Published>>,
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
        live: broadcast::Receiver<Arc<Published>>,
    ) -> Self {
        Self { store, session, after, live, read: VecDeque::new(), is_behind: true }
    }

    /// The same where something is about to be said right after that place, so that there is nothing to look for yet.
    pub(crate) fn expecting(
        store: Store,
        session: SessionId,
        after: Seq,
        live: broadcast::Receiver<Arc<Published>>,
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
                Ok(message) if message.message.seq == self.after.next() => {
                    self.after = message.message.seq;
                    return Ok(message);
                }
                // Told from the log already.
                Ok(message) if message.message.seq <= self.after => {}
                // Something in between was never told.
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => self.is_behind = true,
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
