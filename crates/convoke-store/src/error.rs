//! The errors of the store; one variant for each case that callers treat differently.

use std::path::{Path, PathBuf};

use convoke_core::id::{NodeId, ProjectId, SessionId};
use convoke_core::message::{Rev, Seq};
use convoke_core::team::Pair;
use postgres::error::SqlState;
use rusqlite::ffi::{SQLITE_IOERR_CORRUPTFS, SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_SHORT_READ};
use rusqlite::{Error as Sqlite, ErrorCode};

use crate::db::Sql;
use crate::pairs::PairId;

/// What the store's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The cause of an error, from below the store.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A newer Convoke wrote the database; it was not touched.
    #[error("{path} was written by a newer Convoke (schema {found}; this one knows {known})")]
    Newer {
        /// The database.
        path: PathBuf,
        /// The newest migration in it.
        found: u32,
        /// The newest migration that this program knows.
        known: u32,
    },
    /// A migration that was applied differs from the one in this program.
    #[error("{path} was made by another version of migration {version} ({name})")]
    Changed {
        /// The database.
        path: PathBuf,
        /// The migration's number.
        version: u32,
        /// The migration's name, as the database has it.
        name: String,
    },
    /// The database is damaged.
    #[error("{path} is damaged: {detail}")]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// The database was deleted, moved or replaced while it was open; nothing more is stored.
    #[error("{path} was deleted or replaced while it was open, so nothing more is stored")]
    Lost {
        /// Where it was.
        path: PathBuf,
        /// Where everything that was stored has been copied to; `None` when that has not succeeded yet.
        rescued: Option<PathBuf>,
    },
    /// There is a database, and beside it the rescued copy of another one that was deleted or
    /// replaced while it was open.
    #[error("{path} is not the database that was used last: that one was rescued as {rescued}")]
    Rescued {
        /// The database that is there now.
        path: PathBuf,
        /// The copy of the one before.
        rescued: PathBuf,
    },
    /// The file holds something else.
    #[error("{path} is not a database")]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The database belongs to another program; it was not touched.
    #[error("{path} is the database of another program")]
    ForeignDatabase {
        /// The database.
        path: PathBuf,
    },
    /// Something is there that is not a file.
    #[error("{path} is not a file")]
    NotAFile {
        /// What is there.
        path: PathBuf,
    },
    /// The file or its folder cannot be written.
    #[error("{path} cannot be written")]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// There is no room left; nothing of what failed was stored.
    #[error("no space left for {path}")]
    DiskFull {
        /// The database.
        path: PathBuf,
    },
    /// Another process writes to the database.
    #[error("{path} is in use by another process")]
    InUse {
        /// The database.
        path: PathBuf,
        /// The other process, if its lock file names it.
        pid: Option<u32>,
    },
    /// The operating system refuses access.
    #[error("cannot open {path}")]
    Denied {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: Cause,
    },
    /// The server of the database cannot be reached, or does not respond in time. No data is lost;
    /// the caller may retry.
    #[error("{path} cannot be reached")]
    Unreachable {
        /// The database.
        path: PathBuf,
        /// What failed.
        source: Cause,
    },
    /// The server has no encrypted connection to offer, or not one that `sslmode` accepts.
    #[error("there is no trusted connection to {path}")]
    Untrusted {
        /// The database.
        path: PathBuf,
        /// What failed.
        source: Cause,
    },
    /// Another process runs with the id of this node, so this one may no longer write.
    #[error("another daemon with the same home has taken over")]
    Fenced,
    /// The session belongs to another daemon.
    #[error("session {id} belongs to another node")]
    OtherNode {
        /// The session.
        id: SessionId,
    },
    /// Another daemon has this name.
    #[error("another node is called {name}")]
    NodeNameTaken {
        /// The name.
        name: String,
    },
    /// Another daemon uses the database, which must not change now.
    #[error("the daemon of {name} is running")]
    NodeRuns {
        /// Its name.
        name: String,
    },
    /// The schema must not change while other daemons use the database.
    #[error(
        "the schema of {path} cannot be changed while other daemons use it: {}",
        names.join(", ")
    )]
    NodesRun {
        /// The database.
        path: PathBuf,
        /// Their names.
        names: Vec<String>,
    },
    /// The database is not empty, and not a part of the copy that is to be made.
    #[error("{path} has other contents")]
    OtherContents {
        /// The database.
        path: PathBuf,
    },
    /// There is no such daemon.
    #[error("there is no node {id}")]
    UnknownNode {
        /// The id that was asked for.
        id: NodeId,
    },
    /// There is no such project, or it was removed.
    #[error("there is no project {id}")]
    UnknownProject {
        /// The id that was asked for.
        id: ProjectId,
    },
    /// There is no such session.
    #[error("there is no session {id}")]
    UnknownSession {
        /// The id that was asked for.
        id: SessionId,
    },
    /// There is no such pair of teams.
    #[error("there is no team pair {id}")]
    UnknownPair {
        /// The id that was asked for.
        id: PairId,
    },
    /// The directory is already a project.
    #[error("{project_path} is already project {id}")]
    ProjectExists {
        /// The directory.
        project_path: PathBuf,
        /// The project that it is.
        id: ProjectId,
    },
    /// The session was created before.
    #[error("session {id} exists already")]
    SessionExists {
        /// The session.
        id: SessionId,
    },
    /// Another pair, not archived, joins the same teams.
    #[error("there is another pair {pair}")]
    PairExists {
        /// Who talks to whom.
        pair: Box<Pair>,
    },
    /// Updates do not follow those that are stored; none was recorded.
    #[error("session {session} is at revision {expected} already, and was given {got}")]
    OutOfOrder {
        /// The session.
        session: SessionId,
        /// The revision that comes next.
        expected: Rev,
        /// The revision that was given.
        got: Rev,
    },
    /// An update of a message that is not stored; none was recorded.
    #[error("session {session} has no message {seq}")]
    UnknownMessage {
        /// The session.
        session: SessionId,
        /// The place.
        seq: Seq,
    },
    /// An invalid call.
    #[error("{what}")]
    Misuse {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// Anything else.
    #[error("the database at {path} failed")]
    Internal {
        /// The database.
        path: PathBuf,
        /// What failed.
        source: Cause,
    },
}

