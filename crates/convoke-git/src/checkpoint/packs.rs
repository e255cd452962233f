//! Looks up an object in the indexes of packs, in the format of gitformat-pack(5).

use std::cmp::Ordering;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// How an index of version 2 begins; git has written no other since 2008.
const HEADER: [u8; 8] = *b"\xfftOc\0\0\0\x02";

/// The offset of the ids: after the header and the fan-out table.
const IDS_AT: u64 = 8 + 256 * 4;

/// Whether one of a repository's packs holds an object.
pub(super) fn have(repository: &Path, id: &[u8; 20]) -> bool {
    let entries = fs::read_dir(repository.join("objects/pack"));
    let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut indexes = paths.filter(|path| path.extension().is_some_and(|it| it == "idx"));
    // A pack index that cannot be read counts as empty: git then looks for the object, and reports
    // the error.
    indexes.any(|path| File::open(&path).and_then(|index| has(&index, id)).unwrap_or(false))
}

fn has(index: &File, id: &[u8; 20]) -> io::Result<bool> {
    let mut header = [0; 8];
    index.read_exact_at(&mut header, 0)?;
    if header != HEADER {
        return Ok(false);
    }
    let count_to = |first: u8| -> io::Result<u64> {
        let mut count = [0; 4];
        index.read_exact_at(&mut count, 8 + u64::from(first) * 4)?;
        Ok(u64::from(u32::from_be_bytes(count)))
    };
    let [first, ..] = *id;
    let mut low = first.checked_sub(1).map_or(Ok(0), count_to)?;
    let mut high = count_to(first)?;
    while low < high {
        let middle = low.midpoint(high);
        let mut found = [0; 20];
        index.read_exact_at(&mut found, IDS_AT + middle * 20)?;
        match found.cmp(id) {
            Ordering::Equal => return Ok(true),
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
        }
    }
    Ok(false)
}
