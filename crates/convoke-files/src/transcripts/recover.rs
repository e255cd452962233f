//! Repairs a damaged transcript: readable lines stay, the others are set aside. Nothing is deleted.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use convoke_core::time::Timestamp;

use super::format::{Metadata, Parsed, Record, Status, UNKNOWN_AGENT, line};
use super::lines::Lines;
use super::recall::Survey;
use super::writer::unwritable;
use super::{BAD_ENDING, Id, Result, Transcripts, not_found};
use crate::atomic;
use crate::read::plain_file;

/// Bytes that are copied at once.
const PIECE_BYTES: u64 = 64 * 1024;

/// The result of a recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// Lines that stayed.
    pub kept: u64,
    /// Lines that were set aside.
    pub set_aside: u64,
    /// Where they are.
    pub bad: PathBuf,
}

impl Transcripts {
    /// Rewrites a transcript without the lines that cannot be read, which are set aside beside it. All or nothing.
    pub fn recover(&self, id: &Id) -> Result<Recovered> {
        let path = self.existing(id)?;
        let _lock = self.lock(id)?;
        let fail = |step| move |source| unwritable(&self.path(id), step, source);
        let survey = Survey::of(&path, 0)?.ok_or_else(|| not_found(id))?;
        let bad_path = self.beside(id, BAD_ENDING);
        let temp = atomic::temporary(&self.dir).map_err(fail("making a temporary file"))?;
        let mut good = BufWriter::new(temp);
        let mut recovered = Recovered { kept: 0, set_aside: 0, bad: bad_path.clone() };
        if survey.metadata.is_none() {
            let metadata = Record::Metadata(substitute_metadata(&survey, id, &path));
            let damaged = |source| crate::Error::Damaged { path: path.clone(), source };
            let line = line(&metadata).map_err(damaged)?;
            good.write_all(&line).map_err(fail("writing"))?;
        }
        let mut bad: Option<File> = None;
        let mut lines = Lines::open(&path)?.ok_or_else(|| not_found(id))?;
        while let Some(line) = lines.next()? {
            match line.parse() {
                Parsed::Known(_) | Parsed::Other => {
                    recovered.kept += 1;
                    good.write_all(line.bytes).map_err(fail("writing"))?;
                    if !line.is_ended() {
                        good.write_all(b"\n").map_err(fail("writing"))?;
                    }
                }
                Parsed::Cut(_) | Parsed::Bad(_) => {
                    recovered.set_aside += 1;
                    set_aside(&bad_path, &mut bad, line.bytes)?;
                }
            }
        }
        // The lines that are set aside are synced before they are removed.
        sync(bad.as_ref(), &bad_path)?;
        let temp = good.into_inner().map_err(|error| fail("writing")(error.into_error()))?;
        temp.as_file().sync_all().map_err(fail("syncing"))?;
        temp.persist(&path).map_err(|error| fail("renaming")(error.error))?;
        atomic::sync_folder(&self.dir).map_err(fail("syncing its folder"))?;
        Ok(recovered)
    }

    /// Copies the bytes after `offset` to the file of bad lines, and returns their number.
    pub(super) fn set_tail_aside(&self, id: &Id, offset: u64) -> Result<u64> {
        let path = self.path(id);
        let unreadable = |source| super::lines::unreadable(&path, source);
        let mut file = plain_file(&path).map_err(unreadable)?;
        file.seek(SeekFrom::Start(offset)).map_err(unreadable)?;
        let (bad_path, mut bad, mut count) = (self.beside(id, BAD_ENDING), None, 0);
        let mut torn = Vec::new();
        // In pieces: nothing bounds the length of what is torn.
        while (&mut file).take(PIECE_BYTES).read_to_end(&mut torn).map_err(unreadable)? > 0 {
            append(&bad_path, &mut bad, &torn)?;
            count += torn.len() as u64;
            torn.clear();
        }
        append(&bad_path, &mut bad, b"\n")?;
        sync(bad.as_ref(), &bad_path)?;
        Ok(count)
    }
}

/// Adds a line to the bad ones.
fn set_aside(path: &Path, bad: &mut Option<File>, line: &[u8]) -> Result<()> {
    append(path, bad, line)?;
    if line.ends_with(b"\n") { Ok(()) } else { append(path, bad, b"\n") }
}

fn append(path: &Path, bad: &mut Option<File>, bytes: &[u8]) -> Result<()> {
    let fail = |source| unwritable(path, "setting a bad line aside", source);
    let open = || File::options().create(true).append(true).mode(0o600).open(path);
    let file = match bad {
        Some(file) => file,
        None => bad.insert(open().map_err(fail)?),
    };
    file.write_all(bytes).map_err(fail)
}

fn sync(bad: Option<&File>, path: &Path) -> Result<()> {
    let synced = bad.map_or(Ok(()), File::sync_all);
    synced.map_err(|source| unwritable(path, "syncing", source))
}

/// Metadata for a transcript that has lost its own, from its file and its turns.
fn substitute_metadata(survey: &Survey, id: &Id, path: &Path) -> Metadata {
    Metadata {
        session_id: id.to_string(),
        agent: survey.agent.clone().unwrap_or_else(|| UNKNOWN_AGENT.to_owned()),
        created_at: survey.began_at.or_else(|| changed_at(path).ok()).unwrap_or_else(epoch),
        status: Status::Interrupted,
    }
}

fn epoch() -> Timestamp {
    Timestamp::from_millis(0)
}

/// When a file was last changed.
pub(super) fn changed_at(path: &Path) -> io::Result<Timestamp> {
    let modified = std::fs::symlink_metadata(path)?.modified()?;
    let age = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(Timestamp::from_millis(i64::try_from(age.as_millis()).unwrap_or(i64::MAX)))
}
