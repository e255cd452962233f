//! The three forms of stores behind a reader: lines, a document, rows.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};

use serde::Deserialize;

use super::journal::JournalSource;
use super::{Position, chain};
use crate::assembly::{Assembly, digest};
use crate::database::{Condition, Database, More, RowCursor, RowPlace, RowStamp, Rows, condition};
use crate::elements::{Element, Elements};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::importer::{Order, Parse};
use crate::item::BrokenLine;
use crate::lines::{Line, LineText, Lines};
use crate::raw::RawText;
use crate::store::{History, SiblingFiles, Stamp, StampKind};

#[derive(Debug)]
pub(super) enum Source {
    Lines(Box<LineSource>),
    Document(Box<DocumentSource>),
    Journal(Box<JournalSource>),
    Rows(Box<RowSource>),
}

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Read,
    End,
}

/// A file of lines.
#[derive(Debug)]
pub(super) struct LineSource {
    /// The same file once more, for its fingerprint.
    file: File,
    lines: Lines<File>,
    parse: Parse,
    /// Lines that were rewound.
    dead: chain::DeadLines,
    /// Where the last line begins that another program may still be writing, and its number.
    unfinished: Option<(u64, u64)>,
    /// Lines of the conversation in files before this one.
    before: u64,
}

impl LineSource {
    pub(super) fn open(file: File, parse: Parse, order: Order) -> io::Result<Self> {
        let dead = match order {
            Order::File => chain::DeadLines::default(),
            Order::Chain => chain::DeadLines::find(file.try_clone()?)?,
        };
        let mut source = Self::resume(file, parse, 0, 0)?;
        source.dead = dead;
        Ok(source)
    }

    pub(super) fn resume(
        mut file: File,
        parse: Parse,
        offset: u64,
        number: u64,
    ) -> io::Result<Self> {
        file.seek(SeekFrom::Start(offset))?;
        let lines = Lines::new(file.try_clone()?, offset, number);
        Ok(Self {
            file,
            lines,
            parse,
            dead: chain::DeadLines::default(),
            unfinished: None,
            before: 0,
        })
    }

    /// The file continues a conversation of which this much was read, its own lines included.
    pub(super) fn after(&mut self, lines: u64) {
        self.before = lines.saturating_sub(self.lines.number());
    }

    pub(super) fn number(&self) -> u64 {
        self.unfinished.map_or(self.lines.number(), |(_, number)| number - 1)
    }

    pub(super) fn fingerprint(&self) -> io::Result<Fingerprint> {
        let offset = self.unfinished.map_or(self.lines.offset(), |(offset, _)| offset);
        Fingerprint::take(&self.file, offset)
    }

    pub(super) fn step(&mut self, assembly: &mut Assembly) -> io::Result<Step> {
        let Some(line) = self.lines.next()? else { return Ok(Step::End) };
        assembly.begin_line(self.before + line.number, line.offset, line.bytes);
        if self.dead.contains(line.number) {
            assembly.state.tally.lines += 1;
            return Ok(Step::Read);
        }
        match line.text {
            LineText::Whole(text) => {
                assembly.state.tally.lines += 1;
                if let Err(error) = read(assembly, self.parse, text) {
                    assembly.broken(broken(&line, error.to_string()));
                }
            }
            LineText::Unfinished(text) => {
                if read(assembly, self.parse, text).is_err() {
                    self.unfinished = Some((line.offset, line.number));
                } else {
                    assembly.state.tally.lines += 1;
                }
            }
            LineText::TooLong => {
                assembly.state.tally.lines += 1;
                assembly.state.tally.too_long += 1;
                assembly.broken(broken(&line, "it is too long".to_owned()));
            }
        }
        Ok(Step::Read)
    }
}

fn broken(line: &Line<'_>, why: String) -> BrokenLine {
    BrokenLine { line: line.number, offset: line.offset, bytes: line.bytes, why }
}

