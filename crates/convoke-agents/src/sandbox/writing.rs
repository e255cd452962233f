//! What a confined program may write: existing files, and folders, which are made when they are missing.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};

use super::Shortfall;
use crate::{Error, Result};

/// The paths to grant, with links resolved.
///
/// A path inside another one adds nothing. It is passed over, because a program that was confined to the other one before
/// may have put a link in its place, and would be given what the link leads to.
pub(super) fn writable(
    asked_for: &[PathBuf],
    shortfalls: &mut Vec<Shortfall>,
) -> Result<Vec<PathBuf>> {
    let mut paths: Vec<&PathBuf> = asked_for.iter().collect();
    paths.sort_by_key(|path| path.components().count());
    let mut granted: Vec<PathBuf> = Vec::new();
    for path in paths {
        let fail = |source| Error::Confine { path: path.clone(), source };
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, "it has `..` in it")));
        }
        let absolute = std::path::absolute(path).map_err(fail)?;
        if is_inside(&absolute, &granted) {
            continue;
        }
        match there(&absolute).map_err(fail)? {
            Some(real) => granted.push(real),
            None => shortfalls.push(Shortfall::Missing { path: absolute }),
        }
    }
    Ok(granted)
}

/// Whether the entry at the end of a path is in the hands of whoever may write the folders.
fn is_inside(path: &Path, folders: &[PathBuf]) -> bool {
    let real = path.ancestors().skip(1).filter_map(|folder| folder.canonicalize().ok());
    real.into_iter().any(|real| folders.iter().any(|folder| real.starts_with(folder)))
}

/// What the path leads to. A missing folder is made; a missing file is not, for an empty one could be a broken one.
fn there(path: &Path) -> io::Result<Option<PathBuf>> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        known => return known.map(Some),
    }
    // Agents keep their state in folders without an ending and in files with one.
    if path.extension().is_some() {
        return Ok(None);
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    path.canonicalize().map(Some)
}
