//! Copies everything from one database to another, from a file to a server or back. Blocking; for commands.
//!
//! Rows are copied in the order of their keys and keep their numbers, so that an interrupted copy
//! can be resumed. At the end every table of both databases is read, and counts and checksums are
//! compared.

mod tables;

use std::path::Path;

use convoke_core::id::NodeId;
use convoke_core::time::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::db::{Db, Param, PostgresSession, Value, params};
use crate::error::{Error, Fault, Result};
use crate::location::{Location, Server};
use crate::schema;
use crate::sqlite::open::{DatabasePaths, WriteLock};
use crate::write::Change as _;
use crate::write::nodes::JoinNodes;
use crate::write::refill::{self, Unsearched};
use crate::write::search;

use tables::{TABLES, Table};

pub use crate::attachments::hashes_in_use;
pub use crate::blobs::ServerBlobs;

/// Rows that are copied in one transaction.
const BATCH: u32 = 500;

/// The progress of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The table that is copied.
    pub table: &'static str,
    /// Rows that are copied already.
    pub done: u64,
    /// All of its rows.
    pub total: u64,
}

/// A table that is equal in both databases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The table.
    pub table: &'static str,
    /// Its rows.
    pub rows: u64,
    /// SHA-256 of them, in hexadecimal digits.
    pub checksum: String,
}

/// The node that owns everything in a database on a server.
#[derive(Debug, Clone)]
pub struct Owner {
    /// Its id.
    pub id: NodeId,
    /// Its name.
    pub name: String,
    /// The version of its program.
    pub version: String,
}

/// One of the two databases, open and locked.
enum Side {
    File { db: rusqlite::Connection, path: std::path::PathBuf, _lock: WriteLock },
    Server { session: Box<PostgresSession>, server: Box<Server> },
}

impl Side {
    fn open(location: &Location, owner: &Owner, now: Timestamp) -> Result<Self> {
        schema::migrate(location, now)?;
        match location {
            Location::File(path) => {
                let paths = DatabasePaths::at(path)?;
                let lock = paths.lock()?;
                let db = paths.connect_writer(&lock).map_err(|fault| fault.at(path))?;
                Ok(Self::File { db, path: path.clone(), _lock: lock })
            }
            Location::Server(server) => {
                let server = Box::new((**server).clone().with_node(owner.id));
                let session =
                    server.connect().map_err(|error| Fault::from(error).at(server.as_path()))?;
                let side = Self::Server { session: Box::new(session), server };
                side.run(|db| refuse_running(db, owner))?;
                Ok(side)
            }
        }
    }

    fn db(&self) -> Db<'_> {
        match self {
            Self::File { db, .. } => Db::Sqlite(db),
            Self::Server { session, .. } => Db::Postgres(session),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::File { path, .. } => path,
            Self::Server { server, .. } => server.as_path(),
        }
    }

    fn run<T>(&self, run: impl FnOnce(Db<'_>) -> Result<T, Fault>) -> Result<T> {
        run(self.db()).map_err(|fault| fault.at(self.path()))
    }
}

/// Copies everything from one database to another, which is empty or has a part of the copy.
pub fn transfer(
    from: &Location,
    to: &Location,
    owner: &Owner,
    now: Timestamp,
    mut progress: impl FnMut(Step),
) -> Result<Vec<Copied>> {
    let (source, target) = (Side::open(from, owner, now)?, Side::open(to, owner, now)?);
    begin(&source, &target, owner)?;
    for table in &TABLES {
        copy(table, &source, &target, &mut progress)?;
    }
    target.run(renumber)?;
    let mut copied = Vec::new();
    for table in &TABLES {
        let (here, there) =
            (source.run(|db| digest(db, table))?, target.run(|db| digest(db, table))?);
        if here != there {
            let detail =
                format!("{} of {}: {here:?} and {there:?}", table.name, source.path().display());
            return Err(Error::Corrupt { path: target.path().to_owned(), detail });
        }
        let (rows, checksum) = here;
        copied.push(Copied { table: table.name, rows, checksum });
    }
    Ok(copied)
}

/// Refuses a database on a server that other nodes use.
fn refuse_running(db: Db<'_>, owner: &Owner) -> Result<(), Fault> {
    let sql = "SELECT name FROM nodes WHERE lease_until > clock_timestamp() AND id <> ?1 LIMIT 1";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([owner.id.to_string()])?;
    match rows.next()? {
        Some(row) => Err(Error::NodeRuns { name: row.get(0)? }.into()),
        None => Ok(()),
    }
}

/// Marks the target as a copy of the source; refuses one that has anything else in it.
fn begin(source: &Side, target: &Side, owner: &Owner) -> Result<()> {
    let generation = |db: Db<'_>| -> Result<i64, Fault> {
        let mut statement = db.prepare_cached("SELECT value FROM generation")?;
        Ok(statement.query_row(params![], |row| row.get(0))?)
    };
    let of_source = source.run(generation)?;
    let is_empty = target.run(|db| {
        let sql = "SELECT (SELECT count(*) FROM projects) + (SELECT count(*) FROM agent_sessions)";
        Ok(db.prepare_cached(sql)?.query_row(params![], |row| row.get::<i64>(0))? == 0)
    })?;
    if !is_empty && target.run(generation)? != of_source {
        return Err(Error::OtherContents { path: target.path().to_owned() });
    }
    target.run(|db| {
        db.prepare_cached("UPDATE generation SET value = ?1")?.execute([of_source])?;
        if let Db::Postgres(_) = db {
            let Owner { id, name, version } = owner.clone();
            JoinNodes { id, name, version }.apply(db)?;
            // The node does not run yet.
            db.execute_batch("UPDATE nodes SET lease_until = clock_timestamp()")?;
        }
        Ok(())
    })
}

