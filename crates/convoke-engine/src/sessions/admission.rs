//! The limit of active sessions: reserves room, and completes idle sessions to make some.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use convoke_core::session::{EndReason, Status};
use convoke_store::{
    Archived, NodeScope, SessionFilter, SessionKind, SessionOrder, Store, StoredSession, Window,
};
use tokio::sync::Semaphore;

use super::Sessions;
use crate::error::{Error, Result};
use crate::session::{self, Completed, Request};

/// The state of admission.
#[derive(Debug)]
pub(crate) struct Admission {
    /// Held while a caller counts the active sessions and reserves room.
    turn: Semaphore,
    /// Reservations whose sessions are not stored yet.
    reserved: AtomicUsize,
    /// Held while a prompt resumes a session, so that concurrent prompts reserve room once.
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

/// The sessions that count towards the limit.
fn counted() -> SessionFilter {
    SessionFilter {
        statuses: vec![Status::Active],
        archived: Archived::Hidden,
        kind: Some(SessionKind::Session),
        project: None,
        of: NodeScope::Own,
    }
}

/// Reservation for one session, until the session itself is counted.
pub(super) struct Reservation {
    shared: Arc<Sessions>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shared.admission.reserved.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Reservation {
    /// Makes the session count, and releases the reservation under the same lock.
    pub(super) async fn fill<T>(self, work: impl Future<Output = T>) -> T {
        let shared = Arc::clone(&self.shared);
        // The semaphore is never closed.
        let _turn = shared.admission.turn.acquire().await.ok();
        let done = work.await;
        drop(self);
        done
    }
}

/// How a session becomes active again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reactivation {
    /// It is resumed.
    Resume,
    /// It is unarchived.
    Unarchive,
}

/// Reserves room for a session that is about to count; one that will not, or already does, needs none.
pub(super) async fn admit(
    shared: &Arc<Sessions>,
    session: &StoredSession,
    from: Reactivation,
) -> Result<Option<Reservation>> {
    let will_count = session.kind == SessionKind::Session
        && match (session.summary.status, from) {
            (Status::Completed | Status::Error, Reactivation::Resume) => !session.summary.archived,
            (Status::Active, Reactivation::Unarchive) => session.summary.archived,
            // The session itself refuses what is not possible.
            (Status::Active | Status::Cancelled, Reactivation::Resume)
            | (Status::Completed | Status::Cancelled | Status::Error, Reactivation::Unarchive) => {
                false
            }
        };
    if will_count { Ok(Some(room(shared).await?)) } else { Ok(None) }
}

/// Reserves room for one more active session; if there is none, completes a session that was idle for long.
pub(super) async fn room(shared: &Arc<Sessions>) -> Result<Reservation> {
    // One caller at a time, so that two cannot reserve the last place. The semaphore is never
    // closed.
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
    Ok(Reservation { shared: Arc::clone(shared) })
}

/// Completes the session that was idle longest, if that exceeds the idle timeout of processes.
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
            // If one session fails, the others are tried.
            Err(error) => tracing::warn!(session.id = %candidate.id, "makes no room: {error}"),
        }
    }
    Ok(Completed::No)
}
