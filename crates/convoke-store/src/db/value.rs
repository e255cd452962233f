//! Values of result columns.

use std::fmt;

use rusqlite::types::{FromSql, ValueRef};
use sha2::{Digest as _, Sha256};

use super::{Param, Sql, SqlResult};

/// A value that PostgreSQL returned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// A row, until the next one is read.
#[derive(Clone, Copy)]
pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r [Value]),
}

impl fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row")
    }
}

/// A type that a column can be read as.
pub(crate) trait FromColumn: FromSql {
    fn from_value(value: &Value) -> Option<Self>;
}

impl Row<'_> {
    /// Reads a column.
    pub(crate) fn get<T: FromColumn>(&self, column: usize) -> SqlResult<T> {
        match self {
            Self::Sqlite(row) => Ok(row.get(column)?),
            Self::Postgres(values) => {
                let value = values.get(column).unwrap_or(&Value::Null);
                T::from_value(value).ok_or_else(|| unexpected(column, value))
            }
        }
    }

    /// Reads a text without copying it.
    pub(crate) fn str(&self, column: usize) -> SqlResult<&str> {
        self.optional_str(column)?.ok_or_else(|| unexpected(column, &Value::Null))
    }

    /// Reads a text without copying it, where there may be none.
    pub(crate) fn optional_str(&self, column: usize) -> SqlResult<Option<&str>> {
        match self {
            Self::Sqlite(row) => {
                Ok(row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?)
            }
            Self::Postgres(values) => match values.get(column) {
                Some(Value::Text(text)) => Ok(Some(text)),
                Some(Value::Null) | None => Ok(None),
                Some(value @ (Value::Int(_) | Value::Real(_) | Value::Blob(_))) => {
                    Err(unexpected(column, value))
                }
            },
        }
    }
}

impl Row<'_> {
    /// Reads a column of any type.
    pub(crate) fn value(&self, column: usize) -> SqlResult<Value> {
        match self {
            Self::Sqlite(row) => Ok(match row.get_ref(column)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(value) => Value::Int(value),
                ValueRef::Real(value) => Value::Real(value),
                ValueRef::Text(text) => Value::Text(
                    String::from_utf8(text.to_vec())
                        .map_err(|error| Sql::Unreadable { column, cause: error.into() })?,
                ),
                ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
            }),
            Self::Postgres(values) => Ok(values.get(column).cloned().unwrap_or(Value::Null)),
        }
    }
}

impl Value {
    pub(crate) fn to_param(&self) -> Param<'_> {
        match self {
            Self::Null => Param::Null,
            Self::Int(value) => Param::Int(*value),
            Self::Real(value) => Param::Real(*value),
            Self::Text(text) => Param::Text(text),
            Self::Blob(bytes) => Param::Blob(bytes),
        }
    }

    /// Adds it to a checksum: its type, its length and its bytes.
    pub(crate) fn digest(&self, digest: &mut Sha256) {
        let mut add = |kind: u8, bytes: &[u8]| {
            digest.update([kind]);
            digest.update((bytes.len() as u64).to_be_bytes());
            digest.update(bytes);
        };
        match self {
            Self::Null => add(0, &[]),
            Self::Int(value) => add(1, &value.to_be_bytes()),
            Self::Real(value) => add(2, &value.to_be_bytes()),
            Self::Text(text) => add(3, text.as_bytes()),
            Self::Blob(bytes) => add(4, bytes),
        }
    }
}

fn unexpected(column: usize, value: &Value) -> Sql {
    let kind = match value {
        Value::Null => "nothing",
        Value::Int(_) => "a number",
        Value::Real(_) => "a fraction",
        Value::Text(_) => "a text",
        Value::Blob(_) => "bytes",
    };
    Sql::Unreadable { column, cause: format!("unexpectedly {kind}").into() }
}

/// Reads numbers that fit into the type.
macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl FromColumn for $number {
            fn from_value(value: &Value) -> Option<Self> {
                match value {
                    Value::Int(value) => Self::try_from(*value).ok(),
                    Value::Null | Value::Real(_) | Value::Text(_) | Value::Blob(_) => None,
                }
            }
        }
    )*};
}
numbers!(i64, u64, u32);

impl FromColumn for bool {
    fn from_value(value: &Value) -> Option<Self> {
        i64::from_value(value).map(|value| value != 0)
    }
}

impl FromColumn for f64 {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Real(value) => Some(*value),
            Value::Null | Value::Int(_) | Value::Text(_) | Value::Blob(_) => None,
        }
    }
}

impl FromColumn for String {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.clone()),
            Value::Null | Value::Int(_) | Value::Real(_) | Value::Blob(_) => None,
        }
    }
}

impl FromColumn for Vec<u8> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Blob(bytes) => Some(bytes.clone()),
            Value::Null | Value::Int(_) | Value::Real(_) | Value::Text(_) => None,
        }
    }
}

impl FromColumn for [u8; 16] {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Blob(bytes) => bytes.as_slice().try_into().ok(),
            Value::Null | Value::Int(_) | Value::Real(_) | Value::Text(_) => None,
        }
    }
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value @ (Value::Int(_) | Value::Real(_) | Value::Text(_) | Value::Blob(_)) => {
                T::from_value(value).map(Some)
            }
        }
    }
}
