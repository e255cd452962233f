//! Errors of the databases.

use postgres::error::SqlState;

use crate::error::Cause;

pub(crate) type SqlResult<T> = Result<T, Sql>;

/// An error of one of the databases, or of reading what it returned.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Sql {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// The text includes that of its cause, so it has no `source`.
    #[error("{}", postgres_words(.0))]
    Postgres(postgres::Error),
    /// The connection is closed: the server cannot be reached.
    #[error("the server cannot be reached")]
    Away,
    /// The text and code of an error, for another change of the same transaction.
    #[error("{0}")]
    Said(String, Option<SqlState>),
    /// There is no row where there should be one.
    #[error("there is no such row")]
    NoRow,
    /// A value that Convoke cannot have written.
    #[error("column {column}: {cause}")]
    Unreadable { column: usize, cause: Cause },
}

impl From<postgres::Error> for Sql {
    fn from(error: postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

impl Sql {
    /// PostgreSQL's error code.
    pub(crate) fn code(&self) -> Option<SqlState> {
        match self {
            Self::Postgres(error) => error.code().cloned(),
            Self::Said(_, code) => code.clone(),
            Self::Sqlite(_) | Self::Away | Self::NoRow | Self::Unreadable { .. } => None,
        }
    }
}

/// The error with its source: the library's own text names only the kind of error.
fn postgres_words(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => said.to_string(),
        None => match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}

/// Turns the lack of a row into `None`.
pub(crate) trait Optional<T> {
    fn optional(self) -> SqlResult<Option<T>>;
}

impl<T> Optional<T> for SqlResult<T> {
    fn optional(self) -> SqlResult<Option<T>> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(Sql::NoRow) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
