//! Runs the user's command for notifications, one at a time.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use convoke_server::{Notification, Serving};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::task::AbortHandle;

use crate::commands::World;
use crate::home::Home;

/// The timeout of the command; then it is killed.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How often the configuration is checked for a command.
const POLL_INTERVAL: Duration = Duration::from_secs(30);

/// Runs the command until it is dropped.
pub(super) struct Notifying(AbortHandle);

impl Drop for Notifying {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Notifying {
    /// Subscribes to the daemon's notifications. The command is read from the configuration each
    /// time, so that a change takes effect at once.
    pub(super) fn start(serving: &Serving, world: &World, home: &Home) -> Self {
        let mut notifications = serving.notifications();
        let (world, home) = (Arc::new(world.copied()), home.clone());
        let subscribe = serving.list_subscriptions();
        let task = tokio::spawn(async move {
            let mut failed = None;
            let mut ticks = tokio::time::interval(POLL_INTERVAL);
            // Without a command, sessions of other nodes are not read for notifications.
            let mut _held = None;
            loop {
                let notification = tokio::select! {
                    notification = notifications.recv() => notification,
                    _ = ticks.tick() => {
                        let command = command(Arc::clone(&world), home.clone()).await;
                        _held = (!command.is_empty()).then(&subscribe);
                        continue;
                    }
                };
                let Some(notification) = notification else { return };
                let command = command(Arc::clone(&world), home.clone()).await;
                let ended = match command.split_first() {
                    Some((program, arguments)) => run(program, arguments, &notification).await,
                    None => Ok(()),
                };
                // A command that fails each time is logged once.
                let failure = ended.err();
                if let Some(why) = failure.as_ref().filter(|_| failed != failure) {
                    tracing::warn!("notify.command failed: {why}");
                }
                failed = failure;
            }
        });
        Self(task.abort_handle())
    }
}

/// The configured command; empty when there is none, or the configuration has mistakes.
async fn command(world: Arc<World>, home: Home) -> Vec<String> {
    let loaded = tokio::task::spawn_blocking(move || world.config(&home)).await;
    loaded.ok().and_then(Result::ok).map(|loaded| loaded.config.notify.command).unwrap_or_default()
}

async fn run(
    program: &str,
    arguments: &[String],
    notification: &Notification,
) -> Result<(), String> {
    let input = serde_json::to_vec(notification).map_err(|error| error.to_string())?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("cannot start {program}: {error}"))?;
    let stdin = child.stdin.take();
    let work = async {
        if let Some(mut stdin) = stdin {
            // A command that does not read its input is fine.
            stdin.write_all(&input).await.ok();
        }
        child.wait().await
    };
    match tokio::time::timeout(TIMEOUT, work).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("{program} ended with {status}")),
        Ok(Err(error)) => Err(format!("cannot wait for {program}: {error}")),
        Err(_) => Err(format!("{program} took longer than {} s and was killed", TIMEOUT.as_secs())),
    }
}
