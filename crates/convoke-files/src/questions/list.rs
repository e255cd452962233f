//! All sessions of a folder at a glance.

use convoke_core::id::RequestId;
use convoke_core::time::Timestamp;

use super::{ANSWERS, Questions, STATUS, Status, StatusFile};
use crate::{Error, Result, read};

/// Sessions below this number are read faster by one thread than by several.
const THREAD_MIN: usize = 256;

/// What a list shows of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The session.
    pub id: RequestId,
    /// Its status.
    pub status: Status,
    /// When it was asked.
    pub created_at: Timestamp,
    /// When it last changed.
    pub last_modified: Timestamp,
    /// How many questions it has.
    pub total_questions: usize,
    /// Where the asker works.
    pub working_directory: Option<String>,
}

/// A session that cannot be read.
#[derive(Debug)]
pub struct Damage {
    /// The session.
    pub id: RequestId,
    /// What is wrong with it.
    pub error: Error,
}

/// The sessions of a folder, oldest first.
#[derive(Debug, Default)]
pub struct Listing {
    /// Those that can be read.
    pub entries: Vec<Entry>,
    /// Those that cannot.
    pub damaged: Vec<Damage>,
}

impl Questions {
    /// Lists all sessions, oldest first. Damaged ones are listed separately and hide no other.
    pub fn list(&self) -> Result<Listing> {
        let mut listing = Listing::default();
        for part in read::in_parallel(&self.ids()?, THREAD_MIN, |ids| self.list_of(ids)) {
            listing.entries.extend(part.entries);
            listing.damaged.extend(part.damaged);
        }
        listing.entries.sort_unstable_by_key(|entry| (entry.created_at, entry.id));
        listing.damaged.sort_unstable_by_key(|damage| damage.id);
        Ok(listing)
    }

    fn list_of(&self, ids: &[RequestId]) -> Listing {
        let mut listing = Listing::default();
        for id in ids {
            match self.entry(*id) {
                Ok(Some(entry)) => listing.entries.push(entry),
                // It is being created or deleted.
                Ok(None) => {}
                Err(error) => match self.request(*id) {
                    // Its questions are complete, so it can be answered, which repairs it.
                    Ok(request) => listing.entries.push(Entry {
                        id: *id,
                        status: Status::Abandoned,
                        created_at: request.timestamp,
                        last_modified: request.timestamp,
                        total_questions: request.questions.len(),
                        working_directory: request.working_directory,
                    }),
                    Err(_) => listing.damaged.push(Damage { id: *id, error }),
                },
            }
        }
        listing
    }

    /// The entry of one session; `None` if it does not exist yet.
    pub fn entry(&self, id: RequestId) -> Result<Option<Entry>> {
        let folder = self.folder(id);
        let Some(file) = read::json::<StatusFile>(&folder.join(STATUS))? else { return Ok(None) };
        let answered = file.status == Status::Pending && folder.join(ANSWERS).exists();
        Ok(Some(Entry {
            id,
            // The answering process was killed before it wrote `status.json`, or is about to write it.
            status: if answered { Status::Completed } else { file.status },
            created_at: file.created_at,
            last_modified: file.last_modified,
            total_questions: file.total_questions,
            working_directory: file.working_directory,
        }))
    }
}
