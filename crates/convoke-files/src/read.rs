//! Reading files that other programs may be writing without care.

use std::path::Path;
use std::time::Duration;
use std::{fs, io, thread};

use serde::de::DeserializeOwned;

use crate::{Error, Result};

/// Attempts at reading a file that does not parse: its writer may be in the middle of it.
const ATTEMPTS: u32 = 3;
/// The pause after the first attempt; each next one is twice as long.
const PAUSE: Duration = Duration::from_millis(10);

/// Reads a JSON file, or `None` where there is none. What does not parse is read up to three times.
pub(crate) fn json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let mut pause = PAUSE;
    for _ in 1..ATTEMPTS {
        match json_once(path) {
            Err(Error::Damaged { .. } | Error::Read { .. }) => {
                thread::sleep(pause);
                pause *= 2;
            }
            result => return result,
        }
    }
    json_once(path)
}

/// Reads a JSON file in one attempt.
pub(crate) fn json_once<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Read { path: path.to_owned(), source }),
    };
    let parsed = serde_json::from_slice(&bytes);
    parsed.map(Some).map_err(|source| Error::Damaged { path: path.to_owned(), source })
}
