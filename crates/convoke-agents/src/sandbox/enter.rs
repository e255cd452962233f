//! The last stage before the program: inside of the namespaces, it checks the mounts, drops its
//! rights, and becomes the program. The program's environment has no effect before that.

use std::error::Error as _;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use rustix::process::{Signal, fchdir, set_parent_process_death_signal};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use serde::{Deserialize, Serialize};

use super::layout::{self, Identity};
use super::listeners::ListenerSpec;
use super::policy::{Ending, Seccomp, SupervisorMessage, Text, Use};
use super::{leave_terminal, paths, reading, restrict, seccomp};

/// Exit codes as in shells.
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;
/// The sandbox could not be entered.
const NOT_CONFINED: u8 = 125;

/// The plan that the supervisor sends the last stage, with descriptors: the program's three streams, then the writable
/// paths.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    #[serde(with = "paths")]
    pub(super) program: PathBuf,
    pub(super) args: Vec<Text>,
    pub(super) environment: Vec<(Text, Text)>,
    #[serde(with = "paths")]
    pub(super) workspace: PathBuf,
    pub(super) view: View,
    pub(super) landlock: Use,
    pub(super) seccomp: Seccomp,
    /// Paths and their expected identities, in the order of the descriptors.
    #[serde(with = "paths")]
    pub(super) writable: Vec<(PathBuf, Identity)>,
    /// Protected paths and the folders around them, with their expected identities.
    #[serde(with = "paths")]
    pub(super) held: Vec<(PathBuf, Identity)>,
    #[serde(with = "paths")]
    pub(super) hidden: Vec<PathBuf>,
    #[serde(with = "paths")]
    pub(super) readable: Vec<PathBuf>,
    #[serde(with = "paths")]
    pub(super) sockets: Vec<PathBuf>,
    pub(super) ending: Ending,
    /// The listeners to open inside of a network namespace.
    pub(super) listeners: ListenerSpec,
}

/// The file system that the program sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum View {
    /// Its own, made by bubblewrap.
    Own,
    /// The host's.
    Shared,
}

/// Becomes the program that the socket on standard input describes.
pub(super) fn enter() -> io::Result<ExitCode> {
    super::keep_descriptors_here();
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // The supervisor waits for this byte, and starts the stage again without it.
    control.write_all(&[1])?;
    let (entry, descriptors) = super::channel::receive::<Entry>(&mut control)?;
    let mut descriptors = descriptors.into_iter();
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (descriptors.next(), descriptors.next(), descriptors.next())
    else {
        return Err(io::Error::other("the streams of the program are missing"));
    };
    // From here on, errors go to the program's own stderr.
    dup2_stderr(&stderr)?;
    let variables = entry.environment.iter().cloned();
    let mut environment: Vec<(OsString, OsString)> =
        variables.map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
    let confined = entry
        .listeners
        .provide(&mut control, &mut environment)
        .map_err(crate::Error::from)
        .and_then(|()| confine(&entry, descriptors.collect()));
    if let Err(error) = confined {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        say(&format!("cannot confine {}: {error}{cause}", entry.program.display()));
        return Ok(ExitCode::from(NOT_CONFINED));
    }
    dup2_stdin(&stdin)?;
    dup2_stdout(&stdout)?;
    drop((stdin, stdout, stderr));
    let mut command = Command::new(&entry.program);
    command.args(entry.args.into_iter().map(OsString::from)).env_clear().envs(environment);
    match entry.ending {
        Ending::WithProgram => {
            drop(control);
            Ok(failure(&entry.program, &command.exec()))
        }
        Ending::WithControl => Ok(run_child(command, &entry.program, control)),
    }
}

/// Runs the program as a child, reports its exit status, and stays until the supervisor kills it:
/// processes that the program left running stay descendants of this one.
fn run_child(mut command: Command, program: &std::path::Path, mut control: UnixStream) -> ExitCode {
    let status = match command.status() {
        Ok(status) => status,
        Err(error) => return failure(program, &error),
    };
    let message = SupervisorMessage::Exited { code: status.code(), signal: status.signal() };
    let reported = serde_json::to_string(&message).map_err(io::Error::from);
    if reported.and_then(|line| writeln!(control, "{line}")).is_ok() {
        // Nothing is sent; the end of the socket is the signal.
        control.read_exact(&mut [0]).ok();
    }
    ExitCode::SUCCESS
}

fn confine(entry: &Entry, descriptors: Vec<OwnedFd>) -> crate::Result<()> {
    let writable = match entry.view {
        View::Shared => {
            leave_terminal()?;
            set_parent_process_death_signal(Some(Signal::KILL)).map_err(io::Error::from)?;
            let workspace = descriptors.first();
            let workspace = workspace.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            fchdir(workspace).map_err(io::Error::from)?;
            descriptors
        }
        View::Own => {
            // A descriptor from outside leads to the mounts outside, so all are closed.
            drop(descriptors);
            let mounted = mounted(entry)?;
            std::env::set_current_dir(&entry.workspace)?;
            mounted
        }
    };
    if entry.landlock == Use::On {
        let mut shortfalls = Vec::new();
        let mut readable = reading::readable(&entry.hidden, &mut shortfalls);
        readable.extend(entry.readable.iter().cloned());
        restrict(&readable, &writable, &entry.sockets, entry.view)?;
        shortfalls.iter().for_each(|shortfall| say(&format!("warning: {shortfall}")));
    }
    Ok(seccomp::restrict(entry.seccomp, entry.listeners.network)?)
}

/// Opens the mounted paths, and checks their identities.
fn mounted(entry: &Entry) -> io::Result<Vec<OwnedFd>> {
    let open = |(path, identity): &(PathBuf, Identity)| {
        let found = layout::open(path)?;
        if found.path != *path || Identity::of(found.descriptor.as_fd())? != *identity {
            let text = format!("{} was replaced while the agent started", path.display());
            return Err(io::Error::other(text));
        }
        Ok(found.descriptor)
    };
    for held in &entry.held {
        drop(open(held)?);
    }
    entry.writable.iter().map(open).collect()
}

fn failure(program: &std::path::Path, error: &io::Error) -> ExitCode {
    say(&format!("cannot execute {}: {error}", program.display()));
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    ExitCode::from(if is_missing { NOT_FOUND } else { NOT_EXECUTABLE })
}

/// Prints to the program's stderr, whose end the daemon keeps.
pub(super) fn say(text: &str) {
    // There is no other channel for an error.
    writeln!(io::stderr(), "convoke: {text}").ok();
}
