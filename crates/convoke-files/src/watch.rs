//! Being woken by changes in folders, without polling where the file system can tell.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notify::{RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use crate::{Error, Result};

/// How often a file system that cannot tell of changes is asked.
const POLL: Duration = Duration::from_millis(200);

/// Watches folders and wakes one waiter when anything in them changes.
///
/// Changes are not told apart and may be told twice: whoever is woken looks for itself.
pub struct Watcher {
    changed: Arc<Notify>,
    inner: Option<notify::RecommendedWatcher>,
    /// Whether some folder is on a file system whose other users' changes are never told.
    polls: bool,
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watcher").field("polls", &self.polls).finish_non_exhaustive()
    }
}

impl Watcher {
    /// Watches nothing yet. Where the system has no watches left, it polls.
    pub fn new() -> Self {
        let changed = Arc::new(Notify::new());
        let wake = Arc::clone(&changed);
        // Reading wakes nobody: a reader that looks for itself would wake itself for ever.
        let on_event = move |event: notify::Result<notify::Event>| {
            if !event.is_ok_and(|event| event.kind.is_access()) {
                wake.notify_one();
            }
        };
        let inner = notify::recommended_watcher(on_event)
            .inspect_err(|error| tracing::warn!("polling, since files cannot be watched: {error}"))
            .ok();
        let polls = inner.is_none();
        Self { changed, inner, polls }
    }

    /// Adds a folder, without the folders in it.
    pub fn watch(&mut self, folder: &Path) -> Result<()> {
        self.polls |= is_shared(folder);
        let Some(inner) = &mut self.inner else { return Ok(()) };
        match inner.watch(folder, RecursiveMode::NonRecursive) {
            Ok(()) => Ok(()),
            Err(error) if matches!(error.kind, notify::ErrorKind::MaxFilesWatch) => {
                tracing::warn!("polling {}, since no watches are left", folder.display());
                self.polls = true;
                Ok(())
            }
            Err(source) => Err(Error::Watch { path: folder.to_owned(), source }),
        }
    }

    /// Takes a folder off; one that was never added or is gone is off already.
    pub fn unwatch(&mut self, folder: &Path) {
        if let Some(inner) = &mut self.inner {
            inner.unwatch(folder).ok();
        }
    }

    /// Waits until something may have changed since the last call.
    pub async fn changed(&self) {
        if self.polls {
            // Told or not, look again soon.
            tokio::time::timeout(POLL, self.changed.notified()).await.ok();
        } else {
            self.changed.notified().await;
        }
    }
}

impl Default for Watcher {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether the folder's file system is shared with other machines, whose changes the kernel does not see.
#[cfg(target_os = "linux")]
fn is_shared(folder: &Path) -> bool {
    /// As in the kernel's `magic.h`: NFS, SMB, CIFS, SMB2, 9P, FUSE, AFS, Ceph, Coda and NCP.
    const SHARED: [u64; 10] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x0102_1997,
        0x6573_5546,
        0x5346_414f,
        0x00c3_6400,
        0x7375_7245,
        0x564c,
    ];
    rustix::fs::statfs(folder)
        .is_ok_and(|system| SHARED.contains(&(system.f_type as u64 & 0xffff_ffff)))
}

#[cfg(not(target_os = "linux"))]
fn is_shared(_folder: &Path) -> bool {
    false
}
