//! The parent of a confined program: it starts the program, kills everything that the program
//! started, in any session or group, and enforces its limits.
//!
//! It runs as long as its control socket is open. If the daemon is killed, the socket closes, and
//! the supervisor kills what it started; if the supervisor is killed, the kernel kills the program.

mod asking;
mod forward;
mod limits;
mod proxy;
mod tree;

use std::io::{self, Read as _, Write as _};
use std::mem;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use rustix::process::{getpid, set_child_subreaper};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{MissedTickBehavior, interval};

use super::enter::{Entry, View, say};
use super::layout::{Identity, Layout, Opened};
use super::listeners::{ListenerSpec, Listeners};
use super::policy::{Ending, Plan, SupervisorMessage, TERMINATE};
use super::{bubblewrap, channel};
use crate::temp;
use limits::Watch;

/// The sampling interval of memory, processes and disk: a sample reads a small file for each
/// process.
const SAMPLE: Duration = Duration::from_secs(1);

/// How often the last stage is started if it exits before it is ready.
const ATTEMPTS: u32 = 3;
/// The timeout for the last stage to be ready.
const START_MAX: Duration = Duration::from_secs(30);

/// A program to supervise.
pub(super) struct Job {
    pub(super) plan: Plan,
    /// The program's standard input, output and error output.
    pub(super) streams: [OwnedFd; 3],
    /// The workspace, as the caller opened it.
    pub(super) workspace: OwnedFd,
    /// Reports the exit status to the daemon; when the daemon closes it, everything is killed.
    pub(super) control: Option<UnixStream>,
    /// The socket for questions about connections that are not on the list.
    pub(super) connections: Option<UnixStream>,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Ended {
    code: Option<i32>,
    signal: Option<i32>,
}

/// Runs a program to its end; returns its exit code.
pub(super) fn run(job: Job) -> crate::Result<ExitCode> {
    // Orphans become children of this process, which then finds them.
    set_child_subreaper(Some(getpid())).map_err(io::Error::from)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(supervise(job));
    // Name resolutions in progress are abandoned; no connection waits for them.
    runtime.shutdown_background();
    ended
}

async fn supervise(job: Job) -> crate::Result<ExitCode> {
    let Job { plan, streams, workspace, control, connections } = job;
    let mut shortfalls = Vec::new();
    let opened = Opened { path: plan.workspace.clone(), descriptor: workspace };
    let mut layout = Layout::resolve(&plan.policy, opened, &mut shortfalls)?;
    let (child, stage, listeners) = start(&plan, &streams, &layout)?;
    forward::start(listeners, &plan.policy, connections.as_ref())?;
    shortfalls.iter().for_each(|shortfall| say(&format!("warning: {shortfall}")));
    let mut watch = Watch::new(&plan, mem::take(&mut layout.repositories));
    // The program has the only copies now, so that its pipes close with it.
    drop((streams, layout));
    let ended = wait_for_end(child, stage, control.as_ref(), &plan, &mut watch).await?;
    tree::kill_all(getpid());
    watch.remove_planted();
    if let Some(mut control) = control {
        let message = SupervisorMessage::Exited { code: ended.code, signal: ended.signal };
        let line = serde_json::to_string(&message).map_err(io::Error::from)?;
        let is_gone = writeln!(control, "{line}").is_err();
        if is_gone && plan.ending == Ending::WithProgram {
            clear_temporary_files(plan.policy.temp.as_deref());
        }
    }
    let code = ended.code.or(ended.signal.map(|signal| 128 + signal)).unwrap_or(1);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

/// Removes the temporary files of an agent whose daemon was killed, and their parent folder after
/// the last agent.
fn clear_temporary_files(temp: Option<&Path>) {
    let Some(temp) = temp else { return };
    if let Err(error) = temp::remove_abandoned(temp) {
        say(&format!("cannot remove {}: {error}", temp.display()));
    }
    temp::remove_around(temp);
}

/// Starts the last stage, and sends it the plan.
fn start(
    plan: &Plan,
    streams: &[OwnedFd; 3],
    layout: &Layout,
) -> crate::Result<(Child, UnixStream, Listeners)> {
    let [_, _, errors] = streams;
    let mut attempt = 1;
    let (child, mut ours) = loop {
        let (child, mut stage) = spawn(plan, errors, layout)?;
        if has_started(&mut stage)? {
            break (child, stage);
        }
        if attempt == ATTEMPTS {
            // The exit status has the reason.
            return Ok((child, stage, Listeners::default()));
        }
        attempt += 1;
    };
    let identify = |opened: &Opened| {
        let identity = Identity::of(opened.descriptor.as_fd())?;
        Ok((opened.path.clone(), identity))
    };
    let entry = Entry {
        program: plan.program.clone(),
        args: plan.args.clone(),
        environment: plan.environment.clone(),
        workspace: plan.workspace.clone(),
        view: plan.view(),
        landlock: plan.policy.layers.landlock,
        seccomp: plan.policy.layers.seccomp,
        writable: layout.writable.iter().map(identify).collect::<io::Result<_>>()?,
        held: layout.identities.clone(),
        hidden: layout.hidden.clone(),
        readable: layout.readable.clone(),
        sockets: layout.sockets.clone(),
        ending: plan.ending,
        listeners: ListenerSpec { network: plan.policy.network, tools: plan.policy.tools },
    };
    let opened = layout.writable.iter().map(|it| it.descriptor.as_fd());
    let passed: Vec<BorrowedFd<'_>> = streams.iter().map(AsFd::as_fd).chain(opened).collect();
    channel::send(&mut ours, &entry, &passed)?;
    let listeners = entry.listeners.receive(&mut ours)?;
    Ok((child, ours, listeners))
}

/// Spawns the last stage, through bubblewrap where that is a layer.
fn spawn(plan: &Plan, errors: &OwnedFd, layout: &Layout) -> io::Result<(Child, UnixStream)> {
    let helper = std::env::current_exe()?;
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = match &plan.policy.layers.bubblewrap {
        Some(bwrap) => {
            let words = bubblewrap::arguments(layout, &plan.policy, &helper);
            let mut command = Command::new(bwrap);
            command.args(words).arg("--").arg(&helper);
            command
        }
        None => Command::new(&helper),
    };
    let child = command
        .args(["sandbox-exec", "--enter"])
        .env_clear()
        .current_dir("/")
        .process_group(0)
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(errors.try_clone()?)
        .spawn()?;
    // The last stage has the only other end, so its exit closes the socket.
    drop(command);
    Ok((child, ours))
}

/// Waits until the last stage is ready. bubblewrap exits before that if a path that it is to cover,
/// such as another program's socket, is removed while it starts.
fn has_started(stage: &mut UnixStream) -> io::Result<bool> {
    stage.set_read_timeout(Some(START_MAX))?;
    let started = match stage.read_exact(&mut [0]) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
        Err(error) => return Err(error),
    };
    stage.set_read_timeout(None)?;
    Ok(started)
}

/// Waits for the end of the program, or of the control socket.
async fn wait_for_end(
    mut child: Child,
    stage: UnixStream,
    control: Option<&UnixStream>,
    plan: &Plan,
    watch: &mut Watch,
) -> io::Result<Ended> {
    let mut orders = control.map(listen).transpose()?;
    // Each wait of `select!` may be dropped with half a line read, which `lines` keeps.
    let mut stage = BufReader::new(listen(&stage)?).lines();
    let mut is_open = plan.ending == Ending::WithControl;
    let mut samples = interval(SAMPLE);
    samples.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut byte = [0];
    // The exit of the program, while processes that it left may still run.
    let mut ended = None;
    loop {
        tokio::select! {
            status = child.wait() => {
                let status = status?;
                let (code, signal) = (status.code(), status.signal());
                return Ok(ended.unwrap_or(Ended { code, signal }.seen_through(plan.view())));
            }
            read = stage.next_line(), if is_open && ended.is_none() => match read {
                Ok(Some(line)) => {
                    if let Ok(SupervisorMessage::Exited { code, signal }) = serde_json::from_str(&line) {
                        ended = Some(Ended { code, signal });
                        report(control, &line);
                    }
                }
                Ok(None) | Err(_) => is_open = false,
            },
            read = next(&mut orders, &mut byte) => match read {
                Ok(1..) if byte == [TERMINATE] => tree::terminate(getpid()),
                Ok(1..) => {}
                Ok(0) | Err(_) => return Ok(ended.unwrap_or(Ended { code: None, signal: Some(9) })),
            },
            _ = samples.tick() => {
                let all = tree::descendants(getpid());
                tree::reap_orphans(&all, child.id());
                if let Some(reason) = watch.planted().or_else(|| watch.exceeded(&all)) {
                    say(&reason);
                    return Ok(Ended { code: None, signal: Some(9) });
                }
            }
        }
    }
}

/// Reports the exit of a command before the processes that it left have exited.
fn report(control: Option<&UnixStream>, line: &str) {
    if let Some(mut control) = control {
        // If the daemon has exited, the end of the socket shows it.
        control.write_all(format!("{line}\n").as_bytes()).ok();
    }
}

fn listen(socket: &UnixStream) -> io::Result<tokio::net::UnixStream> {
    let socket = socket.try_clone()?;
    socket.set_nonblocking(true)?;
    tokio::net::UnixStream::from_std(socket)
}

/// The next byte from the daemon; without a daemon, never.
async fn next(
    orders: &mut Option<tokio::net::UnixStream>,
    byte: &mut [u8; 1],
) -> io::Result<usize> {
    match orders {
        Some(orders) => orders.read(byte).await,
        None => std::future::pending().await,
    }
}

impl Plan {
    fn view(&self) -> View {
        if self.policy.layers.bubblewrap.is_some() { View::Own } else { View::Shared }
    }
}

impl Ended {
    /// bubblewrap encodes a signal in its exit code, as shells do.
    const fn seen_through(self, view: View) -> Self {
        match (view, self.code) {
            (View::Own, Some(code)) if code > 128 && code <= 128 + 64 => {
                Self { code: None, signal: Some(code - 128) }
            }
            (View::Own | View::Shared, _) => self,
        }
    }
}
