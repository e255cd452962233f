//! Wakes a task when a file in a folder was written and closed, replaced or deleted.
//!
//! A [`Watcher`] is woken by every write. In a folder with a database that costs more than the writes themselves, for
//! every page of every commit; this one does not ask for them.

use std::path::Path;

use super::{Change, Watcher};
use crate::Result;

/// Watches folders for files that are whole: closed after writing, renamed into the folder, or deleted.
#[derive(Debug)]
pub struct WholeFileWatcher {
    #[cfg(target_os = "linux")]
    inotify: Option<linux::Inotify>,
    /// Watches everything where there is no such instance.
    fallback: Watcher,
}

impl WholeFileWatcher {
    /// Watches nothing yet. Must be called in a runtime.
    pub fn new() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            inotify: linux::Inotify::open()
                .inspect_err(|error| tracing::info!("no inotify instance is left: {error}"))
                .ok(),
            fallback: Watcher::new(),
        }
    }

    /// Adds a folder, without the folders in it.
    pub fn watch(&mut self, folder: &Path) -> Result<()> {
        #[cfg(target_os = "linux")]
        if !super::is_shared(folder)
            && let Some(inotify) = &self.inotify
            && inotify.add(folder).is_ok()
        {
            return Ok(());
        }
        self.fallback.watch(folder)
    }

    /// Waits until something may have changed since the last call.
    pub async fn changed(&self) -> Change {
        #[cfg(target_os = "linux")]
        if let Some(inotify) = &self.inotify {
            return tokio::select! {
                () = inotify.changed() => Change::Reported,
                change = self.fallback.changed() => change,
            };
        }
        self.fallback.changed().await
    }
}

impl Default for WholeFileWatcher {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::path::Path;

    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
    use tokio::net::unix::pipe::Receiver;

    /// The requested events.
    const EVENTS: WatchFlags = WatchFlags::CLOSE_WRITE
        .union(WatchFlags::MOVED_FROM)
        .union(WatchFlags::MOVED_TO)
        .union(WatchFlags::CREATE)
        .union(WatchFlags::DELETE)
        .union(WatchFlags::ONLYDIR);
    /// Bytes for events; a single one takes less than 300.
    const EVENT_BYTES: usize = 4096;

    /// An inotify instance, which can be read and waited for like a pipe.
    #[derive(Debug)]
    pub(super) struct Inotify(Receiver);

    impl Inotify {
        pub(super) fn open() -> io::Result<Self> {
            let instance = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            Ok(Self(Receiver::from_owned_fd_unchecked(instance)?))
        }

        pub(super) fn add(&self, folder: &Path) -> io::Result<()> {
            inotify::add_watch(&self.0, folder, EVENTS)?;
            Ok(())
        }

        /// Waits for an event, and drops all that are queued.
        pub(super) async fn changed(&self) {
            let mut has_changed = false;
            while !has_changed {
                // An instance that cannot be read reports nothing more.
                if self.0.readable().await.is_err() {
                    std::future::pending::<()>().await;
                }
                while self.has_events() {
                    has_changed = true;
                }
            }
        }

        /// Reads some of the queued events.
        fn has_events(&self) -> bool {
            self.0.try_read(&mut [0; EVENT_BYTES]).is_ok_and(|bytes| bytes > 0)
        }

        /// Reads the queued events, whether the runtime has noticed them or not.
        #[cfg(test)]
        pub(super) fn read(&self, events: &mut [u8]) -> usize {
            rustix::io::read(&self.0, events).unwrap_or(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write as _;

    use super::*;

    #[tokio::test]
    async fn a_file_that_is_written_replaced_or_deleted_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut watcher = WholeFileWatcher::new();
        watcher.watch(folder.path()).unwrap();
        fs::write(path("teams.json"), "{}").unwrap();
        watcher.changed().await;
        fs::rename(path("teams.json"), path("old.json")).unwrap();
        watcher.changed().await;
        fs::remove_file(path("old.json")).unwrap();
        watcher.changed().await;
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn pages_of_an_open_database_are_not_reported() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = File::create(folder.path().join("convoke.db-wal")).unwrap();
        let mut watcher = WholeFileWatcher::new();
        if watcher.inotify.is_none() {
            // Another program has every inotify instance.
            return;
        }
        watcher.watch(folder.path()).unwrap();
        database.write_all(b"page").unwrap();
        let other = folder.path().join("teams.json");
        let mut events = [0; 4096];
        let reported = watcher.inotify.as_ref().map(|it| it.read(&mut events));
        assert_eq!(reported, Some(0), "a write to an open file is reported");
        fs::write(other, "{}").unwrap();
        watcher.changed().await;
    }
}