/// Parses a line. Bytes that are not UTF-8 are replaced; zeros that a crash left before a line are
/// skipped.
pub(super) fn read(assembly: &mut Assembly, parse: Parse, text: &[u8]) -> serde_json::Result<()> {
    let start = text.iter().position(|byte| *byte != 0 && !byte.is_ascii_whitespace());
    let Some(text) = start.and_then(|start| text.get(start..)) else { return Ok(()) };
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    match parse(assembly, text) {
        Ok(()) => Ok(()),
        Err(error) if std::str::from_utf8(text).is_ok() => Err(error),
        Err(_) => {
            parse(assembly, String::from_utf8_lossy(text).as_bytes())?;
            assembly.state.tally.repaired += 1;
            Ok(())
        }
    }
}

/// A document with a list of messages. It is written anew whenever the conversation grows, so it is read anew, too.
#[derive(Debug)]
pub(super) struct DocumentSource {
    elements: Elements<File>,
    parse: Parse,
    ids: Read,
    stamp: Stamp,
    /// Messages that were read before. They are parsed, since later messages depend on them, but
    /// not returned: some of them may be in Convoke's own messages.
    known: u64,
    is_damaged: bool,
}

impl DocumentSource {
    pub(super) fn open(file: File, parse: Parse, ids: Read, stamp: Stamp) -> Self {
        Self { elements: Elements::new(file), parse, ids, stamp, known: 0, is_damaged: false }
    }

    /// Skips the first messages.
    pub(super) const fn after(&mut self, known: u64) {
        self.known = known;
    }

    pub(super) const fn place(&self, is_over: bool) -> Position {
        if is_over {
            let Read { messages, ids, last } = self.ids;
            return Position::Document { stamp: self.stamp, messages, ids, last };
        }
        let stamp = Stamp(StampKind::File { inode: 0, size: 0, modified_ns: 0 });
        Position::Document { stamp, messages: 0, ids: EMPTY, last: EMPTY }
    }

    pub(super) fn step(&mut self, assembly: &mut Assembly) -> io::Result<Step> {
        if self.is_damaged {
            return Ok(Step::End);
        }
        let element = match self.elements.next() {
            Ok(Some(element)) => element,
            Ok(None) => return Ok(Step::End),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                self.is_damaged = true;
                broken_off(assembly, &error);
                return Ok(Step::End);
            }
            Err(error) => return Err(error),
        };
        let is_known = element.is_message && element.number <= self.known;
        read_element(assembly, self.parse, element);
        if is_known {
            assembly.take();
        }
        Ok(Step::Read)
    }
}

/// Parses a message of a document, or a field of it.
pub(super) fn read_element(assembly: &mut Assembly, parse: Parse, element: Element) {
    assembly.begin_line(element.number, element.offset, element.bytes);
    let Element { number: line, offset, bytes, json, is_message } = element;
    assembly.state.tally.lines += u64::from(is_message);
    let why = match json {
        Some(json) => read(assembly, parse, &json).err().map(|error| error.to_string()),
        None => {
            assembly.state.tally.too_long += 1;
            Some("it is too long".to_owned())
        }
    };
    if let Some(why) = why.filter(|_| is_message) {
        assembly.broken(BrokenLine { line, offset, bytes, why });
    }
}

/// Records the part after the last readable message as broken.
pub(super) fn broken_off(assembly: &mut Assembly, error: &io::Error) {
    let (line, offset) = (assembly.line + 1, assembly.offset);
    assembly.broken(BrokenLine { line, offset, bytes: 0, why: error.to_string() });
}

/// The hash of no ids.
const EMPTY: u64 = 0;

/// The number of messages of a document that were read, with hashes of their ids and of the last
/// one's content.
#[derive(Debug, Clone, Copy)]
pub(super) struct Read {
    messages: u64,
    ids: u64,
    last: u64,
}

/// Hashes of the ids of a document's messages: of all of them, and of those up to a cursor, each
/// with that of the content of the last of them. A document may have any number of messages, so
/// that their hashes are not kept.
#[derive(Debug)]
pub(super) struct Ids {
    all: Read,
    before: Option<Read>,
}

