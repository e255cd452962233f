//! The database's files: their paths, the write lock, and connections with the same settings.
//!
//! Nothing here opens the database file itself except through the database library: closing any other handle of
//! it would release the library's locks, which the operating system keeps per process and file.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, Fault, Result};

/// Only the owner may read the database.
pub(crate) const MODE: u32 = 0o600;

/// The smallest page that a database can have; a shorter file is none.
const DATABASE_BYTES_MIN: u64 = 512;

/// How long a connection waits for a lock of another program (a backup, a shell) before it fails with `InUse`.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Page cache of the writer, in KiB. A larger batch spills into the WAL before its commit, which is
/// only slower.
const WRITER_CACHE_KIB: u32 = 8 * 1024;
/// Page cache of each reader, in KiB. Evicted pages are read again, mostly from the system's cache.
const READER_CACHE_KIB: u32 = 2 * 1024;

/// Pages in the WAL after which it is checkpointed: 16 MiB. The pages of an active session change
/// again and again, so a longer WAL saves copying them.
const WAL_PAGES: u32 = 4096;

/// Prepared statements that a connection caches.
const STATEMENTS: usize = 64;

/// The paths of a database and the files beside it.
#[derive(Debug, Clone)]
pub(crate) struct DatabasePaths {
    pub(crate) path: PathBuf,
    pub(crate) wal: PathBuf,
    /// The path of the rescued copy of a database that was deleted while it was open.
    pub(crate) rescued: PathBuf,
    lock: PathBuf,
}

/// Whether there is a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// No file, or an empty one, as after a crash at the first start.
    Nothing,
    /// A file that may be a database.
    Something,
}

impl DatabasePaths {
    /// The path of a database, existing or not, with links resolved.
    pub(crate) fn at(path: &Path) -> Result<Self> {
        let denied = |error: io::Error| denied(path, error);
        match fs::canonicalize(path) {
            Ok(path) => Ok(Self::of(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
                    return Err(Error::NotAFile { path: path.to_owned() });
                };
                let here = folder.as_os_str().is_empty();
                let folder = if here { Path::new(".") } else { folder };
                Ok(Self::of(fs::canonicalize(folder).map_err(denied)?.join(name)))
            }
            Err(error) => Err(denied(error)),
        }
    }

    /// Checks what is at a path, without opening it.
    pub(crate) fn find(path: &Path) -> Result<(Self, Found)> {
        let denied = |error: io::Error| denied(path, error);
        let paths = Self::at(path)?;
        let size = match fs::metadata(&paths.path) {
            Ok(metadata) if metadata.is_file() => metadata.len(),
            Ok(_) => return Err(Error::NotAFile { path: paths.path }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(denied(error)),
        };
        if size >= DATABASE_BYTES_MIN {
            return Ok((paths, Found::Something));
        }
        // SQLite would treat it as an empty database and overwrite it.
        if size > 0 {
            return Err(Error::NotADatabase { path: paths.path });
        }
        // SQLite would delete the WAL as stale, but it may hold all the data.
        if paths.wal_bytes() > 0 && !paths.rescued.exists() {
            let detail = format!("it is empty, but {} is not", paths.wal.display());
            return Err(Error::Corrupt { path: paths.path, detail });
        }
        Ok((paths, Found::Nothing))
    }

    pub(crate) fn of(path: PathBuf) -> Self {
        Self {
            wal: beside(&path, "-wal"),
            rescued: beside(&path, ".rescued"),
            lock: beside(&path, ".lock"),
            path,
        }
    }

    /// The size of the WAL; 0 if there is none.
    pub(crate) fn wal_bytes(&self) -> u64 {
        fs::metadata(&self.wal).map_or(0, |metadata| metadata.len())
    }

    /// Takes the write lock, which is held until it is dropped or the process ends.
    pub(crate) fn lock(&self) -> Result<WriteLock> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(MODE);
        let mut file = options.open(&self.lock).map_err(|error| denied(&self.path, error))?;
        if let Err(error) = file.try_lock() {
            return Err(match error {
                fs::TryLockError::WouldBlock => {
                    Error::InUse { path: self.path.clone(), pid: read_pid(&mut file) }
                }
                fs::TryLockError::Error(error) => denied(&self.path, error),
            });
        }
        // The pid is only for error messages; the lock holds without it, for example on a full
        // disk.
        file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).ok();
        Ok(WriteLock { _file: file })
    }

    /// A read-only connection, which also creates no files beside the database if possible.
    pub(crate) fn connect_read_only(&self) -> Result<Connection, Fault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = if fs::exists(&self.wal).unwrap_or(true) {
            Connection::open_with_flags(&self.path, flags)?
        } else {
            // Without a WAL no process has it open, and the file can be read as immutable. Opened the usual way, even a
            // read-only connection would leave an empty WAL behind.
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(immutable_uri(self.path.as_os_str()), flags)?
        };
        connection.busy_timeout(BUSY_TIMEOUT)?;
        Ok(connection)
    }

    /// The connection of the only writer; creates the file if there is none.
    pub(crate) fn connect_writer(&self, _lock: &WriteLock) -> Result<Connection, Fault> {
        self.make_private()?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        // If the file is not writable, SQLite silently opens it read-only.
        if connection.is_readonly("main")? {
            return Err(Error::ReadOnly { path: self.path.clone() }.into());
        }
        set_up(&connection, WRITER_CACHE_KIB)?;
        let mode: String =
            connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        if mode != "wal" {
            // Without shared memory, readers could not run beside the writer. Some network file
            // systems lack it.
            let source = "its file system cannot share memory between processes".into();
            return Err(Error::Denied { path: self.path.clone(), source }.into());
        }
        // On macOS an ordinary sync leaves the data in the disk's cache; elsewhere the second line
        // has no effect.
        connection.execute_batch(&format!(
            "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = {WAL_PAGES};
             PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;"
        ))?;
        Ok(connection)
    }

    /// A reader connection.
    pub(crate) fn connect_reader(&self) -> Result<Connection, Fault> {
        // Readers share the `-shm` file, so the database must be opened for writing.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        set_up(&connection, READER_CACHE_KIB)?;
        connection.execute_batch("PRAGMA query_only = ON;")?;
        Ok(connection)
    }

    /// Creates the file if there is none. SQLite creates the files beside it with the same mode.
    fn make_private(&self) -> Result<()> {
        let denied = |error: io::Error| denied(&self.path, error);
        match OpenOptions::new().write(true).create_new(true).mode(MODE).open(&self.path) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(denied(error)),
        }
        let mode = fs::metadata(&self.path).map_err(denied)?.permissions().mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(&self.path, Permissions::from_mode(MODE)).map_err(denied)?;
        }
        Ok(())
    }
}

