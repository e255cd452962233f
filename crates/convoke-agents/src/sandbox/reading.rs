//! The paths that a confined program may read: everything except some folders, expressed as a list
//! of the entries beside the paths to them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Shortfall;
use crate::{Error, Result};

/// Devices such as disks expose more than their file systems do, so devices are granted by name.
const DEVICES: &str = "/dev";

/// The path with all its links resolved, also when its end does not exist yet.
pub(super) fn resolve(path: &Path) -> Result<PathBuf> {
    let fail = |source| Error::Confine { path: path.to_owned(), source };
    let absolute = std::path::absolute(path).map_err(fail)?;
    for existing in absolute.ancestors() {
        match existing.canonicalize() {
            Ok(real) => {
                let rest = absolute.strip_prefix(existing).unwrap_or(Path::new(""));
                // Joining nothing would add a slash.
                return Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(fail(error)),
        }
    }
    Ok(absolute)
}

/// Files and folders that cover everything except the hidden folders and the devices.
///
/// Links are left out: their targets are listed in their own place, or must not be read.
pub(super) fn readable(hidden: &[PathBuf], shortfalls: &mut Vec<Shortfall>) -> Vec<PathBuf> {
    let closed: BTreeSet<&Path> =
        hidden.iter().map(PathBuf::as_path).chain([Path::new(DEVICES)]).collect();
    let is_closed = |path: &Path| closed.iter().any(|closed| path.starts_with(closed));
    let on_the_way: BTreeSet<&Path> = closed
        .iter()
        .flat_map(|closed| closed.ancestors().skip(1))
        .filter(|folder| !is_closed(folder))
        .collect();
    let mut readable = Vec::new();
    for folder in &on_the_way {
        match list(folder) {
            Ok(entries) => readable.extend(entries.into_iter().filter(|path| {
                !closed.contains(path.as_path()) && !on_the_way.contains(path.as_path())
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => {
                shortfalls.push(Shortfall::Unlistable { path: folder.to_path_buf(), source });
            }
        }
    }
    readable
}

/// The entries of a folder that are no links.
fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // An entry without a type was removed meanwhile.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            paths.push(entry.path());
        }
    }
    Ok(paths)
}
