//! The repositories in the writable folders of a confined program. The user's own git obeys their
//! configuration and runs their hooks.
//!
//! They are recognised by what a program cannot change while it runs, because it is protected, and
//! not by `HEAD` alone: a program could rename that, and write the configuration after its next
//! start. What cannot be searched is to be read-only as a whole.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::resolve::read_without_links;

/// Repositories whose files are protected one by one; bubblewrap supports some thousand mounts.
/// Those beyond are read-only.
const REPOSITORIES_MAX: usize = 250;
/// The depth to which a workspace is searched for repositories, such as vendored ones. Those of
/// submodules are found at any depth, in the repository that has them.
const DEPTH_MAX: usize = 3;
/// Folders of a workspace, or of one repository, that are searched.
const FOLDERS_MAX: usize = 2_000;
/// Large folders of downloaded or generated files.
const PASSED_OVER: [&str; 4] = ["node_modules", "target", ".venv", "dist"];
/// Folders of a repository that contain no other repository.
const OF_GIT: [&str; 8] = ["annex", "hooks", "info", "lfs", "logs", "objects", "refs", "rr-cache"];
/// Longer files `.git` are no pointers to repositories.
const POINTER_BYTES_MAX: u64 = 4 << 10;
/// Longer configurations are not searched for the work tree of a submodule.
const CONFIG_BYTES_MAX: u64 = 64 << 10;

/// What the writable folders contain of repositories.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Repositories {
    /// The folders of repositories, of their submodules and of their linked work trees.
    pub(super) folders: BTreeSet<PathBuf>,
    /// Files `.git`, which name the repository of a submodule or of a linked work tree.
    pub(super) files: BTreeSet<PathBuf>,
    /// Folders by which bare repositories are recognised. They are neither replaced nor removed.
    pub(super) kept: BTreeSet<PathBuf>,
    /// Folders that could not be searched, or with more repositories than can be protected one by
    /// one.
    pub(super) read_only: BTreeSet<PathBuf>,
    /// A folder that was not searched, because there are too many.
    pub(super) passed_over: Option<PathBuf>,
}

/// How far a writable folder is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// The first folder, the workspace, with the folders in it.
    Workspace,
    /// Only whether the folders themselves are repositories or work trees.
    Top,
}

/// Searches writable folders, whose paths have no links.
pub(super) fn search(writable: &[&Path], depth: Depth) -> Repositories {
    let mut search = Search { writable, found: Repositories::default() };
    for (at, folder) in writable.iter().enumerate() {
        if at == 0 && depth == Depth::Workspace {
            search.walk(folder);
        } else {
            search.work_tree(folder);
            search.bare(folder);
        }
    }
    search.found
}

/// Whether this is the folder of a linked work tree in its repository.
pub(super) fn is_linked(folder: &Path) -> bool {
    let worktrees = folder.parent().filter(|parent| parent.ends_with("worktrees"));
    let repository = worktrees.and_then(Path::parent);
    repository.is_some_and(|repository| repository.join("config").is_file())
}

/// Whether this is a folder, and no link to one.
pub(super) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

struct Search<'a> {
    writable: &'a [&'a Path],
    found: Repositories,
}

