//! The file system of a confined program: every path of the policy is resolved once, and held open.
//!
//! Later stages bind or grant exactly what was opened here, or the program is not started; a path
//! that is swapped in between has no effect.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, fstat, openat};
use serde::{Deserialize, Serialize};

use super::paths::WithPaths;
use super::policy::{Policy, StartFiles, Text};
use super::repositories::{self, Depth, Repositories};
use super::resolve::open_without_links;
use super::{Shortfall, mounts, planted, reading};
use crate::{Error, Result};

/// A file or folder, with an open descriptor that identifies it.
pub(super) struct Opened {
    pub(super) path: PathBuf,
    pub(super) descriptor: OwnedFd,
}

/// The identity of the file or folder of a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    pub(super) fn of(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
        let found = fstat(descriptor)?;
        Ok(Self { device: found.st_dev, inode: found.st_ino })
    }
}

impl WithPaths for (PathBuf, Identity) {
    type Wire = (Text, Identity);

    fn to_wire(&self) -> Self::Wire {
        (self.0.to_wire(), self.1)
    }

    fn from_wire((path, identity): Self::Wire) -> Self {
        (PathBuf::from_wire(path), identity)
    }
}

/// A policy resolved on this machine.
pub(super) struct Layout {
    /// Writable paths, the workspace first.
    pub(super) writable: Vec<Opened>,
    /// Hidden paths.
    pub(super) hidden: Vec<PathBuf>,
    /// Readable paths inside of the hidden ones.
    pub(super) readable: Vec<PathBuf>,
    /// Read-only paths inside of the writable ones.
    pub(super) protected: Vec<PathBuf>,
    /// Folders around those, which are mounted onto themselves, so that they can be neither renamed
    /// nor replaced.
    pub(super) held: Vec<PathBuf>,
    /// The identities of both, to be compared with what is mounted.
    pub(super) identities: Vec<(PathBuf, Identity)>,
    /// Sockets that may be connected to.
    pub(super) sockets: Vec<PathBuf>,
    /// The repositories in writable folders, to be watched.
    pub(super) repositories: Vec<PathBuf>,
}

impl Layout {
    /// Resolves a policy for a workspace that was opened already. Missing writable folders are
    /// created.
    pub(super) fn resolve(
        policy: &Policy,
        workspace: Opened,
        shortfalls: &mut Vec<Shortfall>,
    ) -> Result<Self> {
        let mut writable = vec![workspace];
        let temp = policy.temp.iter();
        let mut asked_for: Vec<&PathBuf> = policy.writable.iter().chain(temp).collect();
        asked_for.sort_by_key(|path| path.components().count());
        for path in asked_for {
            add_writable(path, &mut writable, shortfalls)?;
        }
        for path in &policy.writable_direct {
            add_direct(path, &mut writable)?;
        }
        let hidden = policy.hidden.iter().map(|path| reading::resolve(path));
        let mut hidden = hidden.collect::<Result<Vec<_>>>()?;
        for hidden in &hidden {
            let around = writable.iter().find(|folder| hidden.starts_with(&folder.path));
            if let Some(around) = around {
                let (hidden, writable) = (hidden.clone(), around.path.clone());
                return Err(Error::Exposed { hidden, writable });
            }
        }
        let exists = |path: &&PathBuf| fs::symlink_metadata(path).is_ok();
        let resolved = |path: &PathBuf| reading::resolve(path).ok();
        let readable: Vec<PathBuf> =
            policy.readable.iter().filter(exists).filter_map(resolved).collect();
        hidden.extend(policy.secrets.iter().filter(exists).filter_map(resolved));
        let aliases: Vec<PathBuf> = hidden.iter().flat_map(|path| mounts::aliases(path)).collect();
        hidden.extend(aliases);
        let is_open = |path: &PathBuf| readable.iter().any(|open| path.starts_with(open));
        hidden.retain(|path| !is_open(path) && !writable.iter().any(|it| it.path == *path));
        hidden.sort();
        hidden.dedup();
        let mut protected: Vec<PathBuf> =
            policy.protected.iter().filter(exists).filter_map(resolved).collect();
        let repositories = repositories(policy, &writable, shortfalls)?;
        let mut kept = BTreeSet::new();
        if let (Some(workspace), StartFiles::Protected) = (writable.first(), policy.start_files) {
            protected.extend(planted::in_workspace(&workspace.path, &repositories));
            kept = repositories.kept;
        }
        let (held, identities) = hold(&mut protected, kept, &writable);
        let sockets = policy.sockets.iter().filter_map(resolved).collect();
        let repositories = repositories.folders.into_iter().collect();
        Ok(Self { writable, hidden, readable, protected, held, identities, sockets, repositories })
    }
}

