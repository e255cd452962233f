//! Starts a supervisor and sends it its plan: the daemon's side of the socket.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use tokio::process::{Child, Command};

use super::channel;
use super::layout;
use super::policy::{Ending, Plan, Policy, Text};
use super::scope::Systemd;
use super::supervisor::{self, Job};

/// A program to be run by a supervisor.
pub(crate) struct Supervised<'a> {
    /// Convoke itself.
    pub(crate) helper: &'a Path,
    pub(crate) policy: &'a Policy,
    pub(crate) program: &'a Path,
    pub(crate) args: Vec<Text>,
    pub(crate) environment: &'a BTreeMap<OsString, OsString>,
    /// Opened and checked by the caller.
    pub(crate) workspace: OwnedFd,
    /// The program's standard input, output and error output.
    pub(crate) streams: [OwnedFd; 3],
    pub(crate) ending: Ending,
    /// Where the supervisor asks about connections that are not on the list; without it, they are
    /// denied.
    pub(crate) connections: Option<OwnedFd>,
}

impl Text {
    /// Arguments in their serialised form.
    pub(crate) fn of<'a>(texts: impl IntoIterator<Item = &'a OsStr>) -> Vec<Self> {
        texts.into_iter().map(Self::from).collect()
    }
}

/// Starts a supervisor in a new process group, with an empty environment; the plan is sent when
/// this returns, or soon after. It exits when the socket closes.
pub(crate) fn start(job: Supervised<'_>) -> io::Result<(Child, UnixStream)> {
    let (mut ours, theirs) = UnixStream::pair()?;
    let [_, _, errors] = &job.streams;
    let mut command = match &job.policy.scope {
        None => Command::new(job.helper),
        Some(systemd) => {
            let mut command = Command::new(systemd.program());
            command.args(Systemd::words(job.policy.limits)).arg(job.helper);
            command
        }
    };
    let variables = job.policy.scope.iter().flat_map(Systemd::variables);
    let child = command
        .args(["sandbox-exec", "--supervise"])
        .env_clear()
        // The user's own variables, none that an agent chose.
        .envs(variables)
        .current_dir("/")
        .process_group(0)
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        // Its error messages go to the program's stderr.
        .stderr(errors.try_clone()?)
        .spawn()?;
    let variables = job.environment.iter();
    let plan = Plan {
        program: job.program.to_owned(),
        args: job.args,
        environment: variables
            .map(|(name, value)| (Text::from(name.as_os_str()), Text::from(value.as_os_str())))
            .collect(),
        workspace: layout::path_of(job.workspace.as_fd())?,
        policy: job.policy.clone(),
        ending: job.ending,
    };
    let streams = job.streams.iter().map(AsFd::as_fd);
    let passed: Vec<BorrowedFd<'_>> = streams
        .chain([job.workspace.as_fd()])
        .chain(job.connections.as_ref().map(AsFd::as_fd))
        .collect();
    channel::send(&mut ours, &plan, &passed)?;
    Ok((child, ours))
}

/// A program to be supervised by this process itself, on its own streams.
pub struct SandboxedCommand {
    /// What it may do.
    pub policy: Policy,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// All of its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Its working directory, which is writable.
    pub workspace: PathBuf,
}

/// Supervises a program to its end, and returns its exit code.
pub fn run_sandboxed(command: SandboxedCommand) -> crate::Result<ExitCode> {
    super::keep_descriptors_here();
    let fail = |source| crate::Error::Workspace { path: command.workspace.clone(), source };
    let workspace = layout::open(&command.workspace).map_err(fail)?;
    let streams = [
        io::stdin().as_fd().try_clone_to_owned()?,
        io::stdout().as_fd().try_clone_to_owned()?,
        io::stderr().as_fd().try_clone_to_owned()?,
    ];
    let variables = command.environment.iter();
    let plan = Plan {
        program: command.program,
        args: Text::of(command.args.iter().map(OsString::as_os_str)),
        environment: variables
            .map(|(name, value)| (Text::from(name.as_os_str()), Text::from(value.as_os_str())))
            .collect(),
        workspace: workspace.path.clone(),
        policy: command.policy,
        ending: Ending::WithProgram,
    };
    supervisor::run(Job {
        plan,
        streams,
        workspace: workspace.descriptor,
        control: None,
        connections: None,
    })
}