impl Ids {
    /// Reads a document, of which this many messages were read before.
    pub(super) fn read(file: File, before: u64) -> io::Result<Self> {
        #[derive(Deserialize)]
        struct Id<'a> {
            #[serde(borrow, default)]
            id: RawText<'a>,
        }
        let mut all = Read { messages: 0, ids: EMPTY, last: EMPTY };
        let mut found = None;
        let mut elements = Elements::new(file);
        loop {
            let element = match elements.next() {
                Ok(Some(element)) => element,
                Ok(None) => break,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => break,
                Err(error) => return Err(error),
            };
            if element.is_message {
                let json = element.json.unwrap_or_default();
                let id = serde_json::from_slice::<Id<'_>>(&json).ok();
                let id = id.filter(|id| !id.id.as_str().is_empty());
                let own = id.map_or_else(|| digest(&json), |id| digest(id.id.as_str().as_bytes()));
                let ids = digest(&[all.ids.to_le_bytes(), own.to_le_bytes()].concat());
                all = Read { messages: all.messages + 1, ids, last: digest(&json) };
                if all.messages == before {
                    found = Some(all);
                }
            }
        }
        Ok(Self { all, before: found })
    }

    /// The number of messages, with their hashes.
    pub(super) const fn all(&self) -> Read {
        self.all
    }

    /// How many of the messages that were read before are unchanged; `None` if others are in their
    /// place. Only the last one may have been rewritten.
    pub(super) fn known(&self, messages: u64, ids: u64, last: u64) -> Option<u64> {
        let Some(place) = messages.checked_sub(1) else { return Some(0) };
        let now = self.before?;
        (now.ids == ids).then_some(if now.last == last { messages } else { place })
    }
}

/// One conversation of a database.
#[derive(Debug)]
pub(super) struct RowSource {
    database: Database,
    /// The metadata of the files when the database was opened.
    condition: Condition,
    root: std::path::PathBuf,
    name: String,
    rows: &'static Rows,
    id: String,
    place: RowPlace,
    stamp: RowStamp,
}

impl RowSource {
    pub(super) fn open(
        beside: &SiblingFiles<'_>,
        history: &History,
        rows: &'static Rows,
        place: RowPlace,
    ) -> Result<Self> {
        let condition = condition(beside.folder, &history.path);
        let allowed = beside.importer.transcripts;
        let database = Database::open(beside.folder, allowed, &history.path, rows.tables)?;
        let stamp = match history.stamp {
            Stamp(StampKind::Rows(stamp)) => stamp,
            Stamp(StampKind::File { .. }) => RowStamp::default(),
        };
        let id = history.session.clone().unwrap_or_default();
        let (root, name) = (history.root.clone(), history.path.clone());
        Ok(Self { database, condition, root, name, rows, id, place, stamp })
    }

    pub(super) fn identify(&self, assembly: &mut Assembly) -> Result<()> {
        self.database.ask(|database| (self.rows.identify)(database, &self.id, assembly))
    }

    pub(super) fn is_still_there(&self, cursor: &RowCursor) -> Result<bool> {
        let (messages, parts) =
            self.database.ask(|database| (self.rows.still_there)(database, &self.id, cursor))?;
        Ok(messages >= cursor.stamp.messages && parts >= cursor.stamp.parts)
    }

    pub(super) fn step(&mut self, assembly: &mut Assembly) -> Result<Step> {
        let page = self.rows.page;
        let (id, place) = (&self.id, &mut self.place);
        let more = self.database.ask(|database| page(database, id, place, assembly))?;
        if more == More::Yes {
            return Ok(Step::Read);
        }
        self.check()?;
        Ok(Step::End)
    }

    /// A read without locks is only valid if the database has not changed.
    fn check(&self) -> Result<()> {
        if self.database.is_locked_for_reading() {
            return Ok(());
        }
        let folder = crate::folder::Folder::open(&self.root)?;
        let now = folder.map(|folder| condition(&folder, &self.name));
        if now == Some(self.condition) {
            return Ok(());
        }
        Err(Error::Changed { path: self.root.join(&self.name) })
    }

    pub(super) fn cursor(&self, is_over: bool) -> RowCursor {
        if !is_over {
            return RowCursor::default();
        }
        RowCursor { stamp: self.stamp, last: self.place.newest }
    }
}
