//! Reads a conversation in batches, with a cursor after each of them.

mod chain;
mod journal;
mod source;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::agent::Agent;
use crate::assembly::{Assembly, State};
use crate::codex;
use crate::database::{RowCursor, RowPlace};
use crate::error::{Error, Result};
use crate::fingerprint::{Change, Fingerprint};
use crate::folder::facts_of_file;
use crate::importer::{Begin, Form, Parse};
use crate::item::{Batch, Identity, Tally};
use crate::store::{History, SiblingFiles, Stamp, StampKind};

use journal::{JournalCursor, JournalSource, Resumed};
use source::{DocumentSource, LineSource, RowSource, Source, Step};

/// The position up to which a conversation was read, to be stored with its messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cursor {
    place: Position,
    state: State,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Position {
    Lines {
        lines: u64,
        fingerprint: Fingerprint,
    },
    Document {
        stamp: Stamp,
        messages: u64,
        ids: u64,
        #[serde(default)]
        last: u64,
    },
    Journal(JournalCursor),
    Rows(RowCursor),
}

impl Cursor {
    /// The metadata of the conversation so far.
    pub const fn identity(&self) -> &Identity {
        &self.state.identity
    }

    /// Counts of what was read so far, and of what could not be.
    pub const fn tally(&self) -> &Tally {
        &self.state.tally
    }
}

/// An opened conversation, and how it has changed since it was last read.
#[derive(Debug)]
pub enum Reading {
    /// Nothing; there is nothing to read.
    Unchanged,
    /// It grew. Items with known keys replace earlier ones.
    Rest(Reader),
    /// It was never read.
    Whole(Reader),
    /// It was rewritten. This is another conversation, from its beginning, and must not be mixed
    /// with the first.
    Rewritten(Reader),
}

/// Reads a conversation in batches.
#[derive(Debug)]
pub struct Reader {
    agent: Agent,
    file: PathBuf,
    source: Source,
    assembly: Assembly,
    is_over: bool,
}

impl Reader {
    /// Reads from the beginning.
    pub(crate) fn start(
        form: Form,
        beside: &mut SiblingFiles<'_>,
        history: &History,
    ) -> Result<Self> {
        let mut assembly = Assembly::default();
        let source = match form {
            Form::Lines { begin, line, order } => {
                begin(&mut assembly, &history.path, beside);
                let file = open(beside, history)?;
                let source = LineSource::open(file, line, order);
                Source::Lines(Box::new(source.map_err(|source| read_error(history, source))?))
            }
            Form::Document { begin, element } => {
                let (_, source) = document(beside, history, &mut assembly, (begin, element), 0)?;
                Source::Document(Box::new(source))
            }
            Form::Journal => {
                let (source, begun) = JournalSource::open(beside, history)?;
                assembly = begun;
                Source::Journal(Box::new(source))
            }
            Form::Database(rows) => {
                let source = RowSource::open(beside, history, rows, RowPlace::default())?;
                source.identify(&mut assembly)?;
                Source::Rows(Box::new(source))
            }
        };
        Ok(Self::new(history, source, assembly))
    }

    /// Reads what follows a cursor.
    pub(crate) fn resume(
        form: Form,
        beside: &mut SiblingFiles<'_>,
        history: &History,
        cursor: &Cursor,
    ) -> Result<Reading> {
        let resumed = match (form, &cursor.place) {
            (Form::Lines { begin, line, .. }, Position::Lines { lines, fingerprint }) => {
                let file = open(beside, history)?;
                let failed = |source| read_error(history, source);
                let size = facts_of_file(&file).map_err(failed)?.size;
                match fingerprint.compare(&file, size).map_err(failed)? {
                    Change::None => return Ok(Reading::Unchanged),
                    Change::Rewritten => None,
                    Change::Grown => {
                        let mut assembly = Assembly::new(cursor.state.clone());
                        // The files beside it may have new metadata, such as a title.
                        begin(&mut assembly, &history.path, beside);
                        assembly.state.identity.id.clone_from(&cursor.state.identity.id);
                        let offset = fingerprint.offset;
                        let source = LineSource::resume(file, line, offset, *lines);
                        let source = source.map_err(failed)?;
                        Some(Self::new(history, Source::Lines(Box::new(source)), assembly))
                    }
                }
            }
            (
                Form::Document { begin, element },
                Position::Document { stamp, messages, ids, last },
            ) => {
                if *stamp == history.stamp {
                    return Ok(Reading::Unchanged);
                }
                let mut assembly = Assembly::default();
                let (seen, mut source) =
                    document(beside, history, &mut assembly, (begin, element), *messages)?;
                seen.known(*messages, *ids, *last).map(|known| {
                    source.after(known);
                    Self::new(history, Source::Document(Box::new(source)), assembly)
                })
            }
            (Form::Journal, Position::Journal(then)) => {
                let assembly = Assembly::new(cursor.state.clone());
                match JournalSource::resume(beside, history, then, assembly)? {
                    Some(Resumed::Unchanged) => return Ok(Reading::Unchanged),
                    Some(Resumed::Rest(source, assembly)) => {
                        Some(Self::new(history, Source::Journal(source), *assembly))
                    }
                    None => None,
                }
            }
            (Form::Database(rows), Position::Rows(then)) => {
                if history.stamp == Stamp(StampKind::Rows(then.stamp)) {
                    return Ok(Reading::Unchanged);
                }
                let newest = then.last;
                let place = RowPlace { before: Some(*then), newest, ..RowPlace::default() };
                let source = RowSource::open(beside, history, rows, place)?;
                let mut assembly = Assembly::new(cursor.state.clone());
                if source.is_still_there(then)? {
                    source.identify(&mut assembly)?;
                    Some(Self::new(history, Source::Rows(Box::new(source)), assembly))
                } else {
                    None
                }
            }
            // The agent changed its format.
            _ => None,
        };
        match resumed {
            Some(reader) => Ok(Reading::Rest(reader)),
            None => Self::start(form, beside, history).map(Reading::Rewritten),
        }
    }

