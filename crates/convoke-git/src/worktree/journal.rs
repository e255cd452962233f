//! The journal of a removal or a finish of a work tree, for recovery.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

pub(super) use crate::checkpoint::lock::remove;
use crate::{Error, Result};

/// Writes a short note and syncs it, before the first change.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    let fail = |source| Error::io("write", path, source);
    let mut file = File::create(path).map_err(fail)?;
    // Without the last line a note is incomplete, and ignored.
    let written = file.write_all(format!("{text}\nend").as_bytes());
    written.and_then(|()| file.sync_all()).map_err(fail)
}

/// Reads the note; `None` when there is none, or none that was complete.
pub(super) fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text.strip_suffix("\nend").map(str::to_owned)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", path, error)),
    }
}
