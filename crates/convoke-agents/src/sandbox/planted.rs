//! Names inside of writable folders that determine what the user's own programs execute later,
//! outside of any sandbox.
//!
//! bubblewrap mounts existing ones read-only. A name that does not exist yet cannot be protected
//! this way, nor can Landlock revoke the rights on the folder around it; the security page
//! documents this.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use super::resolve::{open_without_links, read_without_links};

/// Names in a workspace: git's hooks and configuration, editors' tasks, other agents' settings, start files of shells.
const NAMES: [&str; 40] = [
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".claude/agents",
    ".claude/commands",
    ".claude/hooks",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex",
    ".config/autostart",
    ".config/fish",
    ".config/git",
    ".config/systemd",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".devcontainer",
    ".direnv",
    ".envrc",
    ".gemini/settings.json",
    ".git/config",
    ".git/config.worktree",
    ".git/hooks",
    ".git/info/attributes",
    ".gitconfig",
    ".githooks",
    ".husky",
    ".idea",
    ".local/bin",
    ".mcp.json",
    ".profile",
    ".pypirc",
    ".ripgreprc",
    ".vscode",
    ".zed",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "opencode.json",
];

/// Names in a git folder that decide which programs git runs.
const IN_GIT: [&str; 5] = ["commondir", "config", "config.worktree", "hooks", "info/attributes"];

/// The name that must not appear in a main repository: git reads configuration and hooks from where
/// it points.
const COMMON_DIR: &str = "commondir";
/// What git writes into this file of a work tree.
const TO_REPOSITORY: &[u8] = b"../..";
/// Longer files lead elsewhere.
const COMMON_DIR_BYTES_MAX: u64 = 64;
/// Repositories inside of a workspace that are protected, too; bubblewrap supports some thousand
/// mounts.
const REPOSITORIES_MAX: usize = 100;

/// The depth to which repositories inside of a workspace are searched for, such as vendored ones.
const DEPTH_MAX: usize = 3;
/// Folders that are searched.
const FOLDERS_MAX: usize = 2_000;
/// Large folders of downloaded or generated files.
const PASSED_OVER: [&str; 4] = ["node_modules", "target", ".venv", "dist"];

/// The existing paths of a workspace that are to be mounted read-only.
pub(super) fn in_workspace(workspace: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = NAMES.iter().map(|name| workspace.join(name)).collect();
    // In a linked worktree and in a submodule, `.git` is a file that names the repository.
    found.push(workspace.join(".git"));
    let Nested { repositories, files } = nested(workspace);
    // So has the work tree of a submodule.
    found.extend(files);
    for repository in repositories.into_iter().chain(inner(&workspace.join(".git"))) {
        found.extend(IN_GIT.iter().map(|name| repository.join(name)));
    }
    found.retain(|path| is_held(path));
    found.sort();
    found.dedup();
    found
}

/// The read-only paths of a repository that git itself works on.
pub fn of_git(repository: &Path) -> Vec<PathBuf> {
    ["config", "config.worktree", "hooks", "info/attributes"]
        .map(|name| repository.join(name))
        .into()
}

/// Whether a name in a workspace is protected, so that Convoke does not write it for an agent
/// either.
pub(crate) fn is_protected(inside: &Path) -> bool {
    // Submodules and work trees have the same names in their own folders, at any depth.
    let in_git = |path: &Path| {
        let is_inner = path.starts_with("modules") || path.starts_with("worktrees");
        let depths = if is_inner { path.components().count() } else { 1 };
        (0..depths).any(|depth| {
            let rest: PathBuf = path.components().skip(depth).collect();
            IN_GIT.iter().any(|name| rest.starts_with(name))
        })
    };
    let below_git = inside.components().position(|part| part.as_os_str() == ".git");
    let rest = below_git.map(|at| inside.components().skip(at + 1).collect::<PathBuf>());
    rest.is_some_and(|rest| rest.as_os_str().is_empty() || in_git(&rest))
        || NAMES.iter().any(|name| inside.starts_with(name))
}

