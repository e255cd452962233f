//! Convoke's home: its location, its contents, and that only its owner can read it.

mod modes;

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use convoke_core::id::NodeId;
use convoke_files::reserve::Reserve;

use crate::environment::Environment;

pub(crate) use modes::{Depth, Repair};

/// Files that only a home has: the database, and the lock of a daemon. If the database is on a PostgreSQL server, there
/// is `node` instead, a file with the id of this machine.
const MARKERS: [&str; 2] = ["convoke.db", "run/serve.lock"];
/// All other entries that Convoke makes in a home. There may be no marker beside them: before the first use, after
/// commands that need no database, and after a database was deleted.
const ENTRIES: [&str; 16] = [
    "agents",
    "backups",
    "blobs",
    "comparisons",
    "logs",
    "questions",
    "registry.json",
    "restore.json",
    "restore.partial",
    "run",
    "set-aside",
    "snapshots",
    "spawn",
    "teams.json",
    "lost+found",
    ".DS_Store",
];
/// The mode of a home: accessible to its owner only.
const PRIVATE: u32 = 0o700;

/// The folder of the configuration, the database and the logs. Naming it touches nothing.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    path: PathBuf,
    origin: Origin,
}

/// The source of the home's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Neither: the default, `~/.convoke`.
    Default,
    /// `CONVOKE_HOME`.
    Variable,
    /// `--home`.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::Variable => "env CONVOKE_HOME",
            Self::Flag => "flag --home",
        })
    }
}

/// Why a folder cannot be Convoke's home.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Neither a flag nor a variable sets it.
    #[error("cannot locate the home: HOME is not set to an absolute path")]
    Unknown,
    /// The choice is an empty string.
    #[error("the home given by {origin} is empty")]
    Empty { origin: Origin },
    /// The choice depends on the current folder.
    #[error("the home given by {origin} is not an absolute path: {}", path.display())]
    Relative { origin: Origin, path: PathBuf },
    /// It is not a folder.
    #[error("the home is not a folder: {}", path.display())]
    NotAFolder { path: PathBuf },
    /// It belongs to something else.
    #[error("{} is not a home of Convoke: it has other files", path.display())]
    Foreign { origin: Origin, path: PathBuf },
    /// It is not there and cannot be made.
    #[error("cannot create the home {}", path.display())]
    Create { path: PathBuf, source: io::Error },
    /// It exists, but cannot be written.
    #[error("cannot write in the home {}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
}

/// Whether others can look into a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exposure {
    /// Only its owner can.
    Private,
    /// Others can, by these permissions.
    Open {
        /// The permission bits of the folder.
        mode: u32,
    },
}

impl Exposure {
    fn of(folder: &fs::Metadata) -> Self {
        let mode = folder.permissions().mode() & 0o777;
        if mode & !PRIVATE == 0 { Self::Private } else { Self::Open { mode } }
    }
}

impl Home {
    /// Decides where the home is: the flag, else `CONVOKE_HOME`, else `~/.convoke`.
    pub(crate) fn locate(flag: Option<&Path>, environment: &Environment) -> Result<Self, Error> {
        let variable = environment.get("CONVOKE_HOME").map(Path::new);
        let (origin, path) = match (flag, variable) {
            (Some(path), _) => (Origin::Flag, path),
            (None, Some(path)) => (Origin::Variable, path),
            (None, None) => (Origin::Default, Path::new("~/.convoke")),
        };
        if path.as_os_str().is_empty() {
            return Err(Error::Empty { origin });
        }
        let path = environment.expand_tilde(path).ok_or(Error::Unknown)?;
        if !path.is_absolute() {
            return Err(Error::Relative { origin, path });
        }
        Ok(Self { path, origin })
    }

    /// Checks the home for a read-only command: nothing is created or written, and it need not
    /// exist.
    pub(crate) fn inspect(&self) -> Result<Exposure, Error> {
        match fs::metadata(&self.path) {
            Ok(found) if !found.is_dir() => Err(Error::NotAFolder { path: self.path.clone() }),
            Ok(_) if self.is_foreign() => Err(self.foreign()),
            Ok(found) => Ok(Exposure::of(&found)),
            // Reading its files will report a more specific error.
            Err(_) => Ok(Exposure::Private),
        }
    }

    /// Ensures that the home exists and is writable; creates it on first use.
    pub(crate) fn open(&self) -> Result<Exposure, Error> {
        let path = self.path.clone();
        match fs::metadata(&path) {
            Ok(found) if !found.is_dir() => return Err(Error::NotAFolder { path }),
            Ok(_) if self.is_foreign() => return Err(self.foreign()),
            Ok(_) => {}
            // The attempt to create it will report why.
            Err(_) => {
                if let Err(source) = create_private(&path) {
                    return Err(Error::Create { path, source });
                }
            }
        }
        // Permission bits do not show read-only file systems, quotas or full disks; an anonymous
        // file does, and leaves no trace.
        let written = tempfile::tempfile_in(&path).and_then(|mut file| file.write_all(&[0; 4096]));
        if let Err(source) = written {
            return Err(Error::Unwritable { path, source });
        }
        match fs::metadata(&path) {
            Ok(found) => Ok(Exposure::of(&found)),
            Err(source) => Err(Error::Unwritable { path, source }),
        }
    }

