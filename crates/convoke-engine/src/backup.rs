//! Backups of a home: a copy of the database and of the files beside it that are data, in one folder with a manifest.
//!
//! Blocking, and independent of a running daemon: the daemon and the command line call the same functions. A backup
//! gets its name only after it was read back and verified; until then it is a hidden folder, which the next backup
//! removes.

mod files;
mod manifest;
mod restore;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use convoke_core::time::Timestamp;
use convoke_files::lock::Lock;

pub use convoke_store::{Contents, Progress};
pub use manifest::{BackedUpFile, Manifest};
pub use restore::{Restored, Unfinished, finish_restore, restore, unfinished_restore};

/// The name of the database in a home and in a backup.
const DATABASE: &str = "convoke.db";
/// The prefix of the names of backups; other folders beside them are never touched.
const PREFIX: &str = "convoke-";
/// The prefix of the names of unfinished backups.
const PARTIAL: &str = ".partial-convoke-";
/// Space that a backup leaves free on the disk.
const SPARE_BYTES: u64 = 64 * 1024 * 1024;

/// What is backed up, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The home.
    pub home: PathBuf,
    /// Files and folders of the home to back up, besides the database; relative to the home. They need not exist.
    pub entries: Vec<PathBuf>,
    /// The folder of the backups.
    pub folder: PathBuf,
    /// How many backups are kept in the folder; `None` keeps all.
    pub keep: Option<usize>,
    /// The version of this program, for the manifest.
    pub version: String,
}

/// A backup that was made and verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// The folder of this backup.
    pub path: PathBuf,
    /// The manifest.
    pub manifest: Manifest,
    /// Older backups that were removed afterwards.
    pub removed: Vec<PathBuf>,
}

/// Why a backup was not made, cannot be used, or was not restored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another backup of the same home is being made.
    #[error("another backup of this home is being made")]
    Running {
        /// The process that makes it, if known.
        pid: Option<u32>,
    },
    /// Not enough disk space.
    #[error("a backup needs {needed} bytes in {folder}, and {free} are free")]
    NoRoom {
        /// The folder of the backups.
        folder: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        free: u64,
    },
    /// The folder or file is not a backup.
    #[error("{path} is not a backup: {why}")]
    NotABackup {
        /// The path.
        path: PathBuf,
        /// What is missing.
        why: String,
    },
    /// The backup does not match its manifest.
    #[error("the backup {path} is damaged: {what}")]
    Damaged {
        /// The backup.
        path: PathBuf,
        /// Which file differs, and how.
        what: String,
    },
    /// A file operation failed.
    #[error("cannot {verb} {path}")]
    Io {
        /// The operation.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The database cannot be copied.
    #[error(transparent)]
    Store(#[from] convoke_store::Error),
    /// The lock cannot be taken.
    #[error(transparent)]
    Lock(convoke_files::Error),
}

/// The result of functions in this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Makes a backup, verifies it, and then removes the oldest ones beyond `keep`.
pub fn make(plan: &Plan, now: Timestamp, mut progress: impl FnMut(Progress)) -> Result<Backup> {
    let _lock = lock(&plan.home)?;
    files::create_folder(&plan.folder)?;
    remove_partial(&plan.folder);
    let total = files::measure(&plan.home, &plan.entries)?;
    require_room(&plan.folder, total)?;
    let name = free_name(&plan.folder, now);
    let partial = plan.folder.join(format!(".partial-{name}"));
    let path = plan.folder.join(&name);
    let made = fill(plan, &partial, now, &mut progress).and_then(|manifest| {
        Manifest::verify(&partial)?;
        fs::rename(&partial, &path).map_err(io_error("rename", &partial))?;
        files::sync_folder(&plan.folder)?;
        Ok(manifest)
    });
    let manifest = match made {
        Ok(manifest) => manifest,
        Err(error) => {
            // If it cannot be removed, the next backup tries again.
            fs::remove_dir_all(&partial).ok();
            return Err(error);
        }
    };
    let removed = plan.keep.map_or_else(|| Ok(Vec::new()), |keep| prune(&plan.folder, keep))?;
    Ok(Backup { path, manifest, removed })
}

fn fill(
    plan: &Plan,
    partial: &Path,
    now: Timestamp,
    progress: &mut dyn FnMut(Progress),
) -> Result<Manifest> {
    files::create_folder(partial)?;
    let copy = partial.join(DATABASE);
    let database = convoke_store::backup::make(&plan.home.join(DATABASE), &copy, progress)?;
    let mut listed = vec![files::describe(partial, Path::new(DATABASE))?];
    for entry in &plan.entries {
        files::copy_entry(&plan.home, entry, partial, &mut listed)?;
    }
    let manifest = Manifest {
        version: plan.version.clone(),
        created_at: now,
        home: plan.home.clone(),
        database,
        entries: entries_of(&listed, &plan.entries),
        files: listed,
    };
    manifest.write(partial)?;
    files::sync_tree(partial)?;
    Ok(manifest)
}

/// The database, and those of the wanted entries that existed.
fn entries_of(files: &[BackedUpFile], wanted: &[PathBuf]) -> Vec<PathBuf> {
    let is_there = |entry: &&PathBuf| files.iter().any(|file| file.path.starts_with(entry));
    std::iter::once(PathBuf::from(DATABASE))
        .chain(wanted.iter().filter(is_there).cloned())
        .collect()
}

/// The finished backups in a folder, oldest first; empty if the folder does not exist.
pub fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_error("read", folder)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io_error("read", folder))?;
        let is_named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_named && entry.path().join(manifest::NAME).is_file() {
            found.push(entry.path());
        }
    }
    // The names begin with the time.
    found.sort();
    Ok(found)
}

