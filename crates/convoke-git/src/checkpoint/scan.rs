//! Finds the differences between Convoke's index and the work tree.
//!
//! Two processes run concurrently: one compares the files in the index, the other walks the folders
//! for new files that no rule ignores. Only the files that they name are checked again.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::thread;

use rustix::fs::{Access, access};

use super::excludes::GitFolder;
use super::state::Identity;
use super::{Checkpoints, LeftOut, LeftOutReason};
use crate::{Error, Limits, Result};

/// The most paths in one command line; for more, all names in the project's index are read.
const ARGUMENTS_MAX: usize = 256;

/// The changes to be made in Convoke's index.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Files whose content is to be captured.
    pub(super) add: Vec<PathBuf>,
    /// Files of the index that were deleted or are left out.
    pub(super) remove: Vec<PathBuf>,
    /// Files that are not captured although no rule ignores them.
    pub(super) left_out: BTreeSet<LeftOut>,
    /// The version of the project's own index that was read.
    pub(super) tracked: Option<Identity>,
}

/// Whether a path is in our index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Indexed {
    Yes,
    No,
}

impl Checkpoints {
    /// Compares index and work tree; `tracked` is the version of the project's index that was read
    /// the last time.
    pub(super) fn scan(&self, tracked: Option<&Identity>, limits: &Limits) -> Result<Scan> {
        let project = GitFolder::find(&self.top);
        self.copy_excludes(project.as_ref())?;
        let (changed, new) = thread::scope(|scope| {
            let changed = scope.spawn(|| self.changed(limits));
            let new = self.new_files(limits);
            (changed.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), new)
        });
        let mut scan = Scan::default();
        for (path, status) in changed? {
            match status {
                b'D' => scan.remove.push(path),
                _ => self.judge(path, Indexed::Yes, &mut scan),
            }
        }
        let (new, worktrees) = new?;
        let reason = LeftOutReason::Worktree;
        scan.left_out.extend(worktrees.into_iter().map(|path| LeftOut { path, reason }));
        for path in new {
            self.judge(path, Indexed::No, &mut scan);
        }
        for path in self.hidden_in_index(limits)? {
            self.judge(path, Indexed::Yes, &mut scan);
        }
        let is_any_gone = !scan.remove.is_empty();
        let theirs = project.map(|folder| folder.own.join("index"));
        self.add_tracked(theirs.as_deref(), tracked, &mut scan, limits)?;
        if is_any_gone {
            // If a file that is ignored and tracked is made again, only the project's index names it.
            scan.tracked = None;
        }
        // Some are found in two ways, and some are no part of our index.
        scan.remove.sort();
        scan.remove.dedup();
        Ok(scan)
    }

    /// Files of the index that were deleted or may differ, each with git's status letter.
    fn changed(&self, limits: &Limits) -> Result<Vec<(PathBuf, u8)>> {
        if !self.file("index").exists() {
            return Ok(Vec::new());
        }
        let command = self.command("diff-files");
        let command = command.args(["-z", "--raw", "--no-renames", "--relative"]);
        let output = command.arg("--ignore-submodules=all").run(limits)?;
        let mut fields = output.stdout.split(|byte| *byte == 0);
        let mut changed = Vec::new();
        while let (Some(record), Some(path)) = (fields.next(), fields.next()) {
            let Some(status) = record.last().filter(|_| record.starts_with(b":")) else {
                let what = format!("{:?}", String::from_utf8_lossy(record));
                return Err(Error::Unexpected { command: "git diff-files".to_owned(), what });
            };
            changed.push((path_of(path), *status));
        }
        Ok(changed)
    }

    /// Files that were captured before they were hidden.
    fn hidden_in_index(&self, limits: &Limits) -> Result<Vec<PathBuf>> {
        let hidden = self.options.hidden.iter();
        let inside = hidden.filter_map(|path| path.strip_prefix(&self.work_tree).ok());
        let inside: Vec<&Path> = inside.collect();
        if inside.is_empty() || !self.file("index").exists() {
            return Ok(Vec::new());
        }
        let command = self.command("ls-files").args(["-z", "--cached", "--"]).args(inside);
        Ok(paths_of(&command.run(limits)?.stdout))
    }

    /// Decides about one path that changed or is new.
    fn judge(&self, path: PathBuf, indexed: Indexed, scan: &mut Scan) {
        let full = self.work_tree.join(&path);
        let found = fs::symlink_metadata(&full).ok();
        let reason = match found {
            Some(_) if has_reserved_name(&path) => LeftOutReason::Name,
            Some(_) if self.options.hidden.iter().any(|hidden| full.starts_with(hidden)) => {
                LeftOutReason::Hidden
            }
            Some(found) if found.is_symlink() => return scan.add.push(path),
            Some(found) if found.is_file() => {
                let bytes = found.len();
                let is_new = indexed == Indexed::No;
                if bytes > self.options.file_bytes_max
                    || (is_new && bytes > self.options.untracked_bytes_max)
                {
                    LeftOutReason::TooLarge { bytes }
                } else if access(&full, Access::READ_OK).is_err() {
                    LeftOutReason::Unreadable
                } else {
                    return scan.add.push(path);
                }
            }
            // Deleted meanwhile, or replaced by a folder, a pipe or a device, which no tree can
            // hold.
            Some(_) | None => {
                if indexed == Indexed::Yes {
                    scan.remove.push(path);
                }
                return;
            }
        };
        if indexed == Indexed::Yes {
            scan.remove.push(path.clone());
        }
        scan.left_out.insert(LeftOut { path, reason });
    }

    /// Adds files that the project tracks although they are ignored, or larger than what is captured of others.
    fn add_tracked(
        &self,
        index: Option<&Path>,
        seen: Option<&Identity>,
        scan: &mut Scan,
        limits: &Limits,
    ) -> Result<()> {
        let Some((index, identity)) = index.and_then(|it| Some((it, Identity::read(it)?))) else {
            return Ok(());
        };
        let large = scan.left_out.iter().filter(|it| self.is_captured_if_tracked(it));
        let large: Vec<PathBuf> = large.map(|it| it.path.clone()).collect();
        if !large.is_empty() {
            let tracked = self.tracked(index, &large, limits)?;
            scan.left_out.retain(|it| !tracked.contains(&it.path));
            scan.add.extend(large.into_iter().filter(|path| tracked.contains(path)));
        }
        // A file that became ignored after it was captured stays captured, so only a new index can name others.
        if seen != Some(&identity) {
            let options = ["-z", "--cached", "--ignored", "--exclude-standard"];
            for path in self.list_tracked(index, &options, &[], limits)? {
                self.judge(path, Indexed::Yes, scan);
            }
        }
        scan.tracked = Some(identity);
        Ok(())
    }

    fn is_captured_if_tracked(&self, left_out: &LeftOut) -> bool {
        match left_out.reason {
            LeftOutReason::TooLarge { bytes } => bytes <= self.options.file_bytes_max,
            LeftOutReason::Unreadable
            | LeftOutReason::Name
            | LeftOutReason::Worktree
            | LeftOutReason::Hidden => false,
        }
    }

    /// Which of some paths the project tracks.
    fn tracked(&self, index: &Path, of: &[PathBuf], limits: &Limits) -> Result<HashSet<PathBuf>> {
        let asked = if of.len() <= ARGUMENTS_MAX { of } else { &[] };
        let found = self.list_tracked(index, &["-z", "--cached"], asked, limits)?;
        Ok(found.into_iter().collect())
    }

    /// Lists the project's index as data, under our configuration.
    fn list_tracked(
        &self,
        index: &Path,
        options: &[&str],
        paths: &[PathBuf],
        limits: &Limits,
    ) -> Result<Vec<PathBuf>> {
        let command = self.command("ls-files").env("GIT_INDEX_FILE", index);
        let command = command.args(options).arg("--").args(paths);
        match command.run(limits) {
            Ok(output) => Ok(paths_of(&output.stdout)),
            // Split or sparse, with other hashes, or damaged: its files are judged like any others.
            Err(Error::Failed { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

/// The paths in output that ends each with a zero byte.
pub(crate) fn paths_of(output: &[u8]) -> Vec<PathBuf> {
    output.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(path_of).collect()
}

/// A path as git prints it; names are bytes.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

/// Paths as git reads them from stdin, each with a zero byte at its end.
pub(crate) fn input_of<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<u8> {
    let mut input = Vec::new();
    for path in paths {
        input.extend_from_slice(path.as_os_str().as_bytes());
        input.push(0);
    }
    input
}

/// Git refuses paths with such a component, which could turn a folder into a repository.
pub(crate) fn has_reserved_name(path: &Path) -> bool {
    path.iter().any(|part: &OsStr| part.as_bytes().eq_ignore_ascii_case(b".git"))
}
