//! Room among the active sessions: how many there may be, and which of them make room.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use convoke_core::session::{EndReason, Status};
use convoke_store::{
    Archived, SessionFilter, SessionKind, SessionOrder, Store, StoredSession, Window,
};
use tokio::sync::Semaphore;

use super::Sessions;
use crate::error::{Error, Result};
use crate::session::{self, Completed, Request};

/// Who may take the next place.
#[derive(Debug)]
pub(crate) struct Admission {
    /// Held while a caller counts the active sessions and takes a place.
    turn: Semaphore,
    /// Sessions that have a place and are not stored yet.
    reserved: AtomicUsize,
    /// Held while a prompt resumes a session, so that several prompts at once take one place.
    pub(super) resumption: Semaphore,
}

impl Default for Admission {
    fn default() -> Self {
        let (turn, resumption) = (Semaphore::new(1), Semaphore::new(1));
        Self { turn, reserved: AtomicUsize::new(0), resumption }
    }
}

/// How many sessions of humans are active and not archived.
pub(crate) async fn active_sessions(store: &Store) -> Result<u64> {
    Ok(store.count_sessions(&counted()).await?)
}

/// The sessions that take a place.
fn counted() -> SessionFilter {
    SessionFilter {
        statuses: vec![Status::Active],
        archived: Archived::Hidden,
        kind: Some(SessionKind::Session),
        project: None,
    }
}

/// Room among the active sessions, until the session itself is counted.
pub(super) struct Room {
    shared: Arc<Sessions>,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.shared.admission.reserved.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Room {
    /// Does what makes the session count, and releases the place under the same lock.
    pub(super) async fn fill<T>(self, work: impl Future<Output = T>) -> T {
        let shared = Arc::clone(&self.shared);
        // It is never closed.
        let _turn = shared.admission.turn.acquire().await.ok();
        let done = work.await;
        drop(self);
        done
    }
}

/// What a session is to become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Return {
    /// Active again.
    FromItsEnd,
    /// Shown again.
    FromTheArchive,
}

/// Room for a session that will count from now on; one that will not, or does already, needs none.
pub(super) async fn admit(
    shared: &Arc<Sessions>,
    session: &StoredSession,
    from: Return,
) -> Result<Option<Room>> {
    let will_count = session.kind == SessionKind::Session
        && match (session.summary.status, from) {
            (Status::Completed | Status::Error, Return::FromItsEnd) => !session.summary.archived,
            (Status::Active, Return::FromTheArchive) => session.summary.archived,
            // Whatever else is wrong with it, the session itself says.
            (Status::Active | Status::Cancelled, Return::FromItsEnd)
            | (Status::Completed | Status::Cancelled | Status::Error, Return::FromTheArchive) => {
                false
            }
        };
    if will_count { Ok(Some(room(shared).await?)) } else { Ok(None) }
}

/// Room for one more active session; where there is none, one that has been idle for long makes some.
pub(super) async fn room(shared: &Arc<Sessions>) -> Result<Room> {
    // One at a time, so that two callers cannot take the last place. It is never closed.
    let _turn = shared.admission.turn.acquire().await.map_err(|_| Error::Stopping)?;
    let max = shared.settings.sessions_max;
    loop {
        let reserved = shared.admission.reserved.load(Ordering::SeqCst);
        let active = usize::try_from(active_sessions(&shared.store).await?).unwrap_or(usize::MAX);
        if active.saturating_add(reserved) < max {
            break;
        }
        if make_room(shared).await? == Completed::No {
            return Err(Error::SessionLimit { max });
        }
    }
    shared.admission.reserved.fetch_add(1, Ordering::SeqCst);
    Ok(Room { shared: Arc::clone(shared) })
}

/// Completes the session that has been idle longest, if that is longer than a process is kept for.
async fn make_room(shared: &Arc<Sessions>) -> Result<Completed> {
    let window = Window::first(Window::LIMIT_MAX);
    let page = shared.store.sessions(counted(), SessionOrder::Active, window).await?;
    for candidate in page.sessions.iter().rev() {
        let longer_than = shared.settings.pool.idle_timeout;
        let completed = session::ask(shared, candidate.id, |reply| Request::CompleteIfIdle {
            longer_than,
            reason: EndReason::MadeRoom,
            reply,
        });
        match completed.await {
            Ok(Completed::Yes) => return Ok(Completed::Yes),
            Ok(Completed::No) => {}
            // One that is broken is no reason not to ask the others.
            Err(error) => tracing::warn!(session.id = %candidate.id, "makes no room: {error}"),
        }
    }
    Ok(Completed::No)
}
