//! Stores in temporary folders, and where the samples are.

use std::fs;
use std::path::{Path, PathBuf};

use convoke_histories::{Agent, Cursor, History, Reader, Reading, Store};
use tempfile::TempDir;

use crate::render::{Conversation, merge, render_all};

/// The store of one agent in a folder of its own.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) agent: Agent,
    dir: TempDir,
}

impl Scene {
    pub(crate) fn new(agent: Agent) -> Self {
        Self { agent, dir: TempDir::new().unwrap() }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    /// A file of the store; its folders are made.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// A file of JSON lines.
    pub(crate) fn lines(&self, path: &str, lines: &[&str]) -> &Self {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.write(path, text)
    }

    /// A database, made or changed by a script.
    pub(crate) fn sql(&self, path: &str, script: &str) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        rusqlite::Connection::open(path).unwrap().execute_batch(script).unwrap();
        self
    }

    pub(crate) fn store(&self) -> Store {
        Store::open_at(self.agent, &self.root()).unwrap().expect("a store")
    }

    pub(crate) fn histories(&self) -> Vec<History> {
        self.store().scan().unwrap()
    }

    /// All conversations, in text.
    pub(crate) fn render(&self) -> String {
        render_all(self.agent, &self.root())
    }

    /// The only conversation, after what was read before.
    pub(crate) fn reading(&self, cursor: Option<&Cursor>) -> Reading {
        let mut store = self.store();
        let found = store.scan().unwrap();
        let [history] = found.as_slice() else { panic!("{found:?}") };
        store.read(history, cursor).unwrap()
    }

    /// The only conversation, without what it repeats of the one that it continues.
    pub(crate) fn continuation(&self) -> Reader {
        let mut store = self.store();
        let found = store.scan().unwrap();
        let [history] = found.as_slice() else { panic!("{found:?}") };
        assert!(history.may_continue());
        store.read_continuation(history).unwrap()
    }
}

/// A conversation as an engine has it: what was read so far, and from where to go on.
#[derive(Debug, Clone)]
pub(crate) struct Imported {
    pub(crate) conversation: Conversation,
    pub(crate) cursor: Cursor,
}

impl Imported {
    /// Reads all that is there, and keeps a cursor as a store does: as JSON.
    pub(crate) fn new(mut reader: Reader) -> Self {
        let mut items = Vec::new();
        let mut unknown = Vec::new();
        while let Some(batch) = reader.next_batch().unwrap() {
            merge(&mut items, batch.items);
            unknown.extend(batch.unknown.into_iter().map(|line| line.kind));
        }
        let json = serde_json::to_string(&reader.cursor().unwrap()).unwrap();
        let cursor = serde_json::from_str(&json).unwrap();
        let (identity, tally) = (reader.identity().clone(), reader.tally().clone());
        Self { conversation: Conversation { identity, tally, items, unknown }, cursor }
    }

    /// Adds what came since.
    pub(crate) fn then(mut self, reader: Reader) -> Self {
        let rest = Self::new(reader);
        merge(&mut self.conversation.items, rest.conversation.items);
        self.conversation.unknown.extend(rest.conversation.unknown);
        self.conversation.identity = rest.conversation.identity;
        self.conversation.tally = rest.conversation.tally;
        Self { conversation: self.conversation, cursor: rest.cursor }
    }
}

/// The folder of stores that the agents themselves wrote, if there is one on this machine.
pub(crate) fn samples() -> Option<PathBuf> {
    let named = std::env::vars_os().find(|(name, _)| name == "CONVOKE_HISTORY_SAMPLES");
    if let Some((_, folder)) = named {
        return Some(PathBuf::from(folder));
    }
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let beside = root.join("../shared/histories");
    beside.is_dir().then_some(beside)
}