/// The newest backup in a folder.
pub fn newest(folder: &Path) -> Result<Option<(PathBuf, Manifest)>> {
    for path in list(folder)?.into_iter().rev() {
        if let Ok(manifest) = Manifest::read(&path) {
            return Ok(Some((path, manifest)));
        }
    }
    Ok(None)
}

fn prune(folder: &Path, keep: usize) -> Result<Vec<PathBuf>> {
    let mut all = list(folder)?;
    let mut removed = Vec::new();
    let surplus = all.len().saturating_sub(keep.max(1));
    for path in all.drain(..surplus) {
        // Without its manifest it is no longer a backup, however far the removal gets.
        let manifest = path.join(manifest::NAME);
        fs::remove_file(&manifest).map_err(io_error("remove", &manifest))?;
        fs::remove_dir_all(&path).map_err(io_error("remove", &path))?;
        removed.push(path);
    }
    Ok(removed)
}

/// Ensures that only one backup or restore of a home runs at a time.
fn lock(home: &Path) -> Result<Lock> {
    let folder = home.join("run");
    files::create_folder(&folder)?;
    Lock::try_acquire(&folder.join("backup.lock")).map_err(|error| {
        if let convoke_files::Error::Locked { holder, .. } = error {
            return Error::Running { pid: holder };
        }
        Error::Lock(error)
    })
}

/// Removes what killed backups left behind. The caller holds the lock, so none of it is in use.
fn remove_partial(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PARTIAL)
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            tracing::warn!("cannot remove {}: {error}", entry.path().display());
        }
    }
}

fn require_room(folder: &Path, bytes: u64) -> Result<()> {
    let system = rustix::fs::statvfs(folder)
        .map_err(|error| io_error("look at the disk of", folder)(error.into()))?;
    let (free, needed) = (system.f_bavail.saturating_mul(system.f_frsize), bytes + SPARE_BYTES);
    if free < needed {
        return Err(Error::NoRoom { folder: folder.to_owned(), needed, free });
    }
    Ok(())
}

/// The name of a new backup: its time, so that names sort by age.
fn free_name(folder: &Path, now: Timestamp) -> String {
    let name = format!("{PREFIX}{}", stamp(now));
    let numbered = (2..1000).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| !folder.join(name).exists()).unwrap_or(name)
}

/// A time as part of a file name.
fn stamp(now: Timestamp) -> String {
    now.to_string().replace(':', "-")
}

fn io_error(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { verb, path, source }
}

#[cfg(test)]
mod tests;
