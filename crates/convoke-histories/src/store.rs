//! One agent's store: which conversations are in it, and how they are opened.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use convoke_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::Agent;
use crate::assembly::{Assembly, Titled};
use crate::database::{self, Condition, Database, Row, RowStamp};
use crate::environment::Environment;
use crate::error::Result;
use crate::folder::{Facts, Folder};
use crate::importer::{self, Form, Importer, LoadKnown};
use crate::item::Identity;
use crate::reader::{Cursor, Reader, Reading};
use crate::vibe::unified::POINTER;

/// The longest file beside a transcript that is read.
const BESIDE_BYTES_MAX: u64 = 4 << 20;
/// Lines that are read to find the metadata of a conversation.
const IDENTIFYING_LINES_MAX: u64 = 200;

/// The store of one agent below one root. Metadata from databases is cached until they change.
pub struct Store {
    agent: Agent,
    importer: &'static Importer,
    folder: Folder,
    listed: HashMap<String, (Condition, Vec<Row>)>,
    known: MetadataCache,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({} in {})", self.agent, self.folder.path().display())
    }
}

/// A conversation in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// The agent.
    pub agent: Agent,
    /// The store's root.
    pub root: PathBuf,
    /// Its file below the root, or the database that holds it.
    pub path: String,
    /// Its id in the database.
    pub session: Option<String>,
    /// A stamp that changes with it.
    pub stamp: Stamp,
}

/// A stamp that changes with a conversation; as long as it is the same, nothing needs to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp(pub(crate) StampKind);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum StampKind {
    File { inode: u64, size: u64, modified_ns: i64 },
    Rows(RowStamp),
}

impl Stamp {
    /// When the conversation last changed, as far as the stamp shows.
    pub fn changed_at(&self) -> Option<Timestamp> {
        let millis = match self.0 {
            StampKind::File { modified_ns, .. } => modified_ns / 1_000_000,
            StampKind::Rows(rows) => rows.updated,
        };
        (millis > 0).then(|| Timestamp::from_millis(millis))
    }
}

impl History {
    /// Whether it may continue a conversation of another file, which is then to be read first.
    pub fn may_continue(&self) -> bool {
        self.path.ends_with(POINTER)
    }

    /// The file, with its root.
    pub fn file(&self) -> PathBuf {
        self.root.join(&self.path)
    }

    /// The folder in which something changes when the conversation does.
    pub fn folder(&self) -> PathBuf {
        let journal = self.path.strip_suffix(POINTER).map(|folder| format!("{folder}/journal"));
        let file = self.file();
        journal.map_or_else(
            || file.parent().unwrap_or(&self.root).to_owned(),
            |journal| self.root.join(journal),
        )
    }
}

impl Store {
    /// The folders in which an agent's store may be; also those that are not there yet, for watching.
    pub fn roots(agent: Agent, environment: &Environment) -> Vec<PathBuf> {
        (importer::of(agent).roots)(environment)
    }

    /// Opens an agent's stores; none if it was never used here.
    pub fn open(agent: Agent, environment: &Environment) -> Result<Vec<Self>> {
        let mut stores = Vec::new();
        for root in Self::roots(agent, environment) {
            stores.extend(Self::open_at(agent, &root)?);
        }
        Ok(stores)
    }

    /// Opens the store below one root; `None` if there is none.
    pub fn open_at(agent: Agent, root: &Path) -> Result<Option<Self>> {
        let importer = importer::of(agent);
        let folder = Folder::open(root)?;
        let store = |folder| Self {
            agent,
            importer,
            folder,
            listed: HashMap::new(),
            known: MetadataCache::default(),
        };
        Ok(folder.map(store))
    }

    /// Its root.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// All current conversations, in the order of their paths. Files are listed without being
    /// opened; a database is queried only if it has changed.
    pub fn scan(&mut self) -> Result<Vec<History>> {
        let mut found = Vec::new();
        for pattern in self.importer.transcripts {
            for seen in self.folder.walk(pattern)? {
                let mut facts = seen.facts;
                if let Form::Database(_) = self.importer.form {
                    found.extend(self.list(&seen.path)?);
                    continue;
                }
                if let Form::Journal = self.importer.form_of(&seen.path) {
                    facts = self.with_journal(&seen.path, facts)?;
                }
                let (inode, size, modified_ns) = (facts.inode, facts.size, facts.modified_ns);
                let stamp = Stamp(StampKind::File { inode, size, modified_ns });
                found.push(self.history(seen.path, None, stamp));
            }
        }
        Ok(found)
    }

    /// The metadata of a conversation, from its beginning and the files beside it.
    pub fn identify(&mut self, history: &History) -> Result<Identity> {
        let mut reader = self.start(history)?;
        reader.read_until(IDENTIFYING_LINES_MAX)?;
        Ok(reader.identity().clone())
    }

    /// Opens a conversation, from a cursor on.
    pub fn read(&mut self, history: &History, cursor: Option<&Cursor>) -> Result<Reading> {
        let Some(cursor) = cursor else { return Ok(Reading::Whole(self.start(history)?)) };
        let mut beside = self.beside();
        let form = beside.importer.form_of(&history.path);
        Reader::resume(form, &mut beside, history, cursor)
    }

