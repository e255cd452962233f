//! Disk space that is reserved while there is plenty, and released in steps when the disk is full.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

/// The size of the reserve.
const RESERVE_BYTES: u64 = 8 << 20;
/// Bytes released in one step: enough for one decision, so that a program that keeps filling the
/// disk gets little.
const STEP_BYTES: u64 = 256 << 10;
/// The space that must be free besides before the reserve is filled again.
const MARGIN_BYTES: u64 = 16 << 20;

/// A file that reserves space for decisions on a full disk.
#[derive(Debug, Clone)]
pub struct Reserve {
    path: PathBuf,
}

/// The result of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Released {
    /// There is room now.
    Some,
    /// Nothing was left to release.
    None,
}

impl Reserve {
    /// The reserve in this file. Nothing is read or written.
    pub const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The current size of the reserve.
    pub fn bytes(&self) -> u64 {
        // A file of holes sets nothing aside, so its length does not count.
        fs::metadata(&self.path).map_or(0, |file| (file.blocks() * 512).min(RESERVE_BYTES))
    }

    /// Sets the space aside, unless it is already or the disk has too little: `free` bytes.
    pub fn fill(&self, free: u64) -> io::Result<()> {
        let held = self.bytes();
        if held == RESERVE_BYTES || free < RESERVE_BYTES - held + MARGIN_BYTES {
            return Ok(());
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&self.path)?;
        let filled = match fallocate(&file, FallocateFlags::empty(), 0, RESERVE_BYTES) {
            Err(Errno::OPNOTSUPP) => write_noise(&file),
            allocated => allocated.map_err(Into::into),
        };
        // A partial reserve would take the little space that is left.
        filled.or_else(|error| file.set_len(held).and(Err(error)))
    }

    /// Releases some space.
    pub fn release(&self) -> io::Result<Released> {
        let file = match OpenOptions::new().write(true).open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Released::None),
            file => file?,
        };
        let bytes = file.metadata()?.len();
        if bytes == 0 {
            return Ok(Released::None);
        }
        file.set_len(bytes.saturating_sub(STEP_BYTES))?;
        Ok(Released::Some)
    }
}

/// Fills the file with data that no file system can compress.
fn write_noise(mut file: &File) -> io::Result<()> {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut block = [0_u8; 64 << 10];
    for _ in 0..RESERVE_BYTES / block.len() as u64 {
        for bytes in block.chunks_exact_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.copy_from_slice(&state.to_le_bytes());
        }
        file.write_all(&block)?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k5_the_reserve_is_allocated_given_up_in_steps_and_filled_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reserve");
        let reserve = Reserve::new(path.clone());
        assert_eq!(reserve.release().unwrap(), Released::None);
        reserve.fill(MARGIN_BYTES).unwrap();
        assert!(!path.exists(), "a disk that is nearly full is left alone");
        reserve.fill(u64::MAX).unwrap();
        assert_eq!(reserve.bytes(), RESERVE_BYTES);
        let mut steps = 0;
        while reserve.release().unwrap() == Released::Some {
            steps += 1;
        }
        assert_eq!((steps, reserve.bytes()), (RESERVE_BYTES / STEP_BYTES, 0));
        reserve.fill(u64::MAX).unwrap();
        assert_eq!(reserve.bytes(), RESERVE_BYTES);
    }

    #[test]
    fn k5_random_bytes_fill_the_reserve_where_fallocate_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reserve");
        write_noise(&File::create(&path).unwrap()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), RESERVE_BYTES);
    }
}
