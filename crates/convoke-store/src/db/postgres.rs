//! A connection to PostgreSQL: its prepared statements, and the conversion of values.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant};

use postgres::Client;
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::Type;

use super::{Param, Sql, SqlResult, Value};
use crate::search::lexemes::Tokenizer;

/// Prepared statements that a connection caches; the server holds them, too.
const STATEMENTS: usize = 128;

/// A connection that was idle for longer is checked before it is used.
const IDLE_MAX: Duration = Duration::from_secs(5);
/// The timeout of that check.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// PostgreSQL stores no NUL in a text. It is escaped as this private-use character and a `0`; the
/// character itself is doubled.
const ESCAPE: char = '\u{f8ff}';

/// A connection, used by one thread at a time.
pub(crate) struct Session {
    /// `Some` until it is dropped.
    client: RefCell<Option<Client>>,
    statements: RefCell<HashMap<String, postgres::Statement>>,
    tokenizer: OnceCell<Tokenizer>,
    backend: OnceCell<i64>,
    used_at: Cell<Instant>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

impl Session {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client: RefCell::new(Some(client)),
            statements: RefCell::default(),
            tokenizer: OnceCell::new(),
            backend: OnceCell::new(),
            used_at: Cell::new(Instant::now()),
        }
    }

    /// The tokenizer that splits texts into searchable words.
    pub(crate) fn tokenizer(&self) -> SqlResult<&Tokenizer> {
        match self.tokenizer.get() {
            Some(tokenizer) => Ok(tokenizer),
            None => {
                let tokenizer = Tokenizer::new()?;
                Ok(self.tokenizer.get_or_init(|| tokenizer))
            }
        }
    }

    /// The number of the server's process for this connection.
    pub(crate) fn backend(&self) -> SqlResult<i64> {
        if let Some(backend) = self.backend.get() {
            return Ok(*backend);
        }
        let row =
            self.with_client(|client| Ok(client.query_one("SELECT pg_backend_pid()", &[])?))?;
        let number: i32 = row.try_get(0)?;
        Ok(*self.backend.get_or_init(|| number.into()))
    }

    /// Whether the connection is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.client.borrow().as_ref().is_none_or(Client::is_closed)
    }

    /// Whether the server still responds. Costs a round trip only after the connection was idle for
    /// a while.
    pub(crate) fn is_alive(&self) -> bool {
        let is_fresh = self.used_at.get().elapsed() < IDLE_MAX;
        if self.is_closed() {
            return false;
        }
        is_fresh || self.with_client(|client| Ok(client.is_valid(ANSWER_MAX)?)).is_ok()
    }

    /// Runs statements without parameters.
    pub(crate) fn execute_batch(&self, sql: &str) -> SqlResult<()> {
        self.used_at.set(Instant::now());
        self.with_client(|client| Ok(client.batch_execute(sql)?))
    }

    /// Runs a function on the client itself.
    pub(crate) fn with_client<T>(
        &self,
        run: impl FnOnce(&mut Client) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.client.borrow_mut().as_mut().map_or(Err(Sql::Away), run)
    }

    pub(super) fn prepare(&self, sql: &str) -> SqlResult<postgres::Statement> {
        if let Some(known) = self.statements.borrow().get(sql) {
            return Ok(known.clone());
        }
        let statement = self.with_client(|client| Ok(client.prepare(&translate(sql))?))?;
        let mut statements = self.statements.borrow_mut();
        if statements.len() >= STATEMENTS {
            statements.clear();
        }
        statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    pub(super) fn execute(
        &self,
        statement: &postgres::Statement,
        params: &[Param<'_>],
    ) -> SqlResult<usize> {
        self.with_client(|client| {
            let mut rows = client.query_raw(statement, params)?;
            // Rows of a RETURNING clause are ignored here.
            while rows.next()?.is_some() {}
            let changed = rows.rows_affected().unwrap_or(0);
            Ok(usize::try_from(changed).unwrap_or(usize::MAX))
        })
    }

    pub(super) fn query(
        &self,
        statement: &postgres::Statement,
        params: &[Param<'_>],
    ) -> SqlResult<Vec<Vec<Value>>> {
        self.with_client(|client| {
            let mut rows = client.query_raw(statement, params)?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let values = (0..row.len()).map(|column| value(&row, column));
                found.push(values.collect::<SqlResult<_>>()?);
            }
            Ok(found)
        })
    }
}

impl Drop for Session {
    /// Closing a connection waits for the server, which must not block a runtime thread.
    fn drop(&mut self) {
        let client = self.client.borrow_mut().take();
        if tokio::runtime::Handle::try_current().is_ok() {
            std::thread::spawn(move || drop(client));
        }
    }
}

fn value(row: &postgres::Row, column: usize) -> SqlResult<Value> {
    let kind = row.columns().get(column).map(postgres::Column::type_);
    let found = match kind {
        Some(&Type::INT8) => row.try_get::<_, Option<i64>>(column)?.map(Value::Int),
        Some(&Type::INT4) => {
            row.try_get::<_, Option<i32>>(column)?.map(|it| Value::Int(i64::from(it)))
        }
        Some(&Type::INT2) => {
            row.try_get::<_, Option<i16>>(column)?.map(|it| Value::Int(i64::from(it)))
        }
        Some(&Type::BOOL) => {
            row.try_get::<_, Option<bool>>(column)?.map(|it| Value::Int(i64::from(it)))
        }
        Some(&Type::FLOAT8) => row.try_get::<_, Option<f64>>(column)?.map(Value::Real),
        Some(&Type::BYTEA) => {
            row.try_get::<_, Option<&[u8]>>(column)?.map(|it| Value::Blob(it.to_vec()))
        }
        Some(&(Type::TEXT | Type::VARCHAR | Type::NAME)) => {
            row.try_get::<_, Option<&str>>(column)?.map(|it| Value::Text(unescape(it)))
        }
        // The result of a function that returns nothing.
        Some(&Type::VOID) => None,
        other => {
            let cause = format!("type {other:?} is not read").into();
            return Err(Sql::Unreadable { column, cause });
        }
    };
    Ok(found.unwrap_or(Value::Null))
}

/// Translates a statement into PostgreSQL's dialect.
pub(crate) fn translate(sql: &str) -> String {
    let sql = sql.replace("CROSS JOIN", "JOIN");
    let mut translated = String::with_capacity(sql.len());
    let (mut rest, mut next) = (sql.as_str(), 1);
    while let Some(at) = rest.find(['?', 'I']) {
        let (before, found) = rest.split_at(at);
        translated.push_str(before);
        if let Some(after) = found.strip_prefix("INDEXED BY ") {
            rest = after.trim_start_matches(|it: char| it.is_ascii_alphanumeric() || it == '_');
        } else if let Some(after) = found.strip_prefix('?') {
            rest = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
            let number = after.get(..after.len() - rest.len()).unwrap_or_default();
            translated.push('$');
            if number.is_empty() {
                translated.push_str(&next.to_string());
                next += 1;
            } else {
                translated.push_str(number);
            }
        } else {
            translated.push('I');
            rest = found.get(1..).unwrap_or_default();
        }
    }
    translated.push_str(rest);
    translated
}

/// Escapes a text so that PostgreSQL can store it.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '\0' => escaped.extend([ESCAPE, '0']),
            ESCAPE => escaped.extend([ESCAPE, ESCAPE]),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

fn unescape(text: &str) -> String {
    if !text.contains(ESCAPE) {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ESCAPE => match letters.next() {
                Some('0') => plain.push('\0'),
                Some(other) => plain.push(other),
                None => plain.push(ESCAPE),
            },
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_written_for_both_databases() {
        let sql = "SELECT a FROM t AS s INDEXED BY t_by_a CROSS JOIN u ON u.a = s.a WHERE a = ?1 AND b IN (?12, ?1)";
        let expected = "SELECT a FROM t AS s  JOIN u ON u.a = s.a WHERE a = $1 AND b IN ($12, $1)";
        assert_eq!(translate(sql), expected);
        assert_eq!(translate("a = ? AND b = ? LIMIT ?"), "a = $1 AND b = $2 LIMIT $3");
    }

    #[test]
    fn every_text_comes_back_as_it_was() {
        for text in ["", "plain", "a\0b", "\u{f8ff}", "\u{f8ff}0\0\u{f8ff}\u{f8ff}", "\0\0"] {
            let escaped = escape(text);
            assert!(!escaped.contains('\0'));
            assert_eq!(unescape(&escaped), text);
        }
    }
}