    /// Whether a mistyped path leads to a folder of something else, whose permissions must not be
    /// changed. A folder that cannot be listed may be a home whose permissions were removed.
    fn is_foreign(&self) -> bool {
        if self.origin == Origin::Default || self.has_marker() {
            return false;
        }
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name()).any(|name| {
            let name = name.to_string_lossy();
            // Files beside the database, and copies of the settings that editors leave.
            let is_beside = name.starts_with("convoke.db") || name.contains("config.toml");
            !is_beside && !ENTRIES.contains(&&*name)
        })
    }

    /// Whether it has an entry that only a home has; other programs have files called `node`, too.
    fn has_marker(&self) -> bool {
        let is_file = |name: &str| self.path.join(name).is_file();
        let node = self.path.join("node");
        let is_small = fs::metadata(&node).is_ok_and(|it| it.is_file() && it.len() < 100);
        MARKERS.into_iter().any(is_file)
            || is_small
                && fs::read_to_string(node).is_ok_and(|id| id.trim().parse::<NodeId>().is_ok())
    }

    fn foreign(&self) -> Error {
        Error::Foreign { origin: self.origin, path: self.path.clone() }
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The source of its path.
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }

    /// The settings.
    pub(crate) fn config_file(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// The database.
    pub(crate) fn database(&self) -> PathBuf {
        self.path.join("convoke.db")
    }

    /// The folder for files of a running daemon.
    pub(crate) fn run(&self) -> PathBuf {
        self.path.join("run")
    }

    /// The lock of the only daemon.
    pub(crate) fn serve_lock(&self) -> PathBuf {
        self.run().join("serve.lock")
    }

    /// The Unix socket through which commands reach the daemon.
    pub(crate) fn control_socket(&self) -> PathBuf {
        self.run().join("control.sock")
    }

    /// Space that decisions can use on a full disk.
    pub(crate) fn reserve(&self) -> Reserve {
        Reserve::new(self.run().join("reserve"))
    }

    /// The file with the address of a running daemon.
    pub(crate) fn daemon_file(&self) -> PathBuf {
        self.path.join("run/daemon.json")
    }

    /// Where the logs are.
    pub(crate) fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }
}

/// Bytes that are left for this user on the disk of a folder.
pub(crate) fn free_bytes(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Creates a folder and its missing parents, accessible to the owner only.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(PRIVATE).create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locate(flag: Option<&str>, variables: &[(&str, &str)]) -> String {
        let environment = variables.iter().copied().collect();
        match Home::locate(flag.map(Path::new), &environment) {
            Ok(home) => format!("{} ({})", home.path().display(), home.origin()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_flag_beats_the_variable_and_the_variable_the_default() {
        let both = [("HOME", "/home/ann"), ("CONVOKE_HOME", "/srv/convoke")];
        assert_eq!(locate(Some("/tmp/c"), &both), "/tmp/c (flag --home)");
        assert_eq!(locate(None, &both), "/srv/convoke (env CONVOKE_HOME)");
        assert_eq!(locate(None, &both[..1]), "/home/ann/.convoke (default)");
        assert_eq!(locate(Some("~/c"), &both), "/home/ann/c (flag --home)");
    }

    #[test]
    fn a_home_that_depends_on_the_current_folder_is_refused() {
        let home = [("HOME", "/home/ann")];
        assert_eq!(
            locate(Some("data"), &home),
            "the home given by flag --home is not an absolute path: data"
        );
        assert_eq!(locate(Some(""), &home), "the home given by flag --home is empty");
        assert_eq!(
            locate(None, &[("CONVOKE_HOME", "")]),
            "the home given by env CONVOKE_HOME is empty"
        );
        assert_eq!(
            locate(None, &[]),
            "cannot locate the home: HOME is not set to an absolute path"
        );
    }

    #[test]
    fn a_new_home_can_be_entered_by_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/home");
        let home = Home::locate(Some(&path), &Environment::default()).unwrap();
        assert_eq!(home.open().unwrap(), Exposure::Private);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o700, 0o700));

        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(home.open().unwrap(), Exposure::Open { mode: 0o755 });
    }

    #[test]
    fn a_folder_is_foreign_if_it_has_other_files_and_none_of_a_home() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let home = Home::locate(Some(path), &Environment::default()).unwrap();
        assert!(!home.is_foreign());
        for own in ["config.toml", "config.toml~", ".config.toml.swp", "teams.json"] {
            fs::write(path.join(own), "").unwrap();
        }
        fs::create_dir(path.join("run")).unwrap();
        fs::create_dir(path.join("snapshots")).unwrap();
        assert!(!home.is_foreign());
        // Its database was deleted, and the daemon has saved what was in it.
        fs::write(path.join("convoke.db.rescued"), "").unwrap();
        assert!(!home.is_foreign());
        fs::write(path.join(".bashrc"), "").unwrap();
        assert!(home.is_foreign());
        fs::write(path.join("run/serve.lock"), "").unwrap();
        assert!(!home.is_foreign());
    }
}
