//! Parses columns into domain types. A value that cannot be parsed was not written by Convoke.

use std::str::FromStr;

use convoke_core::message::Seq;
use convoke_core::time::Timestamp;
use serde::de::DeserializeOwned;

use crate::db::{Row, Sql, SqlResult};
use crate::error::Cause;

/// A text that the domain can parse, such as an id.
pub(crate) fn text<T>(row: &Row<'_>, column: usize) -> SqlResult<T>
where
    T: FromStr,
    T::Err: Into<Cause>,
{
    row.str(column)?.parse().map_err(|error: T::Err| unreadable(column, error))
}

/// Like `text`, where there may be none.
pub(crate) fn optional_text<T>(row: &Row<'_>, column: usize) -> SqlResult<Option<T>>
where
    T: FromStr,
    T::Err: Into<Cause>,
{
    let text = row.optional_str(column)?;
    text.map(|text| text.parse().map_err(|error: T::Err| unreadable(column, error))).transpose()
}

/// A value in JSON, where there may be none.
pub(crate) fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> SqlResult<Option<T>> {
    let text = row.optional_str(column)?;
    text.map(|text| serde_json::from_str(text).map_err(|error| unreadable(column, error)))
        .transpose()
}

/// One of a fixed set of names.
pub(crate) fn word<T: Copy>(
    row: &Row<'_>,
    column: usize,
    all: &[T],
    as_str: impl Fn(T) -> &'static str,
) -> SqlResult<T> {
    let word = row.str(column)?;
    let found = all.iter().find(|value| as_str(**value) == word);
    found.copied().ok_or_else(|| unreadable(column, format!("unknown word {word}")))
}

/// A timestamp.
pub(crate) fn timestamp(row: &Row<'_>, column: usize) -> SqlResult<Timestamp> {
    row.get(column).map(Timestamp::from_millis)
}

/// A place in a log.
pub(crate) fn seq(row: &Row<'_>, column: usize) -> SqlResult<Seq> {
    row.get(column).map(Seq::new)
}

/// The error for a column with an unknown value.
pub(crate) fn unreadable(column: usize, cause: impl Into<Cause>) -> Sql {
    Sql::Unreadable { column, cause: cause.into() }
}
