//! Errors of a store as a whole. Damage inside of it is counted instead, see `Tally`.

use std::io;
use std::path::{Path, PathBuf};

/// An operation that failed, with the path.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be read.
    #[error("cannot read {path}")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is not one of those that may be opened: its name is not on the agent's list, a part of its path is a
    /// link, or it is no regular file.
    #[error("{path} is not read: {why}")]
    Refused {
        /// The file.
        path: PathBuf,
        /// Which rule forbids it.
        why: &'static str,
    },
    /// A file could not be written.
    #[error("cannot write {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A database could not be read.
    #[error("cannot read the database {path}")]
    Database {
        /// The database.
        path: PathBuf,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A database changed under a reader that held no lock; reading again helps.
    #[error("{path} changed while it was read")]
    Changed {
        /// The database.
        path: PathBuf,
    },
}

/// The result of reading a store.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The file or folder.
    pub fn path(&self) -> &Path {
        match self {
            Self::Read { path, .. }
            | Self::Refused { path, .. }
            | Self::Write { path, .. }
            | Self::Database { path, .. }
            | Self::Changed { path } => path,
        }
    }

    /// Whether the file no longer exists.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}
