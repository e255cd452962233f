//! Checkpoints: snapshots of the files of a work tree, stored in a repository of Convoke's own.
//!
//! The project's `.git` is not written, and its configuration is not used. Two of its files are
//! read, as data and by git under Convoke's configuration: `info/exclude`, and the index for the
//! names of tracked files.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::git::{Command, Git};
use crate::unreadable::Reads;
use crate::{Error, Limits, ObjectId, Result};

mod carry;
mod excludes;
mod index;
mod keep;
mod known;
mod left_out;
pub(crate) mod lock;
mod loose;
mod name;
mod nested;
mod packs;
mod scan;
mod snapshot;
mod state;
mod tree;
mod verify;
mod versions;

pub use carry::Carried;
pub(crate) use carry::write_pack;
pub(crate) use excludes::{GitFolder, read as read_bounded};
pub(crate) use known::KnownTrees;
pub use left_out::{LeftOut, LeftOutReason};
pub(crate) use left_out::{decode, encode};
pub use lock::remove_stale_locks;
pub use name::{CheckpointKind, Name};
pub(crate) use scan::{has_reserved_name, path_of as scan_path, paths_of};
pub use snapshot::{Checkpoint, Snapshot};

/// Attributes that override every `.gitattributes` of the work tree: files are stored unchanged,
/// and differ as text or binary by their content alone, so that no driver runs and none can hide a
/// change.
const ATTRIBUTES: &str =
    "* -text !eol !crlf -filter -ident -working-tree-encoding !diff !merge !whitespace\n";

/// Settings of Convoke's repository, besides those of every command.
const CONFIG: [&str; 16] = [
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.symlinks=true",
    "core.fileMode=true",
    "core.ignoreCase=false",
    "core.precomposeUnicode=false",
    // The tree is read where it lies and never checked out elsewhere: names that Windows refuses are fine.
    "core.protectNTFS=false",
    "core.protectHFS=false",
    "core.sparseCheckout=false",
    "core.splitIndex=false",
    // Our index is made anew when it is damaged.
    "index.skipHash=true",
    "core.attributesFile=/dev/null",
    "core.logAllRefUpdates=false",
    "core.trustctime=true",
    "diff.renameLimit=1000",
    // Our commits have no parents.
    "gc.writeCommitGraph=false",
];

/// The size over which a file without history is left out.
const UNTRACKED_BYTES_MAX: u64 = 2 << 20;

/// The size over which any file is left out: a checkpoint holds up the next turn while it is hashed.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// What checkpoints leave out.
#[derive(Debug, Clone)]
pub struct Options {
    /// A file with further patterns to ignore: the user's own.
    pub user_excludes: Option<PathBuf>,
    /// Files over this size are left out unless the project or an earlier checkpoint tracks them.
    pub untracked_bytes_max: u64,
    /// Files over this size are left out in any case.
    pub file_bytes_max: u64,
    /// Files and folders that agents must not read, without symbolic links in their paths. Those
    /// that contain the work tree do not count: the work tree itself is visible.
    pub hidden: Vec<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            user_excludes: None,
            untracked_bytes_max: UNTRACKED_BYTES_MAX,
            file_bytes_max: FILE_BYTES_MAX,
            hidden: Vec::new(),
        }
    }
}

/// The checkpoints of one work tree, in the repository of its project.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    git: Git,
    options: Options,
    /// Our repository.
    repository: PathBuf,
    /// The folder whose files are captured.
    work_tree: PathBuf,
    /// The root of the repository around it, whose ignore rules hold; else the folder itself.
    top: PathBuf,
    /// The path prefix of this work tree's files in `repository`: the index and what belongs to it.
    stem: PathBuf,
}

impl Checkpoints {
    /// Opens the repository at `repository`, making it where it is missing, for the files of `work_tree`.
    ///
    /// Several work trees of a project share one repository, which has an index for each. An unfinished restore is
    /// left as it is: call `recover` before the next one.
    pub fn open(
        git: &Git,
        repository: &Path,
        work_tree: &Path,
        mut options: Options,
        limits: &Limits,
    ) -> Result<Self> {
        let canonical =
            |path: &Path| fs::canonicalize(path).map_err(|source| Error::io("open", path, source));
        let work_tree = canonical(work_tree)?;
        options.hidden.retain(|hidden| !work_tree.starts_with(hidden));
        create(git, repository, limits)?;
        let repository = canonical(repository)?;
        let stem = repository.join("convoke").join(key(&work_tree));
        let top = work_tree.clone();
        let mut checkpoints = Self { git: git.clone(), options, repository, work_tree, top, stem };
        checkpoints.find_top(limits)?;
        Ok(checkpoints)
    }

