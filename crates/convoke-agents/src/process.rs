//! One running process of an agent, with all its descendants: they are killed together.
//!
//! A supervisor kills all of them. Without one, the processes are in a group, and one that calls
//! `setsid` leaves it.

mod begin;
mod stderr;

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use convoke_core::process::{Command, Effect, Exit, Process, StopStage};
use rustix::process::{WaitId, WaitIdOptions, waitid};
use tokio::net::unix::pipe;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::driver::Launch;
use crate::leftovers::Record;
use crate::sandbox::Ending;
use crate::temp::TempFolder;
use crate::{Error, Result, lines};

pub(crate) use begin::{Begun, Ended, open_workspace, read_word};

/// The slowest known agent needs seven seconds to exit after its input is closed.
const GRACE: Grace = Grace { close: Duration::from_secs(8), signal: Duration::from_secs(2) };
/// How long it may take to exit after it closed its output; then it is killed.
const EXIT_GRACE: Duration = Duration::from_secs(1);
/// How long the rest of its stderr is waited for: a process that left the group may hold the pipe
/// open for ever.
const STDERR_GRACE: Duration = Duration::from_millis(500);

/// A process with all its descendants. Dropping it kills them; the runtime reaps the zombies.
pub(crate) struct Child {
    /// The record by which a later daemon finds the group. It is removed first, while the pid
    /// cannot be reused yet.
    record: Option<Record>,
    begun: Begun,
    /// Removed after the process.
    _temp: Option<Arc<TempFolder>>,
    /// The stream of SIGCHLD.
    changes: Signals,
    said: watch::Receiver<stderr::Tail>,
    /// The exit status of the leader, without its last output. `Some` means reaped.
    ended: Option<Exit>,
}

/// How long a process may take to exit before the next signal, or SIGKILL again.
struct Grace {
    /// After its input was closed.
    close: Duration,
    /// After a signal.
    signal: Duration,
}

/// The pipes to an agent.
pub(crate) struct Pipes {
    /// Its output. A caller that stops the process must keep reading, or it may block on a full
    /// pipe.
    pub(crate) lines: lines::Reader,
    /// Its input.
    pub(crate) input: lines::Writer,
}

impl Child {
    /// Starts a process, confined as the launch says.
    pub(crate) async fn spawn(launch: &Launch) -> Result<(Self, Pipes)> {
        let workspace = check(launch).await?;
        let fail = |source| Error::Spawn { program: launch.program.clone(), source };
        // Subscribed before the start, so that no signal is missed.
        let changes = signal(SignalKind::child()).map_err(fail)?;
        let (ours, theirs) = pipes().map_err(fail)?;
        let started = Begun::start(launch, workspace, Path::new(""), theirs, Ending::WithProgram);
        let begun = started.map_err(fail)?;
        let (stdin, stdout, errors) = ours;
        let said = stderr::drain(errors, begun.group);
        let _temp = launch.temp.clone();
        let mut child = Self { begun, _temp, changes, said, ended: None, record: None };
        // A process that could not be found after a crash of the daemon is not started; it ends
        // with this child.
        child.record = match &launch.leftovers {
            Some(folder) => child.record_in(folder, launch).map_err(fail)?,
            None => None,
        };
        let pipes = Pipes { lines: lines::Reader::new(stdout), input: lines::Writer::new(stdin) };
        Ok((child, pipes))
    }

    /// The number by which the operating system knows the process.
    pub(crate) fn pid(&self) -> u32 {
        self.begun.group.as_raw_pid().cast_unsigned()
    }

    /// Waits for the process to exit, and returns its exit status. It kills the rest of the group
    /// as soon as it notices, so it should be polled while the pipes are in use.
    ///
    /// Cancel-safe, and may be called again.
    pub(crate) async fn exited(&mut self) -> Exit {
        let exit = loop {
            if let Some(exit) = self.reap() {
                break exit.clone();
            }
            if self.changes.recv().await.is_none() {
                // When the runtime ends, this future is dropped.
                std::future::pending::<()>().await;
            }
        };
        let silent = async { while self.said.changed().await.is_ok() {} };
        // Late output on stderr is not waited for.
        timeout(STDERR_GRACE, silent).await.ok();
        Exit { stderr_tail: self.said.borrow().text(), ..exit }
    }

    /// The exit of a process that closed its pipes; one that keeps running is killed.
    pub(crate) async fn end(&mut self) -> Exit {
        if let Ok(exit) = timeout(EXIT_GRACE, self.exited()).await {
            return exit;
        }
        self.kill();
        self.exited().await
    }

    /// Stops the process with escalating means: end of input, then SIGTERM, then SIGKILL to the
    /// group.
    pub(crate) async fn stop(self, input: lines::Writer) -> Exit {
        self.stop_within(GRACE, input).await
    }

