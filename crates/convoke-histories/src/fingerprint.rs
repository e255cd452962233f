//! Distinguishes a grown file from a rewritten one by hashes of its head and of the bytes before
//! the cursor.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Bytes at the beginning and before the cursor that are hashed. Transcripts begin with their id and time, and the
/// lines before the cursor carry times and ids, so that a kilobyte is enough to recognise them.
const WINDOW: u64 = 1 << 10;

/// The fingerprint of the part of a file that was read, to recognise it later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    /// The offset up to which it was read.
    pub offset: u64,
    head: String,
    tail: String,
}

/// How a file has changed since it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// It ends where reading ended.
    None,
    /// It was appended to.
    Grown,
    /// It was rewritten.
    Rewritten,
}

impl Fingerprint {
    /// The fingerprint of a file that was read up to `offset`.
    pub(crate) fn take(file: &File, offset: u64) -> io::Result<Self> {
        let window = offset.min(WINDOW);
        let head = hash(file, 0, window)?;
        let tail = hash(file, offset - window, window)?;
        Ok(Self { offset, head, tail })
    }

    /// Compares a file of `size` bytes with the part that was read.
    pub(crate) fn compare(&self, file: &File, size: u64) -> io::Result<Change> {
        if size < self.offset || Self::take(file, self.offset)? != *self {
            return Ok(Change::Rewritten);
        }
        Ok(if size == self.offset { Change::None } else { Change::Grown })
    }
}

fn hash(file: &File, from: u64, bytes: u64) -> io::Result<String> {
    let mut window = vec![0; usize::try_from(bytes).unwrap_or_default()];
    file.read_exact_at(&mut window, from)?;
    let digest = Sha256::digest(&window);
    Ok(digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}
