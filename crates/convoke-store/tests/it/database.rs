//! A database in one file.

use std::path::{Path, PathBuf};

use convoke_store::Store;
use tempfile::TempDir;

use crate::world::{World, at};

pub(crate) struct Database {
    folder: TempDir,
}

impl Database {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) async fn open(&self) -> Store {
        Store::open(self.path(), at(0)).await.unwrap()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("convoke.db")
    }

    /// Runs a statement of another program, to spoil what is stored; returns how many rows it changed.
    pub(crate) fn execute(&self, sql: &str) -> Result<u64, String> {
        let changed = self.connection().execute(sql, []).map_err(|error| error.to_string())?;
        Ok(changed.try_into().unwrap())
    }

    /// The number that a statement of another program finds.
    pub(crate) fn number(&self, sql: &str) -> u64 {
        self.connection().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// How many entries the search index has for a word.
    pub(crate) fn hits(&self, word: &str) -> u64 {
        let table = "message_search";
        self.number(&format!("SELECT count(*) FROM {table} WHERE {table} MATCH '{word}'"))
    }

    /// Takes the newest migrations back, down to the index by row; the store must be closed.
    pub(crate) fn roll_back_search(&self) {
        assert_eq!(convoke_store::schema::rollback(self.path(), 2).unwrap().len(), 2);
    }

    /// Looks for damage.
    pub(crate) fn check(&self) {
        convoke_store::schema::check(self.path()).unwrap();
    }

    pub(crate) fn connection(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path()).unwrap()
    }
}

impl World {
    pub(crate) fn folder(&self) -> &Path {
        self.database.folder.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.database.path()
    }

    /// A connection of another program, to see or to spoil what is stored.
    pub(crate) fn raw(&self) -> rusqlite::Connection {
        self.database.connection()
    }
}
