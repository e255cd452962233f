//! `convoke restore`: restores a backup, and sets the current data aside.

use std::path::PathBuf;

use convoke_core::count::counted;
use convoke_engine::backup::{self, Unfinished};
use serde::Serialize;

use super::World;
use super::serve::{Instance, ServeError};
use crate::args::GlobalArgs;
use crate::clock;
use crate::home::Home;
use crate::output::{Output, aside};

/// Restore a backup, and set the current data aside
///
/// The daemon must not be running. The whole backup is verified first; a damaged one changes
/// nothing. The current data is moved into a separate folder and never deleted. If the command is
/// killed, either the old or the restored data is in place, and the next start reports which.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke restore ~/.convoke/backups/convoke-2026-11-16T15-01-13.000Z
  convoke restore ~/.convoke/convoke.db.rescued")]
pub(crate) struct RestoreArgs {
    /// Folder of a backup, or a single database file
    path: PathBuf,
}

/// A daemon uses the data that would be replaced.
#[derive(Debug, thiserror::Error)]
#[error("cannot restore a backup while the daemon is running")]
pub(crate) struct DaemonRuns;

/// A contract with scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    restored: String,
    sessions: u64,
    messages: u64,
    entries: Vec<String>,
    set_aside: Option<String>,
}

pub(crate) fn run(
    args: &RestoreArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let home = world.open_home(global, output)?;
    // This process holds the daemon's lock, so no other one runs.
    let _instance = Instance::take(&home).map_err(daemon_runs)?;
    finish(&home)?;
    let restored = backup::restore(home.path(), &args.path, clock::now())?;
    tracing::info!("restored {}", restored.source.display());
    let shown = Shown {
        restored: restored.source.display().to_string(),
        sessions: restored.database.sessions,
        messages: restored.database.messages,
        entries: restored.entries.iter().map(|entry| entry.display().to_string()).collect(),
        set_aside: restored.set_aside.map(|path| path.display().to_string()),
    };
    output.show(&shown, |shown, _| {
        let (sessions, messages) =
            (counted(shown.sessions, "session"), counted(shown.messages, "message"));
        let aside = shown.set_aside.as_ref().map_or_else(
            || "there was no earlier data".to_owned(),
            |path| format!("the earlier data is in {path}"),
        );
        format!("restored {sessions} and {messages} from {}\n{aside}\n", shown.restored)
    })
}

/// The error of a running daemon, for a command that replaces its data.
fn daemon_runs(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<ServeError>() {
        Ok(ServeError::Running { .. }) => DaemonRuns.into(),
        Ok(error) => error.into(),
        Err(error) => error,
    }
}

/// Completes or cleans up an interrupted restore, and reports the resulting state.
pub(crate) fn finish(home: &Home) -> anyhow::Result<()> {
    match backup::finish_restore(home.path())? {
        None => {}
        Some(Unfinished::NotBegun) => {
            aside("a restore was interrupted before it changed anything; the data is unchanged");
        }
        Some(Unfinished::Switched { set_aside }) => aside(&format!(
            "an interrupted restore was completed: the restored data is in use, and the earlier data is in {}",
            set_aside.display()
        )),
    }
    Ok(())
}