    /// Opens a conversation that continues a fully read one (`Identity::continues`): only its own
    /// messages.
    pub fn read_continuation(&mut self, history: &History) -> Result<Reader> {
        let mut reader = self.start(history)?;
        reader.leave_out_copied();
        Ok(reader)
    }

    fn start(&mut self, history: &History) -> Result<Reader> {
        let mut beside = self.beside();
        let form = beside.importer.form_of(&history.path);
        Reader::start(form, &mut beside, history)
    }

    const fn beside(&mut self) -> SiblingFiles<'_> {
        SiblingFiles { folder: &self.folder, importer: self.importer, known: &mut self.known }
    }

    fn history(&self, path: String, session: Option<String>, stamp: Stamp) -> History {
        History { agent: self.agent, root: self.folder.path().to_owned(), path, session, stamp }
    }

    /// The metadata including the journal, which changes when a generation is published, or the
    /// newest journal grows.
    fn with_journal(&self, pointer: &str, facts: Facts) -> Result<Facts> {
        let folder = pointer.trim_end_matches("CURRENT");
        let journals = self.folder.walk(&format!("{folder}journal/*.jsonl"))?;
        let Some(newest) = journals.last() else { return Ok(facts) };
        let Facts { size, modified_ns, .. } = newest.facts;
        Ok(Facts { size, modified_ns: modified_ns.max(facts.modified_ns), ..facts })
    }

    /// The conversations of a database.
    fn list(&mut self, path: &str) -> Result<Vec<History>> {
        let Form::Database(rows) = self.importer.form else { return Ok(Vec::new()) };
        let now = database::condition(&self.folder, path);
        let is_listed = self.listed.get(path).is_some_and(|(then, _)| *then == now);
        if !is_listed {
            let allowed = self.importer.transcripts;
            let database = Database::open(&self.folder, allowed, path, rows.tables)?;
            let list = database.ask_for_list(rows.list)?;
            database.check_length(list.len())?;
            self.listed.insert(path.to_owned(), (now, list));
        }
        let list = self.listed.get(path).map_or(&[][..], |(_, list)| list);
        let history = |row: &Row| {
            self.history(path.to_owned(), Some(row.id.clone()), Stamp(StampKind::Rows(row.stamp)))
        };
        Ok(list.iter().map(history).collect())
    }
}

/// The beginning of a file, which is all of a small one.
pub(crate) fn read_small(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(BESIDE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Metadata of a conversation outside of its transcript.
#[derive(Debug, Clone)]
pub(crate) struct SideMetadata {
    pub title: String,
    pub titled: Titled,
    pub cwd: String,
    pub parent: Option<String>,
}

/// Cached metadata of all conversations, from a database beside the transcripts.
#[derive(Debug, Default)]
struct MetadataCache {
    of: Option<(String, Condition)>,
    sessions: HashMap<String, SideMetadata>,
}

/// The files beside a transcript that may be opened.
#[derive(Debug)]
pub(crate) struct SiblingFiles<'a> {
    pub folder: &'a Folder,
    pub importer: &'static Importer,
    known: &'a mut MetadataCache,
}

impl SiblingFiles<'_> {
    /// A small file; `None` if it is not there, too long, or may not be opened.
    pub(crate) fn read(&self, path: &str) -> Option<Vec<u8>> {
        let file = self.folder.open_file(self.importer.beside, path).ok()?;
        read_small(file).ok()
    }

    /// A small JSON file; null if it cannot be read.
    pub(crate) fn json(&self, path: &str) -> Value {
        self.read(path).and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Adds the metadata of a session from the agent's database. If that cannot be read, only
    /// titles are missing.
    pub(crate) fn apply_known(&mut self, id: &str, assembly: &mut Assembly) {
        self.renew_known();
        if let Some(known) = self.known.sessions.get(id) {
            assembly.title(known.title.clone(), known.titled);
            assembly.cwd(&known.cwd);
            if known.parent.is_some() {
                assembly.state.identity.parent.clone_from(&known.parent);
            }
        }
    }

    fn renew_known(&mut self) {
        let Some(LoadKnown { table, load }) = &self.importer.known else { return };
        let names = self
            .importer
            .beside
            .iter()
            .filter(|pattern| pattern.contains("sql") || pattern.ends_with(".db"));
        // The newest of several versions comes last.
        let found = names.filter_map(|pattern| self.folder.walk(pattern).ok()).flatten().last();
        let Some(name) = found.map(|seen| seen.path) else { return };
        let now = (name.clone(), database::condition(self.folder, &name));
        if self.known.of.as_ref() == Some(&now) {
            return;
        }
        let database = Database::open(self.folder, self.importer.beside, &name, &[table]);
        let sessions = database.and_then(|database| {
            let sessions = database.ask_for_list(load)?;
            database.check_length(sessions.len()).map(|()| sessions)
        });
        self.known.sessions = sessions.unwrap_or_default();
        self.known.of = Some(now);
    }
}
