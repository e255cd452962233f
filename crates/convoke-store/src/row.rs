//! Reads columns as the domain's own types. What cannot be read was not written by us.

use std::str::FromStr;

use convoke_core::message::Seq;
use convoke_core::time::Timestamp;
use rusqlite::Row;
use rusqlite::types::Type;
use serde::de::DeserializeOwned;

use crate::error::Cause;

/// A text that the domain can parse, such as an id.
pub(crate) fn text<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: FromStr,
    T::Err: Into<Cause>,
{
    row.get_ref(column)?.as_str()?.parse().map_err(|error: T::Err| unreadable(column, error))
}

/// Like `text`, where there may be none.
pub(crate) fn optional_text<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>>
where
    T: FromStr,
    T::Err: Into<Cause>,
{
    let text = row.get_ref(column)?.as_str_or_null()?;
    text.map(|text| text.parse().map_err(|error: T::Err| unreadable(column, error))).transpose()
}

/// A value in JSON, where there may be none.
pub(crate) fn json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<T>> {
    let text = row.get_ref(column)?.as_str_or_null()?;
    text.map(|text| serde_json::from_str(text).map_err(|error| unreadable(column, error)))
        .transpose()
}

/// One of a fixed set of names.
pub(crate) fn word<T: Copy>(
    row: &Row<'_>,
    column: usize,
    all: &[T],
    as_str: impl Fn(T) -> &'static str,
) -> rusqlite::Result<T> {
    let word = row.get_ref(column)?.as_str()?;
    let found = all.iter().find(|value| as_str(**value) == word);
    found.copied().ok_or_else(|| unreadable(column, format!("unknown word {word}")))
}

/// A timestamp.
pub(crate) fn timestamp(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp::from_millis)
}

/// A place in a log.
pub(crate) fn seq(row: &Row<'_>, column: usize) -> rusqlite::Result<Seq> {
    row.get(column).map(Seq::new)
}

/// The error for a column that says something unheard of.
pub(crate) fn unreadable(column: usize, cause: impl Into<Cause>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, cause.into())
}
