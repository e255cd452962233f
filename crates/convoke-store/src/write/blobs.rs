//! Stores attachments on a server, piece by piece.

use std::time::Duration;

use super::{Change, Durability};
use crate::db::{Db, Param, params};
use crate::error::{Error, Fault};
use crate::nodes::f64_of;

/// Begins to store a file.
#[derive(Debug)]
pub(crate) struct BeginBlob {
    pub(crate) hash: String,
    pub(crate) bytes: u64,
}

/// Whether a file is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlobStatus {
    /// Completely.
    Whole,
    /// Its pieces are needed.
    Wanted,
}

impl Change for BeginBlob {
    type Outcome = BlobStatus;

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<BlobStatus, Fault> {
        let sql = "INSERT INTO blobs (hash, bytes) VALUES (?1, ?2)
                   ON CONFLICT (hash) DO UPDATE SET used_at = clock_timestamp() RETURNING whole";
        let of = params![self.hash, self.bytes];
        let whole: bool = db.prepare_cached(sql)?.query_row(of, |row| row.get(0))?;
        Ok(if whole { BlobStatus::Whole } else { BlobStatus::Wanted })
    }
}

/// Stores a piece of a file. Two nodes that store the same file store the same pieces.
#[derive(Debug)]
pub(crate) struct PutPiece {
    pub(crate) hash: String,
    pub(crate) n: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Change for PutPiece {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let sql = "INSERT INTO blob_pieces (hash, n, bytes) VALUES (?1, ?2, ?3)
                   ON CONFLICT (hash, n) DO UPDATE SET bytes = excluded.bytes";
        db.prepare_cached(sql)?.execute(params![self.hash, self.n, Param::Blob(&self.bytes)])?;
        Ok(())
    }
}

/// Completes a file after its last piece.
#[derive(Debug)]
pub(crate) struct FinishBlob {
    pub(crate) hash: String,
}

impl Change for FinishBlob {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let sql = "UPDATE blobs SET whole = 1 WHERE hash = ?1 AND bytes =
                   (SELECT sum(length(p.bytes)) FROM blob_pieces AS p WHERE p.hash = blobs.hash)";
        if db.prepare_cached(sql)?.execute([&self.hash])? == 0 {
            let what = "an attachment was removed while it was stored";
            return Err(Error::Misuse { what }.into());
        }
        Ok(())
    }
}

/// Marks a file as used by a prompt.
#[derive(Debug)]
pub(crate) struct UseBlob {
    pub(crate) hash: String,
}

impl Change for UseBlob {
    type Outcome = bool;

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<bool, Fault> {
        let sql = "UPDATE blobs SET used_at = clock_timestamp() WHERE hash = ?1 AND whole = 1";
        Ok(db.prepare_cached(sql)?.execute([&self.hash])? > 0)
    }
}

/// Removes a file that nothing refers to. The outcome is whether it was removed.
#[derive(Debug)]
pub(crate) struct RemoveBlob {
    pub(crate) hash: String,
    /// It is kept if it was used within this time.
    pub(crate) age: Duration,
}

impl Change for RemoveBlob {
    type Outcome = bool;

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<bool, Fault> {
        // Its pieces are deleted by cascade.
        let sql = "DELETE FROM blobs WHERE hash = ?1
                   AND used_at < clock_timestamp() - ?2 * interval '1 millisecond'";
        Ok(db.prepare_cached(sql)?.execute(params![self.hash, f64_of(self.age)])? > 0)
    }
}