impl Search<'_> {
    /// Searches a folder and those in it, the nearer ones first.
    fn walk(&mut self, workspace: &Path) {
        let mut looked_at = 0;
        let mut folders = VecDeque::from([(workspace.to_owned(), 0)]);
        while let Some((folder, depth)) = folders.pop_front() {
            looked_at += 1;
            let Some(inner) = self.folders_in(&folder) else { continue };
            let mut is_bare = false;
            for (path, kind) in &inner {
                if path.ends_with(".git") {
                    self.entry(path, *kind);
                }
                is_bare = is_bare || (path.ends_with("objects") && self.bare(&folder));
            }
            for (path, kind) in inner {
                let passes = |names: &[&str]| names.iter().any(|name| path.ends_with(name));
                let is_passed_over = passes(&PASSED_OVER)
                    || passes(&[".git"])
                    || (is_bare && passes(&OF_GIT) && !is_repository_or_work_tree(&path));
                if kind != Kind::Folder || is_passed_over || depth >= DEPTH_MAX {
                    continue;
                }
                if looked_at + folders.len() < FOLDERS_MAX {
                    folders.push_back((path, depth + 1));
                } else {
                    self.found.passed_over.get_or_insert(path);
                }
            }
        }
    }

    /// The folders in a folder, and its entry `.git`. One that cannot be listed is to be read-only:
    /// the program could take its own right to list it, and give it back after its next start.
    fn folders_in(&mut self, folder: &Path) -> Option<Vec<(PathBuf, Kind)>> {
        let Ok(entries) = fs::read_dir(folder) else {
            if is_folder(folder) && self.writable.iter().all(|it| *it != folder) {
                self.found.read_only.insert(folder.to_owned());
            }
            return None;
        };
        let entries = entries.flatten().filter_map(|entry| {
            let kind = match entry.file_type().ok()? {
                kind if kind.is_dir() => Kind::Folder,
                kind if kind.is_file() && entry.file_name() == ".git" => Kind::File,
                _ => return None,
            };
            Some((entry.path(), kind))
        });
        Some(entries.collect())
    }

    /// The repository of a work tree.
    fn work_tree(&mut self, folder: &Path) {
        let entry = folder.join(".git");
        let Ok(found) = fs::symlink_metadata(&entry) else { return };
        if found.is_dir() {
            self.entry(&entry, Kind::Folder);
        } else if found.is_file() {
            self.entry(&entry, Kind::File);
        }
    }

    /// An entry `.git`.
    fn entry(&mut self, entry: &Path, kind: Kind) {
        match kind {
            Kind::Folder => self.repository(entry),
            Kind::File => {
                self.found.files.insert(entry.to_owned());
                if let Some(target) = target(entry) {
                    self.repository(&target);
                    // The repository of a linked work tree may be in a writable folder, too.
                    let common = target.parent().and_then(Path::parent);
                    if let Some(common) = common.filter(|_| is_linked(&target)) {
                        self.repository(common);
                    }
                }
            }
        }
    }

    /// A folder that may be a bare repository; git takes it for one if it is started inside.
    fn bare(&mut self, folder: &Path) -> bool {
        let parts = ["objects", "refs"].map(|name| folder.join(name));
        if !folder.join("config").is_file() || !parts.iter().all(|part| is_folder(part)) {
            return false;
        }
        self.repository(folder);
        self.found.kept.extend(parts);
        true
    }

    /// The folder of a repository, with those of its submodules and linked work trees.
    fn repository(&mut self, folder: &Path) {
        let is_known = self.found.folders.contains(folder);
        if is_known || !self.is_writable(folder) || !is_folder(folder) {
            return;
        }
        if self.found.folders.len() >= REPOSITORIES_MAX {
            self.found.read_only.insert(folder.to_owned());
            return;
        }
        self.found.folders.insert(folder.to_owned());
        for name in ["modules", "worktrees"] {
            let inner = folder.join(name);
            match self.inside(&inner) {
                Some(inner) => inner.iter().for_each(|module| self.submodule(module)),
                None => {
                    self.found.read_only.insert(inner);
                }
            }
        }
    }

    /// The repositories below `modules` or `worktrees`; `None` if there are too many to protect.
    fn inside(&mut self, folder: &Path) -> Option<Vec<PathBuf>> {
        let mut found = Vec::new();
        let mut looked_at = 0;
        let mut folders = Vec::new();
        folders.extend(is_folder(folder).then(|| folder.to_owned()));
        while let Some(folder) = folders.pop() {
            looked_at += 1;
            if looked_at > FOLDERS_MAX || found.len() + self.found.folders.len() > REPOSITORIES_MAX
            {
                return None;
            }
            let Some(inner) = self.folders_in(&folder) else { continue };
            let is_repository = is_repository(&folder);
            let inner = inner.into_iter().filter(|(_, kind)| *kind == Kind::Folder);
            folders.extend(inner.map(|(path, _)| path).filter(|path| {
                let is_of_git = OF_GIT.iter().any(|name| path.ends_with(name));
                // A program may make a folder around a submodule look like a repository.
                !(is_repository && is_of_git) || is_repository_or_work_tree(path)
            }));
            if is_repository {
                found.push(folder);
            }
        }
        Some(found)
    }

    /// The repository of a submodule or of a linked work tree, and the file that leads to it.
    fn submodule(&mut self, folder: &Path) {
        self.found.folders.insert(folder.to_owned());
        let file = ["config", "config.worktree"]
            .iter()
            .find_map(|name| work_tree_in(folder, name))
            .map(|work_tree| work_tree.join(".git"));
        let is_plain = |file: &PathBuf| fs::symlink_metadata(file).is_ok_and(|it| it.is_file());
        if let Some(file) = file.filter(|file| self.is_writable(file) && is_plain(file)) {
            self.found.files.insert(file);
        }
    }

    fn is_writable(&self, path: &Path) -> bool {
        self.writable.iter().any(|folder| path.starts_with(folder))
    }
}

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    /// A file `.git`.
    File,
}

/// Whether a folder below `modules` or `worktrees` is a repository, or has become a part of one.
fn is_repository(folder: &Path) -> bool {
    let names = ["config", "HEAD", "commondir"];
    names.iter().any(|name| fs::symlink_metadata(folder.join(name)).is_ok_and(|it| !it.is_dir()))
}