    /// The folder whose files are captured, without symbolic links in its path.
    pub fn work_tree(&self) -> &Path {
        &self.work_tree
    }

    /// Uses the ignore rules of the repository around the work tree, unless they ignore the work tree itself.
    fn find_top(&mut self, limits: &Limits) -> Result<()> {
        let around = self.work_tree.ancestors().find(|folder| folder.join(".git").exists());
        let Some(top) = around.filter(|top| *top != self.work_tree).map(Path::to_owned) else {
            return Ok(());
        };
        let inner = self.work_tree.strip_prefix(&top).unwrap_or(&self.work_tree).to_owned();
        // The command takes no literal paths; a path that begins with a dot is never interpreted as
        // a pattern.
        let check = self.command("check-ignore").env("GIT_LITERAL_PATHSPECS", "0");
        let check = check.env("GIT_WORK_TREE", &top).folder(&top).args(["-q", "--no-index", "--"]);
        let check = check.reading(Reads::files(&self.work_tree, &top));
        let ignored = check.arg(Path::new(".").join(inner)).run_any(limits)?;
        if ignored.code == Some(1) {
            self.top = top;
        }
        Ok(())
    }

    /// A command on our repository alone.
    pub(crate) fn bare(&self, name: &'static str) -> Command<'_> {
        isolated(&self.git, name, &self.repository).folder(&self.repository)
    }

    /// A command on our index and the work tree; paths are relative to the latter.
    pub(crate) fn command(&self, name: &'static str) -> Command<'_> {
        let command = isolated(&self.git, name, &self.repository);
        let command = match &self.options.user_excludes {
            Some(file) => {
                let mut setting = std::ffi::OsString::from("core.excludesFile=");
                setting.push(file);
                command.config(setting)
            }
            None => command.config("core.excludesFile=/dev/null"),
        };
        command
            .env("GIT_WORK_TREE", &self.top)
            .env("GIT_INDEX_FILE", self.file("index"))
            .folder(&self.work_tree)
            .reading(Reads::files(&self.work_tree, &self.top))
    }

    /// A file in Convoke's repository that belongs to this work tree.
    pub(crate) fn file(&self, extension: &str) -> PathBuf {
        self.stem.with_extension(extension)
    }

    /// The last part of names that belong to this work tree.
    pub(crate) fn key(&self) -> String {
        self.stem.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// A command that knows our configuration and identity only.
fn isolated<'a>(git: &'a Git, name: &'static str, repository: &Path) -> Command<'a> {
    let mut command = Command::new(git, name);
    for setting in CONFIG {
        command = command.config(setting);
    }
    // `GIT_CONFIG_GLOBAL` is newer than the oldest git that is supported; a home that is no folder works with all.
    let nowhere = ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"];
    for name in nowhere {
        command = command.env(name, "/dev/null");
    }
    command
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_AUTHOR_NAME", "Convoke")
        .env("GIT_AUTHOR_EMAIL", "convoke@localhost")
        .env("GIT_COMMITTER_NAME", "Convoke")
        .env("GIT_COMMITTER_EMAIL", "convoke@localhost")
        .env("GIT_DIR", repository)
}

/// Creates the repository, or completes one whose creation was interrupted.
fn create(git: &Git, repository: &Path, limits: &Limits) -> Result<()> {
    let folder = repository.join("convoke");
    // The last file that is written: with it, the repository is complete.
    let attributes = repository.join("info").join("attributes");
    let is_complete =
        || fs::read(&attributes).is_ok_and(|text| text == ATTRIBUTES.as_bytes()) && folder.is_dir();
    if is_complete() {
        return Ok(());
    }
    let make =
        |path: &Path| fs::create_dir_all(path).map_err(|source| Error::io("make", path, source));
    make(repository)?;
    // Two concurrent creations would conflict.
    let _lock = lock::take(&repository.join(lock::OURS), limits)?;
    if is_complete() {
        return Ok(());
    }
    let init = isolated(git, "init", repository).folder(repository);
    // Refs are read and written as files, which may not stay git's default format.
    let init = init.env("GIT_DEFAULT_REF_FORMAT", "files");
    // Without a template there are no hooks and no description; the permissions are those of the folder.
    init.args(["-q", "--bare", "--template=", "--object-format=sha1"]).run(limits)?;
    make(&repository.join("info"))?;
    make(&folder)?;
    state::replace(&attributes, ATTRIBUTES.as_bytes())
}

/// A name for a work tree's files that is as long for every path.
fn key(work_tree: &Path) -> String {
    let digest = Sha256::digest(work_tree.as_os_str().as_encoded_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The first line of a command's output as an id.
pub(crate) fn id_of(command: Command<'_>, limits: &Limits) -> Result<ObjectId> {
    ObjectId::read(&command.run(limits)?.stdout)
}
