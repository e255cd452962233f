//! Conversations in generations: a file names the newest one, its entries are in chunks that
//! generations share, and later changes are in a journal. Chunks are named by their content, so
//! that chunks that were read are recognised by name.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::read_error;
use super::source::{LineSource, Step, broken_off, read, read_element};
use crate::assembly::{Assembly, digest};
use crate::elements::{Element, Elements};
use crate::error::{Error, Result};
use crate::fingerprint::{Change, Fingerprint};
use crate::folder::{Folder, facts_of_file};
use crate::importer::Order;
use crate::json::{field, list, path, text};
use crate::store::{History, SiblingFiles, read_small};
use crate::vibe::unified::{self, Mark};

/// The position up to which a conversation in generations was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct JournalCursor {
    generation: String,
    /// Chunks that will not change any more, and the hash of their names.
    chunks: u64,
    names: u64,
    /// Lines of the journal, once all chunks were read.
    journal: Option<(u64, Fingerprint)>,
}

/// The generation that is current.
#[derive(Debug)]
struct Generation {
    name: String,
    /// The names of its chunks; `None` if its entries are in its own file.
    chunks: Option<Vec<String>>,
    journal: String,
    snapshot: Value,
}

impl Generation {
    fn read(beside: &SiblingFiles<'_>, history: &History) -> Result<Self> {
        let folder = history.path.trim_end_matches("CURRENT");
        let pointer = document(beside, history, &history.path)?;
        let Some(name) = text(&pointer, "generation") else {
            return Err(damaged(history, "it names no generation"));
        };
        let generation = format!("{folder}generations/{name}");
        let manifest = document(beside, history, &format!("{generation}/manifest.json"))?;
        let projection = field(&manifest, "projection_state");
        let names = projection.get("chunks").and_then(Value::as_array);
        let chunk = |name: &Value| format!("{folder}chunks/{}.json", name.as_str().unwrap_or("?"));
        let segment = path(&manifest, &["recovery_journal_segment", "path"]);
        let journal = format!("{folder}{}", segment.as_str().unwrap_or("?"));
        let state = beside.json(&format!("{generation}/projection-state.json"));
        let snapshot = field(&state, "snapshot").clone();
        let chunks = names.map(|names| names.iter().map(chunk).collect());
        Ok(Self { name, chunks, journal, snapshot })
    }

    fn chunks(&self) -> &[String] {
        self.chunks.as_deref().unwrap_or_default()
    }

    /// The hash of the names of the first chunks, if there are as many.
    fn names(&self, chunks: u64) -> Option<u64> {
        let first = self.chunks().get(..usize::try_from(chunks).ok()?)?;
        Some(first.iter().fold(NONE, |names, name| chain(names, name)))
    }
}

/// The hash of no names.
const NONE: u64 = 0;

fn chain(names: u64, name: &str) -> u64 {
    digest(&[names.to_le_bytes(), digest(name.as_bytes()).to_le_bytes()].concat())
}

/// A small document beside the chunks, without which they cannot be found.
fn document(beside: &SiblingFiles<'_>, history: &History, path: &str) -> Result<Value> {
    let allowed = [beside.importer.transcripts, beside.importer.beside].concat();
    let file = beside.folder.open_file(&allowed, path)?;
    let bytes = read_small(file).map_err(|source| read_error(history, source))?;
    serde_json::from_slice(&bytes).map_err(|error| damaged(history, &error.to_string()))
}

fn damaged(history: &History, why: &str) -> Error {
    read_error(history, io::Error::new(io::ErrorKind::InvalidData, why.to_owned()))
}

/// A file that the current generation names.
fn open(beside: &SiblingFiles<'_>, path: &str) -> Result<File> {
    beside.folder.open_file(beside.importer.beside, path)
}

/// The chunks of a generation that were not read, and then its journal.
#[derive(Debug)]
pub(super) struct JournalSource {
    /// The conversation, for errors.
    file: PathBuf,
    folder: Folder,
    allowed: &'static [&'static str],
    generation: Generation,
    chunk: Option<Elements<File>>,
    /// Chunks that were read to their end.
    done: u64,
    names: u64,
    journal: LineSource,
    in_journal: bool,
}