fn copy(
    table: &Table,
    source: &Side,
    target: &Side,
    progress: &mut impl FnMut(Step),
) -> Result<()> {
    let total = source.run(|db| count(db, table))?;
    let mut done = target.run(|db| count(db, table))?;
    let mut after = target.run(|db| last_key(db, table))?;
    loop {
        progress(Step { table: table.name, done, total });
        let rows = source.run(|db| page(db, table, after.as_deref()))?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = Some(key_of(table, last));
        done += rows.len() as u64;
        target.run(|db| insert(db, table, &rows))?;
    }
}

fn count(db: Db<'_>, table: &Table) -> Result<u64, Fault> {
    let sql = format!("SELECT count(*) FROM {}", table.name);
    Ok(db.prepare_cached(&sql)?.query_row(params![], |row| row.get(0))?)
}

/// The key of the last row that was copied: rows come in the order of their keys.
fn last_key(db: Db<'_>, table: &Table) -> Result<Option<Vec<Value>>, Fault> {
    let order: Vec<String> = table.keys.iter().map(|key| format!("{key} DESC")).collect();
    let (keys, name, order) = (table.keys.join(", "), table.name, order.join(", "));
    let sql = format!("SELECT {keys} FROM {name} ORDER BY {order} LIMIT 1");
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query(params![])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let key = (0..table.keys.len()).map(|column| row.value(column));
    Ok(Some(key.collect::<crate::db::SqlResult<_>>()?))
}

fn key_of(table: &Table, row: &[Value]) -> Vec<Value> {
    let place = |key: &&str| table.columns.iter().position(|column| column == key);
    table.keys.iter().filter_map(place).filter_map(|at| row.get(at)).cloned().collect()
}

fn page(db: Db<'_>, table: &Table, after: Option<&[Value]>) -> Result<Vec<Vec<Value>>, Fault> {
    let (columns, name, keys) = (table.columns.join(", "), table.name, table.keys.join(", "));
    let mut given: Vec<Param<'_>> = Vec::new();
    let mut beyond = String::new();
    if let Some(after) = after {
        given.extend(after.iter().map(Value::to_param));
        let places: Vec<String> = (1..=given.len()).map(|at| format!("?{at}")).collect();
        beyond = format!("WHERE ({keys}) > ({})", places.join(", "));
    }
    let sql = format!("SELECT {columns} FROM {name} {beyond} ORDER BY {keys} LIMIT {BATCH}");
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query(given.as_slice())?;
    let mut page = Vec::new();
    while let Some(row) = rows.next()? {
        let values = (0..table.columns.len()).map(|column| row.value(column));
        page.push(values.collect::<crate::db::SqlResult<Vec<Value>>>()?);
    }
    Ok(page)
}

fn insert(db: Db<'_>, table: &Table, rows: &[Vec<Value>]) -> Result<(), Fault> {
    let places: Vec<String> = (1..=table.columns.len()).map(|at| format!("?{at}")).collect();
    let numbered = match db {
        Db::Postgres(_) if table.is_numbered => "OVERRIDING SYSTEM VALUE",
        Db::Postgres(_) | Db::Sqlite(_) => "",
    };
    let (name, columns, places) = (table.name, table.columns.join(", "), places.join(", "));
    let sql = format!("INSERT INTO {name} ({columns}) {numbered} VALUES ({places})");
    let transaction = db.begin()?;
    for row in rows {
        let given: Vec<Param<'_>> = row.iter().map(Value::to_param).collect();
        db.prepare_cached(&sql)?.execute(given.as_slice())?;
    }
    if table.name == "messages" {
        index(db, rows)?;
    }
    transaction.commit()?;
    Ok(())
}

/// Adds messages to the search index, which is not copied: each database has its own.
fn index(db: Db<'_>, rows: &[Vec<Value>]) -> Result<(), Fault> {
    let mut messages = Vec::new();
    for row in rows {
        let [
            Value::Int(n),
            Value::Int(session),
            ..,
            Value::Text(role),
            Value::Text(content),
            _,
            _,
            Value::Int(created_at),
            _,
        ] = row.as_slice()
        else {
            continue;
        };
        let text = search::stored_text(content);
        messages.push(Unsearched {
            n: *n,
            session: *session,
            role: role.clone(),
            created_at: *created_at,
            text,
        });
    }
    refill::add(db, &messages)
}

/// Sets the sequences to the numbers that were copied.
fn renumber(db: Db<'_>) -> Result<(), Fault> {
    let Db::Postgres(_) = db else { return Ok(()) };
    for table in TABLES.iter().filter(|table| table.is_numbered) {
        let (name, key) = (table.name, table.keys.join(""));
        db.execute_batch(&format!(
            "SELECT setval(pg_get_serial_sequence('convoke.{name}', '{key}'),
                 (SELECT greatest(1, max({key})) FROM {name}))"
        ))?;
    }
    Ok(())
}

/// How many rows a table has, and the SHA-256 of them.
fn digest(db: Db<'_>, table: &Table) -> Result<(u64, String), Fault> {
    let (mut rows, mut digest, mut after) = (0, Sha256::new(), None);
    loop {
        let page = page(db, table, after.as_deref())?;
        let Some(last) = page.last() else { break };
        after = Some(key_of(table, last));
        for row in &page {
            rows += 1;
            row.iter().for_each(|value| value.digest(&mut digest));
        }
    }
    let checksum = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((rows, checksum))
}
