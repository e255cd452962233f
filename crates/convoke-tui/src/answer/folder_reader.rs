//! Lists the folder of questions, and caches those that can be answered.

use std::collections::{HashMap, HashSet};

use convoke_core::explain;
use convoke_core::id::RequestId;
use convoke_files::questions::{Follower, Listing, Questions, Status};
use convoke_files::{Error, Result};

use crate::answer::message::{Damaged, Found};
use crate::sheet::{Asker, Ending, OpenRequest};

/// Reads the folder and caches its questions.
pub(crate) struct FolderReader {
    questions: Questions,
    follower: Follower,
    /// The questions that can be answered. They do not change, so they are read once.
    open: HashMap<RequestId, OpenRequest>,
}

impl FolderReader {
    pub(crate) fn new(questions: Questions) -> Self {
        let follower = questions.follow();
        Self { questions, follower, open: HashMap::new() }
    }

    /// Waits until something may have changed since the last look.
    pub(crate) async fn changed(&self) {
        self.follower.changed().await;
    }

    /// Looks through the folder. Blocks on the disk.
    pub(crate) fn read(&mut self) -> Result<Found> {
        let listing = self.follower.list()?;
        let mut found = Found::default();
        let mut endings = HashMap::new();
        for entry in &listing.entries {
            match answerability(entry.status) {
                Answerability::Open(asker) => self.add_open(entry.id, asker, &mut found.damaged),
                Answerability::Ended(ending) => {
                    endings.insert(entry.id, ending);
                }
            }
        }
        for damage in &listing.damaged {
            // A known session can still be answered; settling it repairs the file.
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

    /// Adds a question that can be answered, reading it the first time.
    fn add_open(&mut self, id: RequestId, asker: Asker, damaged: &mut Vec<Damaged>) {
        if let Some(known) = self.open.get_mut(&id) {
            known.asker = asker;
            return;
        }
        let words = match self.questions.show(id) {
            Ok(set) if set.request.questions.is_empty() => "there is no question in it".to_owned(),
            Ok(set) => {
                let request = set.request;
                let asked = OpenRequest {
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
enum Answerability {
    Open(Asker),
    Ended(Ending),
}

const fn answerability(status: Status) -> Answerability {
    match status {
        Status::Pending => Answerability::Open(Asker::Waits),
        Status::TimedOut => Answerability::Open(Asker::TimedOut),
        Status::Abandoned => Answerability::Open(Asker::Abandoned),
        Status::Completed => Answerability::Ended(Ending::Answered),
        Status::Rejected => Answerability::Ended(Ending::Rejected),
    }
}

/// How a question was settled elsewhere.
pub(crate) const fn ending(status: Status) -> Ending {
    match answerability(status) {
        Answerability::Ended(ending) => ending,
        // Nothing else refuses a verdict.
        Answerability::Open(_) => Ending::Answered,
    }
}

fn ids(listing: &Listing) -> HashSet<RequestId> {
    let entries = listing.entries.iter().map(|entry| entry.id);
    entries.chain(listing.damaged.iter().map(|damage| damage.id)).collect()
}

/// The error of a question; its folder is known where it is shown.
fn words_on_set(error: &Error) -> String {
    if let Error::Damaged { path, source } = error
        && let Some(name) = path.file_name()
    {
        return format!("{} is damaged: {source}", name.display());
    }
    explain(error)
}
