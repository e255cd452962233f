//! Values of statement parameters.

use std::error::Error;

use bytes::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use rusqlite::types::{ToSql as SqliteToSql, ToSqlOutput, ValueRef};

use super::postgres::escape;

/// A value for a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Param<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
    Blob(&'a [u8]),
}

/// A type that can be passed as a parameter.
pub(crate) trait ToParam {
    fn to_param(&self) -> Param<'_>;
}

impl ToParam for Param<'_> {
    fn to_param(&self) -> Param<'_> {
        *self
    }
}

impl ToParam for i64 {
    fn to_param(&self) -> Param<'_> {
        Param::Int(*self)
    }
}

impl ToParam for u64 {
    // Seqs, revisions and counts: none comes near the limit.
    fn to_param(&self) -> Param<'_> {
        Param::Int(i64::try_from(*self).unwrap_or(i64::MAX))
    }
}

impl ToParam for f64 {
    fn to_param(&self) -> Param<'_> {
        Param::Real(*self)
    }
}

impl ToParam for u32 {
    fn to_param(&self) -> Param<'_> {
        Param::Int(i64::from(*self))
    }
}

impl ToParam for bool {
    fn to_param(&self) -> Param<'_> {
        Param::Int(i64::from(*self))
    }
}

impl ToParam for str {
    fn to_param(&self) -> Param<'_> {
        Param::Text(self)
    }
}

impl ToParam for String {
    fn to_param(&self) -> Param<'_> {
        Param::Text(self)
    }
}

impl ToParam for Vec<u8> {
    fn to_param(&self) -> Param<'_> {
        Param::Blob(self)
    }
}

impl ToParam for [u8; 16] {
    fn to_param(&self) -> Param<'_> {
        Param::Blob(self)
    }
}

impl<T: ToParam + ?Sized> ToParam for &T {
    fn to_param(&self) -> Param<'_> {
        (**self).to_param()
    }
}

impl<T: ToParam> ToParam for Option<T> {
    fn to_param(&self) -> Param<'_> {
        self.as_ref().map_or(Param::Null, ToParam::to_param)
    }
}

/// The parameters of a statement.
pub(crate) trait Params {
    fn with<R>(self, run: impl FnOnce(&[Param<'_>]) -> R) -> R;
}

impl<T: ToParam, const N: usize> Params for [T; N] {
    fn with<R>(self, run: impl FnOnce(&[Param<'_>]) -> R) -> R {
        run(&self.each_ref().map(ToParam::to_param))
    }
}

impl Params for &[Param<'_>] {
    fn with<R>(self, run: impl FnOnce(&[Param<'_>]) -> R) -> R {
        run(self)
    }
}

impl SqliteToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Blob(value) => ValueRef::Blob(value),
        }))
    }
}

impl ToSql for Param<'_> {
    fn to_sql(
        &self,
        wanted: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self, wanted) {
            (Self::Null, _) => return Ok(IsNull::Yes),
            (Self::Int(value), &Type::INT2) => ToSql::to_sql(&i16::try_from(*value)?, wanted, out)?,
            (Self::Int(value), &Type::INT4) => ToSql::to_sql(&i32::try_from(*value)?, wanted, out)?,
            (Self::Int(value), &Type::BOOL) => ToSql::to_sql(&(*value != 0), wanted, out)?,
            (Self::Int(value), _) => value.to_sql_checked(wanted, out)?,
            (Self::Real(value), _) => value.to_sql_checked(wanted, out)?,
            (Self::Text(value), _) => escape(value).to_sql_checked(wanted, out)?,
            (Self::Blob(value), _) => value.to_sql_checked(wanted, out)?,
        };
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
