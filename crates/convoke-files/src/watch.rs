//! Being woken by changes in folders, without polling where the file system can tell.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use notify::{RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use crate::{Error, Result};

/// How often a file system that cannot tell of changes is asked.
const POLL: Duration = Duration::from_millis(200);
/// How often a waiter without a watch asks at last. Hundreds of them may wait for hours, so each doubles its pause.
const POLL_MAX: Duration = Duration::from_secs(2);

/// Watches folders and wakes one waiter when anything in them changes.
///
/// Changes are not told apart and may be told twice: whoever is woken looks for itself.
pub struct Watcher {
    changed: Arc<Notify>,
    inner: Option<notify::RecommendedWatcher>,
    polling: Polling,
    /// Looks so far without a watch, each after twice the pause of the one before.
    looks: AtomicU32,
}

/// How sure it is that something changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The file system says so.
    Told,
    /// The file system cannot tell, and it is time to look.
    Perhaps,
}

/// Whether changes must be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Polling {
    /// They are told.
    No,
    /// The system has no watches left; changes are asked for, ever more patiently.
    Patient,
    /// Some folder is on a file system whose other users' changes are never told.
    Steady,
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watcher").field("polling", &self.polling).finish_non_exhaustive()
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
        let polling = if inner.is_some() { Polling::No } else { Polling::Patient };
        Self { changed, inner, polling, looks: AtomicU32::new(0) }
    }

    /// Adds a folder, without the folders in it.
    pub fn watch(&mut self, folder: &Path) -> Result<()> {
        if is_shared(folder) {
            self.polling = Polling::Steady;
        }
        let Some(inner) = &mut self.inner else { return Ok(()) };
        match inner.watch(folder, RecursiveMode::NonRecursive) {
            Ok(()) => Ok(()),
            Err(error) if matches!(error.kind, notify::ErrorKind::MaxFilesWatch) => {
                tracing::warn!("polling {}, since no watches are left", folder.display());
                if self.polling == Polling::No {
                    self.polling = Polling::Patient;
                }
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
    pub async fn changed(&self) -> Change {
        let pause = match self.polling {
            Polling::No => {
                self.changed.notified().await;
                return Change::Told;
            }
            Polling::Steady => POLL,
            Polling::Patient => {
                let looks = self.looks.fetch_add(1, Ordering::Relaxed);
                POLL.saturating_mul(1 << looks.min(8)).min(POLL_MAX)
            }
        };
        match tokio::time::timeout(pause, self.changed.notified()).await {
            Ok(()) => Change::Told,
            Err(_) => Change::Perhaps,
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

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    /// The pauses, in milliseconds, between looks at a file system that tells nothing.
    async fn pauses(polling: Polling) -> Vec<u128> {
        let watcher = Watcher { polling, inner: None, ..Watcher::new() };
        let mut pauses = Vec::new();
        for _ in 0..6 {
            let before = Instant::now();
            assert_eq!(watcher.changed().await, Change::Perhaps);
            pauses.push(before.elapsed().as_millis());
        }
        pauses
    }

    #[tokio::test(start_paused = true)]
    async fn q11_what_cannot_be_told_is_asked_for() {
        assert_eq!(pauses(Polling::Steady).await, [200; 6]);
        assert_eq!(pauses(Polling::Patient).await, [200, 400, 800, 1600, 2000, 2000]);
    }

    #[tokio::test]
    async fn q11_a_change_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut watcher = Watcher::new();
        watcher.watch(folder.path()).unwrap();
        std::fs::write(folder.path().join("answers.json"), "{}").unwrap();
        assert_eq!(watcher.changed().await, Change::Told);
    }
}