impl JournalSource {
    /// Reads from the beginning.
    pub(super) fn open(
        beside: &mut SiblingFiles<'_>,
        history: &History,
    ) -> Result<(Self, Assembly)> {
        let generation = Generation::read(beside, history)?;
        let mut assembly = Assembly::default();
        let source = Self::begin(beside, history, generation, &mut assembly, (0, NONE))?;
        Ok((source, assembly))
    }

    /// Reads what follows a cursor; `None` if the conversation was rewritten.
    pub(super) fn resume(
        beside: &mut SiblingFiles<'_>,
        history: &History,
        cursor: &JournalCursor,
        mut assembly: Assembly,
    ) -> Result<Option<Resumed>> {
        let generation = Generation::read(beside, history)?;
        let read = (cursor.chunks, cursor.names);
        if generation.names(cursor.chunks) != Some(cursor.names) {
            return Ok(None);
        }
        if let Some((lines, fingerprint)) =
            cursor.journal.as_ref().filter(|_| generation.name == cursor.generation)
        {
            let file = open(beside, &generation.journal)?;
            let failed = |source| read_error(history, source);
            let size = facts_of_file(&file).map_err(failed)?.size;
            match fingerprint.compare(&file, size).map_err(failed)? {
                Change::None => return Ok(Some(Resumed::Unchanged)),
                Change::Rewritten => return Ok(None),
                Change::Grown => {}
            }
            unified::begin(&mut assembly, &history.path, beside);
            let offset = fingerprint.offset;
            let journal = LineSource::resume(file, unified::record, offset, *lines);
            let mut journal = journal.map_err(failed)?;
            journal.after(assembly.state.tally.lines);
            let source = Self::new(beside, history, generation, journal, read)?;
            let source = Self { in_journal: true, ..source };
            return Ok(Some(Resumed::Rest(Box::new(source), Box::new(assembly))));
        }
        let expected = assembly.state.vibe.begin_generation();
        let source = Self::begin(beside, history, generation, &mut assembly, read)?;
        let is_same = source.is_still_there(expected)?;
        Ok(is_same.then(|| Resumed::Rest(Box::new(source), Box::new(assembly))))
    }

    fn begin(
        beside: &mut SiblingFiles<'_>,
        history: &History,
        generation: Generation,
        assembly: &mut Assembly,
        read: (u64, u64),
    ) -> Result<Self> {
        unified::begin(assembly, &history.path, beside);
        unified::continues(assembly, &history.path, &generation.name, beside);
        unified::envelope(assembly, &generation.snapshot);
        let file = open(beside, &generation.journal)?;
        let journal = LineSource::open(file, unified::record, Order::File);
        let journal = journal.map_err(|source| read_error(history, source))?;
        Self::new(beside, history, generation, journal, read)
    }

    fn new(
        beside: &SiblingFiles<'_>,
        history: &History,
        generation: Generation,
        journal: LineSource,
        (done, names): (u64, u64),
    ) -> Result<Self> {
        let folder = beside.folder.try_clone().map_err(|source| read_error(history, source))?;
        let allowed = beside.importer.beside;
        let (file, chunk, in_journal) = (history.file(), None, false);
        Ok(Self { file, folder, allowed, generation, chunk, done, names, journal, in_journal })
    }

    /// Whether the prompts that were read from changeable chunks are in the chunks that replaced
    /// them. Prompts after a point to which the conversation was rewound need not be.
    fn is_still_there(&self, mut expected: Vec<u64>) -> Result<bool> {
        expected.reverse();
        for entry in self.inline() {
            if let Some(is_same) = meet(&mut expected, unified::mark(entry)) {
                return Ok(is_same);
            }
        }
        let mut chunk = self.done;
        while let Some(mut elements) = self.open_chunk(chunk)? {
            while let Some(element) = self.next(&mut elements)? {
                let json = element.json.unwrap_or_default();
                let entry: Value = serde_json::from_slice(&json).unwrap_or_default();
                if let Some(is_same) = meet(&mut expected, unified::mark(&entry)) {
                    return Ok(is_same);
                }
            }
            chunk += 1;
        }
        Ok(expected.is_empty())
    }

