//! The registry of session tasks and watchers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use convoke_core::id::SessionId;
use convoke_core::message::Rev;
use convoke_core::session::Activity;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use super::Request;
use crate::view::Live;
use crate::watch::{BACKLOG, WatchEvent};

/// The sessions that have a task or watchers.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    entries: Mutex<Entries>,
    /// Whether the daemon is stopping.
    stopping: watch::Sender<bool>,
    /// Increases whenever what lists show of a session changes.
    age: AtomicU64,
}

#[derive(Debug, Default)]
struct Entries {
    sessions: HashMap<SessionId, Entry>,
    is_stopping: bool,
}

/// A session that has a task, or watchers, or both.
#[derive(Debug)]
struct Entry {
    published: broadcast::Sender<WatchEvent>,
    mailbox: Option<Mailbox>,
}

impl Default for Entry {
    fn default() -> Self {
        Self { published: broadcast::Sender::new(BACKLOG), mailbox: None }
    }
}

impl Entries {
    fn remove_task(&mut self, id: SessionId) {
        if let Some(entry) = self.sessions.get_mut(&id) {
            entry.mailbox = None;
            if entry.published.receiver_count() == 0 {
                self.sessions.remove(&id);
            }
        }
    }
}

/// The result of `post`.
pub(super) enum Posted {
    /// The request is in the mailbox.
    Yes,
    /// The session has no task.
    NoTask(Request),
    /// The mailbox is full; the sender can wait for room.
    Full(Request, mpsc::Sender<Request>),
}

/// The result of `enter`.
pub(super) enum Entered {
    /// The task was registered, and publishes here.
    Yes(broadcast::Sender<WatchEvent>),
    /// The session already has a task.
    AlreadyRunning,
    /// The daemon is stopping.
    Stopping,
}

/// The result of `leave`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Yes,
    No,
}

/// The channels to a session's task.
#[derive(Debug, Clone)]
pub(crate) struct Mailbox {
    pub(crate) requests: mpsc::Sender<Request>,
    /// Closed when the task ends.
    pub(crate) live: watch::Receiver<Live>,
}

