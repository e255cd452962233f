//! Adding to a transcript: one line, one write, on disk before it counts.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::format::{Record, line};
use super::{Error, Id, Result};
use crate::lock::Lock;

/// The longest line that is written or read; far longer than any real turn.
pub(super) const LINE_BYTES_MAX: usize = 64 << 20;

/// The one writer of a transcript, for as long as this lives.
#[derive(Debug)]
pub struct Writer {
    id: Id,
    path: PathBuf,
    file: File,
    _lock: Lock,
}

impl Writer {
    /// Opens the file of a transcript whose lock is held.
    pub(super) fn open(id: Id, path: PathBuf, lock: Lock) -> Result<Self> {
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        let file = File::options().append(true).custom_flags(flags).open(&path);
        let file = file.map_err(|source| unwritable(&path, "opening", source))?;
        Ok(Self { id, path, file, _lock: lock })
    }

    /// Which transcript it is.
    pub const fn id(&self) -> &Id {
        &self.id
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line. When this returns, the line is durable; when it fails, there is no such line.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        let line = self.line(record)?;
        let end = self.end()?;
        let written = write_once(&mut self.file, &line).and_then(|()| self.file.sync_data());
        written.map_err(|source| self.take_back(end, self.fail("writing", source)))
    }

    /// Adds many lines, and returns their number. Either all of them are saved, or none is.
    pub fn append_all(&mut self, records: impl IntoIterator<Item = Result<Record>>) -> Result<u64> {
        let end = self.end()?;
        let mut count = 0;
        for record in records {
            let line = record.and_then(|record| self.line(&record));
            let line = line.map_err(|error| self.take_back(end, error))?;
            let written = write_once(&mut self.file, &line);
            written.map_err(|source| self.take_back(end, self.fail("writing", source)))?;
            count += 1;
        }
        let synced = self.file.sync_data();
        synced.map_err(|source| self.take_back(end, self.fail("syncing", source)))?;
        Ok(count)
    }

    fn line(&self, record: &Record) -> Result<Vec<u8>> {
        let damaged = |source| crate::Error::Damaged { path: self.path.clone(), source };
        let line = line(record).map_err(damaged)?;
        if line.len() > LINE_BYTES_MAX {
            return Err(Error::TooLong { bytes: line.len() });
        }
        Ok(line)
    }

    /// Where the next line begins, in a file that still has its name.
    fn end(&self) -> Result<u64> {
        let file = self.file.metadata().map_err(|source| self.fail("looking", source))?;
        if file.nlink() == 0 {
            return Err(Error::Deleted { path: self.path.clone() });
        }
        Ok(file.len())
    }

    /// Half a line is worse than none; where even this fails, the next writer cuts it off.
    fn take_back(&self, end: u64, error: Error) -> Error {
        self.file.set_len(end).ok();
        error
    }

    /// Ends a last line that lacks only its line break.
    pub(super) fn end_line(&mut self) -> Result<()> {
        let written = write_once(&mut self.file, b"\n").and_then(|()| self.file.sync_data());
        written.map_err(|source| self.fail("writing", source))
    }

    /// Cuts the file off at the beginning of a torn line.
    pub(super) fn cut(&mut self, offset: u64) -> Result<()> {
        let cut = self.file.set_len(offset).and_then(|()| self.file.sync_data());
        cut.map_err(|source| self.fail("cutting a torn line off", source))
    }

    fn fail(&self, step: &'static str, source: io::Error) -> Error {
        unwritable(&self.path, step, source)
    }
}

/// One write call, so that no other line can come between and no reader sees half of it.
fn write_once(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    loop {
        match file.write(bytes) {
            Ok(count) if count == bytes.len() => return Ok(()),
            Ok(_) => return Err(io::ErrorKind::StorageFull.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

pub(super) fn unwritable(path: &Path, step: &'static str, source: io::Error) -> Error {
    crate::Error::Write { path: path.to_owned(), step, source }.into()
}
