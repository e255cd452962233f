//! Waking waiters that have no inotify watch.
//!
//! Such a waiter keeps a named pipe in the session's folder, and every Convoke process that settles
//! the session, or sees that another program did, writes a byte into it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use tempfile::TempPath;
use tokio::net::unix::pipe::Receiver;

/// How the names of the pipes end.
const SUFFIX: &str = ".bell";

/// A named pipe by which a waiter is woken. Deleted with it.
pub(super) struct WakePipe {
    pipe: Receiver,
    _path: TempPath,
}

impl WakePipe {
    /// Puts a pipe into the folder of a session.
    pub(super) fn create(folder: &Path) -> io::Result<Self> {
        let make = |path: &Path| {
            rustix::fs::mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?;
            // Open for writing as well, so that the pipe does not read as ended between two writers.
            open(path, OpenOptions::new().read(true).write(true))
        };
        let made = tempfile::Builder::new().prefix(".").suffix(SUFFIX).make_in(folder, make)?;
        let (file, path) = made.into_parts();
        Ok(Self { pipe: Receiver::from_file(file)?, _path: path })
    }

    /// Waits until the pipe is written to.
    pub(super) async fn woken(&self) {
        let mut byte = [0; 16];
        // If the pipe cannot be read, its waiter is not woken, and polls.
        if self.pipe.readable().await.is_err() {
            std::future::pending::<()>().await;
        }
        while self.pipe.try_read(&mut byte).is_ok_and(|read| read > 0) {}
    }
}

/// Wakes the waiters of a session that have no inotify watch.
pub(super) fn wake(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_wake_pipe = entry.file_name().to_string_lossy().ends_with(SUFFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_fifo());
        if !is_wake_pipe {
            continue;
        }
        let path = entry.path();
        match open(&path, OpenOptions::new().write(true)).and_then(|mut pipe| pipe.write_all(&[1]))
        {
            Ok(()) => {}
            // No process has it open: its waiter was killed.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
                fs::remove_file(&path).ok();
            }
            // A full pipe has woken its waiter already.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => tracing::debug!("cannot wake a waiter by {}: {error}", path.display()),
        }
    }
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    options.custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[tokio::test]
    async fn q11_a_waiter_without_a_watch_is_woken_by_its_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) =
            (WakePipe::create(folder.path()).unwrap(), WakePipe::create(folder.path()).unwrap());
        wake(folder.path());
        first.woken().await;
        second.woken().await;
        drop((first, second));
        assert_eq!(names(folder.path()), 0);
    }

    #[tokio::test]
    async fn the_pipe_of_a_killed_waiter_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let WakePipe { pipe, _path: path } = WakePipe::create(folder.path()).unwrap();
        let kept = path.keep().unwrap();
        drop(pipe);
        wake(folder.path());
        assert!(!kept.exists());
    }
}