    fn new(history: &History, source: Source, assembly: Assembly) -> Self {
        Self { agent: history.agent, file: history.file(), source, assembly, is_over: false }
    }

    /// Leaves out the entries of the session that this one continues, from the beginning on.
    pub(crate) const fn leave_out_copied(&mut self) {
        self.assembly.state.vibe.leave_out_copied();
    }

    /// The next messages; `None` when all of them were read.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        while !self.is_over && !self.assembly.is_full() {
            self.step()?;
        }
        let batch = self.assembly.take();
        Ok((!batch.is_empty() || !self.is_over).then_some(batch))
    }

    /// Whether everything was read, and the last batch was the last one.
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Reads until the metadata is known, or this many lines.
    pub(crate) fn read_until(&mut self, lines: u64) -> Result<()> {
        let identity = |reader: &Self| {
            let identity = &reader.assembly.state.identity;
            identity.cwd.is_some() && identity.title.is_some() && identity.created_at.is_some()
        };
        while !self.is_over && !identity(self) && self.assembly.state.tally.lines < lines {
            self.step()?;
            if self.assembly.is_full() {
                self.assembly.take();
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<()> {
        let failed = |source| Error::Read { path: self.file.clone(), source };
        let step = match &mut self.source {
            Source::Lines(source) => source.step(&mut self.assembly).map_err(failed)?,
            Source::Document(source) => source.step(&mut self.assembly).map_err(failed)?,
            Source::Journal(source) => source.step(&mut self.assembly)?,
            Source::Rows(source) => source.step(&mut self.assembly)?,
        };
        if step == Step::End {
            self.end();
        }
        Ok(())
    }

    fn end(&mut self) {
        self.is_over = true;
        if self.agent == Agent::Codex {
            codex::end(&mut self.assembly);
        }
    }

    /// The metadata of the conversation, as far as it was read.
    pub const fn identity(&self) -> &Identity {
        &self.assembly.state.identity
    }

    /// Counts of what was read so far, and of what could not be.
    pub const fn tally(&self) -> &Tally {
        &self.assembly.state.tally
    }

    /// The cursor after the batches that were returned. An unfinished reading of a database or a
    /// document starts again from the beginning.
    pub fn cursor(&self) -> Result<Cursor> {
        let failed = |source| Error::Read { path: self.file.clone(), source };
        let place = match &self.source {
            Source::Lines(source) => {
                let fingerprint = source.fingerprint().map_err(failed)?;
                Position::Lines { lines: source.number(), fingerprint }
            }
            Source::Document(source) => source.place(self.is_over),
            Source::Journal(source) => Position::Journal(source.cursor().map_err(failed)?),
            Source::Rows(source) => Position::Rows(source.cursor(self.is_over)),
        };
        Ok(Cursor { place, state: self.assembly.state.clone() })
    }
}

fn open(beside: &SiblingFiles<'_>, history: &History) -> Result<std::fs::File> {
    beside.folder.open_file(beside.importer.transcripts, &history.path)
}

fn read_error(history: &History, source: std::io::Error) -> Error {
    Error::Read { path: history.file(), source }
}

/// Opens a document of which some messages were read before, and reads the ids of its messages.
fn document(
    beside: &mut SiblingFiles<'_>,
    history: &History,
    assembly: &mut Assembly,
    (begin, parse): (Begin, Parse),
    before: u64,
) -> Result<(source::Ids, DocumentSource)> {
    begin(assembly, &history.path, beside);
    let failed = |source| read_error(history, source);
    let ids = source::Ids::read(open(beside, history)?, before).map_err(failed)?;
    let file = open(beside, history)?;
    let source = DocumentSource::open(file, parse, ids.all(), history.stamp);
    Ok((ids, source))
}
