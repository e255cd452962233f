//! `.worktreeinclude`: patterns of untracked files, such as `.env`, that a new work tree gets copies of.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Copied;
use crate::checkpoint::paths_of;
use crate::project::Project;
use crate::root::{Obstacle, Outcome, Root};
use crate::{Error, Limits, Result};

/// The file with the patterns, in the root of the project.
const FILE: &str = ".worktreeinclude";

/// The most files that are copied; the others are listed.
const FILES_MAX: usize = 100_000;

/// The most bytes that are copied in all; files that do not fit are listed.
const BYTES_MAX: u64 = 2 << 30;

impl Project {
    /// Copies the untracked files that `.worktreeinclude` names, ignored ones included, to another work tree.
    ///
    /// Links are copied as links, nothing is followed, and nothing that exists is replaced. Files
    /// in `hidden`, whose paths have no symbolic links, are left out: agents must not read them,
    /// and an agent may have written the patterns.
    pub fn copy_included(&self, to: &Path, hidden: &[PathBuf], limits: &Limits) -> Result<Copied> {
        let mut copied = Copied::default();
        let patterns = self.work_tree().join(FILE);
        if !patterns.symlink_metadata().is_ok_and(|found| found.is_file()) {
            return Ok(copied);
        }
        let command = self.command("ls-files").args(["-z", "--others", "--ignored"]);
        let output = command.arg(format!("--exclude-from={FILE}")).run(limits)?;
        let open = |path: &Path| Root::open(path).map_err(|obstacle| failed(path, obstacle));
        let (from, target) = (open(self.work_tree())?, open(to)?);
        let work_tree = self.work_tree();
        let work_tree = work_tree.canonicalize().map_err(|it| Error::io("open", work_tree, it))?;
        let mut bytes_left = BYTES_MAX;
        for path in paths_of(&output.stdout) {
            if limits.is_cancelled() || limits.left().is_zero() {
                return Err(Error::Cancelled);
            }
            let is_folder = path.as_os_str().as_bytes().ends_with(b"/");
            let is_full = copied.files.len() >= FILES_MAX;
            let full = work_tree.join(&path);
            let outcome = if is_folder || is_full {
                Err(Obstacle::Path("it is too much"))
            } else if hidden.iter().any(|it| full.starts_with(it) && !work_tree.starts_with(it)) {
                Err(Obstacle::Path("it is hidden"))
            } else {
                copy(&from, &target, &path, &mut bytes_left)
            };
            match outcome {
                Ok(()) => copied.files.push(path),
                Err(Obstacle::Path(_)) => copied.left_out.push(path),
                Err(obstacle) => return Err(failed(&to.join(path), obstacle)),
            }
        }
        Ok(copied)
    }
}

fn copy(from: &Root, to: &Root, path: &Path, bytes_left: &mut u64) -> Outcome<()> {
    if let Some(link) = from.read_link(path)? {
        return to.create_link(path, &link);
    }
    let mut source = from.read(path)?;
    let system = |error: io::Error| match rustix::io::Errno::from_io_error(&error) {
        Some(errno) => Obstacle::System(errno),
        None => Obstacle::Path("it cannot be copied"),
    };
    let found = source.metadata().map_err(system)?;
    *bytes_left = match bytes_left.checked_sub(found.len()) {
        Some(left) => left,
        None => return Err(Obstacle::Path("it is too large")),
    };
    let mut target = to.create(path, found.permissions().mode() & 0o777)?;
    io::copy(&mut source, &mut target).map_err(system).map(drop)
}

fn failed(path: &Path, obstacle: Obstacle) -> Error {
    match obstacle {
        Obstacle::Path(why) => Error::Unwritable { path: path.to_owned(), why },
        Obstacle::System(errno) => Error::io("copy", path, errno.into()),
    }
}