    async fn stop_within(mut self, grace: Grace, input: lines::Writer) -> Exit {
        let mut input = Some(input);
        let mut process = Process::Idle;
        let mut command = Command::Stop;
        loop {
            let effect = match process.handle(command) {
                Ok((next, effect)) => {
                    process = next;
                    effect
                }
                Err(refusal) => {
                    tracing::error!(%refusal, "cannot stop a process in order, so it is killed");
                    Some(Effect::Kill)
                }
            };
            match effect {
                Some(Effect::CloseInput) => {
                    if let Some(input) = input.take() {
                        input.close().await;
                    }
                }
                Some(Effect::Terminate) => self.terminate(),
                Some(Effect::Kill) => self.kill(),
                Some(Effect::ReportExit(_) | Effect::ReportNotStarted(_)) | None => {}
            }
            let grace = match process {
                Process::Gone(exit) => return exit,
                Process::Stopping(StopStage::InputClosed) => grace.close,
                Process::Stopping(StopStage::Terminated | StopStage::Killed)
                | Process::Starting
                | Process::Idle
                | Process::Busy
                | Process::Waiting(_) => grace.signal,
            };
            command = match timeout(grace, self.exited()).await {
                Ok(exit) => Command::Exited(exit),
                Err(_) => Command::GraceOver,
            };
        }
    }

    /// Kills everything at once; then [`Self::exited`] completes.
    pub(crate) fn kill(&mut self) {
        if self.ended.is_none() {
            self.begun.kill();
        }
    }

    /// Sends SIGTERM, unless the process is reaped and its pid may be reused.
    fn terminate(&mut self) {
        if self.ended.is_none() {
            self.begun.terminate();
        }
    }

    /// The exit status of the leader, if it has exited.
    fn reap(&mut self) -> Option<&Exit> {
        if self.ended.is_none() {
            let looking = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            match waitid(WaitId::Pid(self.begun.group), looking) {
                Ok(None) => return None,
                // A zombie keeps its pid, so this reaches the group of this leader and no other.
                Ok(Some(_)) => self.begun.kill(),
                Err(error) => tracing::error!(pid = self.pid(), %error, "cannot ask for a process"),
            }
            self.record = None;
            let reported = self.begun.reported();
            self.ended = Some(match (reported, self.begun.leader.try_wait()) {
                (Some(Ended { code, signal }), _) => {
                    Exit { exit_code: code, signal, stderr_tail: None }
                }
                (None, Ok(Some(status))) => exit_of(status),
                (None, Ok(None) | Err(_)) => Exit::default(),
            });
        }
        self.ended.as_ref()
    }

    /// Records the process in case the daemon is killed; `None` if the system does not report
    /// enough about processes.
    fn record_in(&self, folder: &Path, launch: &Launch) -> io::Result<Option<Record>> {
        match self.begun.record(launch, folder) {
            Ok(record) => Ok(Some(record)),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                let pid = self.pid();
                tracing::warn!(%error, pid, "cannot note an agent for the case that we are killed");
                Ok(None)
            }
            Err(error) => {
                let text = format!("cannot note it in {}: {error}", folder.display());
                Err(io::Error::new(error.kind(), text))
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

fn exit_of(status: std::process::ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    Exit { exit_code: status.code(), signal: status.signal(), stderr_tail: None }
}

/// The daemon's ends of the pipes to a process.
type OurEnds = (pipe::Sender, pipe::Receiver, pipe::Receiver);

/// Pipes for the three streams of a process: the daemon's ends, and those of the process.
fn pipes() -> io::Result<(OurEnds, [OwnedFd; 3])> {
    let (stdin, ours_in) = io::pipe()?;
    let (ours_out, stdout) = io::pipe()?;
    let (ours_errors, stderr) = io::pipe()?;
    let ours = (
        pipe::Sender::from_owned_fd(ours_in.into())?,
        pipe::Receiver::from_owned_fd(ours_out.into())?,
        pipe::Receiver::from_owned_fd(ours_errors.into())?,
    );
    Ok((ours, [stdin.into(), stdout.into(), stderr.into()]))
}

/// Opens the workspace of a launch and checks its program, because the error of the operating
/// system would not distinguish a missing folder from a missing program.
async fn check(launch: &Launch) -> Result<OwnedFd> {
    let (program, workspace) = (launch.program.clone(), launch.workspace.clone());
    // A folder on a network drive may respond slowly.
    let looking = tokio::task::spawn_blocking(move || check_paths(program, &workspace));
    looking.await.unwrap_or_else(|panic| Err(Error::Io(io::Error::other(panic))))
}

fn check_paths(program: PathBuf, workspace: &Path) -> Result<OwnedFd> {
    let opened = open_workspace(workspace)?;
    if program.exists() { Ok(opened) } else { Err(Error::NotFound { program }) }
}

// These tests need /proc.
#[cfg(target_os = "linux")]
#[cfg(test)]
pub(crate) mod tests;
