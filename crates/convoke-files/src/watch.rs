//! Wakes tasks when folders change, without polling where the file system reports changes.
//!
//! Linux allows a user 128 inotify instances, so all watchers of one [`Watches`] share a single
//! instance. If none is left, a watcher polls slowly and logs that.

mod whole;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use crate::{Error, Result};

pub use whole::WholeFileWatcher;

/// The delay before the first poll of a folder, and between polls of a network file system.
const POLL: Duration = Duration::from_millis(200);

/// The inotify instance of a process, shared by all watchers that are made from it. Cheap to clone.
#[derive(Clone, Default)]
pub struct Watches {
    /// Opened by the first watch. The lock is held while a watch is added.
    instance: Arc<Mutex<Option<RecommendedWatcher>>>,
    /// The watchers to wake. The event thread takes this lock, so it is never held while `instance`
    /// is used.
    subscribers: Arc<Mutex<Subscribers>>,
}

#[derive(Default)]
struct Subscribers {
    last: u64,
    folders: HashMap<PathBuf, HashMap<u64, Arc<Notify>>>,
}

/// Watches folders and wakes one waiter when anything in them changes.
///
/// Changes carry no details and may be reported twice: the woken task reads the folder.
pub struct Watcher {
    watches: Watches,
    id: u64,
    changed: Arc<Notify>,
    folders: HashMap<PathBuf, Reported>,
    pace: Pace,
    /// Looks so far without a watch; the pauses between them grow.
    looks: AtomicU32,
}

/// How sure it is that something changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// By an event of the file system.
    Reported,
    /// The file system reports no changes, and the polling interval has passed.
    Perhaps,
}

/// How often a watcher looks that got no watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Up to every 2 s: for the few processes that show the contents of a folder.
    Brisk,
    /// At most every 30 s: for waiters, of which there may be hundreds, and which are also woken by other means.
    Slow,
}

impl Pace {
    fn pause(self, looks: u32) -> Duration {
        let (factor, max): (u32, _) = match self {
            Self::Brisk => (2, Duration::from_secs(2)),
            Self::Slow => (10, Duration::from_secs(30)),
        };
        POLL.saturating_mul(factor.saturating_pow(looks)).min(max)
    }
}

/// How changes of a folder are detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reported {
    /// By inotify.
    All,
    /// By inotify, which does not report changes by other machines on a network file system.
    Local,
    /// Not at all, since no inotify instance or watch was left.
    None,
}

impl Watches {
    /// A watcher that watches nothing yet.
    pub fn watcher(&self, pace: Pace) -> Watcher {
        let mut subscribers = lock(&self.subscribers);
        subscribers.last += 1;
        Watcher {
            watches: self.clone(),
            id: subscribers.last,
            changed: Arc::default(),
            folders: HashMap::new(),
            pace,
            looks: AtomicU32::new(0),
        }
    }

    /// Watches a folder for one more subscriber; `false` if the limit of inotify is reached.
    fn add(&self, folder: &Path, id: u64, changed: &Arc<Notify>) -> Result<bool> {
        let mut instance = lock(&self.instance);
        if instance.is_none() {
            *instance = self.open();
        }
        let Some(system) = instance.as_mut() else { return Ok(false) };
        // Also when another subscriber watches it: the folder may have been deleted and made again since.
        match system.watch(folder, RecursiveMode::NonRecursive) {
            Ok(()) => {}
            Err(error) if matches!(error.kind, notify::ErrorKind::MaxFilesWatch) => {
                tracing::info!("polling {}, since no inotify watch is left", folder.display());
                return Ok(false);
            }
            Err(source) => return Err(Error::Watch { path: folder.to_owned(), source }),
        }
        let mut subscribers = lock(&self.subscribers);
        let folder = subscribers.folders.entry(folder.to_owned()).or_default();
        folder.insert(id, Arc::clone(changed));
        Ok(true)
    }

