//! Other programs' SQLite databases, opened for reading only.
//!
//! A database with a write-ahead log is opened normally, since its newest rows are in the log.
//! Without a log no program has it open; opening it normally would create a log in the other
//! program's folder, so it is opened as immutable, and the result is discarded if the file has
//! changed.
//!
//! The database is not trusted: an agent that runs in a sandbox can write its own store. Only
//! tables are read, no views, and a statement that does not end is interrupted.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use serde::{Deserialize, Serialize};

use crate::assembly::Assembly;
use crate::error::{Error, Result};
use crate::folder::{Facts, Folder};
use crate::lines::LINE_BYTES_MAX;

/// How long to wait for another program's lock; a rescan tries again.
const BUSY: Duration = Duration::from_millis(500);
/// How long a list of conversations may take: this, and a second more for each of these bytes of
/// the database, but never longer than a page.
const LIST_TIME: Duration = Duration::from_secs(2);
const LIST_BYTES_PER_SECOND: u64 = 64 << 20;
/// How long a page of messages may take.
const PAGE_TIME: Duration = Duration::from_secs(30);
/// The instructions of SQLite's virtual machine between two checks of the deadline.
const STEPS: i32 = 100;
/// The longest value that SQLite makes. Messages are at most half as long; longer ones are
/// recognised by their length alone.
const VALUE_BYTES_MAX: i32 = 2 * LINE_BYTES_MAX as i32;
/// The conversations in one list. A database with more of them is refused.
pub(crate) const ROWS_MAX: usize = 200_000;
/// The longest id of a conversation; those with longer ones are not listed.
pub(crate) const ID_BYTES_MAX: usize = 512;
/// The header up to the write version, which shows whether the database uses a write-ahead log.
const HEADER_BYTES: usize = 20;

/// How the conversations of a database are listed and read.
#[derive(Debug)]
pub(crate) struct Rows {
    /// The tables that the queries read.
    pub tables: &'static [&'static str],
    /// All conversations, and one more than `ROWS_MAX` if there are too many.
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
    deadline: Deadline,
    list_time: Duration,
}

impl Database {
    /// Opens a database that the patterns allow, to read the given tables.
    pub(crate) fn open(
        folder: &Folder,
        allowed: &[&str],
        name: &str,
        tables: &[&str],
    ) -> Result<Self> {
        // Opened here first: links and everything but regular files are refused, and the header is
        // read.
        let file = folder.open_file(allowed, name)?;
        let mut header = [0; HEADER_BYTES];
        let has_header = std::os::unix::fs::FileExt::read_exact_at(&file, &mut header, 0).is_ok();
        drop(file);
        let is_logged = has_header && header.get(18) == Some(&2);
        let (size, log) = condition(folder, name);
        let list_time = list_time([size, log]);
        let root = folder.path().canonicalize();
        let root = root.map_err(|source| Error::Read { path: folder.path().to_owned(), source })?;
        let path = root.join(name);
        let is_closed = is_logged && log.is_none_or(|log| log.size == 0);
        let deadline = Deadline::new();
        let connection = connect(&path, is_closed, &deadline);
        let connection = connection
            .map_err(|source| Error::Database { path: path.clone(), source: Box::new(source) })?;
        let database = Self { connection, path, is_locked: !is_closed, deadline, list_time };
        database.require(tables)?;
        Ok(database)
    }

    /// Refuses a database with something else in the place of a table, such as a view, whose query
    /// need not end.
    fn require(&self, tables: &[&str]) -> Result<()> {
        // The type in `sqlite_schema` is not checked by SQLite, so it may be wrong.
        let sql = "SELECT count(*) FROM pragma_table_list
             WHERE schema = 'main' AND name = ?1 COLLATE NOCASE AND type <> 'table'";
        for table in tables {
            let others: i64 = self.ask_for_list(|database| {
                database.connection.query_row(sql, [table], |row| row.get(0))
            })?;
            if others > 0 {
                return Err(self.refused("it has a view or a virtual table in place of a table"));
            }
        }
        Ok(())
    }

    /// Whether SQLite's locks make the read consistent; if not, the files must not have changed.
    pub(crate) const fn is_locked_for_reading(&self) -> bool {
        self.is_locked
    }

