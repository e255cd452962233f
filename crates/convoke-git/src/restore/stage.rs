//! Writes the contents that `git cat-file --batch` prints one after the other into files of their own.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;

use crate::diff::{FileMode, FileVersion};
use crate::root::{Obstacle, Root};
use crate::{Error, Result};

/// Whether files survive a power cut once they are complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    Synced,
    Cached,
}

/// The output is headers (`ID blob SIZE`), each followed by the content and a newline.
pub(super) struct Stage<'a> {
    folder: &'a Root,
    durability: Durability,
    /// The remaining files, with their numbers.
    wanted: VecDeque<(usize, &'a FileVersion)>,
    header: Vec<u8>,
    content: Option<Content>,
    fault: Option<Error>,
}

struct Content {
    name: String,
    sink: Sink,
    bytes_left: u64,
}

enum Sink {
    File(File),
    Link(Vec<u8>),
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        folder: &'a Root,
        wanted: Vec<(usize, &'a FileVersion)>,
        durability: Durability,
    ) -> Self {
        let (wanted, header) = (wanted.into(), Vec::new());
        Self { folder, durability, wanted, header, content: None, fault: None }
    }

    pub(super) fn push(&mut self, mut bytes: &[u8]) -> ControlFlow<()> {
        while !bytes.is_empty() {
            if let Err(error) = self.take(&mut bytes) {
                self.fault = Some(error);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    pub(super) fn finish(self) -> Result<()> {
        match self.fault {
            Some(error) => Err(error),
            None if self.wanted.is_empty() && self.content.is_none() => Ok(()),
            None => Err(unexpected("too little")),
        }
    }

    fn take(&mut self, bytes: &mut &[u8]) -> Result<()> {
        let Some(content) = &mut self.content else { return self.take_header(bytes) };
        let count = usize::try_from(content.bytes_left).unwrap_or(usize::MAX).min(bytes.len());
        let (piece, rest) = bytes.split_at(count);
        *bytes = rest;
        content.bytes_left -= u64::try_from(count).unwrap_or_default();
        match &mut content.sink {
            Sink::File(file) => file.write_all(piece).map_err(failed)?,
            Sink::Link(target) => target.extend_from_slice(piece),
        }
        if content.bytes_left == 0 && !bytes.is_empty() {
            // The newline behind the content.
            *bytes = bytes.get(1..).unwrap_or_default();
            match self.content.take() {
                Some(Content { name, sink: Sink::Link(target), .. }) => {
                    let made = self.folder.make_link(&name, OsStr::from_bytes(&target));
                    made.map_err(obstructed)?;
                }
                Some(Content { sink: Sink::File(file), .. })
                    if self.durability == Durability::Synced =>
                {
                    file.sync_data().map_err(failed)?;
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    fn take_header(&mut self, bytes: &mut &[u8]) -> Result<()> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        self.header.extend_from_slice(bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default());
        let Some(end) = end else {
            *bytes = &[];
            return Ok(());
        };
        *bytes = bytes.get(end + 1..).unwrap_or_default();
        let header = String::from_utf8_lossy(&std::mem::take(&mut self.header)).into_owned();
        let (index, version) = self.wanted.pop_front().ok_or_else(|| unexpected(&header))?;
        let mut fields = header.split(' ');
        let (id, kind, size) = (fields.next(), fields.next(), fields.next());
        let size = size.and_then(|size| size.parse().ok());
        let Some(bytes_left) =
            size.filter(|_| id == Some(version.id.as_str()) && kind == Some("blob"))
        else {
            return Err(unexpected(&header));
        };
        let name = index.to_string();
        // The umask removes permissions that the user's new files do not have.
        let make = |mode| self.folder.make_file(&name, mode).map(Sink::File).map_err(obstructed);
        let sink = match version.mode {
            FileMode::Link => Sink::Link(Vec::new()),
            FileMode::Executable => make(0o777)?,
            FileMode::Regular | FileMode::Submodule => make(0o666)?,
        };
        self.content = Some(Content { name, sink, bytes_left });
        Ok(())
    }
}

fn failed(source: io::Error) -> Error {
    Error::io("write", "the content of a file".as_ref(), source)
}

fn obstructed(obstacle: Obstacle) -> Error {
    match obstacle {
        Obstacle::Path(why) => failed(io::Error::other(why)),
        Obstacle::System(errno) => failed(errno.into()),
    }
}

fn unexpected(what: &str) -> Error {
    Error::Unexpected { command: "git cat-file".to_owned(), what: format!("{what:?}") }
}
