//! Looks through the folder of questions, and knows which folders to watch so as to hear of the next change.

use std::collections::{HashMap, HashSet};
use std::error::Error as _;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;

use convoke_core::id::RequestId;
use convoke_files::questions::{Listing, Questions, Status};
use convoke_files::watch::Watcher;
use convoke_files::{Error, Result};

use crate::answer::message::{Damaged, Found};
use crate::sheet::{Asked, Asker, Ending};

/// Reads the folder and remembers what it found.
pub(crate) struct Scout {
    questions: Questions,
    watcher: Watcher,
    watched: HashSet<RequestId>,
    /// The sets that can be answered. What is asked does not change, so it is read once.
    open: HashMap<RequestId, Asked>,
}

impl Scout {
    pub(crate) fn new(questions: Questions) -> Self {
        let (watched, open) = (HashSet::new(), HashMap::new());
        Self { questions, watcher: Watcher::new(), watched, open }
    }

    /// Waits until something may have changed since the last look.
    pub(crate) async fn changed(&self) {
        self.watcher.changed().await;
    }

    /// Looks through the folder. Blocks on the disk.
    pub(crate) fn look(&mut self) -> Result<Found> {
        let listing = self.watch_and_list()?;
        let mut found = Found::default();
        let mut endings = HashMap::new();
        for entry in &listing.entries {
            match standing(entry.status) {
                Standing::Open(asker) => self.meet(entry.id, asker, &mut found.damaged),
                Standing::Ended(ending) => {
                    endings.insert(entry.id, ending);
                }
            }
        }
        for damage in &listing.damaged {
            // What is known can still be answered; settling it mends the file.
            if !self.open.contains_key(&damage.id) {
                let words = words_on_set(&damage.error);
                found.damaged.push(Damaged { id: damage.id, words });
            }
        }
        let listed = ids(&listing);
        self.open.retain(|id, _| {
            let deleted = (!listed.contains(id)).then_some(Ending::Deleted);
            let ending = endings.get(id).copied().or(deleted);
            found.ended.extend(ending.map(|ending| (*id, ending)));
            ending.is_none()
        });
        found.open.extend(self.open.values().cloned());
        Ok(found)
    }

    /// Lists the sets after everything that may still change is watched, so that nothing is missed in between.
    fn watch_and_list(&mut self) -> Result<Listing> {
        self.watch_folder()?;
        loop {
            let listing = self.questions.list()?;
            let present = self.present()?;
            let is_ended = |status| matches!(standing(status), Standing::Ended(_));
            let ended: HashSet<RequestId> = listing
                .entries
                .iter()
                .filter(|entry| is_ended(entry.status))
                .map(|entry| entry.id)
                .collect();
            self.unwatch(|id| ended.contains(id) || !present.contains(id));
            let news: Vec<RequestId> = present
                .into_iter()
                .filter(|id| !ended.contains(id) && !self.watched.contains(id))
                .collect();
            if news.is_empty() {
                return Ok(listing);
            }
            for id in news {
                // One that is deleted at this moment needs no watching.
                self.watcher.watch(&self.questions.folder(id)).ok();
                self.watched.insert(id);
            }
        }
    }

    /// Makes the folder when nobody has asked yet, or when somebody deleted it, and watches it.
    fn watch_folder(&mut self) -> Result<()> {
        let dir = self.questions.dir();
        let fail =
            |source| Error::Write { path: dir.to_owned(), step: "making the folder", source };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(fail)?;
        self.watcher.watch(dir)
    }

    fn unwatch(&mut self, is_over: impl Fn(&RequestId) -> bool) {
        let over: Vec<RequestId> = self.watched.iter().copied().filter(|id| is_over(id)).collect();
        for id in over {
            self.watcher.unwatch(&self.questions.folder(id));
            self.watched.remove(&id);
        }
    }

    /// The sets that have a folder, also those that are only being made and are not listed yet.
    fn present(&self) -> Result<HashSet<RequestId>> {
        let dir = self.questions.dir();
        let fail = |source| Error::Read { path: dir.to_owned(), source };
        let mut present = HashSet::new();
        for entry in fs::read_dir(dir).map_err(fail)? {
            let name = entry.map_err(fail)?.file_name();
            present.extend(name.to_str().and_then(|name| name.parse::<RequestId>().ok()));
        }
        Ok(present)
    }

    /// Takes in a set that can be answered, reading it the first time.
    fn meet(&mut self, id: RequestId, asker: Asker, damaged: &mut Vec<Damaged>) {
        if let Some(known) = self.open.get_mut(&id) {
            known.asker = asker;
            return;
        }
        let words = match self.questions.show(id) {
            Ok(set) if set.request.questions.is_empty() => "there is no question in it".to_owned(),
            Ok(set) => {
                let request = set.request;
                let asked = Asked {
                    id,
                    asked_by: request.asked_by,
                    working_directory: request.working_directory,
                    created_at: set.status.created_at,
                    questions: request.questions,
                    asker,
                };
                self.open.insert(id, asked);
                return;
            }
            Err(Error::NotFound { .. }) => "request.json is missing".to_owned(),
            Err(error) => words_on_set(&error),
        };
        damaged.push(Damaged { id, words });
    }
}

/// Whether a set can still be answered.
enum Standing {
    Open(Asker),
    Ended(Ending),
}

const fn standing(status: Status) -> Standing {
    match status {
        Status::Pending => Standing::Open(Asker::Waits),
        Status::TimedOut => Standing::Open(Asker::TimedOut),
        Status::Abandoned => Standing::Open(Asker::Abandoned),
        Status::Completed => Standing::Ended(Ending::Answered),
        Status::Rejected => Standing::Ended(Ending::Rejected),
    }
}

/// What became of a set that was settled before.
pub(crate) const fn ending(status: Status) -> Ending {
    match standing(status) {
        Standing::Ended(ending) => ending,
        // Nothing else refuses a verdict.
        Standing::Open(_) => Ending::Answered,
    }
}

fn ids(listing: &Listing) -> HashSet<RequestId> {
    let entries = listing.entries.iter().map(|entry| entry.id);
    entries.chain(listing.damaged.iter().map(|damage| damage.id)).collect()
}

/// What is wrong with a set; whose folder it is, is known where it is shown.
fn words_on_set(error: &Error) -> String {
    if let Error::Damaged { path, source } = error
        && let Some(name) = path.file_name()
    {
        return format!("{} is damaged: {source}", name.display());
    }
    words(error)
}

/// An error with its causes, in one line.
pub(crate) fn words(error: &Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words.push_str(&format!(": {error}"));
        cause = error.source();
    }
    words
}
