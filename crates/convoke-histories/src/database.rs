//! Other programs' SQLite databases, opened for reading only.
//!
//! A database with a write-ahead log is opened normally, since its newest rows are in the log.
//! Without a log no program has it open; opening it normally would create a log in the other
//! program's folder, so it is opened as immutable, and the result is discarded if the file has
//! changed.

use std::path::PathBuf;

use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};

use crate::assembly::Assembly;
use crate::error::{Error, Result};
use crate::folder::{Facts, Folder};

/// How long to wait for another program's lock; a rescan tries again.
const BUSY: std::time::Duration = std::time::Duration::from_millis(500);
/// The header up to the write version, which shows whether the database uses a write-ahead log.
const HEADER_BYTES: usize = 20;

/// How the conversations of a database are listed and read.
#[derive(Debug)]
pub(crate) struct Rows {
    /// All conversations.
    pub list: fn(&Database) -> rusqlite::Result<Vec<Row>>,
    /// How many of the rows that a cursor counted still exist.
    pub still_there: fn(&Database, &str, &RowCursor) -> rusqlite::Result<(u64, u64)>,
    /// Reads the metadata of a conversation.
    pub identify: fn(&Database, &str, &mut Assembly) -> rusqlite::Result<()>,
    /// Reads some messages and advances the position; `More::No` if there were none.
    pub page: fn(&Database, &str, &mut RowPlace, &mut Assembly) -> rusqlite::Result<More>,
}

/// One conversation of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub id: String,
    pub stamp: RowStamp,
}

/// A stamp that changes with the conversation. The newest time alone would not show a deletion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowStamp {
    pub updated: i64,
    pub messages: u64,
    pub parts: u64,
}

/// The position up to which a conversation was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowCursor {
    pub stamp: RowStamp,
    /// The newest message, by number or by time.
    pub last: i64,
}

/// Where reading is.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowPlace {
    /// The previous cursor; only later changes are read.
    pub before: Option<RowCursor>,
    /// The last message that was read, by number or by time, and its id.
    pub at: i64,
    pub id: String,
    /// The newest message of all.
    pub newest: i64,
}

/// Whether there may be more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum More {
    Yes,
    No,
}

/// The metadata of the files of a database and its log.
pub(crate) type Condition = (Option<Facts>, Option<Facts>);

/// A database of another program.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    path: PathBuf,
    is_locked: bool,
}

impl Database {
    /// Opens a database that the patterns allow.
    pub(crate) fn open(folder: &Folder, allowed: &[&str], name: &str) -> Result<Self> {
        // Opened here first: links and everything but regular files are refused, and the header is
        // read.
        let file = folder.open_file(allowed, name)?;
        let mut header = [0; HEADER_BYTES];
        let has_header = std::os::unix::fs::FileExt::read_exact_at(&file, &mut header, 0).is_ok();
        drop(file);
        let is_logged = has_header && header.get(18) == Some(&2);
        let log = folder.facts(&format!("{name}-wal"));
        let root = folder.path().canonicalize();
        let root = root.map_err(|source| Error::Read { path: folder.path().to_owned(), source })?;
        let path = root.join(name);
        let is_closed = is_logged && log.is_none_or(|log| log.size == 0);
        let uri = uri_of(&path, if is_closed { "mode=ro&immutable=1" } else { "mode=ro" });
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let failed = |source: rusqlite::Error| Error::Database {
            path: path.clone(),
            source: Box::new(source),
        };
        let connection = Connection::open_with_flags(&uri, flags).map_err(failed)?;
        connection.busy_timeout(BUSY).map_err(failed)?;
        // Another program's schema is not trusted to run functions on reading.
        connection
            .execute_batch("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON")
            .map_err(failed)?;
        Ok(Self { connection, path, is_locked: !is_closed })
    }

    /// Whether SQLite's locks make the read consistent; if not, the files must not have changed.
    pub(crate) const fn is_locked_for_reading(&self) -> bool {
        self.is_locked
    }

    pub(crate) const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Runs a query, with errors that name the database.
    pub(crate) fn ask<T>(&self, query: impl FnOnce(&Self) -> rusqlite::Result<T>) -> Result<T> {
        query(self)
            .map_err(|source| Error::Database { path: self.path.clone(), source: Box::new(source) })
    }

    /// Whether a table has a column; older and newer versions of the agents have others.
    pub(crate) fn has_column(&self, table: &str, column: &str) -> rusqlite::Result<bool> {
        let sql = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
        let found: i64 = self.connection.query_row(sql, [table, column], |row| row.get(0))?;
        Ok(found > 0)
    }

    pub(crate) fn has_table(&self, table: &str) -> rusqlite::Result<bool> {
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let found: i64 = self.connection.query_row(sql, [table], |row| row.get(0))?;
        Ok(found > 0)
    }

    /// An expression for a column that may be missing.
    pub(crate) fn column_or(
        &self,
        table: &str,
        column: &str,
        otherwise: &str,
    ) -> rusqlite::Result<String> {
        let is_there = self.has_column(table, column)?;
        Ok(if is_there { format!("{table}.{column}") } else { otherwise.to_owned() })
    }
}

/// The metadata of the files of a database and its log.
pub(crate) fn condition(folder: &Folder, name: &str) -> Condition {
    (folder.facts(name), folder.facts(&format!("{name}-wal")))
}

fn uri_of(path: &std::path::Path, options: &str) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    format!("{uri}?{options}")
}