    pub(crate) const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Runs a query for one conversation or a page of it, with errors that name the database.
    pub(crate) fn ask<T>(&self, query: impl FnOnce(&Self) -> rusqlite::Result<T>) -> Result<T> {
        self.ask_within(PAGE_TIME, query)
    }

    /// Runs a query that lists all conversations.
    pub(crate) fn ask_for_list<T>(
        &self,
        query: impl FnOnce(&Self) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.ask_within(self.list_time, query)
    }

    /// Checks the length of a list.
    pub(crate) fn check_length(&self, rows: usize) -> Result<()> {
        match rows {
            0..=ROWS_MAX => Ok(()),
            _ => Err(self.refused("it has too many conversations")),
        }
    }

    fn ask_within<T>(
        &self,
        time: Duration,
        query: impl FnOnce(&Self) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.deadline.set(time);
        query(self).map_err(|source| match source.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => self.refused("reading it takes too long"),
            Some(ErrorCode::TooBig) => self.refused("a value in it is too long"),
            Some(_) | None => Error::Database { path: self.path.clone(), source: Box::new(source) },
        })
    }

    fn refused(&self, why: &'static str) -> Error {
        Error::Refused { path: self.path.clone(), why }
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

/// The time at which a statement is interrupted. SQLite's progress handler reads it.
#[derive(Debug, Clone)]
struct Deadline {
    opened: Instant,
    /// Since `opened`.
    nanos: Arc<AtomicU64>,
}

impl Deadline {
    fn new() -> Self {
        let deadline = Self { opened: Instant::now(), nanos: Arc::default() };
        deadline.set(PAGE_TIME);
        deadline
    }

    fn set(&self, time: Duration) {
        let nanos = (self.opened.elapsed() + time).as_nanos();
        self.nanos.store(u64::try_from(nanos).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.opened.elapsed().as_nanos() >= u128::from(self.nanos.load(Ordering::Relaxed))
    }
}

fn connect(
    path: &std::path::Path,
    is_closed: bool,
    deadline: &Deadline,
) -> rusqlite::Result<Connection> {
    let uri = uri_of(path, if is_closed { "mode=ro&immutable=1" } else { "mode=ro" });
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(&uri, flags)?;
    connection.busy_timeout(BUSY)?;
    let deadline = deadline.clone();
    connection.progress_handler(STEPS, Some(move || deadline.is_over()))?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    // Another program's schema is not trusted to run functions on reading.
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON")?;
    Ok(connection)
}

/// How long a list of the conversations in these files may take.
fn list_time(files: [Option<Facts>; 2]) -> Duration {
    let bytes = files.into_iter().flatten().map(|facts| facts.size).fold(0, u64::saturating_add);
    (LIST_TIME + Duration::from_secs(bytes / LIST_BYTES_PER_SECOND)).min(PAGE_TIME)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h6_a_statement_that_does_not_end_is_interrupted() {
        let folder = tempfile::TempDir::new().unwrap();
        Connection::open(folder.path().join("a.db"))
            .unwrap()
            .execute_batch("CREATE TABLE t (n); INSERT INTO t VALUES (1), (2), (3)")
            .unwrap();
        let store = Folder::open(folder.path()).unwrap().unwrap();
        let database = Database::open(&store, &["a.db"], "a.db", &["t"]).unwrap();
        let count = |sql: &str, time| {
            let counted = database.ask_within(time, |database| {
                database.connection().query_row(sql, [], |row| row.get::<_, i64>(0))
            });
            counted.map_err(|error| error.to_string())
        };
        let endless = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n)
             SELECT count(*) FROM n, t";
        let path = store.path().canonicalize().unwrap().join("a.db");
        let refused = format!("{} is not read: reading it takes too long", path.display());
        assert_eq!(count(endless, Duration::from_millis(1)), Err(refused));
        // Each statement has its own deadline.
        assert_eq!(count("SELECT count(*) FROM t", PAGE_TIME), Ok(3));
    }

    #[test]
    fn h6_a_large_database_has_more_time() {
        let facts = |size| Some(Facts { device: 1, inode: 1, size, modified_ns: 0 });
        let times = [[None, None], [facts(640 << 20), None], [facts(64 << 20), facts(u64::MAX)]];
        let seconds = times.map(|files| list_time(files).as_secs());
        assert_eq!(seconds, [2, 12, 30]);
    }
}
