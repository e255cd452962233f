//! Finds pending sessions without reading all others.
//!
//! The file `.pending` beside the sessions names those that were pending when the last one was
//! asked, together with the state of the folder then. It is a cache: if it is missing, damaged or
//! older than the folder, every session is read once.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use convoke_core::id::RequestId;
use serde::{Deserialize, Serialize};

use super::{ANSWERS, Questions, Status};
use crate::{Error, Result};

const NAME: &str = ".pending";

/// The sessions that wait for an answer, and perhaps some that did. Only the holder of the folder's lock may have one.
pub(super) struct Pending<'a> {
    questions: &'a Questions,
    file: File,
    ids: Vec<RequestId>,
}

#[derive(Serialize, Deserialize)]
struct Cache {
    folder: Stamp,
    ids: Vec<RequestId>,
}

/// Changes whenever a session is made or deleted, whichever program does it.
///
/// The link count is the number of sessions on most file systems, so it distinguishes two changes within one clock
/// tick.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    seconds: i64,
    nanoseconds: i64,
    links: u64,
}

impl Stamp {
    fn of(folder: &Path) -> std::io::Result<Self> {
        let folder = fs::metadata(folder)?;
        let (seconds, nanoseconds) = (folder.mtime(), folder.mtime_nsec());
        Ok(Self { seconds, nanoseconds, links: folder.nlink() })
    }
}

impl Questions {
    /// Finds the pending sessions; settled ones are filtered out only when the limit would be exceeded.
    pub(super) fn pending(&self) -> Result<Pending<'_>> {
        let path = self.dir.join(NAME);
        let fail = |source| Error::Write { path: path.clone(), step: "opening", source };
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(&path).map_err(fail)?;
        let mut bytes = Vec::new();
        let stamp = Stamp::of(&self.dir).map_err(fail)?;
        let cache = file.read_to_end(&mut bytes).ok().and_then(|_| cached(&bytes));
        let mut ids = match cache.filter(|cache| cache.folder == stamp) {
            Some(cache) => cache.ids,
            None => self.ids()?,
        };
        // With fewer sessions than the limit nothing needs to be read: not too many can be pending.
        if ids.len() >= self.settings.sessions_max {
            ids.retain(|id| self.is_pending(*id));
        }
        Ok(Pending { questions: self, file, ids })
    }

    /// Whether a session is pending; most are answered, which shows without reading a file.
    fn is_pending(&self, id: RequestId) -> bool {
        !self.folder(id).join(ANSWERS).exists()
            && self
                .entry(id)
                .is_ok_and(|entry| entry.is_some_and(|entry| entry.status == Status::Pending))
    }
}

fn cached(bytes: &[u8]) -> Option<Cache> {
    serde_json::from_slice(bytes).ok()
}

impl Pending<'_> {
    pub(super) fn count(&self) -> usize {
        self.ids.len()
    }

    /// Adds a session, with the new state of the folder.
    pub(super) fn add(&mut self, id: RequestId) {
        self.ids.push(id);
        let written = Stamp::of(&self.questions.dir).and_then(|folder| {
            let cache = Cache { folder, ids: std::mem::take(&mut self.ids) };
            let bytes = serde_json::to_vec(&cache)?;
            // Written in place, since a rename would change the folder. A torn file is no JSON, and
            // is ignored.
            self.file.set_len(0)?;
            self.file.rewind()?;
            self.file.write_all(&bytes)
        });
        if let Err(error) = written {
            tracing::debug!("the pending question sessions are not remembered: {error}");
        }
    }
}
