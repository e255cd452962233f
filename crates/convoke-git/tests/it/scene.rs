//! A project, a repository of ours beside it, and the few things that tests do with them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use convoke_git::{
    Checkpoint, CheckpointKind, Checkpoints, Filters, Git, Launcher, Limits, Name, ObjectId,
    Options, Project,
};

pub(crate) const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A file as a map of a folder has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    File { bytes: Vec<u8>, executable: bool },
    Link(PathBuf),
}

pub(crate) type Files = BTreeMap<PathBuf, Entry>;

pub(crate) struct Scene {
    /// Deleted with the scene.
    pub(crate) folder: tempfile::TempDir,
    pub(crate) project: PathBuf,
    pub(crate) ours: PathBuf,
}

impl Scene {
    /// A project that is an empty folder.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let (project, ours) = (root.join("project"), root.join("ours.git"));
        fs::create_dir_all(&project).unwrap();
        fs::create_dir(root.join("home")).unwrap();
        let identity = "[user]\nname = Ann\nemail = ann@localhost\n[init]\ndefaultBranch = main\n";
        fs::write(root.join("home/.gitconfig"), identity).unwrap();
        Self { folder, project, ours }
    }

    /// A project with a repository and one commit.
    pub(crate) fn with_git() -> Self {
        let scene = Self::new();
        scene.git(&["init", "-q"]);
        scene.write("README", "one\ntwo\nthree\n");
        scene.git(&["add", "-A"]);
        scene.git(&["commit", "-qm", "first"]);
        scene
    }

    /// Changes a file differently on `main`, which is checked out, and on `side`.
    pub(crate) fn diverge(&self) {
        self.git(&["checkout", "-qb", "side"]);
        self.write("README", "side\n");
        self.git(&["commit", "-qam", "side"]);
        self.git(&["checkout", "-q", "main"]);
        self.write("README", "main\n");
        self.git(&["commit", "-qam", "main"]);
    }

    /// Runs git in the project, which stops because of a conflict.
    pub(crate) fn conflict(&self, args: &[&str]) {
        assert!(!self.user_git(&self.project).args(args).output().unwrap().status.success());
    }

    pub(crate) fn root(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap()
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.project.join(name)
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: impl AsRef<Path>) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs git as the user does, in the project, and returns its output.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.project, args)
    }

    pub(crate) fn git_in(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.user_git(folder).args(args).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {stderr}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The user's git, with dates that do not pass.
    pub(crate) fn user_git(&self, folder: &Path) -> Command {
        let mut command = Command::new("git");
        command.env_clear().env("PATH", SEARCH_PATH).env("HOME", self.root().join("home"));
        command.env("GIT_AUTHOR_DATE", "1800000000 +0000").env("LC_ALL", "C");
        command.env("GIT_COMMITTER_DATE", "1800000000 +0000").env("GIT_CONFIG_NOSYSTEM", "1");
        command.current_dir(folder);
        command
    }

    /// Git on our repository, past the crate.
    pub(crate) fn our_git(&self, args: &[&str]) -> String {
        self.git_in(&self.ours, args)
    }

    pub(crate) fn checkpoints(&self) -> Checkpoints {
        self.checkpoints_of(&self.project)
    }

    pub(crate) fn checkpoints_of(&self, work_tree: &Path) -> Checkpoints {
        Checkpoints::open(&git(), &self.ours, work_tree, Options::default(), &limits()).unwrap()
    }

    pub(crate) fn checkpoint(&self, turn: u64) -> Checkpoint {
        self.checkpoints().checkpoint(&before(turn), &limits()).unwrap()
    }

    pub(crate) fn open(&self) -> Project {
        self.open_at(&self.project)
    }

    pub(crate) fn open_at(&self, work_tree: &Path) -> Project {
        Project::open(&git(), work_tree, self.launcher(), Filters::Off, &limits()).unwrap()
    }

    pub(crate) fn launcher(&self) -> Launcher {
        let env = vec![("HOME".into(), self.root().join("home").into())];
        Launcher { prefix: Vec::new(), env }
    }

    /// The files that a tree of ours holds, written out by git itself.
    pub(crate) fn files_in(&self, tree: &ObjectId) -> Files {
        let target = tempfile::tempdir().unwrap();
        let index = target.path().join(".index");
        let run = |args: &[&str]| {
            let mut command = self.user_git(target.path());
            command.env("GIT_DIR", &self.ours).env("GIT_WORK_TREE", target.path());
            command.env("GIT_INDEX_FILE", &index).env("GIT_CONFIG_GLOBAL", "/dev/null");
            assert!(command.args(args).status().unwrap().success(), "{args:?}");
        };
        run(&["-c", "core.protectNTFS=false", "read-tree", tree.as_str()]);
        run(&["-c", "core.protectNTFS=false", "checkout-index", "-a", "-q"]);
        fs::remove_file(index).unwrap();
        files(target.path())
    }

    /// The files of the project, without its repositories.
    pub(crate) fn files(&self) -> Files {
        files(&self.project)
    }

    /// Every file below the project's `.git`, with its content, mode and time of change.
    pub(crate) fn git_folder(&self) -> BTreeMap<PathBuf, (Entry, u32, i64, i64)> {
        let mut found = BTreeMap::new();
        walk(&self.path(".git"), &mut |path| {
            let at = fs::symlink_metadata(path).unwrap();
            let entry = entry(path).unwrap_or(Entry::Link("a folder".into()));
            let facts = (entry, at.permissions().mode(), at.mtime(), at.mtime_nsec());
            found.insert(path.to_owned(), facts);
        });
        found
    }
}

pub(crate) fn git() -> Git {
    Git::open(Path::new("git"), OsStr::new(SEARCH_PATH), &limits()).unwrap()
}

pub(crate) fn limits() -> Limits {
    Limits::new(Duration::from_secs(60))
}

pub(crate) fn before(turn: u64) -> Name {
    Name::new("s", CheckpointKind::Before(turn)).unwrap()
}

pub(crate) fn undo(number: u64) -> Name {
    Name::new("s", CheckpointKind::Restore(number)).unwrap()
}

/// A name that is no text: 0xff, a newline, a quote and a tab.
pub(crate) fn odd_name() -> PathBuf {
    PathBuf::from(OsString::from_vec(b"odd \xff\n\"\t:(x)*.txt".to_vec()))
}

pub(crate) fn file(text: impl AsRef<[u8]>) -> Entry {
    Entry::File { bytes: text.as_ref().to_vec(), executable: false }
}

pub(crate) fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

/// All files and links below a folder, by their relative paths; `.git` is skipped.
pub(crate) fn files(root: &Path) -> Files {
    let mut found = Files::new();
    walk(root, &mut |path| {
        if let Some(entry) = entry(path) {
            found.insert(path.strip_prefix(root).unwrap().to_owned(), entry);
        }
    });
    found
}

fn entry(path: &Path) -> Option<Entry> {
    let found = fs::symlink_metadata(path).unwrap();
    if found.is_symlink() {
        return Some(Entry::Link(fs::read_link(path).unwrap()));
    }
    let executable = found.permissions().mode() & 0o100 != 0;
    found.is_file().then(|| Entry::File { bytes: fs::read(path).unwrap(), executable })
}

fn walk(folder: &Path, each: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let found = fs::symlink_metadata(&path).unwrap();
        if path.file_name() == Some(OsStr::new(".git")) {
            continue;
        }
        each(&path);
        if found.is_dir() {
            walk(&path, each);
        }
    }
}
