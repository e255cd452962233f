//! Where a database is.

use std::fmt;
use std::path::{Path, PathBuf};

pub use crate::postgres::{Passwords, Server, ServerError};

/// A file of SQLite's, or a database on a PostgreSQL server.
#[derive(Debug, Clone)]
pub enum Location {
    /// A file, which may not exist yet.
    File(PathBuf),
    /// A database on a server.
    Server(Box<Server>),
}

impl Location {
    /// The database as errors name it.
    pub fn as_path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Server(server) => server.as_path(),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_path().display().fmt(f)
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl From<&PathBuf> for Location {
    fn from(path: &PathBuf) -> Self {
        Self::File(path.clone())
    }
}

impl From<Server> for Location {
    fn from(server: Server) -> Self {
        Self::Server(Box::new(server))
    }
}

impl From<&Self> for Location {
    fn from(location: &Self) -> Self {
        location.clone()
    }
}
