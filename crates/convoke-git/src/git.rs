//! The `git` program: its path, its version, and how a command is run.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::checkpoint::KnownTrees;
use crate::{Error, Limits, Result};

mod command;
mod process;

pub(crate) use command::Command;
use command::Input;
pub(crate) use process::Ended;

/// Runs another program than git, with the same limits.
pub(crate) fn run_program(
    command: std::process::Command,
    words: &str,
    limits: &Limits,
    sink: &mut dyn FnMut(&[u8]) -> std::ops::ControlFlow<()>,
) -> Result<Ended> {
    let setup = process::Setup { words, input: Input::Nothing, lock: None, reads: None };
    process::run(command, setup, limits, sink)
}

/// The oldest supported version of git.
const OLDEST: Version = Version { major: 2, minor: 30 };

/// An installed git that is new enough.
#[derive(Debug, Clone)]
pub struct Git {
    program: PathBuf,
    search_path: OsString,
    version: Version,
    known_trees: KnownTrees,
}

impl Git {
    /// Runs `program --version`; fails when it cannot be started or is older than 2.30.
    ///
    /// `search_path` is the `PATH` for git itself; the rest of the environment is not inherited.
    pub fn open(program: &Path, search_path: &OsStr, limits: &Limits) -> Result<Self> {
        let version = Version { major: 0, minor: 0 };
        let git = Self {
            program: program.to_owned(),
            search_path: search_path.to_owned(),
            version,
            known_trees: KnownTrees::default(),
        };
        let output = Command::new(&git, "version").run(limits)?;
        let found = Version::read(&output.stdout).ok_or_else(|| Error::Unexpected {
            command: "git version".to_owned(),
            what: String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        })?;
        if found < OLDEST {
            return Err(Error::TooOld { found, needed: OLDEST });
        }
        Ok(Self { version: found, ..git })
    }

    /// Trees of checkpoints that were read before.
    pub(crate) fn known_trees(&self) -> &KnownTrees {
        &self.known_trees
    }

    /// Its version.
    pub fn version(&self) -> Version {
        self.version
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    pub(crate) fn search_path(&self) -> &OsStr {
        &self.search_path
    }
}

/// The part of git's version that decides what it can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl Version {
    /// Parses `git version 2.47.3`, also with suffixes of distributions.
    fn read(output: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(output).ok()?;
        let mut numbers = text.strip_prefix("git version ")?.split('.');
        let digits = |part: &str| -> Option<u32> {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part.get(..end)?.parse().ok()
        };
        Some(Self { major: digits(numbers.next()?)?, minor: digits(numbers.next()?)? })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// How programs are started that read a project's own `.git`: the session's sandbox.
#[derive(Debug, Clone, Default)]
pub struct Launcher {
    /// The sandbox and its arguments; the git command is appended. Empty: git is started directly.
    pub prefix: Vec<OsString>,
    /// The environment of the sandbox, with the `HOME` in which git looks for the user's configuration.
    pub env: Vec<(OsString, OsString)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_distributions_are_read() {
        let read = |text: &str| Version::read(text.as_bytes()).map(|version| version.to_string());
        let versions = ["git version 2.47.3\n", "git version 2.39.5 (Apple Git-154)\n"];
        assert_eq!(versions.map(read), [Some("2.47".to_owned()), Some("2.39".to_owned())]);
        assert_eq!(read("git version 3.0-rc1"), Some("3.0".to_owned()));
        assert_eq!(read("hub version 2"), None);
        assert_eq!(read("git version two"), None);
    }
}
