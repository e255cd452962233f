//! The layer over both databases: the same statements are sent to SQLite or to PostgreSQL.
//!
//! Statements are written in the common subset, with numbered parameters (`?1`). Hints for SQLite's
//! planner (`CROSS JOIN … ON`, `INDEXED BY`) are removed for PostgreSQL. Where the dialects differ,
//! `Db` has a method.

mod error;
mod param;
mod postgres;
mod value;

use rusqlite::params_from_iter;

use crate::postgres::CHANNEL;

pub(crate) use error::{Optional, Sql, SqlResult};
pub(crate) use param::{Param, Params, ToParam};
pub(crate) use postgres::Session as PostgresSession;
pub(crate) use value::{Row, Value};

/// A database, inside or outside of a transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Db<'c> {
    Sqlite(&'c rusqlite::Connection),
    Postgres(&'c PostgresSession),
}

impl<'c> From<&'c rusqlite::Connection> for Db<'c> {
    fn from(connection: &'c rusqlite::Connection) -> Self {
        Self::Sqlite(connection)
    }
}

impl<'c> Db<'c> {
    /// Compiles a statement, or returns the cached one.
    pub(crate) fn prepare_cached(self, sql: &str) -> SqlResult<Statement<'c>> {
        Ok(match self {
            Self::Sqlite(connection) => Statement::Sqlite(connection.prepare_cached(sql)?),
            Self::Postgres(session) => Statement::Postgres(session, session.prepare(sql)?),
        })
    }

    /// Inserts a row into a table with a column `n`, and returns that column.
    pub(crate) fn insert(self, sql: &str, params: impl Params) -> SqlResult<i64> {
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(sql)?;
                params.with(|params| Ok(statement.insert(params_from_iter(params))?))
            }
            Self::Postgres(_) => {
                let mut statement = self.prepare_cached(&format!("{sql} RETURNING n"))?;
                statement.query_row(params, |row| row.get(0))
            }
        }
    }

    /// Begins a read transaction with a consistent snapshot.
    pub(crate) fn snapshot(self) -> SqlResult<Snapshot<'c>> {
        Ok(match self {
            Self::Sqlite(connection) => {
                Snapshot::Sqlite { _transaction: connection.unchecked_transaction()? }
            }
            Self::Postgres(session) => {
                session.execute_batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
                Snapshot::Postgres(session)
            }
        })
    }

    /// Begins a transaction that writes. It is rolled back unless it is committed.
    pub(crate) fn begin(self) -> SqlResult<Transaction<'c>> {
        self.execute_batch(match self {
            Self::Sqlite(_) => "BEGIN IMMEDIATE",
            Self::Postgres(_) => "BEGIN",
        })?;
        Ok(Transaction { db: self, is_over: false })
    }

    /// Runs statements without parameters, in the dialect of this database.
    pub(crate) fn execute_batch(self, sql: &str) -> SqlResult<()> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Self::Postgres(session) => session.execute_batch(sql),
        }
    }

    /// Defers the foreign keys to the commit, so that rows can be deleted before those that refer
    /// to them.
    pub(crate) fn defer_references(self) -> SqlResult<()> {
        self.execute_batch(match self {
            Self::Sqlite(_) => "PRAGMA defer_foreign_keys = ON",
            Self::Postgres(_) => "SET CONSTRAINTS ALL DEFERRED",
        })
    }

    /// Notifies all daemons when the transaction is committed. A database in a file has no other
    /// daemons.
    pub(crate) fn notify(self, what: &str) -> SqlResult<()> {
        let Self::Postgres(_) = self else { return Ok(()) };
        self.prepare_cached("SELECT pg_notify(?1, ?2)")?.execute([CHANNEL, what])?;
        Ok(())
    }

    /// A condition for the rows of this daemon in a table. In a file, all rows are its own.
    pub(crate) fn own(self, table: &str) -> String {
        match self {
            Self::Sqlite(_) => String::new(),
            Self::Postgres(_) => format!(
                " AND coalesce({table}.node, '') = coalesce(current_setting('convoke.node', true), '')"
            ),
        }
    }

    /// An expression for a random number below 10^12.
    pub(crate) const fn random_number(self) -> &'static str {
        match self {
            Self::Sqlite(_) => "abs(random() % 1000000000000)",
            Self::Postgres(_) => "CAST(floor(random() * 1000000000000) AS BIGINT)",
        }
    }
}

