//! Requests that the task of a session cannot answer, because the session failed or belongs to another machine.

use convoke_core::id::SessionId;
use convoke_core::session::Cut;
use tokio::sync::mpsc;

use super::Request;
use super::registry::Left;
use super::start::explain;
use crate::error::Error;
use crate::sessions::Sessions;

/// What an error means for the session that it ends.
pub(super) fn cut_by(error: &Error) -> Cut {
    if error.may_pass() { Cut::Unstored { error: explain(error) } } else { Cut::Broken }
}

/// Fails all requests, because the session belongs to another machine: nothing was done, and it can be asked there.
pub(super) fn turn_away(shared: &Sessions, id: SessionId, mut requests: mpsc::Receiver<Request>) {
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
