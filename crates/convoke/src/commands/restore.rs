//! `convoke restore`: brings a backup back, and keeps what was there.

use std::path::PathBuf;

use convoke_engine::backup::{self, Unfinished};
use serde::Serialize;

use super::World;
use super::backup::count;
use super::serve::Instance;
use crate::args::GlobalArgs;
use crate::clock;
use crate::home::Home;
use crate::output::{Output, aside};

/// Bring a backup back, and set aside what is there now
///
/// The daemon must not be running. The backup is read from beginning to end first; one that is damaged changes nothing.
/// What is there now is moved into a folder of its own and never deleted. Killed at any moment, either the old or the
/// new state holds, and the next start says which.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke restore ~/.convoke/backups/convoke-2026-11-16T15-01-13.000Z
  convoke restore ~/.convoke/convoke.db.rescued")]
pub(crate) struct RestoreArgs {
    /// A backup's folder, or a single database file
    path: PathBuf,
}

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
    let _instance = Instance::take(&home)?;
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
            (count(shown.sessions, "session"), count(shown.messages, "message"));
        let aside = shown.set_aside.as_ref().map_or_else(
            || "there was nothing before it".to_owned(),
            |path| format!("what was there before is in {path}"),
        );
        format!("restored {sessions} and {messages} from {}\n{aside}\n", shown.restored)
    })
}

/// Completes or clears away what a killed restore left, and says which state holds.
pub(crate) fn finish(home: &Home) -> anyhow::Result<()> {
    match backup::finish_restore(home.path())? {
        None => {}
        Some(Unfinished::NotBegun) => {
            aside(
                "a restore was cut off before it changed anything: everything is as it was before",
            );
        }
        Some(Unfinished::Switched { set_aside }) => aside(&format!(
            "a restore was cut off and is complete now: the restored state holds, \
             and what was there before is in {}",
            set_aside.display()
        )),
    }
    Ok(())
}
