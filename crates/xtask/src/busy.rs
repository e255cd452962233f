//! `cargo xtask busy -- COMMAND`: runs a command as on a busy machine, without inotify instances and at a load of 8.

use std::hint;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context as _, Result, bail};
use rustix::fd::OwnedFd;
use rustix::fs::inotify;
use rustix::io::Errno;

/// Threads that compute all the time.
const LOAD: usize = 8;

/// Runs a command on a busy machine, and returns its exit status.
pub fn run(command: &[&str]) -> Result<ExitStatus> {
    let Some((program, arguments)) = command.split_first() else { bail!("there is no command") };
    let _taken = take_instances()?;
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..LOAD {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            });
        }
        let status = Command::new(program).args(arguments).status();
        is_over.store(true, Ordering::Relaxed);
        status.context("the command cannot be started")
    })
}

/// Takes all inotify instances that the user may have. Other programs of the user get none until they are dropped.
fn take_instances() -> Result<Vec<OwnedFd>> {
    let mut taken = Vec::new();
    loop {
        match inotify::init(inotify::CreateFlags::CLOEXEC) {
            Ok(instance) => taken.push(instance),
            // This is also the error of a process with too many open files.
            Err(Errno::MFILE) if inotify_instances_are_used_up() => return Ok(taken),
            Err(error) => return Err(error).context("cannot take all inotify instances"),
        }
    }
}

/// Whether a file can still be opened, so that it is not the number of open files that is used up.
fn inotify_instances_are_used_up() -> bool {
    std::fs::File::open("/dev/null").is_ok()
}
