//! Folders as Linux watches them.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;
use tokio::net::unix::pipe;

use super::Lack;

/// What wakes: files that come, go, get other names or rights, or were written. Not each single write, since a database
/// that is written to all day may lie in the same folder; and not reading, since whoever looks would wake itself for ever.
const KINDS: WatchFlags = WatchFlags::ATTRIB
    .union(WatchFlags::CREATE)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF);

/// Bytes of changes that are read at once.
const BUFFER: usize = 4096;

/// Folders that are watched. Needs no thread of its own.
pub(super) struct Folders {
    /// No pipe, but read like one.
    changes: pipe::Receiver,
    watched: HashMap<PathBuf, i32>,
}

impl Folders {
    /// Watches nothing yet.
    pub(super) fn new() -> io::Result<Self> {
        let changes = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let changes = pipe::Receiver::from_owned_fd_unchecked(changes)?;
        Ok(Self { changes, watched: HashMap::new() })
    }

    pub(super) fn watch(&mut self, folder: &Path) -> Result<(), Lack> {
        match inotify::add_watch(&self.changes, folder, KINDS) {
            Ok(watch) => {
                self.watched.insert(folder.to_owned(), watch);
                Ok(())
            }
            Err(Errno::NOSPC) => Err(Lack::Watches),
            Err(error) => Err(Lack::Folder(io::Error::from(error).into())),
        }
    }

    pub(super) fn unwatch(&mut self, folder: &Path) {
        if let Some(watch) = self.watched.remove(folder) {
            // One that is gone is not watched any more.
            inotify::remove_watch(&self.changes, watch).ok();
        }
    }

    /// Waits until something has changed since the last call. The end of a watch counts, too.
    pub(super) async fn changed(&self) {
        loop {
            if self.changes.readable().await.is_err() {
                // Nothing is told any more, at the end of the runtime.
                return std::future::pending().await;
            }
            if self.take_all() == Change::Some {
                return;
            }
        }
    }

    /// Takes all that was told so far, so that a burst of changes wakes once.
    fn take_all(&self) -> Change {
        let mut change = Change::None;
        let mut told = [0; BUFFER];
        // What there is to read is never nothing; an error means that all is read.
        while self.changes.try_read(&mut told).is_ok() {
            change = Change::Some;
        }
        change
    }
}

/// Whether anything was told.
#[derive(PartialEq, Eq)]
enum Change {
    Some,
    None,
}
