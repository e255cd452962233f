//! Descriptors that are kept open for nothing, so that the control socket has some when all others are taken.

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

/// What one request of the owner's needs at most: its connection, the peer's entries in `/proc`, a database reader with
/// its log and index, and a folder of questions.
const COUNT: usize = 12;

/// How long the control socket has the descriptors before they are opened again, and how long one more attempt waits.
const LOAN: Duration = Duration::from_secs(1);

/// Spare descriptors, held or lent to the control socket.
#[derive(Debug)]
pub(super) struct Spare {
    files: Mutex<Vec<File>>,
    lent: watch::Sender<Lent>,
}

/// Where the spare descriptors are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lent {
    /// With the control socket: new TCP connections have to wait.
    Yes,
    /// Here.
    No,
}

impl Spare {
    /// Opens the descriptors. Where that fails, it is tried again before TCP connections are accepted.
    pub(super) fn open() -> Arc<Self> {
        let spare = Self { files: Mutex::default(), lent: watch::Sender::new(Lent::Yes) };
        if let Err(error) = spare.restore() {
            tracing::warn!("cannot hold spare descriptors yet: {error}");
        }
        Arc::new(spare)
    }

    fn files(&self) -> MutexGuard<'_, Vec<File>> {
        // A list of files is whole after each step.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until TCP connections may take descriptors.
    pub(super) async fn at_home(&self) {
        // The sender is `self`, so this cannot fail.
        self.lent.subscribe().wait_for(|lent| *lent == Lent::No).await.ok();
    }

    /// Closes the descriptors, so that others can be opened in their place.
    pub(super) fn release(&self) {
        self.lent.send_replace(Lent::Yes);
        self.files().clear();
    }

    /// Makes sure that a request through the control socket finds descriptors.
    pub(super) fn provide(&self) {
        let probe = (0..COUNT).map(|_| idle_file()).collect::<io::Result<Vec<File>>>();
        if probe.is_err() && *self.lent.borrow() == Lent::No {
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
        self.lent.send_replace(Lent::No);
        Ok(())
    }

    /// Opens the descriptors again after each loan. `make_room` closes something that holds one.
    pub(super) async fn keep(&self, make_room: impl Fn()) {
        let mut lent = self.lent.subscribe();
        // The sender is `self`, so this does not end by itself.
        while lent.wait_for(|lent| *lent == Lent::Yes).await.is_ok() {
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
