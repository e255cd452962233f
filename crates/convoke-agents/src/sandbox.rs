//! Confines agents: what they may write and read, and that nothing they start outlives them.
//!
//! The daemon starts Convoke itself as `sandbox-exec --supervise`, with an empty environment, and hands it the plan and
//! the open descriptors over a socket. That supervisor starts the last stage (`sandbox-exec --enter`), through bubblewrap
//! where that works; the last stage gives up rights with Landlock and seccomp and becomes the agent. Each layer holds for
//! the agent and everything that it starts, and cannot be taken off again:
//!
//! * bubblewrap: namespaces for processes and shared memory, and a file system in which everything is read-only but what
//!   may be written, with a `/tmp` and a `/dev` of its own; secrets, sockets of other programs and Convoke's home are not
//!   there, and what the user's own programs run later (git hooks, editor tasks, start files) is read-only;
//! * Landlock: files are opened only where that is granted. It knows grants only: to read everything but what is hidden,
//!   entry by entry along the way to it, so that an entry that is made beside it later cannot be read; to write the given
//!   files and folders. Signals and abstract sockets stay inside;
//! * seccomp: no typing into terminals, no mounting, no new user namespaces, no keyrings, no `io_uring`;
//! * without an open network: a network namespace in which only Convoke's tools and a proxy can be connected to. Both are
//!   forwarded by the supervisor, which stays outside and asks about hosts that are not on the list;
//! * the supervisor: ends everything that was started, and keeps limits.

mod bubblewrap;
mod channel;
mod domains;
mod enter;
#[cfg(target_os = "linux")]
mod landlock;
mod layout;
mod listeners;
mod mounts;
mod paths;
mod planted;
mod policy;
mod reading;
mod repositories;
mod resolve;
mod scope;
mod seccomp;
mod secrets;
mod settings;
mod start;
mod supervisor;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;

use rustix::process::{getpgid, getppid, setpgid, setsid};
use rustix::stdio::dup2_stdin;

use crate::{Error, Result};

pub(crate) use domains::Target;
pub use domains::{Domain, NotADomain};
pub use planted::of_git as held_of_git;
pub(crate) use planted::{is_in_repository, is_protected};
pub(crate) use policy::{
    ConnectionAnswer, ConnectionRequest, Ending, Ruling, SupervisorMessage, TERMINATE, Text,
};
pub use policy::{Layers, Limits, Network, Policy, Seccomp, StartFiles, Use};
pub(crate) use resolve::open_without_links;
pub use resolve::read_without_links;
pub use scope::Systemd;
pub(crate) use secrets::hidden as hidden_secrets;
pub use secrets::places as secret_places;
pub use settings::{Available, Caches, Exceptions, Layer, Missing, Settings};
pub use start::{SandboxedCommand, run_sandboxed};
pub(crate) use start::{Supervised, start};

/// The paths, and all others that lead to the same files and folders, because a file system is
/// mounted twice.
pub(crate) fn with_aliases(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let aliases: Vec<PathBuf> = paths.iter().flat_map(|path| mounts::aliases(path)).collect();
    [paths, aliases].concat()
}

/// An incomplete part of an otherwise active confinement.
#[derive(Debug, thiserror::Error)]
pub enum Shortfall {
    /// A missing file, on which no rights can be granted.
    #[error("{} does not exist, and a sandboxed program cannot create it", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The neighbours of a hidden folder cannot be listed, so they are hidden too.
    #[error("cannot list {}, so nothing in it is readable", path.display())]
    Unlistable {
        /// The folder around the hidden one.
        path: PathBuf,
        /// Why it cannot be looked into.
        source: io::Error,
    },
    /// A file that would have led git to another configuration.
    #[error("repaired {}: git would have taken its configuration from elsewhere", path.display())]
    Repaired {
        /// The file.
        path: PathBuf,
    },
    /// A folder whose repositories cannot be protected one by one.
    #[error("{} is read-only: it cannot be searched, or has too many repositories", path.display())]
    ReadOnly {
        /// The folder.
        path: PathBuf,
    },
    /// A workspace with too many folders to search for repositories.
    #[error("repositories in {} and later folders are not protected: there are too many folders", path.display())]
    Unsearched {
        /// The first folder that was not searched.
        path: PathBuf,
    },
}

/// The Landlock version that confines all writes.
pub const WRITING_GENERATION: u8 = 3;

/// The newest Landlock version that the running kernel supports, or `None` without Landlock.
///
/// For a kernel that is newer than this program, it is the newest version known here.
pub fn landlock_generation() -> Option<u8> {
    #[cfg(target_os = "linux")]
    return landlock::newest_generation();
    #[cfg(not(target_os = "linux"))]
    return None;
}

/// The main function of `sandbox-exec --supervise`: the socket on its standard input has the plan.
pub fn supervise() -> Result<ExitCode> {
    keep_descriptors_here();
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (plan, descriptors) = channel::receive(&mut control)?;
    let nothing = std::fs::File::open("/dev/null")?;
    dup2_stdin(&nothing).map_err(io::Error::from)?;
    let mut descriptors = descriptors.into_iter();
    let (Some(stdin), Some(stdout), Some(stderr), Some(workspace)) =
        (descriptors.next(), descriptors.next(), descriptors.next(), descriptors.next())
    else {
        return Err(Error::Io(io::Error::other("the descriptors of the program are missing")));
    };
    let streams = [stdin, stdout, stderr];
    let connections = descriptors.next().map(UnixStream::from);
    supervisor::run(supervisor::Job {
        plan,
        streams,
        workspace,
        control: Some(control),
        connections,
    })
}

/// The main function of `sandbox-exec --enter`: it becomes the program.
pub fn enter() -> Result<ExitCode> {
    Ok(enter::enter()?)
}

/// Marks all inherited descriptors besides the three streams as close-on-exec: a daemon may have
/// been started with files open that its agents must not access.
fn keep_descriptors_here() {
    const FIRST: i32 = 3;
    close_fds::set_fds_cloexec_threadsafe(FIRST, &[]);
}

/// Leaves the terminal by starting a new session: a program that shares a terminal with its user
/// can type into it.
///
/// Programs that would ask there for a password fail at once, instead of waiting for ever.
fn leave_terminal() -> io::Result<()> {
    if setsid().is_ok() {
        return Ok(());
    }
    // The leader of a group cannot start a session, so it moves into the group of its parent first.
    let parent = getppid().ok_or(io::ErrorKind::NotFound)?;
    setpgid(None, Some(getpgid(Some(parent))?))?;
    setsid()?;
    Ok(())
}

/// Removes all rights of the calling thread except the listed ones.
#[cfg(target_os = "linux")]
fn restrict(
    readable: &[PathBuf],
    writable: &[OwnedFd],
    sockets: &[PathBuf],
    view: enter::View,
) -> Result<()> {
    let devices = match view {
        enter::View::Own => landlock::Devices::Own,
        enter::View::Shared => landlock::Devices::Shared,
    };
    landlock::restrict(&landlock::Grants { readable, writable, sockets, devices })
}

#[cfg(not(target_os = "linux"))]
fn restrict(
    _readable: &[PathBuf],
    _writable: &[OwnedFd],
    _sockets: &[PathBuf],
    _view: enter::View,
) -> Result<()> {
    Err(Error::NoLandlock)
}

#[cfg(test)]
mod tests;
