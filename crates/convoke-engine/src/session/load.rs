//! Loads a session from the store: its summary, its open messages and its state.

use convoke_agents::driver::REPORTS_MAX;
use convoke_core::id::SessionId;
use convoke_core::session::{Interruption, Report, Session};
use convoke_core::update::OpenMessages;
use convoke_store::{Store, StoredSession};
use tokio::sync::mpsc;

use super::{Begin, Reports};
use crate::error::{Error, Result};
use crate::moving::Unpacked;

/// A loaded session.
pub(super) struct Loaded {
    pub(super) stored: StoredSession,
    pub(super) session: Session,
    pub(super) open: OpenMessages,
}

/// Loads a session.
async fn load(store: &Store, id: SessionId) -> Result<Loaded> {
    let stored = store.session(id).await?;
    let stored = stored.ok_or_else(|| Error::UnknownSession { text: id.to_string() })?;
    let open = store.open_messages(id).await?;
    let state = store.session_state(id).await?.into_iter().map(|(_, state)| state).collect();
    let session = Session::restore(stored.summary.clone(), &open, state);
    Ok(Loaded { stored, session, open: OpenMessages::restore(open) })
}

/// What a task starts with.
pub(super) struct Opening {
    pub(super) loaded: Loaded,
    /// What interrupted the session, if it must be recovered.
    pub(super) interruption: Option<Interruption>,
    pub(super) reports: Reports,
    /// Reports to record first.
    pub(super) first: Vec<Report>,
    /// A command that runs in the session's work tree before its first turn.
    pub(super) set_up: Option<String>,
    /// What came along from another machine.
    pub(super) arrived: Option<Unpacked>,
}

/// Loads a session for its task, or takes a new one.
pub(super) async fn open_as(store: &Store, id: SessionId, begin: Begin) -> Result<Opening> {
    let (loaded, interruption, arrived) = match begin {
        Begin::New { stored, reports, first, set_up } => {
            let session = Session::restore(stored.summary.clone(), &[], Vec::new());
            let loaded = Loaded { stored: *stored, session, open: OpenMessages::default() };
            return Ok(Opening {
                loaded,
                interruption: None,
                reports,
                first,
                set_up,
                arrived: None,
            });
        }
        Begin::Stored => {
            let loaded = load(store, id).await?;
            // A task leaves a session only when it is idle, so it must have failed.
            let interruption = loaded.session.is_under_way().then_some(Interruption::Broken);
            (loaded, interruption, None)
        }
        Begin::Interrupted(interruption) => (load(store, id).await?, Some(interruption), None),
        Begin::Arrived(unpacked) => {
            let loaded = load(store, id).await?;
            // It was taken from a machine that was away in the middle of something.
            let interruption = loaded.session.is_under_way().then_some(Interruption::Moved);
            (loaded, interruption, Some(unpacked))
        }
    };
    let (reports, first, set_up) = (mpsc::channel(REPORTS_MAX), Vec::new(), None);
    Ok(Opening { loaded, interruption, reports, first, set_up, arrived })
}
