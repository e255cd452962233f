//! Reads a transcript line by line, with at most one line in memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::format::{Parsed, Record, Turn, parse};
use super::recall::BadLine;
use super::writer::LINE_BYTES_MAX;
use super::{Error, Result};
use crate::read::plain_file;

/// The size of one read; larger ones are not faster.
const CHUNK_BYTES: usize = 256 << 10;

/// Iterates over the lines of a file.
pub(super) struct Lines {
    path: PathBuf,
    input: BufReader<File>,
    buffer: Vec<u8>,
    number: u64,
    offset: u64,
}

/// One line of a file.
pub(super) struct Line<'a> {
    /// Counted from 1.
    pub(super) number: u64,
    /// Where it begins.
    pub(super) offset: u64,
    /// All of it, with its line break if it has one.
    pub(super) bytes: &'a [u8],
}

impl Line<'_> {
    /// Whether it ends with a line break, as all lines do that were written to their end.
    pub(super) fn is_ended(&self) -> bool {
        self.bytes.ends_with(b"\n")
    }

    /// Parses it.
    pub(super) fn parse(&self) -> Parsed {
        parse(self.bytes.strip_suffix(b"\n").unwrap_or(self.bytes))
    }
}

impl Lines {
    /// Opens a file, or `None` where there is none.
    pub(super) fn open(path: &Path) -> Result<Option<Self>> {
        match plain_file(path) {
            Ok(file) => {
                let input = BufReader::with_capacity(CHUNK_BYTES, file);
                let (path, buffer) = (path.to_owned(), Vec::new());
                Ok(Some(Self { path, input, buffer, number: 0, offset: 0 }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(unreadable(path, source)),
        }
    }

    /// The next line.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>> {
        self.offset += self.buffer.len() as u64;
        self.number += 1;
        self.buffer.clear();
        let limit = LINE_BYTES_MAX as u64 + 1;
        let read = (&mut self.input).take(limit).read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|source| unreadable(&self.path, source))?;
        if read > LINE_BYTES_MAX {
            return Err(unreadable(&self.path, too_long(self.number)));
        }
        let line = Line { number: self.number, offset: self.offset, bytes: &self.buffer };
        Ok((read > 0).then_some(line))
    }
}

/// The turns of a transcript, first to last. Lines that cannot be parsed are skipped.
pub struct Turns(Lines);

impl Turns {
    /// The turns of a transcript at any path.
    pub fn open(path: &Path) -> Result<Self> {
        let missing = || unreadable(path, io::ErrorKind::NotFound.into());
        Lines::open(path)?.map(Self).ok_or_else(missing)
    }
}

impl std::fmt::Debug for Turns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Turns").field(&self.0.path).finish()
    }
}

impl Iterator for Turns {
    type Item = Result<Turn>;

    fn next(&mut self) -> Option<Result<Turn>> {
        loop {
            match self.0.next() {
                Ok(Some(line)) => {
                    if let Parsed::Known(Record::Turn(turn)) = line.parse() {
                        return Some(Ok(turn));
                    }
                }
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// All lines of a transcript, first to last, including damaged ones.
pub struct Records(Lines);

/// A line of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Something that is understood.
    Record(Record),
    /// Nothing that could be read.
    Bad(BadLine),
}

impl Records {
    /// The lines of a transcript at any path.
    pub fn open(path: &Path) -> Result<Self> {
        let missing = || unreadable(path, io::ErrorKind::NotFound.into());
        Lines::open(path)?.map(Self).ok_or_else(missing)
    }
}

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Records").field(&self.0.path).finish()
    }
}

impl Iterator for Records {
    type Item = Result<Found>;

    fn next(&mut self) -> Option<Result<Found>> {
        loop {
            let line = match self.0.next() {
                Ok(Some(line)) => line,
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            };
            match line.parse() {
                Parsed::Known(record) => return Some(Ok(Found::Record(record))),
                Parsed::Other => {}
                Parsed::Cut(problem) | Parsed::Bad(problem) => {
                    return Some(Ok(Found::Bad(BadLine { number: line.number, problem })));
                }
            }
        }
    }
}

pub(super) fn too_long(line: u64) -> io::Error {
    io::Error::other(format!("line {line} exceeds the maximum length"))
}

pub(super) fn unreadable(path: &Path, source: io::Error) -> Error {
    crate::Error::Read { path: path.to_owned(), source }.into()
}
