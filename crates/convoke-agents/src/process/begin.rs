//! Starts the program of a launch: under a supervisor, or as a direct child without one.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process;

use crate::connections::Gate;
use crate::driver::{Confinement, Launch};
use crate::leftovers::{Keeper, Record};
use crate::sandbox::{self, Ending, Network, Supervised, SupervisorMessage, TERMINATE};
use crate::{Error, Result};

/// A started program, and the handle that ends it with all its descendants.
pub(crate) struct Begun {
    pub(crate) leader: process::Child,
    /// The pid of the leader, which is also the number of its group. It is not reused until the
    /// leader is reaped.
    pub(crate) group: Pid,
    stop_method: StopMethod,
}

/// How a program is ended.
enum StopMethod {
    /// By signals to its group, which do not reach processes in other sessions.
    Group,
    /// By the socket of its supervisor.
    Supervisor(UnixStream),
    /// It was terminated already, so only SIGKILL is left.
    Ended(Option<UnixStream>),
}

/// The exit status of a program, as its supervisor reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

impl Begun {
    /// Starts the program of a launch in a folder of its workspace, which was opened before.
    pub(crate) fn start(
        launch: &Launch,
        workspace: OwnedFd,
        folder: &Path,
        streams: [OwnedFd; 3],
        ending: Ending,
    ) -> io::Result<Self> {
        let (leader, stop_method) = match &launch.confinement {
            Confinement::Off => (directly(launch, &workspace, folder, streams)?, StopMethod::Group),
            Confinement::Supervised { helper, policy } => {
                let (program, args) = in_folder(launch, folder);
                let gate = launch.gate.as_ref().filter(|_| policy.network == Network::Proxy);
                let (leader, control) = sandbox::start(Supervised {
                    helper,
                    policy,
                    program: &program,
                    args,
                    environment: &launch.environment,
                    workspace,
                    streams,
                    ending,
                    connections: gate.map(Gate::serve).transpose()?,
                })?;
                control.set_nonblocking(true)?;
                (leader, StopMethod::Supervisor(control))
            }
        };
        let group = leader.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let group = group.ok_or_else(|| io::Error::other("the process has no pid"))?;
        Ok(Self { leader, group, stop_method })
    }

    /// Records the program for the next daemon.
    pub(crate) fn record(&self, launch: &Launch, folder: &Path) -> io::Result<Record> {
        let keeper = match self.stop_method {
            StopMethod::Group => Keeper::None,
            StopMethod::Supervisor(_) | StopMethod::Ended(_) => Keeper::Supervisor,
        };
        let pid = self.group.as_raw_pid().cast_unsigned();
        Record::write(folder, pid, &launch.program, &launch.workspace, keeper)
    }

    /// Sends SIGTERM to the program and all its descendants.
    pub(crate) fn terminate(&mut self) {
        match &mut self.stop_method {
            StopMethod::Group => self.signal(Signal::TERM),
            // A supervisor that has exited has killed everything.
            StopMethod::Supervisor(control) => drop(control.write_all(&[TERMINATE]).ok()),
            StopMethod::Ended(_) => {}
        }
    }

    /// Kills the program and all its descendants; called again, also the supervisor.
    pub(crate) fn kill(&mut self) {
        match std::mem::replace(&mut self.stop_method, StopMethod::Ended(None)) {
            StopMethod::Group => {
                self.stop_method = StopMethod::Group;
                self.signal(Signal::KILL);
            }
            StopMethod::Supervisor(control) => {
                // The supervisor reads the end of its orders, and still reports the exit status of
                // the program.
                control.shutdown(Shutdown::Write).ok();
                self.stop_method = StopMethod::Ended(Some(control));
            }
            StopMethod::Ended(control) => {
                self.stop_method = StopMethod::Ended(control);
                self.signal(Signal::KILL);
            }
        }
    }

    /// Sends a signal to the group of an unreaped leader.
    fn signal(&self, signal: Signal) {
        // If no process receives the signal, none is left.
        kill_process_group(self.group, signal).or_else(|_| kill_process(self.group, signal)).ok();
    }

    /// The socket of the supervisor, for a waiting reader.
    pub(crate) fn control(&self) -> Option<io::Result<UnixStream>> {
        match &self.stop_method {
            StopMethod::Group | StopMethod::Ended(None) => None,
            StopMethod::Supervisor(control) | StopMethod::Ended(Some(control)) => {
                Some(control.try_clone())
            }
        }
    }

    /// The exit status that the supervisor reported before it exited.
    pub(crate) fn reported(&mut self) -> Option<Ended> {
        let mut control = self.control()?.ok()?;
        let mut text = Vec::new();
        // All that it wrote is in the socket's buffer, followed by the end.
        control.read_to_end(&mut text).ok();
        text.split(|byte| *byte == b'\n').rev().find_map(read_word)
    }
}

/// Parses one line of a supervisor.
pub(crate) fn read_word(line: &[u8]) -> Option<Ended> {
    let SupervisorMessage::Exited { code, signal } = serde_json::from_slice(line).ok()?;
    Some(Ended { code, signal })
}

fn directly(
    launch: &Launch,
    workspace: &OwnedFd,
    folder: &Path,
    streams: [OwnedFd; 3],
) -> io::Result<process::Child> {
    let [stdin, stdout, stderr] = streams;
    // The opened folder, not what its path leads to by now.
    let opened = PathBuf::from(format!("/proc/self/fd/{}", workspace.as_raw_fd()));
    process::Command::new(&launch.program)
        .args(&launch.args)
        .env_clear()
        .envs(&launch.environment)
        .current_dir(if folder.as_os_str().is_empty() { opened } else { opened.join(folder) })
        .process_group(0)
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
}

/// The program and its arguments for another folder than the workspace. The folder is entered
/// inside of the sandbox, with the agent's rights.
fn in_folder(launch: &Launch, folder: &Path) -> (PathBuf, Vec<sandbox::Text>) {
    let args = launch.args.iter().map(OsStr::new);
    if folder.as_os_str().is_empty() {
        return (launch.program.clone(), sandbox::Text::of(args));
    }
    const ENTER: &str = "cd -- \"$1\" && shift && exec \"$@\"";
    let words = [OsStr::new("-c"), ENTER.as_ref(), "sh".as_ref(), folder.as_os_str()];
    let words = words.into_iter().chain([launch.program.as_os_str()]).chain(args);
    (PathBuf::from("/bin/sh"), sandbox::Text::of(words))
}

/// Opens the workspace of a launch: an existing folder whose path has no links.
///
/// The path is resolved only here. A path that leads through a link was swapped after it was
/// checked.
pub(crate) fn open_workspace(path: &Path) -> Result<OwnedFd> {
    let source = match sandbox::open_without_links(path, OFlags::DIRECTORY) {
        Ok(opened) => return Ok(opened),
        Err(_) if path.canonicalize().is_ok_and(|real| real != path) => {
            let real = path.canonicalize().unwrap_or_default();
            io::Error::other(format!("its links lead to {}", real.display()))
        }
        Err(error) => error,
    };
    Err(Error::Workspace { path: path.to_owned(), source })
}
