//! Errors of git and of a project's files.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::Version;
use crate::project::Operation;

/// An operation that failed, with the names of its objects.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program could not be started.
    #[error("cannot start {}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The installed git lacks commands that are used here.
    #[error("git {found} is too old, {needed} or newer is needed")]
    TooOld {
        /// What is installed.
        found: Version,
        /// The oldest that works.
        needed: Version,
    },
    /// Git did not end in time, and was killed.
    #[error("{command} did not end within {} s", after.as_secs())]
    TimedOut {
        /// The command.
        command: String,
        /// How long the call was allowed to take.
        after: Duration,
    },
    /// The caller cancelled the call.
    #[error("cancelled")]
    Cancelled,
    /// Git failed.
    #[error("{command} failed with {}: {message}", code.map_or("a signal".to_owned(), |code| format!("exit code {code}")))]
    Failed {
        /// The command.
        command: String,
        /// Its exit code; `None` when a signal ended it.
        code: Option<i32>,
        /// The end of what it wrote to stderr.
        message: String,
    },
    /// Git wrote more than the caller is prepared to hold.
    #[error("{command} wrote more than {max} bytes")]
    TooMuchOutput {
        /// The command.
        command: String,
        /// The limit.
        max: usize,
    },
    /// Git wrote something that could not be parsed.
    #[error("{command} answered with {what}")]
    Unexpected {
        /// The command.
        command: String,
        /// What was found.
        what: String,
    },
    /// There is no space left; refs and the work tree are as before.
    #[error("no space left on the disk for {what}")]
    DiskFull {
        /// What was being done.
        what: String,
    },
    /// A file or folder could not be read or written.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was being done: "read", "write", …
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Another process holds a lock for too long.
    #[error("{} is in use by another process", path.display())]
    Busy {
        /// The lock file.
        path: PathBuf,
    },
    /// A name cannot be part of a ref.
    #[error("{name:?} cannot be used in a name of a checkpoint or branch")]
    InvalidName {
        /// What was given.
        name: String,
    },
    /// A ref, commit or file that a call needs does not exist.
    #[error("{what} does not exist")]
    NotFound {
        /// Which.
        what: String,
    },
    /// The folder is not the root of a git work tree.
    #[error("{} is not a git repository", path.display())]
    NotARepository {
        /// The folder.
        path: PathBuf,
    },
    /// A path of a repository leads elsewhere, which git does not do by itself.
    #[error("{} leads to {}, which is not its repository", path.display(), to.display())]
    Misdirected {
        /// The work tree, or the path in the repository.
        path: PathBuf,
        /// Where it leads.
        to: PathBuf,
    },
    /// The repository of a linked work tree has it elsewhere.
    #[error("{} was moved: its repository {} has it elsewhere", path.display(), repository.display())]
    MovedByHand {
        /// The work tree.
        path: PathBuf,
        /// Its repository.
        repository: PathBuf,
    },
    /// Files that a restore would overwrite were changed since the last checkpoint.
    #[error("changed since the last checkpoint by someone else: {}", listed(paths))]
    ChangedSince {
        /// These, relative to the work tree.
        paths: Vec<PathBuf>,
    },
    /// A file is not as it was when its diff was made.
    #[error("{} changed since its diff was made", path.display())]
    StaleHunk {
        /// The file, relative to the work tree.
        path: PathBuf,
    },
    /// A path cannot be written without leaving the work tree or deleting what is not captured.
    #[error("cannot write {}: {why}", path.display())]
    Unwritable {
        /// The file, relative to the work tree.
        path: PathBuf,
        /// What is in the way.
        why: &'static str,
    },
    /// Git would wait for a file, or read it without end.
    #[error("git cannot read {}: {why}; delete it, or move it out of the folder", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What it is.
        why: &'static str,
    },
    /// Git waited for a pipe, which nothing will ever be written to.
    #[error("{command} waited for a named pipe that is gone by now; try again")]
    PipeGone {
        /// The command.
        command: String,
    },
    /// The work tree has uncommitted changes.
    #[error("{} has uncommitted changes", path.display())]
    Dirty {
        /// The work tree.
        path: PathBuf,
        /// The changed files, relative to it.
        files: Vec<PathBuf>,
    },
    /// Removing the work tree would lose files that the snapshot does not hold.
    #[error("{} has files that were not captured: {}", path.display(), listed(files))]
    NotCaptured {
        /// The work tree.
        path: PathBuf,
        /// These, relative to it.
        files: Vec<PathBuf>,
    },
    /// A merge, rebase or the like waits for its end in the work tree.
    #[error("{} is in the middle of a {operation}", path.display())]
    InProgress {
        /// The work tree.
        path: PathBuf,
        /// What is in progress.
        operation: Operation,
    },
    /// The base branch was moved by another program meanwhile.
    #[error("{branch} has moved; finish again")]
    BaseMoved {
        /// The base branch.
        branch: String,
    },
    /// A commit needs the name and the address of its author.
    #[error("git does not know who you are")]
    NoIdentity,
    /// No branch is checked out in the work tree.
    #[error("no branch is checked out in {}", path.display())]
    Detached {
        /// The work tree.
        path: PathBuf,
    },
    /// An agent that may write a branch could also write another one in the same folder.
    #[error(
        "an agent with the branch {branch} could also change {other}, which is in the same folder of branches"
    )]
    SharedFolder {
        /// The branch.
        branch: String,
        /// The other one.
        other: String,
    },
    /// Another branch is checked out in the work tree of a session.
    #[error("{} has {found} checked out, and not its own branch {branch}", path.display())]
    OtherBranch {
        /// The work tree.
        path: PathBuf,
        /// Its own branch.
        branch: String,
        /// What is checked out.
        found: String,
    },
    /// A branch of that name has other commits, or is checked out elsewhere.
    #[error("the branch {branch} exists already")]
    BranchExists {
        /// The branch.
        branch: String,
    },
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of a file operation; a full disk has its own variant.
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        let full =
            [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::FileTooLarge];
        if full.contains(&source.kind()) {
            return Self::DiskFull { what: path.display().to_string() };
        }
        Self::Io { doing, path: path.to_owned(), source }
    }

    /// An error of a command that exited with another code than zero.
    pub(crate) fn failed(command: String, code: Option<i32>, stderr: &[u8]) -> Self {
        let message = String::from_utf8_lossy(stderr).trim().to_owned();
        // The locale is C, so these are the texts for ENOSPC, EDQUOT and EFBIG.
        let full = ["No space left on device", "Disk quota exceeded", "File too large"];
        if full.iter().any(|words| message.contains(words)) {
            return Self::DiskFull { what: command };
        }
        let unknown = ["Please tell me who you are", "empty ident name"];
        if unknown.iter().any(|words| message.contains(words)) {
            return Self::NoIdentity;
        }
        Self::Failed { command, code, message }
    }
}

/// Files that an error names; the message counts further ones.
const NAMED_MAX: usize = 10;

/// The first of some paths, and how many more there are.
fn listed(paths: &[PathBuf]) -> String {
    let named: Vec<String> =
        paths.iter().take(NAMED_MAX).map(|path| path.display().to_string()).collect();
    match paths.len().saturating_sub(NAMED_MAX) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