/// The files that redirect git to another configuration: one in a main repository, and those of
/// its work trees that lead to another repository.
pub(super) fn redirections(repository: &Path) -> Vec<PathBuf> {
    if !fs::symlink_metadata(repository).is_ok_and(|found| found.is_dir()) {
        return Vec::new();
    }
    let own = repository.join(COMMON_DIR);
    let own = fs::symlink_metadata(&own).is_ok().then_some(own);
    let work_trees = fs::read_dir(repository.join("worktrees")).into_iter().flatten().flatten();
    let leads_away = |file: &PathBuf| match read_without_links(file, COMMON_DIR_BYTES_MAX) {
        // Empty while git makes the work tree; git refuses it then.
        Ok(Some(text)) => !text.is_empty() && text.trim_ascii_end() != TO_REPOSITORY,
        Ok(None) => true,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    let work_trees = work_trees.map(|entry| entry.path().join(COMMON_DIR)).filter(leads_away);
    own.into_iter().chain(work_trees).collect()
}

/// Removes such a file, or writes what git wrote there for a work tree.
pub(super) fn repair(repository: &Path, file: &Path) -> io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    let opened = open_without_links(folder, OFlags::DIRECTORY)?;
    match unlinkat(&opened, COMMON_DIR, AtFlags::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        removed => removed?,
    }
    if folder != repository {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = openat(&opened, COMMON_DIR, flags, Mode::from_raw_mode(0o644))?;
        fs::File::from(file).write_all(&[TO_REPOSITORY, b"\n"].concat())?;
    }
    Ok(())
}

/// Whether a path is held. A `.git` folder is not: its objects and references are what an agent
/// works with.
fn is_held(path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    match path.file_name().is_some_and(|name| name == ".git") {
        true => found.is_file(),
        false => found.is_file() || found.is_dir(),
    }
}

/// The repositories of submodules, and the files that link worktrees to theirs.
fn inner(repository: &Path) -> Vec<PathBuf> {
    let in_folder = |name: &str| {
        let entries = fs::read_dir(repository.join(name)).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).take(REPOSITORIES_MAX).collect::<Vec<_>>()
    };
    let modules = in_folder("modules");
    let nested = modules.iter().flat_map(|module| {
        let entries = fs::read_dir(module).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.join("HEAD").is_file())
    });
    nested
        .take(REPOSITORIES_MAX)
        .chain(modules.iter().cloned())
        .chain(in_folder("worktrees"))
        .collect()
}

/// What a workspace contains of other repositories.
struct Nested {
    repositories: Vec<PathBuf>,
    /// Files `.git`, which name the repository of a submodule or of a linked work tree.
    files: Vec<PathBuf>,
}

/// The repositories whose redirections are watched: that of the workspace, those below it, and
/// those of its submodules.
pub(super) fn watched(workspace: &Path) -> Vec<PathBuf> {
    let own = workspace.join(".git");
    let mut found = vec![own.clone()];
    found.extend(nested(workspace).repositories);
    let modules = inner(&own).into_iter().filter(|path| path.starts_with(own.join("modules")));
    found.extend(modules);
    found
}

/// Repositories below a workspace, other than its own.
fn nested(workspace: &Path) -> Nested {
    let mut found = Nested { repositories: Vec::new(), files: Vec::new() };
    let mut looked_at = 0;
    let mut folders = vec![(workspace.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        looked_at += 1;
        // A folder that cannot be listed cannot be written either.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if name == ".git" && !is_folder && depth > 0 && found.files.len() < REPOSITORIES_MAX {
                found.files.push(entry.path());
            }
            if !is_folder || PASSED_OVER.iter().any(|passed| name == *passed) {
                continue;
            }
            if name == ".git" {
                if depth > 0 && found.repositories.len() < REPOSITORIES_MAX {
                    found.repositories.push(entry.path());
                }
            } else if depth < DEPTH_MAX && looked_at + folders.len() < FOLDERS_MAX {
                folders.push((entry.path(), depth + 1));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k10_what_users_run_later_is_found_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in [".git/hooks", ".git/objects", "vendor/lib/.git/hooks", ".vscode", "src"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        for name in [".git/config", ".envrc", "src/.envrc", "vendor/lib/.git/config"] {
            fs::write(root.join(name), "").unwrap();
        }
        let found = in_workspace(root);
        let found: Vec<_> = found.iter().map(|path| path.strip_prefix(root).unwrap()).collect();
        let expected = [
            ".envrc",
            ".git/config",
            ".git/hooks",
            ".vscode",
            "vendor/lib/.git/config",
            "vendor/lib/.git/hooks",
        ];
        assert_eq!(found, expected.map(Path::new));
    }

    #[test]
    fn k10_a_protected_name_is_recognised_by_its_path() {
        let protected = [
            ".git/hooks/pre-commit",
            ".git/config",
            "a/.git/config",
            ".git",
            ".envrc",
            ".git/modules/sub/config",
            ".git/modules/a/modules/b/hooks/x",
            ".git/worktrees/x/commondir",
            "sub/.git",
        ];
        let free = [
            ".git/index",
            ".git/refs/heads/main",
            ".git/refs/heads/config",
            ".git/modules/sub/index",
            ".gitignore",
            "src/main.rs",
            "a.envrc",
        ];
        let judged = |names: &[&str]| -> Vec<bool> {
            names.iter().map(|name| is_protected(Path::new(name))).collect()
        };
        assert_eq!(judged(&protected), [true; 9]);
        assert_eq!(judged(&free), [false; 7]);
    }
}
