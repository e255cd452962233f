//! Requests that the task of a session cannot answer, because the session failed or belongs to another machine.

use convoke_core::id::SessionId;
use convoke_core::session::Interruption;
use tokio::sync::mpsc;

use super::Request;
use super::registry::Left;
use super::start::explain;
use crate::error::Error;
use crate::sessions::Sessions;

/// The interruption that an error means for its session.
pub(super) fn interruption_of(error: &Error) -> Interruption {
    if error.may_pass() {
        Interruption::Unstored { error: explain(error) }
    } else {
        Interruption::Broken
    }
}

/// Fails all requests, because the session belongs to another machine. None was handled here, so
/// the callers can send them there.
pub(super) fn refuse_moved(
    shared: &Sessions,
    id: SessionId,
    mut requests: mpsc::Receiver<Request>,
) {
    loop {
        while let Ok(request) = requests.try_recv() {
            request.refuse(Error::OtherNode { session: id });
        }
        if shared.registry.leave(id, &requests) == Left::Yes {
            return;
        }
    }
}

/// Fails all requests, because the session cannot be restored; the first of them with the cause.
pub(super) fn refuse_all(
    shared: &Sessions,
    id: SessionId,
    mut requests: mpsc::Receiver<Request>,
    error: Error,
) {
    let mut error = Some(error);
    loop {
        while let Ok(request) = requests.try_recv() {
            let error = error.take().unwrap_or_else(|| shared.broken(id));
            request.refuse(error);
        }
        if shared.registry.leave(id, &requests) == Left::Yes {
            return;
        }
    }
}
