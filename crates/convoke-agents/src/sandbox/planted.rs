//! Names inside of writable folders that determine what the user's own programs execute later,
//! outside of any sandbox.
//!
//! bubblewrap mounts existing ones read-only. A name that does not exist yet cannot be protected
//! this way, nor can Landlock revoke the rights on the folder around it; the security page
//! documents this.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use super::repositories::{Repositories, is_folder, is_linked};
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
const IN_GIT: [&str; 6] =
    ["commondir", "config", "config.worktree", "gitdir", "hooks", "info/attributes"];

/// The name that must not appear in a main repository: git reads configuration and hooks from where
/// it points.
const COMMON_DIR: &str = "commondir";
/// What git writes into this file of a work tree.
const TO_REPOSITORY: &[u8] = b"../..";
/// Longer files lead elsewhere.
const COMMON_DIR_BYTES_MAX: u64 = 64;
/// Further reads of empty files, some milliseconds. They are empty while git makes a work tree,
/// which git refuses then, and whenever a program that writes one again and again has truncated it.
/// All files share the bound, so that many empty ones do not keep the supervisor from its work.
const REREADS_MAX: u32 = 1000;

/// The existing paths of a workspace and of the repositories in writable folders that are to be
/// mounted read-only.
pub(super) fn in_workspace(workspace: &Path, repositories: &Repositories) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = NAMES.iter().map(|name| workspace.join(name)).collect();
    found.extend(repositories.files.iter().cloned());
    for repository in &repositories.folders {
        // The supervisor removes this file from a main repository, so it cannot be a mount.
        let is_mounted = |name: &&&str| **name != COMMON_DIR || is_linked(repository);
        found.extend(IN_GIT.iter().filter(is_mounted).map(|name| repository.join(name)));
    }
    found.retain(|path| is_held(path));
    found.extend(repositories.read_only.iter().cloned());
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

/// Whether a path in a workspace is such a part of a repository whose folder has another name than
/// `.git`.
pub(crate) fn is_in_repository(workspace: &Path, inside: &Path) -> bool {
    inside.ancestors().skip(1).any(|folder| {
        let rest = inside.strip_prefix(folder).unwrap_or(inside);
        let folder = workspace.join(folder);
        IN_GIT.iter().any(|name| rest.starts_with(name))
            && (folder.join("HEAD").is_file()
                || ["objects", "refs"].iter().all(|name| is_folder(&folder.join(name))))
    })
}

/// The files that redirect git to another configuration: any in a main repository, and those of
/// its linked work trees that do not name it. git makes none of them, nor links in their places.
pub(super) fn redirections<'r>(
    repositories: impl IntoIterator<Item = &'r PathBuf>,
) -> BTreeSet<PathBuf> {
    let mut rereads = REREADS_MAX;
    repositories.into_iter().flat_map(|folder| redirections_in(folder, &mut rereads)).collect()
}

fn redirections_in(repository: &Path, rereads: &mut u32) -> Vec<PathBuf> {
    if !is_folder(repository) {
        return Vec::new();
    }
    let is_link = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
    let own = repository.join(COMMON_DIR);
    let mut found = Vec::new();
    let redirects =
        if is_linked(repository) { leads_away(&own, rereads) } else { is_no_folder(&own) };
    found.extend(redirects.then_some(own));
    let worktrees = repository.join("worktrees");
    if is_link(&worktrees) {
        found.push(worktrees);
        return found;
    }
    for entry in fs::read_dir(worktrees).into_iter().flatten().flatten() {
        let folder = entry.path();
        let file = folder.join(COMMON_DIR);
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            found.push(folder);
        } else if leads_away(&file, rereads) {
            found.push(file);
        }
    }
    found
}

/// Whether a linked work tree has its configuration elsewhere than in its repository.
fn leads_away(file: &Path, rereads: &mut u32) -> bool {
    loop {
        match read_without_links(file, COMMON_DIR_BYTES_MAX) {
            Ok(Some(text)) if text.is_empty() => {
                let Some(left) = rereads.checked_sub(1) else { return false };
                *rereads = left;
            }
            Ok(Some(text)) => return text.trim_ascii_end() != TO_REPOSITORY,
            Ok(None) => return is_no_folder(file),
            Err(error) => return error.kind() != io::ErrorKind::NotFound && is_no_folder(file),
        }
    }
}

/// Whether there is something else than a folder, with which git refuses the repository.
fn is_no_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir())
}

/// Removes such a file, or writes what git wrote there for a linked work tree.
pub(super) fn repair(file: &Path) -> io::Result<()> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return Ok(()) };
    let opened = open_without_links(folder, OFlags::DIRECTORY)?;
    match unlinkat(&opened, name, AtFlags::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        removed => removed?,
    }
    if name == COMMON_DIR && is_linked(folder) {
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

#[cfg(test)]
mod tests {
    use super::super::repositories::{self, Depth};
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
        let found = in_workspace(root, &repositories::search(&[root], Depth::Workspace));
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
