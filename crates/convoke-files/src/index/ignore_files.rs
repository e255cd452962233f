//! Where the ignore files of a folder and of its user are, and how they are read.
//!
//! Agents write these files. A link to a device or a named pipe in place of one would be read for
//! ever, so only regular files of limited size are read.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::read::at_most;

/// The size of files that name a folder, and of git's configuration.
const SETTING_BYTES_MAX: usize = 64 << 10;

/// The files that set rules for a folder and what is in it: `.ignore`, `.gitignore`, and the private
/// one of the repository whose work tree it is.
pub(super) fn of_folder(folder: &Path) -> [Option<PathBuf>; 3] {
    let private = git_folder(folder).map(|git| git.join("info/exclude"));
    [Some(folder.join(".ignore")), Some(folder.join(".gitignore")), private]
}

/// The file with the rules that the user set for all repositories.
///
/// It is found by the home folder alone; the variables that move git's configuration are not read.
pub(super) fn of_user() -> Option<PathBuf> {
    let home = env::home_dir()?;
    let named = [".gitconfig", ".config/git/config"].into_iter().find_map(|name| {
        let settings = setting(&home.join(name).canonicalize().ok()?)?;
        excludes_file(&settings, &home)
    });
    // The user may well keep it elsewhere, with a link to it.
    named.unwrap_or_else(|| home.join(".config/git/ignore")).canonicalize().ok()
}

/// All of an ignore file. Like git, this does not follow a link in place of one.
pub(super) fn read(path: &Path, bytes_max: usize) -> Option<Vec<u8>> {
    match at_most(path, bytes_max) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            tracing::debug!("{} is not applied: {error}", path.display());
            None
        }
    }
}

/// The folder of git that all work trees of a repository share.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    let found = fs::metadata(&git).ok()?;
    if found.is_dir() {
        return Some(git);
    }
    // In a linked work tree and in a submodule, a file names the folder.
    let text = setting(&git)?;
    let own = folder.join(text.lines().next()?.strip_prefix("gitdir: ")?);
    let common = setting(&own.join("commondir"));
    match common.as_deref().and_then(|text| text.lines().next()) {
        Some(common) => Some(own.join(common)),
        None => Some(own),
    }
}

fn setting(path: &Path) -> Option<String> {
    String::from_utf8(read(path, SETTING_BYTES_MAX)?).ok()
}

/// The file that `core.excludesFile` names in a configuration of git.
fn excludes_file(settings: &str, home: &Path) -> Option<PathBuf> {
    let value = settings.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        name.trim().eq_ignore_ascii_case("excludesfile").then_some(value)
    })?;
    let value = value.trim().trim_matches('"');
    let path =
        value.strip_prefix("~/").map_or_else(|| PathBuf::from(value), |rest| home.join(rest));
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l2_the_users_own_ignore_file_is_the_one_that_git_uses() {
        let home = Path::new("/home/me");
        let named = |settings| excludes_file(settings, home);
        let expected = Some(PathBuf::from("/home/me/.ignored"));
        assert_eq!(named("[user]\n\tname = Ada\n[core]\n\texcludesFile = ~/.ignored\n"), expected);
        assert_eq!(named("[core]\nexcludesfile=\"/home/me/.ignored\""), expected);
        assert_eq!(named("[core]\nexcludesFile = relative\n"), None);
        assert_eq!(named("[core]\neditor = vi\n"), None);
    }
}