    /// Ends the subscription of one watcher, and the watch with the last of them.
    fn remove(&self, folder: &Path, id: u64) {
        let mut instance = lock(&self.instance);
        let is_last = {
            let mut subscribers = lock(&self.subscribers);
            let Some(of_folder) = subscribers.folders.get_mut(folder) else { return };
            of_folder.remove(&id);
            let is_last = of_folder.is_empty();
            if is_last {
                subscribers.folders.remove(folder);
            }
            is_last
        };
        if let Some(system) = instance.as_mut().filter(|_| is_last) {
            // The watch of a deleted folder is removed already.
            system.unwatch(folder).ok();
        }
    }

    fn open(&self) -> Option<RecommendedWatcher> {
        let subscribers = Arc::clone(&self.subscribers);
        let opened = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            lock(&subscribers).wake(event);
        });
        // An ordinary state of a busy machine and no fault of this command: a line in the log, none on stderr.
        opened
            .inspect_err(|error| {
                tracing::info!("polling, since no inotify instance is left: {error}");
            })
            .ok()
    }
}

impl std::fmt::Debug for Watches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watches").finish_non_exhaustive()
    }
}

impl Subscribers {
    fn wake(&self, event: notify::Result<notify::Event>) {
        let paths = match event {
            // A reader that is woken by reading would wake itself for ever.
            Ok(event) if event.kind.is_access() => return,
            // On other systems than Linux, events may have another path for a folder than its
            // watcher.
            Ok(event) if cfg!(target_os = "linux") && !event.need_rescan() => event.paths,
            Ok(_) | Err(_) => Vec::new(),
        };
        if paths.is_empty() {
            self.folders.values().flat_map(HashMap::values).for_each(|it| it.notify_one());
        }
        for path in &paths {
            let folders = [Some(path.as_path()), path.parent()];
            let found = folders.into_iter().flatten().filter_map(|path| self.folders.get(path));
            found.flat_map(HashMap::values).for_each(|it| it.notify_one());
        }
    }
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watcher").field("folders", &self.folders).finish_non_exhaustive()
    }
}

impl Watcher {
    /// Watches nothing yet, with a separate inotify instance.
    pub fn new() -> Self {
        Watches::default().watcher(Pace::Brisk)
    }

    /// Adds a folder, without its subfolders. If the limit of inotify is reached, the folder is
    /// polled.
    pub fn watch(&mut self, folder: &Path) -> Result<()> {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let reported = match self.watches.add(&folder, self.id, &self.changed)? {
            _ if is_shared(&folder) => Reported::Local,
            true => Reported::All,
            false => Reported::None,
        };
        self.folders.insert(folder, reported);
        Ok(())
    }

    /// Removes a folder; does nothing if it was not added or was deleted.
    pub(crate) fn unwatch(&mut self, folder: &Path) {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        if self.folders.remove(&folder).is_some() {
            self.watches.remove(&folder, self.id);
        }
    }

    /// Whether some folder has to be polled.
    pub(crate) fn is_polling(&self) -> bool {
        self.folders.values().any(|reported| *reported != Reported::All)
    }

    /// Waits until something may have changed since the last call.
    pub async fn changed(&self) -> Change {
        let pause = if self.folders.values().any(|reported| *reported == Reported::Local) {
            POLL
        } else if self.is_polling() {
            self.pace.pause(self.looks.fetch_add(1, Ordering::Relaxed))
        } else {
            self.changed.notified().await;
            return Change::Reported;
        };
        match tokio::time::timeout(pause, self.changed.notified()).await {
            Ok(()) => Change::Reported,
            Err(_) => Change::Perhaps,
        }
    }
}

impl Default for Watcher {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        for folder in self.folders.keys() {
            self.watches.remove(folder, self.id);
        }
    }
}

/// Each change under these locks is one call, so the data is consistent after a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the folder's file system is shared with other machines, whose changes the kernel does
/// not report.
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
mod tests;