/// Whether a folder with the name of a part of git is something else.
fn is_repository_or_work_tree(folder: &Path) -> bool {
    folder.join("config").is_file() && is_folder(&folder.join("objects"))
        || fs::symlink_metadata(folder.join(".git")).is_ok()
}

/// Where a file `.git` leads.
fn target(file: &Path) -> Option<PathBuf> {
    let text = read_without_links(file, POINTER_BYTES_MAX).ok()??;
    let path = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    fs::canonicalize(file.parent()?.join(OsStr::from_bytes(path))).ok()
}

/// The work tree that the configuration of a submodule names, as git writes it.
fn work_tree_in(repository: &Path, name: &str) -> Option<PathBuf> {
    let text = read_without_links(&repository.join(name), CONFIG_BYTES_MAX).ok()??;
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let path = lines.find_map(|line| line.strip_prefix(b"worktree = "))?;
    let path = path.strip_prefix(b"\"").and_then(|it| it.strip_suffix(b"\"")).unwrap_or(path);
    fs::canonicalize(repository.join(OsStr::from_bytes(path))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these folders and empty files; files have a dot or the name of one of git.
    fn tree(names: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in names {
            let path = root.join(name);
            let is_file = ["config", "HEAD", "commondir"].iter().any(|it| path.ends_with(it));
            fs::create_dir_all(if is_file { path.parent().unwrap() } else { &path }).unwrap();
            if is_file {
                fs::write(path, "").unwrap();
            }
        }
        (folder, root)
    }

    fn names(paths: &BTreeSet<PathBuf>, root: &Path) -> Vec<String> {
        let inside = paths.iter().map(|path| path.strip_prefix(root).unwrap());
        inside.map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn k10_repositories_in_repositories_are_found_at_any_depth() {
        let (_folder, root) = tree(&[
            ".git/config",
            ".git/objects/ab",
            ".git/modules/a/config",
            ".git/modules/third_party/a/b/c/config",
            ".git/modules/third_party/a/b/c/modules/deep/HEAD",
            ".git/modules/third_party/a/b/c/refs/heads/topic",
            // A program made this folder look like a repository; a submodule in it is named so.
            ".git/modules/third_party/HEAD",
            ".git/modules/third_party/hooks/config",
            ".git/modules/third_party/hooks/objects",
            ".git/worktrees/side/commondir",
            ".git/worktrees/side/modules/a/config",
        ]);
        let found = search(&[&root], Depth::Workspace);
        let expected = [
            ".git",
            ".git/modules/a",
            ".git/modules/third_party",
            ".git/modules/third_party/a/b/c",
            ".git/modules/third_party/a/b/c/modules/deep",
            ".git/modules/third_party/hooks",
            ".git/worktrees/side",
            ".git/worktrees/side/modules/a",
        ];
        assert_eq!(names(&found.folders, &root), expected);
    }

    #[test]
    fn k10_files_and_bare_repositories_lead_to_what_is_protected() {
        let bare = ["app/.bare/config", "app/.bare/objects", "app/.bare/refs"];
        let others = ["app/main", "app/.bare/worktrees/main/commondir", "outside/config"];
        let (_folder, root) = tree(&[bare, others].concat());
        fs::write(root.join("app/.git"), "gitdir: ./.bare\n").unwrap();
        fs::write(root.join("app/main/.git"), "gitdir: ../../outside\n").unwrap();
        let app = root.join("app");
        let found = search(&[&app], Depth::Workspace);
        assert_eq!(names(&found.folders, &app), [".bare", ".bare/worktrees/main"]);
        assert_eq!(names(&found.files, &app), [".git", "main/.git"]);
        assert_eq!(names(&found.kept, &app), [".bare/objects", ".bare/refs"]);
        // A bare repository is found as the workspace, and as another writable folder.
        let bare = app.join(".bare");
        for folders in [vec![bare.as_path()], vec![root.as_path(), bare.as_path()]] {
            assert!(search(&folders, Depth::Top).folders.contains(&bare));
        }
    }

    #[test]
    fn k10_repositories_beyond_the_bound_are_read_only() {
        let (_folder, root) = tree(&[".git/config"]);
        for number in 0..=REPOSITORIES_MAX {
            fs::create_dir_all(root.join(format!(".git/modules/m{number}"))).unwrap();
            fs::write(root.join(format!(".git/modules/m{number}/config")), "").unwrap();
        }
        let found = search(&[&root], Depth::Workspace);
        assert_eq!(names(&found.folders, &root), [".git"]);
        assert_eq!(names(&found.read_only, &root), [".git/modules"]);
    }
}
