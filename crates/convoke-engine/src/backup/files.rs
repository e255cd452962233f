//! Copies files and folders with their hashes: private to the owner, and synced. Links and special files are skipped.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use super::{BackedUpFile, DATABASE, Result, io_error};

/// The size of the copy buffer.
const PIECE: usize = 128 * 1024;

/// Creates a folder and its parents, accessible to the owner only.
pub(super) fn create_folder(path: &Path) -> Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io_error("create", path))
}

/// An upper bound of the size of a backup of these entries.
pub(super) fn measure(home: &Path, entries: &[PathBuf]) -> Result<u64> {
    let length = |path: PathBuf| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let mut bytes = length(home.join(DATABASE)) + length(home.join(format!("{DATABASE}-wal")));
    for entry in entries {
        for file in walk(home, entry)? {
            bytes += length(home.join(file));
        }
    }
    Ok(bytes)
}

/// The regular files at or below an entry, relative to `root`; none if the entry does not exist.
fn walk(root: &Path, entry: &Path) -> Result<Vec<PathBuf>> {
    let path = root.join(entry);
    let kind = match fs::symlink_metadata(&path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_error("look at", &path)(error)),
    };
    if kind.is_file() {
        // Lock files matter only to running processes.
        let is_lock = path.extension().is_some_and(|extension| extension == "lock");
        return Ok(if is_lock { Vec::new() } else { vec![entry.to_owned()] });
    }
    if !kind.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    match fs::read_dir(&path) {
        Ok(listed) => {
            for item in listed {
                names.push(item.map_err(io_error("read", &path))?.file_name());
            }
        }
        // Question sessions may be deleted concurrently.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(io_error("read", &path)(error)),
    }
    names.sort();
    let mut files = Vec::new();
    for name in names {
        files.extend(walk(root, &entry.join(name))?);
    }
    Ok(files)
}

/// Copies an entry and lists its files. A file that disappears meanwhile is skipped.
pub(super) fn copy_entry(
    from: &Path,
    entry: &Path,
    to: &Path,
    listed: &mut Vec<BackedUpFile>,
) -> Result<()> {
    for file in walk(from, entry)? {
        let target = to.join(&file);
        if let Some(folder) = target.parent() {
            create_folder(folder)?;
        }
        let source = from.join(&file);
        let opened = match File::open(&source) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(io_error("read", &source)(error)),
        };
        let mut new = create(&target).map_err(io_error("create", &target))?;
        // What is appended to a transcript from now on belongs to the next backup.
        let length = opened.metadata().map_err(io_error("read", &source))?.len();
        let (bytes, sha256) =
            pump(opened.take(length), Some(&mut new)).map_err(io_error("copy", &source))?;
        new.sync_all().map_err(io_error("write", &target))?;
        listed.push(BackedUpFile { path: file, bytes, sha256 });
    }
    Ok(())
}

/// The length and the hash of a file; reads it.
pub(super) fn describe(root: &Path, file: &Path) -> Result<BackedUpFile> {
    let path = root.join(file);
    let opened = File::open(&path).map_err(io_error("read", &path))?;
    let (bytes, sha256) = pump(opened, None).map_err(io_error("read", &path))?;
    Ok(BackedUpFile { path: file.to_owned(), bytes, sha256 })
}

/// Writes a new file and syncs it.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = create(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(io_error("write", path))
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn pump(mut from: impl io::Read, mut to: Option<&mut File>) -> io::Result<(u64, String)> {
    let (mut hash, mut bytes, mut piece) = (Sha256::new(), 0, vec![0; PIECE]);
    loop {
        let count = from.read(&mut piece)?;
        let read = piece.get(..count).unwrap_or_default();
        if read.is_empty() {
            let hash = HEXLOWER.encode(&hash.finalize());
            return Ok((bytes, hash));
        }
        hash.update(read);
        if let Some(to) = &mut to {
            to.write_all(read)?;
        }
        bytes += count as u64;
    }
}

/// Syncs a folder, so that the names in it are durable.
pub(super) fn sync_folder(path: &Path) -> Result<()> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(io_error("sync", path))
}

/// Syncs a folder and all folders below it.
pub(super) fn sync_tree(path: &Path) -> Result<()> {
    for entry in fs::read_dir(path).map_err(io_error("read", path))? {
        let entry = entry.map_err(io_error("read", path))?;
        if entry.file_type().map_err(io_error("read", path))?.is_dir() {
            sync_tree(&entry.path())?;
        }
    }
    sync_folder(path)
}
