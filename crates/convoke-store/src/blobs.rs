//! Files that are attached to prompts, on a server that several daemons share: in pieces, by their
//! hashes.
//!
//! With SQLite the attachments are only in the home, beside the database.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::db::{Db, Optional as _, SqlResult, params};
use crate::error::{Fault, Result};
use crate::location::Server;
use crate::nodes::f64_of;
use crate::store::Store;
use crate::write::Change as _;
use crate::write::blobs::{BeginBlob, BlobStatus, FinishBlob, PutPiece, RemoveBlob, UseBlob};

/// The size of a piece. One piece is in memory at a time, besides the file itself.
pub(crate) const PIECE: usize = 256 << 10;

impl Store {
    /// Whether attachments are stored in the database, too.
    pub fn keeps_blobs(&self) -> bool {
        self.server().is_some()
    }

    /// Stores a file under its hash, unless it is stored already.
    pub async fn put_blob(&self, hash: &str, bytes: &[u8]) -> Result<()> {
        let (hash, size) = (hash.to_owned(), bytes.len() as u64);
        let begin = BeginBlob { hash: hash.clone(), bytes: size };
        if self.make(begin).await? == BlobStatus::Whole {
            return Ok(());
        }
        for (n, piece) in (0_u64..).zip(bytes.chunks(PIECE)) {
            self.make(PutPiece { hash: hash.clone(), n, bytes: piece.to_vec() }).await?;
        }
        self.make(FinishBlob { hash }).await
    }

    /// Protects a file that is attached to a prompt from removal for now; returns whether there is
    /// such a file.
    pub async fn use_blob(&self, hash: &str) -> Result<bool> {
        self.make(UseBlob { hash: hash.to_owned() }).await
    }

    /// The bytes of a file; `None` if there is none with this hash.
    pub async fn blob(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        if !self.keeps_blobs() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        for n in 0_u64.. {
            let of = hash.to_owned();
            match self.read(move |db| Ok(piece(db, &of, n)?)).await? {
                Some(piece) => bytes.extend(piece),
                None => break,
            }
        }
        Ok((!bytes.is_empty()).then_some(bytes))
    }

    /// Removes files that are not in use and have not been used for longer than `age`. Returns how many.
    pub async fn remove_unused_blobs(
        &self,
        used: &BTreeSet<String>,
        age: Duration,
    ) -> Result<usize> {
        let millis = f64_of(age);
        let old = self
            .read(move |db| {
                let sql = "SELECT hash FROM blobs
                           WHERE used_at < clock_timestamp() - ?1 * interval '1 millisecond'";
                let mut statement = db.prepare_cached(sql)?;
                let hashes = statement.query_map([millis], |row| row.get::<String>(0))?;
                Ok(hashes.collect::<SqlResult<Vec<_>>>()?)
            })
            .await?;
        let mut removed = 0;
        for hash in old.into_iter().filter(|hash| !used.contains(hash)) {
            removed += usize::from(self.make(RemoveBlob { hash, age }).await?);
        }
        Ok(removed)
    }
}

fn piece(db: Db<'_>, hash: &str, n: u64) -> SqlResult<Option<Vec<u8>>> {
    let sql = "SELECT p.bytes FROM blob_pieces AS p JOIN blobs AS b ON b.hash = p.hash
               WHERE p.hash = ?1 AND p.n = ?2 AND b.whole = 1";
    db.prepare_cached(sql)?.query_row(params![hash, n], |row| row.get(0)).optional()
}

/// The attachments in a database on a server, for commands. Blocking.
#[derive(Debug)]
pub struct ServerBlobs {
    server: Server,
}

impl ServerBlobs {
    /// The attachments of a server.
    pub const fn new(server: Server) -> Self {
        Self { server }
    }

    fn run<T>(&self, run: impl FnOnce(Db<'_>) -> Result<T, Fault>) -> Result<T> {
        let connected = self.server.connect().map_err(Fault::from);
        let outcome = connected.and_then(|session| run(Db::Postgres(&session)));
        outcome.map_err(|fault| fault.at(self.server.as_path()))
    }

    /// The bytes of a file; `None` if there is none with this hash.
    pub fn read(&self, hash: &str) -> Result<Option<Vec<u8>>> {
        self.run(|db| {
            let mut bytes = Vec::new();
            for n in 0_u64.. {
                let Some(piece) = piece(db, hash, n)? else { break };
                bytes.extend(piece);
            }
            Ok((!bytes.is_empty()).then_some(bytes))
        })
    }

    /// Stores a file under its hash, unless it is stored already.
    pub fn put(&self, hash: &str, bytes: &[u8]) -> Result<()> {
        self.run(|db| {
            let (hash, size) = (hash.to_owned(), bytes.len() as u64);
            let begin = BeginBlob { hash: hash.clone(), bytes: size };
            if begin.apply(db)? == BlobStatus::Whole {
                return Ok(());
            }
            for (n, piece) in (0_u64..).zip(bytes.chunks(PIECE)) {
                PutPiece { hash: hash.clone(), n, bytes: piece.to_vec() }.apply(db)?;
            }
            FinishBlob { hash }.apply(db)
        })
    }
}
