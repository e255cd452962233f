//! `cargo xtask busy -- COMMAND`: runs a command as on a busy machine, without inotify instances and at a load of 8.
//!
//! The limit is set in a user namespace, so other programs of the user keep their instances.

use std::hint;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context as _, Result, bail};

/// Threads that compute all the time, which is the load that they make.
const LOAD: usize = 8;

/// Takes the namespace's inotify instances away, and then the right to give them back. The rest is the command.
const LIMIT: &str = "echo 0 > /proc/sys/user/max_inotify_instances \
    && exec setpriv --ambient-caps -all --inh-caps -all -- \"$@\"";

/// Runs a command on a busy machine, and returns its exit status.
pub fn run(command: &[&str]) -> Result<ExitStatus> {
    if !limited(&["true"]).output().is_ok_and(|tried| tried.status.success()) {
        bail!(
            "unshare and setpriv of util-linux, and user namespaces, are needed to limit inotify"
        );
    }
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..LOAD {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            });
        }
        let status = limited(command).status();
        is_over.store(true, Ordering::Relaxed);
        status.context("the command cannot be started")
    })
}

/// The command in a user namespace without inotify instances.
fn limited(command: &[&str]) -> Command {
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-current-user", "--keep-caps", "--", "sh", "-c", LIMIT, "sh"]);
    unshare.args(command);
    unshare
}