/// A read transaction, which ends when it is dropped.
pub(crate) enum Snapshot<'c> {
    Sqlite { _transaction: rusqlite::Transaction<'c> },
    Postgres(&'c PostgresSession),
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        if let Self::Postgres(session) = self {
            // A connection on which this fails is broken, and its next use reports it.
            session.execute_batch("ROLLBACK").ok();
        }
    }
}

/// A transaction that writes.
pub(crate) struct Transaction<'c> {
    db: Db<'c>,
    is_over: bool,
}

impl Transaction<'_> {
    pub(crate) fn commit(mut self) -> SqlResult<()> {
        self.db.execute_batch("COMMIT")?;
        self.is_over = true;
        Ok(())
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // A connection on which this fails is broken, and its next use reports it.
            self.db.execute_batch("ROLLBACK").ok();
        }
    }
}

/// A compiled statement.
pub(crate) enum Statement<'c> {
    Sqlite(rusqlite::CachedStatement<'c>),
    Postgres(&'c PostgresSession, ::postgres::Statement),
}

impl Statement<'_> {
    /// Runs it and returns how many rows it changed.
    pub(crate) fn execute(&mut self, params: impl Params) -> SqlResult<usize> {
        params.with(|params| match self {
            Self::Sqlite(statement) => Ok(statement.execute(params_from_iter(params))?),
            Self::Postgres(session, statement) => session.execute(statement, params),
        })
    }

    /// Runs it and reads its first row.
    pub(crate) fn query_row<T>(
        &mut self,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let mut rows = self.query(params)?;
        match rows.next()? {
            Some(row) => read(&row),
            None => Err(Sql::NoRow),
        }
    }

    /// Runs it and reads each of its rows.
    pub(crate) fn query_map<T, F: FnMut(&Row<'_>) -> SqlResult<T>>(
        &mut self,
        params: impl Params,
        read: F,
    ) -> SqlResult<Mapped<'_, F>> {
        Ok(Mapped { rows: self.query(params)?, read })
    }

    /// Runs it; its rows are read one by one.
    pub(crate) fn query(&mut self, params: impl Params) -> SqlResult<Rows<'_>> {
        params.with(|params| match self {
            Self::Sqlite(statement) => Ok(Rows::Sqlite(statement.query(params_from_iter(params))?)),
            Self::Postgres(session, statement) => {
                Ok(Rows::Postgres { rows: session.query(statement, params)?, next: 0 })
            }
        })
    }

    /// Whether it finds any row.
    pub(crate) fn exists(&mut self, params: impl Params) -> SqlResult<bool> {
        Ok(self.query(params)?.next()?.is_some())
    }
}

/// The rows that a statement found.
pub(crate) enum Rows<'s> {
    Sqlite(rusqlite::Rows<'s>),
    Postgres { rows: Vec<Vec<Value>>, next: usize },
}

impl Rows<'_> {
    pub(crate) fn next(&mut self) -> SqlResult<Option<Row<'_>>> {
        match self {
            Self::Sqlite(rows) => Ok(rows.next()?.map(Row::Sqlite)),
            Self::Postgres { rows, next } => {
                *next += 1;
                Ok(rows.get(*next - 1).map(|row| Row::Postgres(row)))
            }
        }
    }
}

/// Rows that are read on demand.
pub(crate) struct Mapped<'s, F> {
    rows: Rows<'s>,
    read: F,
}

impl<T, F: FnMut(&Row<'_>) -> SqlResult<T>> Iterator for Mapped<'_, F> {
    type Item = SqlResult<T>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.rows.next().transpose()?;
        Some(row.and_then(|row| (self.read)(&row)))
    }
}

/// Values of different types for a statement's parameters.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::db::ToParam::to_param(&$value)),*] as &[$crate::db::Param<'_>]
    };
}
pub(crate) use params;
