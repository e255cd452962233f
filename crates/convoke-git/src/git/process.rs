//! One process in a group of its own, with its pipes served by one thread until it ends, its time is over, or it is
//! cancelled.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::Input;
use crate::unreadable::Reads;
use crate::{Error, Limits, Result};

/// How much of stderr is kept; the rest is read and dropped.
const STDERR_MAX: usize = 8 << 10;

/// How often a cancelled call is noticed while the process is silent.
const CANCEL_CHECK: Duration = Duration::from_millis(100);

/// After this time, the files that a process may be waiting for are checked; again after four times as long.
const LONG: Duration = Duration::from_secs(1);

/// Pieces of output that are read before the time limit is checked again: as much as the largest pipe holds.
const READS_MAX: usize = 16;

/// What a process works with, besides its command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setup<'a> {
    /// How errors name it.
    pub(super) words: &'a str,
    pub(super) input: Input<'a>,
    pub(super) lock: Option<&'a File>,
    pub(super) reads: Option<&'a Reads>,
}

/// How a process ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// It exited, or was killed by a signal (no code).
    Exited { code: Option<i32>, stderr: Vec<u8> },
    /// The reader of its output has stopped early.
    Stopped,
}

/// Starts a process and serves its pipes until it has ended; it never outlives this call, except when this process
/// is killed.
pub(super) fn run(
    mut command: Command,
    setup: Setup<'_>,
    limits: &Limits,
    sink: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<Ended> {
    let Setup { words, input, lock, reads } = setup;
    if let Some(reads) = reads {
        reads.check()?;
    }
    let (stdin, stdout) = match (input, lock) {
        (Input::Nothing, None) => (Stdio::null(), Stdio::piped()),
        (Input::Nothing, Some(lock)) => (share(lock)?, Stdio::piped()),
        (Input::Bytes(_), None) => (Stdio::piped(), Stdio::piped()),
        (Input::Bytes(_), Some(lock)) => (Stdio::piped(), share(lock)?),
        (Input::File(file), None) => (share(file)?, Stdio::piped()),
        (Input::File(file), Some(lock)) => (share(file)?, share(lock)?),
    };
    command.stdin(stdin).stdout(stdout).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().map_err(|source| {
        let program = PathBuf::from(command.get_program());
        Error::Start { program, source }
    })?;
    let mut running = Running::new(child, words)?;
    let input = match input {
        Input::Nothing | Input::File(_) => &[],
        Input::Bytes(bytes) => bytes,
    };
    running.serve(Served { input, reads }, limits, sink)
}

fn share(lock: &File) -> Result<Stdio> {
    let shared = lock.try_clone();
    shared.map(Stdio::from).map_err(|source| Error::io("share", "a lock file".as_ref(), source))
}

/// What a process is given to read.
#[derive(Debug, Clone, Copy)]
struct Served<'a> {
    input: &'a [u8],
    reads: Option<&'a Reads>,
}

/// A process whose group is killed when it is dropped.
struct Running<'a> {
    child: Child,
    words: &'a str,
    exited: Option<OwnedFd>,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    complaint: Vec<u8>,
    is_reaped: bool,
}

impl<'a> Running<'a> {
    fn new(mut child: Child, words: &'a str) -> Result<Self> {
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // Kernels before 5.3 have no such descriptor; then the ends of the pipes suffice.
        let exited = pid(&child).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let running = Self {
            child,
            words,
            exited,
            stdin,
            stdout,
            stderr,
            complaint: Vec::new(),
            is_reaped: false,
        };
        let pipes = [
            running.stdin.as_ref().map(AsFd::as_fd),
            running.stdout.as_ref().map(AsFd::as_fd),
            running.stderr.as_ref().map(AsFd::as_fd),
        ];
        for pipe in pipes.into_iter().flatten() {
            let set =
                fcntl_getfl(pipe).and_then(|flags| fcntl_setfl(pipe, flags | OFlags::NONBLOCK));
            set.map_err(|source| Error::io("set up", "a pipe".as_ref(), source.into()))?;
        }
        Ok(running)
    }

