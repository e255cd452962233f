//! Reading files that other programs may be writing without care.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZero;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

/// Attempts at reading a file that cannot be read or does not parse: it may be being written.
const ATTEMPTS: u32 = 3;
/// The pause after the first attempt; each next one is twice as long.
const PAUSE: Duration = Duration::from_millis(10);

/// Reads a JSON file, or `None` where there is none.
pub(crate) fn json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    retried(|| json_once(path), thread::sleep)
}

fn retried<T>(
    mut attempt: impl FnMut() -> Result<T>,
    mut pause: impl FnMut(Duration),
) -> Result<T> {
    for pauses in 0..ATTEMPTS - 1 {
        match attempt() {
            Err(Error::Damaged { .. } | Error::Read { .. }) => pause(PAUSE * 2u32.pow(pauses)),
            result => return result,
        }
    }
    attempt()
}

/// Reads parts of a list on several threads, each with at least `part_min` items, and returns the results in order.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    part_min: usize,
    read: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let share = items.len().div_ceil(threads).max(part_min);
    let read = &read;
    thread::scope(|scope| {
        let part = |items| scope.spawn(move || read(items));
        let readers: Vec<_> = items.chunks(share).map(part).collect();
        readers.into_iter().flat_map(thread::ScopedJoinHandle::join).collect()
    })
}

/// Larger than any question or answer; a larger file is none.
pub(crate) const BYTES_MAX: usize = 16 << 20;

fn json_once<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let bytes = match at_most(path, BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Read { path: path.to_owned(), source }),
    };
    let parsed = serde_json::from_slice(&bytes);
    parsed.map(Some).map_err(|source| Error::Damaged { path: path.to_owned(), source })
}

/// All of a plain file that has at most so many bytes.
pub(crate) fn at_most(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::other("it is too large");
    let file = plain_file(path)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    if length > bytes_max {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(length);
    // It may grow while it is read.
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > bytes_max { Err(too_large()) } else { Ok(bytes) }
}

/// Opens a plain file for reading. A link could lead anywhere, and a pipe would never end.
pub(crate) fn plain_file(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let strange = || io::Error::other("it is not a regular file");
    let opened = File::options().read(true).custom_flags(flags).open(path);
    let file = opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => strange(),
        Some(_) | None => error,
    })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(strange()) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Reads a file that holds each of these in turn; returns the result and the pauses that were made.
    fn read(contents: &[&str]) -> (String, Vec<u128>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("status.json");
        let mut contents = contents.iter();
        let mut pauses = Vec::new();
        let attempt = || {
            fs::write(&path, contents.next().unwrap()).unwrap();
            json_once::<u32>(&path)
        };
        let read = retried(attempt, |pause| pauses.push(pause.as_millis()));
        let read = read.map_or_else(|_| "damaged".to_owned(), |value| format!("{value:?}"));
        (read, pauses)
    }

    #[test]
    fn q8_a_file_that_does_not_parse_is_read_three_times_with_growing_pauses() {
        assert_eq!(read(&["7"]), ("Some(7)".to_owned(), vec![]));
        assert_eq!(read(&["", "{", "7"]), ("Some(7)".to_owned(), vec![10, 20]));
        assert_eq!(read(&["{", "{", "{", "7"]), ("damaged".to_owned(), vec![10, 20]));
    }

    #[test]
    fn q8_a_file_that_is_not_there_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(json::<u32>(&folder.path().join("status.json")).unwrap(), None);
        // A folder where the file should be is an error that stays one.
        let error = json::<u32>(folder.path()).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot read {}", folder.path().display()));
    }
}
