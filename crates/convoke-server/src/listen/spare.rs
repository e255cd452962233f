//! Reserved file descriptors, so that the control socket still works when the process is out of them.

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

/// The most that one request of the owner needs: its connection, the peer's entries in `/proc`, a database reader
/// with its WAL and index, and a folder of questions.
const COUNT: usize = 12;

/// How long the control socket may use the descriptors before they are reserved again, and the delay between attempts
/// to do so.
const LOAN: Duration = Duration::from_secs(1);

/// The reserved descriptors.
#[derive(Debug)]
pub(super) struct Spare {
    files: Mutex<Vec<File>>,
    state: watch::Sender<ReserveState>,
}

/// Whether the reserve is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReserveState {
    /// It was released to the control socket; new TCP connections wait.
    Released,
    /// It is held.
    Held,
}

impl Spare {
    /// Opens the descriptors. If that fails, it is retried before TCP connections are accepted.
    pub(super) fn open() -> Arc<Self> {
        let spare =
            Self { files: Mutex::default(), state: watch::Sender::new(ReserveState::Released) };
        if let Err(error) = spare.restore() {
            tracing::warn!("cannot hold spare descriptors yet: {error}");
        }
        Arc::new(spare)
    }

    fn files(&self) -> MutexGuard<'_, Vec<File>> {
        // The list is consistent after each step.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until TCP connections may be accepted.
    pub(super) async fn wait_until_held(&self) {
        // The sender is `self`, so this cannot fail.
        self.state.subscribe().wait_for(|state| *state == ReserveState::Held).await.ok();
    }

    /// Closes the descriptors, so that the control socket can open others.
    pub(super) fn release(&self) {
        self.state.send_replace(ReserveState::Released);
        self.files().clear();
    }

    /// Makes sure that a request through the control socket finds free descriptors.
    pub(super) fn provide(&self) {
        let probe = (0..COUNT).map(|_| idle_file()).collect::<io::Result<Vec<File>>>();
        if probe.is_err() && *self.state.borrow() == ReserveState::Held {
            tracing::warn!("few descriptors are left: the spare ones serve the control socket");
            self.release();
        }
    }

    fn restore(&self) -> io::Result<()> {
        let mut files = self.files();
        while files.len() < COUNT {
            files.push(idle_file()?);
        }
        drop(files);
        self.state.send_replace(ReserveState::Held);
        Ok(())
    }

    /// Restores the reserve after each use. `make_room` closes a connection to free a descriptor.
    pub(super) async fn keep(&self, make_room: impl Fn()) {
        let mut state = self.state.subscribe();
        // The sender is `self`, so the loop never ends by itself.
        while state.wait_for(|state| *state == ReserveState::Released).await.is_ok() {
            tokio::time::sleep(LOAN).await;
            if let Err(error) = self.restore() {
                tracing::debug!("cannot hold spare descriptors again yet: {error}");
                make_room();
            }
        }
    }
}

fn idle_file() -> io::Result<File> {
    File::open("/dev/null")
}