    fn open_chunk(&self, number: u64) -> Result<Option<Elements<File>>> {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(name) = self.generation.chunks().get(number) else { return Ok(None) };
        let file = self.folder.open_file(self.allowed, name)?;
        Ok(Some(Elements::of_list(file)))
    }

    /// The next element; damage ends its chunk.
    fn next(&self, elements: &mut Elements<File>) -> Result<Option<Element>> {
        match elements.next() {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
            other => other.map_err(|source| self.failed(source)),
        }
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Read { path: self.file.clone(), source }
    }

    pub(super) fn step(&mut self, assembly: &mut Assembly) -> Result<Step> {
        if self.in_journal {
            return self.journal.step(assembly).map_err(|source| self.failed(source));
        }
        if self.chunk.is_none() {
            self.chunk = self.open_chunk(self.done)?;
        }
        let Some(chunk) = &mut self.chunk else {
            self.read_inline(assembly);
            self.enter_journal(assembly);
            return Ok(Step::Read);
        };
        let element = match chunk.next() {
            Ok(element) => element,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                broken_off(assembly, &error);
                None
            }
            Err(error) => return Err(self.failed(error)),
        };
        match element {
            Some(element) => {
                let number = assembly.state.tally.lines + 1;
                read_element(assembly, unified::entry, Element { number, ..element });
            }
            None => self.end_chunk(assembly),
        }
        Ok(Step::Read)
    }

    /// All chunks but the last stay unchanged when the conversation continues.
    fn end_chunk(&mut self, assembly: &mut Assembly) {
        self.chunk = None;
        let place = usize::try_from(self.done).unwrap_or(usize::MAX);
        let chunks = self.generation.chunks();
        let Some(name) = chunks.get(place) else { return };
        if place + 1 < chunks.len() {
            self.names = chain(self.names, name);
            self.done += 1;
            assembly.state.vibe.seal();
        } else {
            self.enter_journal(assembly);
        }
    }

    fn enter_journal(&mut self, assembly: &mut Assembly) {
        self.in_journal = true;
        assembly.state.vibe.begin_journal();
        self.journal.after(assembly.state.tally.lines);
    }

    /// The entries of a generation without chunks.
    fn inline(&self) -> &[Value] {
        let entries = list(field(&self.generation.snapshot, "history"), "entries");
        if self.generation.chunks.is_none() { entries } else { &[] }
    }

    fn read_inline(&self, assembly: &mut Assembly) {
        for entry in self.inline() {
            // It was parsed before.
            drop(read(assembly, unified::entry, entry.to_string().as_bytes()));
        }
    }

    pub(super) fn cursor(&self) -> io::Result<JournalCursor> {
        let generation = self.generation.name.clone();
        let journal = match self.in_journal {
            true => Some((self.journal.number(), self.journal.fingerprint()?)),
            false => None,
        };
        Ok(JournalCursor { generation, chunks: self.done, names: self.names, journal })
    }
}

/// Compares an entry with the expected prompts, the next one last; returns whether the conversation
/// is the same as soon as that is certain.
fn meet(expected: &mut Vec<u64>, mark: Mark) -> Option<bool> {
    match (mark, expected.last()) {
        (_, None) => Some(true),
        (Mark::Prompt(id), Some(next)) if id == *next => {
            expected.pop();
            None
        }
        (Mark::Prompt(_), Some(_)) => Some(false),
        (Mark::Rewind(id), Some(_)) if expected.contains(&id) => Some(true),
        (Mark::Rewind(_) | Mark::Other, Some(_)) => None,
    }
}

/// How a conversation has changed since a cursor was taken.
#[derive(Debug)]
pub(super) enum Resumed {
    Unchanged,
    Rest(Box<JournalSource>, Box<Assembly>),
}
