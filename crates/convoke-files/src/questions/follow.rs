//! Following a whole folder: its list, and when that may have changed.

use std::collections::HashSet;

use convoke_core::id::RequestId;

use super::{Listing, Questions, Status, wake_pipe};
use crate::Result;
use crate::watch::{Pace, Watcher};

/// Follows a folder of question sessions for a screen or an inbox.
#[derive(Debug)]
pub struct Follower {
    questions: Questions,
    watcher: Watcher,
    watched: HashSet<RequestId>,
}

impl Questions {
    /// Follows the folder from the first [`Follower::list`] on.
    pub fn follow(&self) -> Follower {
        let watcher = self.watches.watcher(Pace::Brisk);
        Follower { questions: self.clone(), watcher, watched: HashSet::new() }
    }
}

impl Follower {
    /// Waits until the list may have changed since it was made.
    pub async fn changed(&self) {
        self.watcher.changed().await;
    }

    /// Lists the sessions, and watches all that may still change. Creates a missing folder. Blocks
    /// on the disk.
    pub fn list(&mut self) -> Result<Listing> {
        self.questions.make_dir()?;
        // Each time, since the folder may have been deleted and made again.
        self.watcher.watch(self.questions.dir())?;
        loop {
            let listing = self.questions.list()?;
            let is_ended = |status| matches!(status, Status::Completed | Status::Rejected);
            let ended = listing.entries.iter().filter(|entry| is_ended(entry.status));
            let ended: HashSet<RequestId> = ended.map(|entry| entry.id).collect();
            // Those included that are just being made and are not in the list yet.
            let mut open: HashSet<RequestId> = self.questions.ids()?.into_iter().collect();
            open.retain(|id| !ended.contains(id));
            for id in self.watched.difference(&open) {
                let folder = self.questions.folder(*id);
                self.watcher.unwatch(&folder);
                // Another program may have answered it, which wakes no waiter that has no watch.
                wake_pipe::wake(&folder);
            }
            let new: Vec<RequestId> = open.difference(&self.watched).copied().collect();
            self.watched = open;
            // Listed once more, since a new session may have changed before it was watched.
            if new.is_empty() {
                return Ok(listing);
            }
            for id in new {
                if let Err(error) = self.watcher.watch(&self.questions.folder(id)) {
                    tracing::debug!("question session {id} is probably deleted again: {error}");
                }
            }
        }
    }
}
