//! What other nodes announce: watchers of a session are woken at once, lists read the announced sessions in batches, and a
//! poll covers announcements that were lost.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_core::id::SessionId;
use convoke_core::message::Seq;
use convoke_store::StoredSession;
use tokio::sync::Notify;
use tokio::time::MissedTickBehavior;

use super::{Nodes, remote_view};
use crate::error::Result;
use crate::moving;
use crate::view::{Change, SessionChange, SessionView};

/// How long announcements are debounced before the sessions are read for lists.
const GATHER: Duration = Duration::from_millis(100);
/// Sessions that are read with one query.
const BATCH: usize = 500;
/// How often the revisions of watched sessions are looked up, in case an announcement was lost.
const POLL: Duration = Duration::from_secs(3);
/// The delay before a failed read is retried.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Sessions of other nodes that are cached as they were last announced; for others,
/// `SessionChanged` has the same session before and after.
const REMEMBERED: usize = 2_000;
/// Announced sessions that wait to be read. Without clients, more are dropped: a client that
/// connects lists everything. With clients the set is read ten times a second, and stays smaller.
const PENDING_MAX: usize = 10_000;

/// The announcements of other nodes.
#[derive(Debug, Default)]
pub(super) struct Announcements {
    state: Mutex<State>,
    /// Woken when a client needs announced sessions to be read.
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Clients that follow the lists.
    subscriptions: usize,
    /// Announced, and not yet read.
    pending: BTreeSet<SessionId>,
    /// Sessions of other nodes as they were last read.
    sessions: HashMap<SessionId, SessionView>,
}

/// A client that follows the lists of sessions; it is counted until this is dropped.
#[derive(Debug)]
pub struct ListSubscription(Arc<Nodes>);

impl Drop for ListSubscription {
    fn drop(&mut self) {
        self.0.announcements.state().subscriptions -= 1;
    }
}

impl State {
    /// Returns the session as it was before.
    fn remember(&mut self, session: SessionView) -> Option<SessionView> {
        if self.sessions.len() >= REMEMBERED {
            self.sessions.clear();
        }
        self.sessions.insert(session.stored.id, session)
    }

    /// The sessions that are read next; none without a client.
    fn take(&mut self) -> Vec<SessionId> {
        let mut batch = Vec::new();
        while self.subscriptions > 0 && batch.len() < BATCH {
            let Some(id) = self.pending.pop_first() else { break };
            batch.push(id);
        }
        batch
    }
}

impl Announcements {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, sessions: impl IntoIterator<Item = SessionId>) {
        let mut state = self.state();
        state.pending.extend(sessions);
        if state.subscriptions == 0 && state.pending.len() > PENDING_MAX {
            state.pending.clear();
        }
        if state.subscriptions > 0 && !state.pending.is_empty() {
            self.wake.notify_one();
        }
    }

    /// Running sessions in lists; a lost announcement is most visible there.
    fn running(&self) -> Vec<SessionId> {
        let state = self.state();
        if state.subscriptions == 0 {
            return Vec::new();
        }
        let work = |view: &SessionView| view.stored.summary.work.running_since;
        let running = state.sessions.iter().filter(|(_, view)| work(view).is_some());
        running.map(|(id, _)| *id).collect()
    }
}

impl Nodes {
    /// Registers a client that follows the lists of sessions: announced sessions are read for it.
    pub fn subscribe_to_lists(self: &Arc<Self>) -> ListSubscription {
        self.announcements.state().subscriptions += 1;
        self.announcements.add([]);
        ListSubscription(Arc::clone(self))
    }

    /// Handles the announcement that sessions of another node changed; reads nothing itself.
    pub(super) fn announced(&self, sessions: Vec<SessionId>) {
        for session in &sessions {
            self.sessions.registry.announce(*session, None);
            if self.sessions.registry.has_task(*session) {
                // Only the owner announces a session, so it has moved to that node.
                let (sessions, id) = (Arc::clone(&self.sessions), *session);
                tokio::spawn(async move { moving::leave_if_moved(&sessions, id).await });
            }
        }
        self.announcements.add(sessions);
    }

    /// Reads announced sessions for the clients that follow the lists: all of a batch with one query.
    pub(super) async fn read_for_lists(self: Arc<Self>) {
        loop {
            tokio::select! {
                () = self.announcements.wake.notified() => {}
                () = self.sessions.registry.stopped() => return,
            }
            tokio::time::sleep(GATHER).await;
            loop {
                let batch = self.announcements.state().take();
                if let Err(error) = self.read_batch(&batch).await {
                    tracing::warn!("sessions of other nodes cannot be read: {error}");
                    tokio::time::sleep(RETRY_DELAY).await;
                    self.announcements.add(batch);
                    break;
                }
                // Sessions that were announced during the read are debounced again.
                if batch.len() < BATCH {
                    break;
                }
            }
        }
    }

    async fn read_batch(&self, batch: &[SessionId]) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let found = self.store.sessions_by_id(batch.to_vec()).await?;
        let mut found: HashMap<SessionId, StoredSession> =
            found.into_iter().map(|stored| (stored.id, stored)).collect();
        for id in batch {
            match found.remove(id) {
                // It has moved here, and its task announces it.
                Some(stored) if stored.node == self.own() => {
                    self.announcements.state().sessions.remove(id);
                }
                Some(stored) => self.publish_changed(remote_view(stored)),
                None => self.publish_erased(*id),
            }
        }
        self.sessions.inbox_changed.notify_one();
        Ok(())
    }

    fn publish_changed(&self, now: SessionView) {
        let before = self.announcements.state().remember(now.clone());
        self.sessions.publish(match before {
            Some(before) if before == now => return,
            None if now.stored.summary.last_seq == Seq::START => {
                Change::SessionCreated(Box::new(now))
            }
            before => {
                let before = before.unwrap_or_else(|| now.clone());
                Change::SessionChanged(Box::new(SessionChange { before, now }))
            }
        });
    }

    fn publish_erased(&self, id: SessionId) {
        // This disconnects its watchers.
        self.sessions.registry.erase(id);
        let before = self.announcements.state().sessions.remove(&id);
        if let Some(before) = before {
            self.sessions.publish(Change::SessionErased(Box::new(before.stored)));
        }
    }

    /// Polls for changes whose announcements were lost.
    pub(super) async fn poll(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(POLL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.sessions.registry.stopped() => return,
            }
            if let Err(error) = self.look_for_lost().await {
                tracing::debug!("lost announcements cannot be looked for: {error}");
            }
        }
    }

    /// Compares the revisions of watched and running sessions, with one query for all.
    async fn look_for_lost(&self) -> Result<()> {
        // Cached lists may be older than a lost announcement.
        self.sessions.registry.changed();
        let watched: BTreeSet<SessionId> = self.sessions.registry.watched().into_iter().collect();
        let mut ids = watched.clone();
        ids.extend(self.announcements.running());
        if ids.is_empty() {
            return Ok(());
        }
        let revs = self.store.revs_by_id(ids.iter().copied().collect()).await?;
        let own = self.own();
        let mut behind: Vec<SessionId> = Vec::new();
        for (id, rev, node) in revs {
            ids.remove(&id);
            if node == own {
                continue;
            }
            // A watcher at this revision ignores it.
            self.sessions.registry.announce(id, Some(rev));
            let state = self.announcements.state();
            let shown = state.sessions.get(&id).map(|view| view.stored.summary.rev);
            if shown.is_some_and(|shown| shown != rev) {
                behind.push(id);
            }
        }
        ids.into_iter().for_each(|erased| self.publish_erased(erased));
        self.announcements.add(behind);
        Ok(())
    }
}
