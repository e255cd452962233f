//! Which sessions have a task, and who watches which.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use convoke_core::id::SessionId;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use super::Request;
use crate::view::{Activity, Live};
use crate::watch::{Arrival, BACKLOG};

/// The sessions that something goes on in, and those that are watched.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    entries: Mutex<Entries>,
    /// Whether the daemon stops, for those who wait for something else.
    stopping: watch::Sender<bool>,
    /// Grows whenever a session is shown differently.
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
    published: broadcast::Sender<Arrival>,
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

/// Whether a request is in a mailbox.
pub(super) enum Posted {
    /// It is.
    Yes,
    /// The session has no task.
    NoTask(Request),
    /// The mailbox is full; the sender tells when there is room.
    Full(Request, mpsc::Sender<Request>),
}

/// Whether a task was entered.
pub(super) enum Entered {
    /// It was, and publishes here.
    Yes(broadcast::Sender<Arrival>),
    /// Another one was faster.
    ThereIsOne,
    /// The daemon stops.
    Stopping,
}

/// Whether a task was taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Yes,
    No,
}

/// How a session's task is reached.
#[derive(Debug, Clone)]
pub(crate) struct Mailbox {
    pub(crate) requests: mpsc::Sender<Request>,
    /// Ends with the task.
    pub(crate) live: watch::Receiver<Live>,
}

impl Registry {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        // Every change under this lock is one call, so a panic leaves nothing half done.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mailbox(&self, id: SessionId) -> Option<Mailbox> {
        self.entries().sessions.get(&id)?.mailbox.clone()
    }

    /// Enters a task, unless there is one already or the daemon stops; tells where to publish.
    pub(super) fn enter(&self, id: SessionId, mailbox: Mailbox) -> Entered {
        let mut entries = self.entries();
        if entries.is_stopping {
            return Entered::Stopping;
        }
        let entry = entries.sessions.entry(id).or_default();
        if entry.mailbox.is_some() {
            return Entered::ThereIsOne;
        }
        entry.mailbox = Some(mailbox);
        self.changed();
        Entered::Yes(entry.published.clone())
    }

    /// Puts a request into the mailbox of a session's task.
    ///
    /// Under the same lock a task leaves, so that none leaves with a request unread.
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

    /// Takes a task out that is over, unless somebody has just asked it something.
    pub(super) fn leave(&self, id: SessionId, requests: &mpsc::Receiver<Request>) -> Left {
        let mut entries = self.entries();
        if !requests.is_empty() && !entries.is_stopping {
            return Left::No;
        }
        entries.remove_task(id);
        self.changed();
        Left::Yes
    }

    /// Whether the daemon stops.
    pub(super) fn is_stopping(&self) -> bool {
        self.entries().is_stopping
    }

    /// Ends when the daemon stops.
    pub(crate) async fn stopped(&self) {
        // The sender is there as long as this is.
        self.stopping.subscribe().wait_for(|stopping| *stopping).await.ok();
    }

    /// Takes a task out that broke down.
    pub(super) fn remove(&self, id: SessionId) {
        self.entries().remove_task(id);
        self.changed();
    }

    /// Notes that a session is shown differently from now on.
    pub(super) fn changed(&self) {
        self.age.fetch_add(1, Ordering::Release);
    }

    /// Grows whenever a session is shown differently.
    pub(crate) fn age(&self) -> u64 {
        self.age.load(Ordering::Acquire)
    }

    /// Hears of every message of a session from now on.
    pub(crate) fn subscribe(&self, id: SessionId) -> broadcast::Receiver<Arrival> {
        let mut entries = self.entries();
        // Those who watched sessions without a task leave nothing but their entry behind.
        entries
            .sessions
            .retain(|_, entry| entry.mailbox.is_some() || entry.published.receiver_count() > 0);
        entries.sessions.entry(id).or_default().published.subscribe()
    }

    /// What is known of a session besides its log.
    pub(crate) fn live(&self, id: SessionId) -> Live {
        let live = self.mailbox(id).map(|mailbox| mailbox.live);
        live.map(|live| live.borrow().clone()).unwrap_or_default()
    }

    /// What goes on in some sessions.
    pub(crate) fn activities(&self, ids: impl Iterator<Item = SessionId>) -> Vec<Activity> {
        let entries = self.entries();
        let activity = |id: SessionId| {
            let mailbox = entries.sessions.get(&id)?.mailbox.as_ref()?;
            Some(mailbox.live.borrow().activity)
        };
        ids.map(|id| activity(id).unwrap_or_default()).collect()
    }

    /// The sessions in which something goes on.
    pub(crate) fn busy(&self) -> Vec<SessionId> {
        let entries = self.entries();
        let is_busy = |mailbox: &Mailbox| mailbox.live.borrow().activity != Activity::Idle;
        let busy = entries
            .sessions
            .iter()
            .filter(|(_, entry)| entry.mailbox.as_ref().is_some_and(is_busy));
        busy.map(|(id, _)| *id).collect()
    }

    /// How many watch.
    pub(crate) fn watchers(&self) -> usize {
        self.entries().sessions.values().map(|entry| entry.published.receiver_count()).sum()
    }

    /// Ends all tasks, lets no new ones in, and lets watchers go.
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
            // A task that is over needs no telling.
            if mailbox.requests.send(Request::Stop { _done: done }).await.is_ok() {
                ends.push(end);
            }
        }
        for end in ends {
            // Dropped unanswered with the task.
            end.await.ok();
        }
        self.entries().sessions.clear();
        self.changed();
    }
}
