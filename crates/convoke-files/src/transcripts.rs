//! Transcripts of conversations: a file of JSON lines each, added to and never rewritten.
//!
//! A line is on disk before it counts as saved. One writer holds the lock; readers need none, and see everything up to
//! the last saved line. The next writer cuts off an incomplete last line of a killed one; other damage is reported, and
//! repaired only on request.

mod clean;
mod error;
mod format;
mod id;
mod lines;
mod list;
mod recall;
mod recover;
mod writer;

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use convoke_core::time::Timestamp;

use crate::atomic;
use crate::lock::Lock;
use recall::{Survey, Tail};
use writer::unwritable;

pub use clean::Cleaned;
pub use error::{Error, Result};
pub use format::{AgentSession, Metadata, Record, Role, Status, Turn, UNKNOWN_AGENT, estimate};
pub use id::Id;
pub use lines::{Found, Records, Turns};
pub use list::{Damage, Entry, Listing};
pub use recall::{BadLine, Recall, Window};
pub use recover::Recovered;
pub use writer::Writer;

/// How the name of a transcript's file ends.
const ENDING: &str = ".jsonl";
/// How the name of its lock ends.
const LOCK_ENDING: &str = ".jsonl.lock";
/// The extension of the file for lines that cannot be read.
const BAD_ENDING: &str = ".jsonl.bad";
/// Characters of an id that are enough to name a transcript.
const PREFIX_MIN: usize = 4;
/// How long a previous writer is waited for: long enough for one that is exiting, too short to
/// annoy.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// A folder of transcripts.
#[derive(Debug, Clone)]
pub struct Transcripts {
    dir: PathBuf,
}

/// A resumed transcript.
#[derive(Debug)]
pub struct Opened {
    /// The writer.
    pub writer: Writer,
    /// What was read from it.
    pub recall: Recall,
    /// How its last line was repaired.
    pub end: End,
}

/// How a transcript ended before it was resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// As it should.
    Whole,
    /// Its last line was torn, and was set aside.
    TornOff {
        /// How long the torn line was.
        bytes: u64,
    },
}

impl Transcripts {
    /// Names a folder; it is made with the first transcript.
    pub const fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file of a transcript.
    pub fn path(&self, id: &Id) -> PathBuf {
        self.beside(id, ENDING)
    }

    /// Creates a transcript, which must not exist yet.
    pub fn create(&self, id: &Id, agent: &str, now: Timestamp) -> Result<Writer> {
        let fail = |step| move |source| unwritable(&self.dir, step, source);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir);
        made.map_err(fail("making the folder"))?;
        let lock = self.lock(id)?;
        let metadata = Record::Metadata(Metadata {
            session_id: id.to_string(),
            agent: agent.to_owned(),
            created_at: now,
            status: Status::Active,
        });
        let path = self.path(id);
        let damaged = |source| crate::Error::Damaged { path: path.clone(), source };
        let line = format::line(&metadata).map_err(damaged)?;
        let fail = |step| move |source| unwritable(&self.path(id), step, source);
        // The file appears with its metadata, so that no reader sees it without.
        let mut temp = atomic::temporary(&self.dir).map_err(fail("making a temporary file"))?;
        temp.write_all(&line).and_then(|()| temp.as_file().sync_all()).map_err(fail("writing"))?;
        match temp.persist_noclobber(&path) {
            Ok(_) => {}
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
                return Err(Error::Exists { id: id.clone() });
            }
            Err(error) => return Err(fail("renaming")(error.error)),
        }
        atomic::sync_folder(&self.dir).map_err(fail("syncing its folder"))?;
        Writer::open(id.clone(), path, lock)
    }

    /// Opens a transcript for writing, with as much of the conversation as `tokens_max` allows.
    ///
    /// A torn last line is set aside first. If other lines are damaged, nothing is changed, and the
    /// error names them.
    pub fn open(&self, id: &Id, tokens_max: u64) -> Result<Opened> {
        let path = self.existing(id)?;
        let lock = self.lock(id)?;
        let survey = Survey::of(&path, tokens_max)?.ok_or_else(|| not_found(id))?;
        let tail = survey.tail;
        let recall = survey.recall(&path)?;
        let mut writer = Writer::open(id.clone(), path, lock)?;
        let end = match tail {
            Tail::Whole => End::Whole,
            Tail::Unended => {
                writer.end_line()?;
                End::Whole
            }
            Tail::Torn { offset } => {
                let bytes = self.set_tail_aside(id, offset)?;
                writer.cut(offset)?;
                End::TornOff { bytes }
            }
        };
        Ok(Opened { writer, recall, end })
    }

    /// Reads a transcript as it is now. Needs no lock.
    pub fn recall(&self, id: &Id, tokens_max: u64) -> Result<Recall> {
        let path = self.existing(id)?;
        let survey = Survey::of(&path, tokens_max)?.ok_or_else(|| not_found(id))?;
        survey.recall(&path)
    }

    /// The turns of a transcript, read lazily. Needs no lock.
    pub fn turns(&self, id: &Id) -> Result<Turns> {
        Turns::open(&self.existing(id)?)
    }

    /// The transcript with this id or unique prefix of at least four characters.
    pub fn find(&self, text: &str) -> Result<Id> {
        let id: Id = text.parse()?;
        match self.existing(&id) {
            Ok(_) => return Ok(id),
            Err(Error::NotFound { .. }) if text.len() >= PREFIX_MIN => {}
            Err(error) => return Err(error),
        }
        let mut candidates = self.names()?.ids;
        candidates.retain(|id| id.as_str().starts_with(text));
        candidates.sort_unstable();
        match candidates.len() {
            0 | 1 => candidates.pop().ok_or_else(|| not_found(&id)),
            _ => Err(Error::Ambiguous { prefix: text.to_owned(), candidates }),
        }
    }

    /// The file of a transcript that exists.
    fn existing(&self, id: &Id) -> Result<PathBuf> {
        let path = self.path(id);
        match fs::symlink_metadata(&path) {
            Ok(_) => Ok(path),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(not_found(id)),
            Err(source) => Err(lines::unreadable(&path, source)),
        }
    }

    /// Takes the lock of a transcript, waiting a little for its holder to exit.
    fn lock(&self, id: &Id) -> Result<Lock> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match Lock::try_acquire(&self.beside(id, LOCK_ENDING)) {
                Ok(lock) => return Ok(lock),
                Err(crate::Error::Locked { .. }) if Instant::now() < deadline => {
                    thread::sleep(PAUSE);
                }
                Err(crate::Error::Locked { holder, .. }) => {
                    return Err(Error::Open { id: id.clone(), holder });
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn beside(&self, id: &Id, ending: &str) -> PathBuf {
        self.dir.join(format!("{id}{ending}"))
    }
}

fn not_found(id: &Id) -> Error {
    Error::NotFound { id: id.to_string() }
}