    fn serve(
        &mut self,
        served: Served<'_>,
        limits: &Limits,
        sink: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<Ended> {
        let (started, mut long, mut unsent) = (Instant::now(), LONG, served.input);
        loop {
            if limits.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let left = limits.left();
            if left.is_zero() {
                let after = limits.timeout();
                return Err(Error::TimedOut { command: self.words.to_owned(), after });
            }
            let taken = started.elapsed();
            if let Some(reads) = served.reads.filter(|_| taken >= long) {
                let until = Instant::now() + left.min(taken / 2);
                let is_complete = reads.search(served.input, until, limits)?;
                if is_complete && self.waits_for_pipe() {
                    return Err(Error::PipeGone { command: self.words.to_owned() });
                }
                long = started.elapsed() * 4;
            }
            if unsent.is_empty() {
                self.stdin = None;
            }
            let has_exited = self.wait(left.min(CANCEL_CHECK))?;
            self.send(&mut unsent);
            if has_exited {
                // Descendants may keep the pipes open, and write without end; after the exit only buffered output is
                // read. Before the wait, since the group's number may belong to others after it.
                self.kill();
            }
            if self.receive(sink).is_break() {
                return Ok(Ended::Stopped);
            }
            self.receive_complaint();
            let is_silent = self.stdout.is_none() && self.stderr.is_none();
            if has_exited || (is_silent && self.exited.is_none()) {
                let status = self.child.wait();
                let status = status.map_err(|e| Error::io("wait for", self.words.as_ref(), e))?;
                self.is_reaped = true;
                let stderr = std::mem::take(&mut self.complaint);
                return Ok(Ended::Exited { code: status.code(), stderr });
            }
        }
    }

    /// Waits for something to read or write, or for the exit, which is the answer.
    fn wait(&self, at_most: Duration) -> Result<bool> {
        let mut watched = Vec::with_capacity(4);
        if let Some(exited) = &self.exited {
            watched.push(PollFd::new(exited, PollFlags::IN));
        }
        if let Some(stdin) = &self.stdin {
            watched.push(PollFd::new(stdin, PollFlags::OUT));
        }
        if let Some(stdout) = &self.stdout {
            watched.push(PollFd::new(stdout, PollFlags::IN));
        }
        if let Some(stderr) = &self.stderr {
            watched.push(PollFd::new(stderr, PollFlags::IN));
        }
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(at_most.subsec_nanos()) };
        match poll(&mut watched, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(source) => return Err(Error::io("wait for", self.words.as_ref(), source.into())),
        }
        let exited = self.exited.as_ref().and(watched.first());
        Ok(exited.is_some_and(|exited| exited.revents().contains(PollFlags::IN)))
    }

    /// Whether it opens a pipe without a writer; unknown behind a sandbox, and where the kernel hides it.
    fn waits_for_pipe(&self) -> bool {
        let place = std::fs::read_to_string(format!("/proc/{}/wchan", self.child.id()));
        // The functions of the kernel in which it waits; the first is a part of the second in some builds.
        place.is_ok_and(|place| matches!(place.trim(), "wait_for_partner" | "fifo_open"))
    }

    fn send(&mut self, unsent: &mut &[u8]) {
        while let Some(stdin) = self.stdin.as_mut().filter(|_| !unsent.is_empty()) {
            match stdin.write(unsent) {
                Ok(sent) => *unsent = unsent.get(sent..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // It exited without reading everything; its exit code shows why.
                Err(_) => *unsent = &[],
            }
        }
    }

    fn receive(&mut self, sink: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut buffer = [0; 64 << 10];
        for _ in 0..READS_MAX {
            let Some(stdout) = &mut self.stdout else { break };
            match stdout.read(&mut buffer) {
                Ok(0) => self.stdout = None,
                Ok(count) => sink(buffer.get(..count).unwrap_or_default())?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.stdout = None,
            }
        }
        ControlFlow::Continue(())
    }

    fn receive_complaint(&mut self) {
        let mut buffer = [0; 64 << 10];
        for _ in 0..READS_MAX {
            let Some(stderr) = &mut self.stderr else { break };
            match stderr.read(&mut buffer) {
                Ok(0) => self.stderr = None,
                Ok(count) => {
                    let room = STDERR_MAX.saturating_sub(self.complaint.len());
                    self.complaint.extend(buffer.iter().take(count.min(room)));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.stderr = None,
            }
        }
    }

    fn kill(&self) {
        // Fails only when the group has ended already.
        pid(&self.child).map(|group| kill_process_group(group, Signal::KILL).ok());
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.is_reaped {
            self.kill();
            // Its exit status is not needed, but it must be reaped.
            self.child.wait().ok();
        }
    }
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}