/// An error inside the store, before the path of the database is added.
#[derive(Debug)]
pub(crate) enum Fault {
    /// An error of the database.
    Sql(Sql),
    /// An error of the store itself.
    Refused(Error),
}

impl From<Sql> for Fault {
    fn from(error: Sql) -> Self {
        Self::Sql(error)
    }
}

impl From<Sqlite> for Fault {
    fn from(error: Sqlite) -> Self {
        Self::Sql(error.into())
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl Fault {
    /// The error text if the database reports damage. A single value of the wrong type is not
    /// damage.
    pub(crate) fn damage(&self) -> Option<String> {
        match self {
            Self::Sql(error) if is_damage(error) => Some(error.to_string()),
            Self::Sql(_) | Self::Refused(_) => None,
        }
    }

    /// Translates the error for callers. The only place that knows the database's error codes.
    pub(crate) fn at(self, path: &Path) -> Error {
        let error = match self {
            Self::Refused(error) => return error,
            Self::Sql(error) => error,
        };
        Kind::of(&error).error(path, error)
    }
}

/// Whether the database found its own file damaged.
pub(crate) fn is_damage(error: &Sql) -> bool {
    let Sql::Sqlite(Sqlite::SqliteFailure(failure, _)) = error else { return false };
    matches!(failure.code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        || [SQLITE_IOERR_CORRUPTFS, SQLITE_IOERR_SHORT_READ].contains(&failure.extended_code)
}

/// The error for one of several callers that it affects alike.
pub(crate) fn for_each_caller(error: &Sql, path: &Path) -> Error {
    Kind::of(error).error(path, error.to_string())
}

/// What a database error means for callers.
enum Kind {
    Corrupt,
    NotADatabase,
    ReadOnly,
    DiskFull,
    Busy,
    Denied,
    Unreachable,
    Untrusted,
    Other,
}

impl Kind {
    fn of(error: &Sql) -> Self {
        match error {
            Sql::Sqlite(error) => Self::of_sqlite(error),
            Sql::Postgres(error) => Self::of_client(error),
            Sql::Said(_, code) => Self::of_postgres(code.as_ref()),
            Sql::Away => Self::Unreachable,
            Sql::Unreadable { .. } => Self::Corrupt,
            Sql::NoRow => Self::Other,
        }
    }

    /// Classifies errors without an error code by the library's own text.
    fn of_client(error: &postgres::Error) -> Self {
        let words = error.to_string();
        match error.code() {
            Some(code) => Self::of_postgres(Some(code)),
            None if words.starts_with("error performing TLS handshake") => Self::Untrusted,
            // The server requires a password, and none is configured.
            None if words.starts_with("invalid configuration") => Self::Denied,
            None => Self::of_postgres(None),
        }
    }

    fn of_postgres(state: Option<&SqlState>) -> Self {
        let Some(state) = state else { return Self::Unreachable };
        let class = state.code().get(..2).unwrap_or_default();
        match class {
            _ if *state == SqlState::DISK_FULL => Self::DiskFull,
            _ if *state == SqlState::READ_ONLY_SQL_TRANSACTION => Self::ReadOnly,
            // Wrong user names, passwords or database names.
            "28" | "3D" => Self::Denied,
            _ if *state == SqlState::INSUFFICIENT_PRIVILEGE => Self::Denied,
            // A row that another transaction locks, such as that of a daemon that was suspended
            // during it.
            _ if *state == SqlState::LOCK_NOT_AVAILABLE => Self::Unreachable,
            // Failed connections, too many of them, and a server that stops, starts or times out.
            "08" | "53" | "57" => Self::Unreachable,
            _ => Self::Other,
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "foreign enums that grow; the rest is one kind"
    )]
    fn of_sqlite(error: &Sqlite) -> Self {
        let failure = match error {
            Sqlite::SqliteFailure(failure, _) => failure,
            // Convoke does not write values of the wrong type or out of range.
            Sqlite::FromSqlConversionFailure(..)
            | Sqlite::IntegralValueOutOfRange(..)
            | Sqlite::Utf8Error(..)
            | Sqlite::InvalidColumnType(..) => return Self::Corrupt,
            _ => return Self::Other,
        };
        match (failure.code, failure.extended_code) {
            (ErrorCode::DatabaseCorrupt, _)
            | (_, SQLITE_IOERR_CORRUPTFS | SQLITE_IOERR_SHORT_READ) => Self::Corrupt,
            (ErrorCode::NotADatabase, _) => Self::NotADatabase,
            (ErrorCode::ReadOnly, _) => Self::ReadOnly,
            // SQLite enlarges the `-shm` file before it writes to the WAL.
            (ErrorCode::DiskFull, _) | (_, SQLITE_IOERR_SHMSIZE) => Self::DiskFull,
            (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => Self::Busy,
            (ErrorCode::CannotOpen | ErrorCode::PermissionDenied, _) => Self::Denied,
            _ => Self::Other,
        }
    }

    fn error(self, path: &Path, cause: impl Into<Cause>) -> Error {
        let (path, source) = (path.to_owned(), cause.into());
        match self {
            Self::Corrupt => Error::Corrupt { path, detail: source.to_string() },
            Self::NotADatabase => Error::NotADatabase { path },
            Self::ReadOnly => Error::ReadOnly { path },
            Self::DiskFull => Error::DiskFull { path },
            Self::Busy => Error::InUse { path, pid: None },
            Self::Denied => Error::Denied { path, source },
            Self::Unreachable => Error::Unreachable { path, source },
            Self::Untrusted => Error::Untrusted { path, source },
            Self::Other => Error::Internal { path, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_errors_become_errors_that_callers_distinguish() {
        let said = |code: i32| {
            let error = Sqlite::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            let error = Fault::from(error).at(Path::new("/home/me/convoke.db"));
            format!("{code}: {error}")
        };
        let codes = [5, 8, 11, 13, 14, 26, 522, 1032, 4874, 8458, 10];
        insta::assert_snapshot!(codes.map(said).join("\n"), @r"
        5: /home/me/convoke.db is in use by another process
        8: /home/me/convoke.db cannot be written
        11: /home/me/convoke.db is damaged: Error code 11: database disk image is malformed
        13: no space left for /home/me/convoke.db
        14: cannot open /home/me/convoke.db
        26: /home/me/convoke.db is not a database
        522: /home/me/convoke.db is damaged: Error code 522: disk I/O error
        1032: /home/me/convoke.db cannot be written
        4874: no space left for /home/me/convoke.db
        8458: /home/me/convoke.db is damaged: Error code 8458: disk I/O error
        10: the database at /home/me/convoke.db failed
        ");
    }
}