impl Registry {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        // Each change is one call, so the map is consistent after a panic.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mailbox(&self, id: SessionId) -> Option<Mailbox> {
        self.entries().sessions.get(&id)?.mailbox.clone()
    }

    /// Registers a task, unless the session has one or the daemon is stopping.
    pub(super) fn enter(&self, id: SessionId, mailbox: Mailbox) -> Entered {
        let mut entries = self.entries();
        if entries.is_stopping {
            return Entered::Stopping;
        }
        let entry = entries.sessions.entry(id).or_default();
        if entry.mailbox.is_some() {
            return Entered::AlreadyRunning;
        }
        entry.mailbox = Some(mailbox);
        self.changed();
        Entered::Yes(entry.published.clone())
    }

    /// Whether a session has a task.
    pub(crate) fn has_task(&self, id: SessionId) -> bool {
        self.mailbox(id).is_some()
    }

    /// The sessions that have a task.
    pub(crate) fn tasks(&self) -> Vec<SessionId> {
        let entries = self.entries();
        let tasks = entries.sessions.iter().filter(|(_, entry)| entry.mailbox.is_some());
        tasks.map(|(id, _)| *id).collect()
    }

    /// Posts a request to the mailbox of a session's task.
    ///
    /// A task leaves under the same lock, so that it never leaves with an unread request.
    pub(super) fn post(&self, id: SessionId, request: Request) -> Posted {
        let entries = self.entries();
        let mailbox = entries.sessions.get(&id).and_then(|entry| entry.mailbox.as_ref());
        let Some(mailbox) = mailbox else { return Posted::NoTask(request) };
        match mailbox.requests.try_send(request) {
            Ok(()) => Posted::Yes,
            Err(mpsc::error::TrySendError::Full(request)) => {
                Posted::Full(request, mailbox.requests.clone())
            }
            Err(mpsc::error::TrySendError::Closed(request)) => Posted::NoTask(request),
        }
    }

    /// Removes a task that has nothing left to do, unless its mailbox has a request.
    pub(super) fn leave(&self, id: SessionId, requests: &mpsc::Receiver<Request>) -> Left {
        let mut entries = self.entries();
        if !requests.is_empty() && !entries.is_stopping {
            return Left::No;
        }
        entries.remove_task(id);
        self.changed();
        Left::Yes
    }

    /// Whether the daemon is stopping.
    pub(crate) fn is_stopping(&self) -> bool {
        self.entries().is_stopping
    }

    /// Completes when the daemon is stopping.
    pub(crate) async fn stopped(&self) {
        // The sender lives as long as `self`.
        self.stopping.subscribe().wait_for(|stopping| *stopping).await.ok();
    }

    /// Removes a task that failed.
    pub(super) fn remove(&self, id: SessionId) {
        self.entries().remove_task(id);
        self.changed();
    }

    /// Removes an erased session, and disconnects its watchers.
    pub(crate) fn erase(&self, id: SessionId) {
        self.entries().sessions.remove(&id);
        self.changed();
    }

    /// Records that what lists show of a session has changed.
    pub(crate) fn changed(&self) {
        self.age.fetch_add(1, Ordering::Release);
    }

    /// Increases whenever what lists show of a session changes.
    pub(crate) fn age(&self) -> u64 {
        self.age.load(Ordering::Acquire)
    }

    /// Makes the watchers of a session of another node read the store, except those that have
    /// reached `rev`.
    pub(crate) fn announce(&self, id: SessionId, rev: Option<Rev>) {
        if let Some(entry) = self.entries().sessions.get(&id) {
            // Without watchers there is no receiver.
            entry.published.send(WatchEvent::elsewhere(rev)).ok();
        }
        self.changed();
    }

    /// The sessions without a task that have watchers.
    pub(crate) fn watched(&self) -> Vec<SessionId> {
        let entries = self.entries();
        let is_watched =
            |entry: &Entry| entry.mailbox.is_none() && entry.published.receiver_count() > 0;
        entries.sessions.iter().filter(|(_, entry)| is_watched(entry)).map(|(id, _)| *id).collect()
    }

    /// Makes all watchers of sessions without a task read the store.
    pub(crate) fn announce_all(&self) {
        let entries = self.entries();
        for entry in entries.sessions.values().filter(|entry| entry.mailbox.is_none()) {
            entry.published.send(WatchEvent::elsewhere(None)).ok();
        }
        self.changed();
    }

    /// Subscribes to the updates of a session.
    pub(crate) fn subscribe(&self, id: SessionId) -> broadcast::Receiver<WatchEvent> {
        let mut entries = self.entries();
        // Removes entries of sessions that have neither a task nor a watcher any more.
        entries
            .sessions
            .retain(|_, entry| entry.mailbox.is_some() || entry.published.receiver_count() > 0);
        entries.sessions.entry(id).or_default().published.subscribe()
    }

    /// The live state of a session.
    pub(crate) fn live(&self, id: SessionId) -> Live {
        let live = self.mailbox(id).map(|mailbox| mailbox.live);
        live.map(|live| live.borrow().clone()).unwrap_or_default()
    }

    /// The activities of some sessions.
    pub(crate) fn activities(&self, ids: impl Iterator<Item = SessionId>) -> Vec<Activity> {
        let entries = self.entries();
        let activity = |id: SessionId| {
            let mailbox = entries.sessions.get(&id)?.mailbox.as_ref()?;
            Some(mailbox.live.borrow().activity)
        };
        ids.map(|id| activity(id).unwrap_or_default()).collect()
    }

    /// The sessions that are not idle.
    pub(crate) fn busy(&self) -> Vec<SessionId> {
        let entries = self.entries();
        let is_busy = |mailbox: &Mailbox| mailbox.live.borrow().activity != Activity::Idle;
        let busy = entries
            .sessions
            .iter()
            .filter(|(_, entry)| entry.mailbox.as_ref().is_some_and(is_busy));
        busy.map(|(id, _)| *id).collect()
    }

    /// The number of watchers.
    pub(crate) fn watchers(&self) -> usize {
        self.entries().sessions.values().map(|entry| entry.published.receiver_count()).sum()
    }

    /// Stops all tasks, accepts no new ones, and disconnects watchers.
    pub(crate) async fn stop(&self) {
        let mailboxes: Vec<Mailbox> = {
            let mut entries = self.entries();
            entries.is_stopping = true;
            self.stopping.send_replace(true);
            entries.sessions.values().filter_map(|entry| entry.mailbox.clone()).collect()
        };
        let mut ends = Vec::new();
        for mailbox in mailboxes {
            let (done, end) = oneshot::channel();
            // Fails if the task has already ended.
            if mailbox.requests.send(Request::Stop { _done: done }).await.is_ok() {
                ends.push(end);
            }
        }
        for end in ends {
            // The sender is dropped when the task ends.
            end.await.ok();
        }
        self.entries().sessions.clear();
        self.changed();
    }
}