/// The lock of the only writer. The lock file is not removed: otherwise two processes could lock
/// two different files.
#[derive(Debug)]
pub(crate) struct WriteLock {
    _file: File,
}

fn set_up(connection: &Connection, cache_kib: u32) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // A prepared statement keeps its query plan for all parameter values; planning with the values
    // takes longer than the query.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // No memory map: a disk error would kill the process instead of failing one call.
    connection.execute_batch(&format!(
        "PRAGMA foreign_keys = ON; PRAGMA mmap_size = 0; PRAGMA cache_size = -{cache_kib};"
    ))
}

/// The path with a suffix.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

pub(crate) fn denied(path: &Path, error: io::Error) -> Error {
    let path = path.to_owned();
    if error.kind() == io::ErrorKind::ReadOnlyFilesystem {
        return Error::ReadOnly { path };
    }
    if error.kind() == io::ErrorKind::StorageFull {
        return Error::DiskFull { path };
    }
    Error::Denied { path, source: error.into() }
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    // Without the pid the error is only less helpful.
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// Bytes of a path that are percent-encoded in SQLite's URI; those that are not ASCII always are.
const NOT_IN_URI: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.');

/// The path as the library's URI.
fn immutable_uri(path: &OsStr) -> String {
    format!("file:{}?immutable=1", percent_encode(path.as_bytes(), NOT_IN_URI))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_any_character_can_be_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("50% of?größe#1 &.db");
        let db = Connection::open(&path).unwrap();
        db.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a)").unwrap();
        drop(db);
        let (paths, found) = DatabasePaths::find(&path).unwrap();
        assert_eq!(found, Found::Something);
        let db = paths.connect_read_only().unwrap();
        let tables: u32 =
            db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
        assert_eq!(tables, 1);
        drop(db);
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "looking leaves nothing behind"
        );
    }

    #[test]
    fn errors_of_the_system_are_distinguished() {
        let reported = |kind| denied(Path::new("/home/me/convoke.db"), io::Error::from(kind));
        let kinds = [
            io::ErrorKind::ReadOnlyFilesystem,
            io::ErrorKind::StorageFull,
            io::ErrorKind::PermissionDenied,
        ];
        assert_eq!(
            kinds.map(|kind| reported(kind).to_string()),
            [
                "/home/me/convoke.db cannot be written",
                "no space left for /home/me/convoke.db",
                "cannot open /home/me/convoke.db",
            ]
        );
    }
}
