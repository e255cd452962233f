//! Starting the daemon beside a command that needs it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use convoke_files::watch::Watcher;
use tokio::process::{Child, Command};
use tokio::time::{Instant, timeout_at};

use super::{DaemonError, Running, StartupOutput, find, watch_run};
use crate::commands::World;
use crate::home::{Depth, Home, create_private};
use crate::output::{aside_on_terminal, plain};

/// The timeout for the daemon to be ready: it migrates the database and starts the teams' agents.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Lines of the daemon's output that are shown if it does not start.
const LINES_MAX: usize = 8;

/// Starts the daemon and waits until it answers.
pub(super) async fn start(home: &Home, world: &World) -> anyhow::Result<Running> {
    let deadline = Instant::now() + TIMEOUT;
    // Before anything is opened: an agent may have made it unreadable.
    for repair in home.protect(Depth::Whole) {
        repair.log();
    }
    home.open()?;
    let watcher = watch_run(home)?;
    let _turn = timeout_at(deadline, take_turn(home))
        .await
        .map_err(|_| too_slow(home))?
        .map_err(|source| DaemonError::CannotStart { source })?;
    // The previous holder of the lock may have started it.
    if let Some(running) = find(home).await? {
        return Ok(running);
    }
    aside_on_terminal("Starting the daemon; `convoke stop` stops it.");
    let child = spawn(home, world).map_err(|source| DaemonError::CannotStart { source })?;
    match timeout_at(deadline, ready(home, &watcher, child)).await {
        Ok(running) => Ok(running?),
        Err(_) => Err(too_slow(home).into()),
    }
}

/// Only one command starts the daemon; the others wait, and find it running.
async fn take_turn(home: &Home) -> io::Result<File> {
    let path = home.run().join("start.lock");
    let file = File::options().create(true).append(true).mode(0o600).open(path)?;
    // The lock ends with the file, at the latest with this process.
    tokio::task::spawn_blocking(move || file.lock().map(|()| file)).await?
}

/// The file for the stderr of a daemon in the background.
fn words_path(home: &Home) -> std::path::PathBuf {
    home.logs().join("daemon.stderr")
}

fn spawn(home: &Home, world: &World) -> io::Result<Child> {
    create_private(&home.logs())?;
    let words = words_path(home);
    let words = File::options().create(true).write(true).truncate(true).mode(0o600).open(words)?;
    Command::new(&world.program)
        .arg("--home")
        .arg(home.path())
        .args(["serve", "--detached"])
        .current_dir(home.path())
        .stdin(Stdio::null())
        .stdout(words.try_clone()?)
        .stderr(words)
        // The keys that end this command must not end the daemon.
        .process_group(0)
        .spawn()
}

/// Waits until a daemon answers, or the one that was started has ended.
async fn ready(home: &Home, watcher: &Watcher, mut child: Child) -> Result<Running, DaemonError> {
    loop {
        if let Some(running) = find(home).await? {
            return Ok(running);
        }
        tokio::select! {
            _ = watcher.changed() => {}
            ended = child.wait() => return after_the_end(home, ended).await,
        }
    }
}

/// The daemon that was started has ended: another one may have been faster.
async fn after_the_end(home: &Home, ended: io::Result<ExitStatus>) -> Result<Running, DaemonError> {
    if let Some(running) = find(home).await? {
        return Ok(running);
    }
    if let Err(source) = ended {
        return Err(DaemonError::CannotStart { source });
    }
    Err(DaemonError::NotStarted { source: startup_output(home) })
}

fn too_slow(home: &Home) -> DaemonError {
    DaemonError::TooSlow { after: TIMEOUT, source: startup_output(home) }
}

fn startup_output(home: &Home) -> StartupOutput {
    let path = words_path(home);
    StartupOutput { lines: tail(&path), path }
}

fn tail(path: &Path) -> Vec<String> {
    let text = fs::read(path).unwrap_or_default();
    let text = plain(&String::from_utf8_lossy(&text));
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = lines.len().saturating_sub(LINES_MAX);
    lines.into_iter().skip(first).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words");
        assert_eq!(tail(&path), [""; 0]);
        let text: String = (0..20).map(|number| format!("line {number}\n\n")).collect();
        fs::write(&path, text + "\u{1b}[31mlast").unwrap();
        let lines = tail(&path);
        assert_eq!((lines.len(), &*lines[0], &*lines[7]), (8, "line 13", "\u{fffd}[31mlast"));
    }
}
