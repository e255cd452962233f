//! Folders as systems other than Linux watch them.

use std::io;
use std::path::Path;
use std::sync::Arc;

use notify::{RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use super::Lack;

/// Folders that are watched.
pub(super) struct Folders {
    changed: Arc<Notify>,
    inner: notify::RecommendedWatcher,
}

impl Folders {
    /// Watches nothing yet.
    pub(super) fn new() -> io::Result<Self> {
        let changed = Arc::new(Notify::new());
        let wake = Arc::clone(&changed);
        // Reading wakes nobody: a reader that looks for itself would wake itself for ever.
        let on_event = move |event: notify::Result<notify::Event>| {
            if !event.is_ok_and(|event| event.kind.is_access()) {
                wake.notify_one();
            }
        };
        let inner = notify::recommended_watcher(on_event).map_err(io::Error::other)?;
        Ok(Self { changed, inner })
    }

    pub(super) fn watch(&mut self, folder: &Path) -> Result<(), Lack> {
        self.inner.watch(folder, RecursiveMode::NonRecursive).map_err(|error| match error.kind {
            notify::ErrorKind::MaxFilesWatch => Lack::Watches,
            _ => Lack::Folder(error.into()),
        })
    }

    pub(super) fn unwatch(&mut self, folder: &Path) {
        // One that is gone is not watched any more.
        self.inner.unwatch(folder).ok();
    }

    /// Waits until something has changed since the last call.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }
}