/// The repositories in the writable folders, without files that lead git to another configuration.
fn repositories(
    policy: &Policy,
    writable: &[Opened],
    shortfalls: &mut Vec<Shortfall>,
) -> Result<Repositories> {
    if policy.layers.bubblewrap.is_none() {
        return Ok(Repositories::default());
    }
    let depth = match policy.start_files {
        StartFiles::Protected => Depth::Workspace,
        StartFiles::Writable => Depth::Top,
    };
    let folders: Vec<&Path> = writable.iter().map(|it| it.path.as_path()).collect();
    let mut found = repositories::search(&folders, depth);
    // Also one that the program makes itself.
    found.folders.extend(folders.first().map(|workspace| workspace.join(".git")));
    for path in planted::redirections(&found.folders) {
        let repaired = planted::repair(&path);
        repaired.map_err(|source| Error::Redirected { path: path.clone(), source })?;
        shortfalls.push(Shortfall::Repaired { path });
    }
    if policy.start_files == StartFiles::Protected {
        let read_only = found.read_only.iter().cloned();
        shortfalls.extend(read_only.map(|path| Shortfall::ReadOnly { path }));
        let unsearched = found.passed_over.iter().cloned();
        shortfalls.extend(unsearched.map(|path| Shortfall::Unsearched { path }));
    }
    Ok(found)
}

/// The folders between a protected path and the writable folder around it, and further folders that
/// are kept, with the identities of all.
///
/// A path that leads through a link is skipped: it may lead anywhere, and an agent could replace
/// the link.
fn hold(
    protected: &mut Vec<PathBuf>,
    kept: BTreeSet<PathBuf>,
    writable: &[Opened],
) -> (Vec<PathBuf>, Vec<(PathBuf, Identity)>) {
    let mut identities: BTreeMap<PathBuf, Identity> = BTreeMap::new();
    let mut held = BTreeSet::new();
    let all: BTreeSet<PathBuf> = protected.iter().cloned().collect();
    // A mount inside of a read-only one would be writable.
    let is_covered = |path: &Path| path.ancestors().skip(1).any(|around| all.contains(around));
    let mut identify = |path: &Path| {
        let around = writable.iter().find(|it| path.starts_with(&it.path) && it.path != *path)?;
        for folder in path.ancestors().take_while(|folder| *folder != around.path) {
            if !identities.contains_key(folder) {
                identities.insert(folder.to_owned(), plain(folder)?);
            }
            if folder != path {
                held.insert(folder.to_owned());
            }
        }
        Some(())
    };
    protected.retain(|path| !is_covered(path) && identify(path).is_some());
    let kept = kept.into_iter().filter(|path| !is_covered(path) && identify(path).is_some());
    let kept: Vec<PathBuf> = kept.collect();
    held.extend(kept);
    held.retain(|folder| !all.contains(folder));
    (held.into_iter().collect(), identities.into_iter().collect())
}

/// The identity of a path without links.
fn plain(path: &Path) -> Option<Identity> {
    let opened = open_without_links(path, OFlags::empty()).ok()?;
    Identity::of(opened.as_fd()).ok()
}

/// Opens a writable path, unless it is inside of another one.
///
/// A path inside another one adds nothing, and a program that was confined to the other one before
/// may have replaced it by a link.
fn add_writable(
    path: &Path,
    writable: &mut Vec<Opened>,
    shortfalls: &mut Vec<Shortfall>,
) -> Result<()> {
    let fail = |source| Error::Confine { path: path.to_owned(), source };
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, "it contains `..`")));
    }
    let absolute = std::path::absolute(path).map_err(fail)?;
    let is_inside = |path: &Path| writable.iter().any(|folder| path.starts_with(&folder.path));
    let mut around = absolute.ancestors().skip(1).filter_map(|folder| folder.canonicalize().ok());
    if around.any(|folder| is_inside(&folder)) {
        return Ok(());
    }
    let opened = match open(&absolute) {
        Ok(opened) => opened,
        // Agents store their state in folders without an extension and in files with one. A missing
        // file is not created: an empty one could be invalid.
        Err(error) if error.kind() == io::ErrorKind::NotFound && absolute.extension().is_none() => {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&absolute).map_err(fail)?;
            open(&absolute).map_err(fail)?
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            shortfalls.push(Shortfall::Missing { path: absolute });
            return Ok(());
        }
        Err(error) => return Err(fail(error)),
    };
    if !is_inside(&opened.path) {
        writable.push(opened);
    }
    Ok(())
}

/// Opens a writable path without following links, unless it is inside of another one.
fn add_direct(path: &Path, writable: &mut Vec<Opened>) -> Result<()> {
    let fail = |source| Error::Confine { path: path.to_owned(), source };
    let descriptor = open_without_links(path, OFlags::empty()).map_err(fail)?;
    let opened = Opened { path: path_of(descriptor.as_fd()).map_err(fail)?, descriptor };
    if !writable.iter().any(|folder| opened.path.starts_with(&folder.path)) {
        writable.push(opened);
    }
    Ok(())
}

/// Opens a file or folder by its path, following links, and returns its real path.
pub(super) fn open(path: &Path) -> io::Result<Opened> {
    let descriptor = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let path = path_of(descriptor.as_fd())?;
    Ok(Opened { path, descriptor })
}

/// The path of a descriptor, from the kernel.
pub(super) fn path_of(descriptor: BorrowedFd<'_>) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd;
    let path = fs::read_link(format!("/proc/self/fd/{}", descriptor.as_raw_fd()))?;
    if path.as_os_str().as_encoded_bytes().ends_with(b" (deleted)") {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(path)
}
