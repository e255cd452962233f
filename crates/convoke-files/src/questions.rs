//! Question sessions: any program puts questions into a folder, and any other answers them there.
//!
//! A session is a folder named by its id, with `request.json`, `status.json` and, once answered, `answers.json`. The
//! layout is shared with other programs. A set is answered once `answers.json` exists; every other change takes effect
//! with `status.json`. A reader that finds the two inconsistent completes the interrupted change.

mod asked;
mod clean;
mod create;
mod follow;
mod format;
mod list;
mod pending;
mod settle;
mod validate;
mod wait;
mod wake_pipe;

use std::fs;
use std::path::{Path, PathBuf};

use convoke_core::Invalid;
use convoke_core::id::RequestId;
use convoke_core::question::{Answer, Limits, Question};

use crate::watch::Watches;
use crate::{Error, Result, read};

pub use asked::{Clock, PendingQuestions};
pub use clean::{Cleaned, Which};
pub use create::NewSet;
pub use follow::Follower;
pub use format::{AnswersFile, RequestFile, Status, StatusFile};
pub use list::{Damage, Entry, Listing};
pub use wait::{Outcome, Until};

const REQUEST: &str = "request.json";
const STATUS: &str = "status.json";
const ANSWERS: &str = "answers.json";

/// A folder of question sessions.
#[derive(Debug, Clone)]
pub struct Questions {
    dir: PathBuf,
    settings: Settings,
    /// One inotify instance for all that wait in this process.
    watches: Watches,
}

/// How much may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Sessions that may wait for an answer at once; one more is refused.
    pub sessions_max: usize,
    /// Questions and options of one session.
    pub limits: Limits,
}

/// A question session with all its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Set {
    /// What was asked.
    pub request: RequestFile,
    /// Its status.
    pub status: StatusFile,
    /// What was answered.
    pub answers: Option<AnswersFile>,
}

/// An outcome that a human or the asker decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The human answers.
    Answer(Vec<Answer>),
    /// The human will not answer.
    Reject {
        /// The reason that the human gave.
        reason: Option<String>,
    },
    /// The asker waited long enough.
    TimeOut,
    /// The asker stopped waiting.
    Abandon,
}

impl Questions {
    /// Opens a folder; it is made when the first question is asked.
    pub fn new(dir: PathBuf, settings: Settings) -> Self {
        Self { dir, settings, watches: Watches::default() }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The folder of one session.
    pub fn folder(&self, id: RequestId) -> PathBuf {
        self.dir.join(id.to_string())
    }

    /// The session with this id or unique prefix of at least four characters.
    pub fn find(&self, text: &str) -> Result<RequestId> {
        if let Ok(id) = text.parse() {
            self.existing(id)?;
            return Ok(id);
        }
        let is_prefix = |c: char| c.is_ascii_hexdigit() || c == '-';
        if text.len() < PREFIX_MIN || !text.chars().all(is_prefix) {
            return Err(Invalid::SessionId { text: text.to_owned() }.into());
        }
        let prefix = text.to_ascii_lowercase();
        let mut candidates = self.ids()?;
        candidates.retain(|id| id.to_string().starts_with(&prefix));
        candidates.sort_unstable();
        match candidates.as_slice() {
            [] => Err(Error::NotFound { id: text.to_owned() }),
            [id] => Ok(*id),
            [_, _, ..] => Err(Error::Ambiguous { prefix: text.to_owned(), candidates }),
        }
    }

    /// A session with all its files.
    pub fn show(&self, id: RequestId) -> Result<Set> {
        let folder = self.existing(id)?;
        if self.is_unfinished(&folder)? {
            self.repair(id)?;
        }
        let request = self.request(id)?;
        let status: StatusFile = read::json(&folder.join(STATUS))?.ok_or_else(|| not_found(id))?;
        // Answers beside another status came too late, or are just being written.
        let answers = match status.status {
            Status::Completed => read::json(&folder.join(ANSWERS))?,
            Status::Pending | Status::Rejected | Status::TimedOut | Status::Abandoned => None,
        };
        Ok(Set { request, status, answers })
    }

    /// The ids of all sessions, in no order.
    fn ids(&self) -> Result<Vec<RequestId>> {
        let fail = |source| Error::Read { path: self.dir.clone(), source };
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fail(error)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            // An entry that is not named by an id belongs to another program.
            let name = entry.map_err(fail)?.file_name();
            ids.extend(name.to_str().and_then(|name| name.parse::<RequestId>().ok()));
        }
        Ok(ids)
    }

    /// The folder of a session that exists; a link is none, since it could lead anywhere.
    fn existing(&self, id: RequestId) -> Result<PathBuf> {
        let folder = self.folder(id);
        match fs::symlink_metadata(&folder) {
            Ok(metadata) if metadata.is_dir() => Ok(folder),
            Ok(_) => Err(not_found(id)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(not_found(id)),
            Err(source) => Err(Error::Read { path: folder, source }),
        }
    }

    fn request(&self, id: RequestId) -> Result<RequestFile> {
        read::json(&self.folder(id).join(REQUEST))?.ok_or_else(|| not_found(id))
    }

    fn questions(&self, id: RequestId) -> Result<Vec<Question>> {
        Ok(self.request(id)?.questions)
    }
}

fn not_found(id: RequestId) -> Error {
    Error::NotFound { id: id.to_string() }
}

/// Characters of an id that are enough to name a session.
const PREFIX_MIN: usize = 4;
