//! One command, with all its descendants.
//!
//! A command may leave others running when it ends (`server &`), which belong to the agent until it
//! releases the terminal. So a supervisor stays until then. Without one, the leader of the group is
//! not reaped: as long as it is a zombie, the kernel does not reuse the number of its group, and
//! killing the group is safe.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::signal::unix::{Signal as Signals, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::Order;
use super::screen::Screen;
use crate::catalogue;
use crate::driver::Launch;
use crate::leftovers::Record;
use crate::process::{Begun, Ended, open_workspace, read_word};
use crate::sandbox::Ending;

/// The shell that runs lines.
const SHELL: &str = "/bin/sh";
/// How long the output of an ended command is waited for; a process that it left running may hold
/// the pipe open for ever.
const OUTPUT_GRACE: Duration = Duration::from_millis(200);
/// How much of the output is read at once.
const READ_BYTES: usize = 16 << 10;

/// A started command. Dropping it kills it with all its descendants.
pub(crate) struct Command {
    /// The leader is never waited for; the runtime reaps it after this is dropped.
    begun: Begun,
    ended: watch::Receiver<Option<Ended>>,
    watcher: AbortHandle,
    _record: Option<Record>,
}

impl Command {
    /// Starts an ordered command, confined like the agent, with its output in `screen`.
    pub(crate) fn start(
        launch: &Launch,
        order: Order,
        screen: Arc<Mutex<Screen>>,
    ) -> io::Result<Self> {
        let folder = order.folder.clone().unwrap_or_default();
        let launch = launch_of(launch, order, &launch.workspace.join(&folder))?;
        let workspace = open_workspace(&launch.workspace).map_err(io::Error::other)?;
        // One pipe for both outputs, so that they are read in the order in which they were written.
        let (output, input) = io::pipe()?;
        // Subscribed before the start, so that no signal is missed.
        let changes = signal(SignalKind::child())?;
        let nothing = OwnedFd::from(std::fs::File::open("/dev/null")?);
        let streams = [nothing, input.try_clone()?.into(), input.into()];
        let begun = Begun::start(&launch, workspace, &folder, streams, Ending::WithControl)?;
        let record = launch.leftovers.as_deref().and_then(|folder| {
            // Without a record, only the next daemon cannot find the process after a kill.
            begun.record(&launch, folder).ok()
        });
        let exit = match begun.control() {
            None => Exit::Leader(begun.group, changes),
            Some(control) => Exit::Supervisor(BufReader::new(UnixStream::from_std(control?)?)),
        };
        let output = pipe::Receiver::from_owned_fd(OwnedFd::from(output))?;
        let (end, ended) = watch::channel(None);
        let watcher = tokio::spawn(watch_command(exit, output, screen, end)).abort_handle();
        Ok(Self { begun, ended, watcher, _record: record })
    }

    /// The exit status, once it has ended.
    pub(super) fn ended(&self) -> Option<Ended> {
        *self.ended.borrow()
    }

    /// Waits for its end, or for its release.
    pub(crate) fn end(&self) -> impl Future<Output = Ended> + use<> {
        let mut ended = self.ended.clone();
        async move {
            let end = ended.wait_for(Option::is_some).await;
            // A released command is killed in the background.
            end.ok().and_then(|end| *end).unwrap_or_default()
        }
    }

    /// Kills it with all its descendants.
    pub(super) fn kill(&mut self) {
        // The leader is not reaped while `begun` exists.
        self.begun.kill();
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        self.watcher.abort();
        self.kill();
    }
}

/// The launch of the agent, with the command in its place.
fn launch_of(launch: &Launch, order: Order, folder: &Path) -> io::Result<Launch> {
    let mut environment = launch.environment.clone();
    environment.extend(order.environment);
    let (program, args) = if order.args.is_empty() {
        (PathBuf::from(SHELL), vec!["-c".to_owned(), order.command])
    } else {
        let path = environment.get(std::ffi::OsStr::new("PATH")).map(AsRef::as_ref);
        let inside = || Some(folder.join(&order.command)).filter(|_| order.command.contains('/'));
        let found = catalogue::find(&order.command, path).or_else(inside);
        let missing = || {
            io::Error::new(
                io::ErrorKind::NotFound,
                format!("there is no program {}", order.command),
            )
        };
        (found.ok_or_else(missing)?, order.args)
    };
    Ok(Launch { program, args, environment, ..launch.clone() })
}

/// How the end of a command is detected.
enum Exit {
    /// By waiting for the leader after each SIGCHLD.
    Leader(Pid, Signals),
    /// By the socket of its supervisor.
    Supervisor(BufReader<UnixStream>),
}

impl Exit {
    async fn wait(self) -> Ended {
        match self {
            Self::Leader(group, changes) => wait_for_leader(group, changes).await,
            Self::Supervisor(mut control) => {
                let mut line = Vec::new();
                // A supervisor that exits without a report was killed.
                control.read_until(b'\n', &mut line).await.ok();
                read_word(&line).unwrap_or(Ended { code: None, signal: Some(9) })
            }
        }
    }
}

async fn wait_for_leader(group: Pid, mut changes: Signals) -> Ended {
    loop {
        let looking = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(group), looking) {
            Ok(Some(status)) => {
                let signal = status.terminating_signal();
                return Ended { code: status.exit_status(), signal };
            }
            // The stream of signals does not end while the runtime lives.
            Ok(None) => changes.recv().await,
            Err(error) => {
                tracing::error!(%error, "cannot ask for a command");
                return Ended::default();
            }
        };
    }
}

/// Reads output until the command has ended, and then returns its exit status.
async fn watch_command(
    exit: Exit,
    mut output: pipe::Receiver,
    screen: Arc<Mutex<Screen>>,
    end: watch::Sender<Option<Ended>>,
) {
    let read = async {
        let mut bytes = Vec::with_capacity(READ_BYTES);
        while let Ok(1..) = output.read_buf(&mut bytes).await {
            screen.lock().unwrap_or_else(PoisonError::into_inner).print(&bytes);
            bytes.clear();
        }
    };
    let exit = exit.wait();
    let mut read = std::pin::pin!(read);
    let mut exit = std::pin::pin!(exit);
    let (ended, all_read) = tokio::select! {
        ended = &mut exit => (ended, false),
        () = &mut read => (exit.await, true),
    };
    let all_read = all_read || timeout(OUTPUT_GRACE, &mut read).await.is_ok();
    end.send_replace(Some(ended));
    if !all_read {
        // Processes that the command left running may still print.
        read.await;
    }
}
