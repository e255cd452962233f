//! Confines agents by the kernel: what they may write, and what they may not even read.
//!
//! Convoke starts itself as `sandbox-exec`, gives up rights with Landlock, and becomes the agent, so that the agent and
//! all that it starts are bound and cannot get the rights back. Landlock knows grants only. Granted are:
//!
//! * to list every folder, hidden ones too: a grant on `/` or on somebody's home holds for all that is below, and no agent
//!   gets far without listing those;
//! * to read and run everything but the hidden folders and the devices, entry by entry along the way to a hidden folder.
//!   An entry that is made or replaced beside it (in `/home/me` for `/home/me/.convoke`) after the start has no grant
//!   of its own: its name is seen, its content is not, until the agent is started again;
//! * to write the given files and folders. A file is written in place: it cannot be replaced by renaming another one over
//!   it, since that takes rights on the folder around it, which would be all of it;
//! * harmless devices, terminals and shared memory.
//!
//! Left open, because Landlock has no rule for it: names and attributes of files everywhere (to look at, and to change the
//! attributes of what the user owns), sockets that are bound to a path, and hidden folders that are mounted a second time.

#[cfg(target_os = "linux")]
mod kernel;
mod reading;
mod writing;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{getpgid, getppid, setpgid, setsid};

use crate::driver::{Confinement, Launch};
use crate::{Error, Result};

/// What a process is given of the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Files and folders that it may write.
    pub writable: Vec<PathBuf>,
    /// Folders that it may not read.
    pub hidden: Vec<PathBuf>,
}

/// What confinement lacks, though it holds otherwise.
#[derive(Debug, thiserror::Error)]
pub enum Shortfall {
    /// A file that is not there has nothing to grant rights on.
    #[error("{} does not exist, and a confined program cannot make it", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The neighbours of a hidden folder are not known, so they are hidden too.
    #[error("cannot look into {}, so that nothing in it can be read", path.display())]
    Unlistable {
        /// The folder around the hidden one.
        path: PathBuf,
        /// Why it cannot be looked into.
        source: io::Error,
    },
    /// The kernel has no rule against cutting files off.
    #[error("this kernel confines in part only: files can be truncated everywhere")]
    Truncation,
}

/// The generation of Landlock that confines all writing.
pub const WRITING_GENERATION: u8 = 3;

/// The newest generation of Landlock rules that the running kernel takes, or `None` without Landlock.
///
/// A kernel that is newer than the newest generation known here answers with the latter.
pub fn landlock_generation() -> Option<u8> {
    #[cfg(target_os = "linux")]
    return kernel::newest_generation();
    #[cfg(not(target_os = "linux"))]
    return None;
}

/// Leaves the terminal, by leading a session of processes: whoever shares a terminal with its user can type into it.
///
/// Programs that would ask there for a password find nobody, instead of waiting for ever.
pub fn leave_terminal() -> io::Result<()> {
    if setsid().is_ok() {
        return Ok(());
    }
    // Who leads a group cannot lead a session, and so steps back into the group of whoever started it.
    let parent = getppid().ok_or(io::ErrorKind::NotFound)?;
    setpgid(None, Some(getpgid(Some(parent))?))?;
    setsid()?;
    Ok(())
}

/// Confines the calling thread, and every process that it starts or becomes, for good.
///
/// Folders in the rules that do not exist are made, for their owner only.
pub fn confine(rules: &Rules) -> Result<Vec<Shortfall>> {
    let generation = landlock_generation().ok_or(Error::NoLandlock)?;
    let mut shortfalls = Vec::new();
    if generation < WRITING_GENERATION {
        shortfalls.push(Shortfall::Truncation);
    }
    let writable = writing::writable(&rules.writable, &mut shortfalls)?;
    let hidden =
        rules.hidden.iter().map(|path| reading::resolve(path)).collect::<Result<Vec<_>>>()?;
    for hidden in &hidden {
        if let Some(around) = writable.iter().find(|folder| hidden.starts_with(folder)) {
            return Err(Error::Exposed { hidden: hidden.clone(), writable: around.clone() });
        }
    }
    let readable = reading::readable(&hidden, &mut shortfalls);
    restrict(&readable, &writable)?;
    Ok(shortfalls)
}

#[cfg(target_os = "linux")]
fn restrict(readable: &[PathBuf], writable: &[PathBuf]) -> Result<()> {
    kernel::restrict(readable, writable)
}

#[cfg(not(target_os = "linux"))]
fn restrict(_readable: &[PathBuf], _writable: &[PathBuf]) -> Result<()> {
    Err(Error::NoLandlock)
}

/// The program and the arguments that a launch comes to.
pub(crate) fn command_line(launch: &Launch) -> (&Path, Vec<OsString>) {
    let args = launch.args.iter().map(OsString::from);
    match &launch.confinement {
        Confinement::Off => (&launch.program, args.collect()),
        Confinement::Workspace { helper, writable, hidden } => {
            let writable = std::iter::once(&launch.workspace).chain(writable);
            let mut line = vec![OsString::from("sandbox-exec"), OsString::from("--own-session")];
            line.extend(writable.flat_map(|path| ["--write".into(), path.into()]));
            line.extend(hidden.iter().flat_map(|path| ["--hide".into(), path.into()]));
            line.extend(["--".into(), launch.program.clone().into()]);
            line.extend(args);
            (helper, line)
        }
    }
}

#[cfg(test)]
mod tests;
