//! All transcripts of a folder at a glance.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use convoke_core::time::Timestamp;
use memchr::memchr;

use super::format::{Metadata, Parsed, Record, Status, parse};
use super::lines::{too_long, unreadable};
use super::writer::LINE_BYTES_MAX;
use super::{ENDING, Error, Id, LOCK_ENDING, Result, Transcripts};
use crate::{lock, read};

/// Transcripts below this number are read faster by one thread than by several.
const THREAD_MIN: usize = 64;
/// The size of one read: most files fit.
const CHUNK_BYTES: usize = 64 << 10;
/// The start of a turn's line, as Convoke and other programs write it. Only turns are so numerous
/// that parsing all of them would be slow.
const TURNS: [&[u8]; 2] = [b"{\"type\":\"turn\",", b"{\"type\": \"turn\","];

/// The entry of a transcript in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The transcript.
    pub id: Id,
    /// The last agent.
    pub agent: String,
    /// How many turns there are.
    pub turn_count: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// Its status.
    pub status: Status,
}

/// A transcript that cannot be read.
#[derive(Debug)]
pub struct Damage {
    /// The transcript.
    pub id: Id,
    /// What is wrong with it.
    pub error: Error,
}

/// The transcripts of a folder, newest first.
#[derive(Debug, Default)]
pub struct Listing {
    /// Those that can be read.
    pub entries: Vec<Entry>,
    /// Those that cannot.
    pub damaged: Vec<Damage>,
}

/// The names in a folder.
pub(super) struct Names {
    /// The transcripts, in no order.
    pub(super) ids: Vec<Id>,
    /// Those with a lock file, which may be a dead one's.
    locked: BTreeSet<Id>,
}

impl Transcripts {
    /// Lists all transcripts, newest first. Unreadable ones are listed separately and hide no other.
    pub fn list(&self) -> Result<Listing> {
        let names = self.names()?;
        let list_of = |ids: &[Id]| self.list_of(ids, &names.locked);
        let mut listing = Listing::default();
        for part in read::in_parallel(&names.ids, THREAD_MIN, list_of) {
            listing.entries.extend(part.entries);
            listing.damaged.extend(part.damaged);
        }
        listing
            .entries
            .sort_unstable_by(|a, b| b.created_at.cmp(&a.created_at).then_with(|| a.id.cmp(&b.id)));
        listing.damaged.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        Ok(listing)
    }

    fn list_of(&self, ids: &[Id], locked: &BTreeSet<Id>) -> Listing {
        let mut listing = Listing::default();
        let mut buffer = Vec::new();
        for id in ids {
            match self.entry(id, locked, &mut buffer) {
                Ok(Some(entry)) => listing.entries.push(entry),
                // It was deleted meanwhile.
                Ok(None) => {}
                Err(error) => listing.damaged.push(Damage { id: id.clone(), error }),
            }
        }
        listing
    }

    fn entry(&self, id: &Id, locked: &BTreeSet<Id>, buffer: &mut Vec<u8>) -> Result<Option<Entry>> {
        let path = self.path(id);
        let mut preview = Preview::default();
        match preview.over(&path, buffer) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(unreadable(&path, source)),
        }
        let Some(Metadata { agent, created_at, .. }) = preview.metadata else {
            let text = "its first line is not the metadata of a session";
            return Err(unreadable(&path, io::Error::other(text)));
        };
        let is_open = || locked.contains(id) && lock::is_held_now(&self.beside(id, LOCK_ENDING));
        let status = match preview.status {
            Some(Status::Completed) => Status::Completed,
            Some(Status::Active | Status::Interrupted) | None if is_open() => Status::Active,
            Some(Status::Active | Status::Interrupted) | None => Status::Interrupted,
        };
        let (agent, turn_count) = (preview.agent.unwrap_or(agent), preview.turn_count);
        Ok(Some(Entry { id: id.clone(), agent, turn_count, created_at, status }))
    }

    /// The transcripts in the folder, by name; other files belong to other programs.
    pub(super) fn names(&self) -> Result<Names> {
        let mut names = Names { ids: Vec::new(), locked: BTreeSet::new() };
        let fail = |source| unreadable(&self.dir, source);
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(names),
            Err(error) => return Err(fail(error)),
        };
        for entry in entries {
            let name = entry.map_err(fail)?.file_name();
            let Some(name) = name.to_str() else { continue };
            if let Some(id) = name.strip_suffix(LOCK_ENDING) {
                names.locked.extend(id.parse::<Id>());
            } else if let Some(id) = name.strip_suffix(ENDING) {
                names.ids.extend(id.parse::<Id>());
            }
        }
        Ok(names)
    }
}

/// What is read from the head and the tail of a file.
#[derive(Default)]
struct Preview {
    metadata: Option<Metadata>,
    agent: Option<String>,
    status: Option<Status>,
    turn_count: u64,
    /// Lines so far.
    line_count: u64,
}

impl Preview {
    /// Reads a file in chunks.
    fn over(&mut self, path: &Path, buffer: &mut Vec<u8>) -> io::Result<()> {
        let mut file = read::plain_file(path)?;
        buffer.resize(buffer.len().max(CHUNK_BYTES), 0);
        let mut held = 0;
        loop {
            if held == buffer.len() {
                if held >= LINE_BYTES_MAX {
                    return Err(too_long(self.line_count + 1));
                }
                buffer.resize(held * 2, 0);
            }
            let free = buffer.get_mut(held..).unwrap_or_default();
            let (room, read) = (free.len(), file.read(free)?);
            held += read;
            let whole = self.see_all(buffer.get(..held).unwrap_or_default());
            buffer.copy_within(whole..held, 0);
            held -= whole;
            // A short read of a regular file means its end, so no second read is needed.
            if read < room {
                break;
            }
        }
        // A last line without a line break is being written, or lacks only the line break.
        let rest = buffer.get(..held).unwrap_or_default();
        if !rest.is_empty() && matches!(parse(rest), Parsed::Known(_)) {
            self.see(rest);
        }
        Ok(())
    }

    /// Visits every complete line, and returns the offset of the first incomplete one.
    fn see_all(&mut self, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        while let Some((line, after)) =
            memchr(b'\n', rest).and_then(|at| Some((rest.get(..at)?, rest.get(at + 1..)?)))
        {
            self.see(line);
            rest = after;
        }
        bytes.len() - rest.len()
    }

    fn see(&mut self, line: &[u8]) {
        self.line_count += 1;
        if TURNS.iter().any(|turn| line.starts_with(turn)) {
            self.turn_count += 1;
            return;
        }
        match parse(line) {
            Parsed::Known(Record::Metadata(metadata)) if self.line_count == 1 => {
                self.status = Some(metadata.status);
                self.metadata = Some(metadata);
            }
            Parsed::Known(Record::Turn(_)) => self.turn_count += 1,
            Parsed::Known(Record::Status { status, .. }) => self.status = Some(status),
            Parsed::Known(Record::Agent { agent, .. }) => self.agent = Some(agent),
            Parsed::Known(Record::AgentSession(session)) => self.agent = Some(session.agent),
            Parsed::Known(
                Record::Metadata(_) | Record::Cleared { .. } | Record::Imported { .. },
            )
            | Parsed::Other
            // Damage in the middle is reported when the session is resumed.
            | Parsed::Cut(_)
            | Parsed::Bad(_) => {}
        }
    }
}
