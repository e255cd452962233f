//! The permissions of files in the home. Landlock does not keep an agent from changing them, so
//! they are restored.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::Home;

/// The folder of checkpoints. Git sets the permissions of its files, and others cannot enter the
/// folder.
const OF_GIT: &str = "snapshots";
/// Folders whose entries are checked each time, besides the home itself; the others are checked at
/// start only.
const WATCHED: [&str; 2] = ["run", "logs"];

/// How deep the permissions are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The home, the files that the daemon needs, and the logs.
    Essential,
    /// Everything.
    Whole,
}

/// Permissions that were put back, or could not be.
#[derive(Debug)]
pub(crate) struct Repair {
    /// The path.
    pub(crate) path: PathBuf,
    /// The permissions that were found.
    pub(crate) found: u32,
    /// The permissions that it should have.
    pub(crate) wanted: u32,
    /// The result.
    pub(crate) result: io::Result<()>,
}

impl Repair {
    /// Writes a line to the security log: a warning, unless an editor or a umask explains the
    /// change.
    pub(crate) fn log(&self) {
        let is_usual = self.result.is_ok() && self.found & 0o777 & self.wanted == self.wanted;
        if is_usual && !self.path.is_dir() {
            tracing::info!(target: "security", "{self}");
        } else {
            tracing::warn!(target: "security", "{self}");
        }
    }
}

impl std::fmt::Display for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, found, wanted, result } = self;
        let path = path.display();
        match result {
            Ok(()) => {
                write!(f, "restored the permissions of {path} from {found:03o} to {wanted:03o}")
            }
            Err(error) => write!(
                f,
                "cannot change the permissions of {path} from {found:03o} to {wanted:03o}: {error}"
            ),
        }
    }
}

impl Home {
    /// Restores the owner-only permissions. Nothing is created, and links are not followed.
    pub(crate) fn protect(&self, depth: Depth) -> Vec<Repair> {
        let mut repairs = Vec::new();
        // One that is not there needs no protection.
        let Ok(home) = fs::metadata(&self.path) else { return repairs };
        let is_own = home.is_dir() && home.uid() == rustix::process::geteuid().as_raw();
        if !is_own || self.is_foreign() {
            return repairs;
        }
        repair(&self.path, &home, Rule::Private, &mut repairs);
        let of_git = self.path.join(OF_GIT);
        match depth {
            Depth::Essential => {
                protect_entries(&self.path, Rule::Private, &mut repairs);
                for folder in WATCHED {
                    protect_entries(&self.path.join(folder), Rule::Private, &mut repairs);
                }
            }
            Depth::Whole => {
                let mut folders = vec![self.path.clone()];
                while let Some(folder) = folders.pop() {
                    let is_of_git = folder.starts_with(&of_git);
                    let rule = if is_of_git { Rule::Readable } else { Rule::Private };
                    folders.extend(protect_entries(&folder, rule, &mut repairs));
                }
            }
        }
        repairs
    }
}

/// The required permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// For the owner alone.
    Private,
    /// The owner can read it.
    Readable,
}

/// Checks the entries of a folder, and returns the subfolders.
fn protect_entries(folder: &Path, rule: Rule, repairs: &mut Vec<Repair>) -> Vec<PathBuf> {
    // A folder that is missing or was just removed has nothing in it.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let owner = rustix::process::geteuid().as_raw();
    let mut folders = Vec::new();
    for entry in entries {
        let Ok(found) = entry.metadata() else { continue };
        if found.is_symlink() || found.uid() != owner {
            continue;
        }
        let path = entry.path();
        repair(&path, &found, rule, repairs);
        folders.extend(found.is_dir().then_some(path));
    }
    folders
}

fn repair(path: &Path, metadata: &fs::Metadata, rule: Rule, repairs: &mut Vec<Repair>) {
    let found = metadata.permissions().mode() & 0o7777;
    let wanted = if metadata.is_dir() { 0o700 } else { (found & 0o100) | 0o600 };
    let least = if metadata.is_dir() { 0o700 } else { 0o400 };
    let is_fine = match rule {
        Rule::Private => found == wanted,
        Rule::Readable => found & least == least,
    };
    if is_fine {
        return;
    }
    let result = match fs::set_permissions(path, Permissions::from_mode(wanted)) {
        // A file that was removed meanwhile needs no protection.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        result => result,
    };
    repairs.push(Repair { path: path.to_owned(), found, wanted, result });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Environment;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn k1_permissions_are_put_back_at_any_depth_and_links_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("home");
        let outside = folder.path().join("outside");
        fs::create_dir_all(path.join("questions/one")).unwrap();
        fs::create_dir(path.join("run")).unwrap();
        for file in ["config.toml", "convoke.db", "run/token", "questions/one/status.json"] {
            fs::write(path.join(file), "").unwrap();
        }
        fs::write(&outside, "").unwrap();
        std::os::unix::fs::symlink(&outside, path.join("link")).unwrap();
        let set = |path: &Path, mode| {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        set(&outside, 0o644);
        for (file, mode) in [
            ("config.toml", 0o644),
            ("run/token", 0o000),
            ("questions/one/status.json", 0o666),
            ("run", 0o777),
            ("", 0o000),
        ] {
            set(&path.join(file), mode);
        }
        let home = Home::locate(Some(&path), &Environment::default()).unwrap();

        let repairs = home.protect(Depth::Whole);
        assert!(repairs.iter().all(|repair| repair.result.is_ok()), "{repairs:?}");
        let repaired = repairs.iter().filter(|repair| repair.path == path);
        assert_eq!(repaired.map(|repair| (repair.found, repair.wanted)).next(), Some((0, 0o700)));
        let modes =
            ["", "run", "questions/one", "config.toml", "run/token", "questions/one/status.json"]
                .map(|file| mode(&path.join(file)));
        assert_eq!(modes, [0o700, 0o700, 0o700, 0o600, 0o600, 0o600]);
        assert_eq!(mode(&outside), 0o644);
        assert!(home.protect(Depth::Whole).is_empty());
        assert!(home.protect(Depth::Essential).is_empty());
    }

    #[test]
    fn c1_k1_files_of_git_keep_their_permissions_unless_the_owner_cannot_read_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("home");
        let objects = path.join("snapshots/p.git/objects");
        fs::create_dir_all(&objects).unwrap();
        fs::write(path.join("convoke.db"), "").unwrap();
        fs::set_permissions(path.join("convoke.db"), Permissions::from_mode(0o600)).unwrap();
        let set = |path: &Path, mode| {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        for (file, mode) in [("usual", 0o444), ("hidden", 0o000)] {
            fs::write(objects.join(file), "").unwrap();
            set(&objects.join(file), mode);
        }
        set(&path.join("snapshots/p.git"), 0o500);
        for (folder, mode) in [(&path, 0o700), (&path.join("snapshots"), 0o755), (&objects, 0o755)]
        {
            set(folder, mode);
        }
        let home = Home::locate(Some(&path), &Environment::default()).unwrap();
        assert_eq!(home.protect(Depth::Whole).len(), 3);
        assert_eq!((mode(&objects), mode(&objects.join("usual"))), (0o755, 0o444));
        assert_eq!((mode(&objects.join("hidden")), mode(&path.join("snapshots"))), (0o600, 0o700));
        assert_eq!(mode(&path.join("snapshots/p.git")), 0o700);
        assert!(home.protect(Depth::Whole).is_empty());
    }
}
