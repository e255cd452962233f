//! Files that our index does not know, those in repositories inside of the work tree included.
//!
//! Git names a nested repository or submodule as one folder and does not look inside. A session may well work there, so
//! its files are captured like any others; its `.git` is not looked into.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Checkpoints;
use super::excludes::GitFolder;
use super::scan::paths_of;
use crate::{Limits, Result};

/// How deep repositories may lie in each other; deeper ones are left out.
const DEPTH_MAX: usize = 8;

impl Checkpoints {
    /// Unknown files that no rule ignores, and linked work trees, whose files are left out.
    pub(super) fn new_files(&self, limits: &Limits) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
        let listed = self.command("ls-files").args(["-z", "--others", "--exclude-standard"]);
        let listed = paths_of(&listed.run(limits)?.stdout);
        let mut found = (Vec::new(), Vec::new());
        self.sort(Path::new(""), listed, DEPTH_MAX, &mut found, limits)?;
        Ok(found)
    }

    fn sort(
        &self,
        below: &Path,
        listed: Vec<PathBuf>,
        depth: usize,
        found: &mut (Vec<PathBuf>, Vec<PathBuf>),
        limits: &Limits,
    ) -> Result<()> {
        for path in listed {
            let is_folder = path.as_os_str().as_bytes().ends_with(b"/");
            // Through `components`, which drops the slash at the end.
            let path: PathBuf = below.join(path).components().collect();
            if !is_folder {
                found.0.push(path);
                continue;
            }
            let folder = self.work_tree.join(&path);
            if depth == 0 || GitFolder::find(&folder).is_some_and(|it| it.is_linked()) {
                found.1.push(path);
                continue;
            }
            // An index that does not exist knows no files, so that all are listed.
            let inside = self.command("ls-files").env("GIT_WORK_TREE", &folder).folder(&folder);
            let inside = inside.env("GIT_INDEX_FILE", self.file("none"));
            let inside = inside.args(["-z", "--others", "--exclude-standard"]).run(limits)?;
            self.sort(&path, paths_of(&inside.stdout), depth - 1, found, limits)?;
        }
        Ok(())
    }
}
