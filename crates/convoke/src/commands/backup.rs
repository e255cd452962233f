//! `convoke backup`: a copy of everything that is data, read back before it counts.

use std::io::{self, IsTerminal as _, Write as _};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use convoke_api::Client;
use convoke_api::bodies::{Backup, BackupProgress, Backups, NewBackup};
use convoke_core::count::counted;
use convoke_engine::backup::{self, Plan};
use convoke_server::backup_body;

use super::World;
use crate::args::{GlobalArgs, number};
use crate::config::Config;
use crate::home::Home;
use crate::output::{Format, Output, plain};
use crate::{clock, daemon, signals};

/// The polling interval for the daemon's progress.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Back up all data and verify the backup
///
/// Copies the database, attachments, questions, transcripts, settings, teams and the results of
/// comparisons, while the daemon keeps working; no tokens or logs. Each backup is a separate folder
/// with a manifest of sizes and SHA-256 sums, and gets its final name only after all of it has been
/// read back.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke backup
  convoke backup --to /mnt/disk/convoke --keep 10
  convoke backup --json | jq -r .path")]
pub(crate) struct BackupArgs {
    /// Folder for the backups [default: backup.dir of the configuration]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Number of backups to keep in that folder; older ones are removed after this one is verified
    /// [default: backup.keep of the configuration for its own folder, all in any other]
    #[arg(long, value_name = "N", value_parser = number(NonZeroU32::MIN..))]
    keep: Option<NonZeroU32>,
}

/// The daemon could not make a backup.
#[derive(Debug, thiserror::Error)]
#[error("the backup failed: {reason}")]
pub(crate) struct BackupFailed {
    reason: String,
}

pub(crate) fn run(
    args: &BackupArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let home = world.open_home(global, output)?;
    let config = world.config(&home)?.config;
    let to = args.to.as_deref().map(std::path::absolute).transpose();
    let to = to.context("cannot determine the folder for backups")?;
    if !config.store.url.is_empty() {
        let reason = "the database is on a server; back it up there: pg_dump --schema=convoke --format=custom";
        return Err(BackupFailed { reason: reason.to_owned() }.into());
    }
    let mut progress = Bar::new("backing up", output, global);
    let running = signals::block_on(async { Ok(daemon::find(&home).await?) })?;
    let made = match running {
        Some(running) => {
            let new = NewBackup {
                to: to.map(|to| to.display().to_string()),
                keep: args.keep.map(NonZeroU32::get),
            };
            signals::block_on(ask(&running.client, &new, &mut progress))
        }
        None => make(&plan(&home, &config, to, args.keep), &mut progress),
    };
    progress.clear();
    output.show(&made?, |backup, _| describe(backup))
}

/// The configured backup plan of a home.
pub(crate) fn configured(home: &Home, config: &Config) -> Plan {
    let entries = [&home.config_file(), &config.teams_file, &config.questions.dir];
    let inside = entries.into_iter().filter_map(|path| match path.strip_prefix(home.path()) {
        Ok(inside) => Some(inside.to_owned()),
        Err(_) => {
            tracing::warn!("{} is outside of the home and not backed up", path.display());
            None
        }
    });
    Plan {
        home: home.path().to_owned(),
        entries: inside
            .chain(["spawn/sessions", "blobs", "comparisons"].map(PathBuf::from))
            .collect(),
        folder: config.backup.dir.clone(),
        keep: usize::try_from(config.backup.keep).ok(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

fn plan(home: &Home, config: &Config, to: Option<PathBuf>, keep: Option<NonZeroU32>) -> Plan {
    let mut plan = configured(home, config);
    if let Some(folder) = to.filter(|folder| *folder != plan.folder) {
        plan.folder = folder;
        plan.keep = None;
    }
    let keep = keep.and_then(|keep| usize::try_from(keep.get()).ok());
    plan.keep = keep.or(plan.keep);
    plan
}

/// Makes a backup without a daemon.
fn make(plan: &Plan, bar: &mut Bar) -> anyhow::Result<Backup> {
    let made =
        backup::make(plan, clock::now(), |progress| bar.show(progress.done, progress.total, size))?;
    Ok(backup_body(&made))
}

/// Makes a backup through the daemon.
async fn ask(client: &Client, new: &NewBackup, bar: &mut Bar) -> anyhow::Result<Backup> {
    let number = client.begin_backup(new).await?.begun;
    loop {
        let Backups { running, last, .. } = client.backups().await?;
        if let Some(ended) = last.filter(|ended| ended.number >= number) {
            let reason = ended.error.unwrap_or_else(|| "the daemon gave no reason".to_owned());
            return ended.backup.ok_or_else(|| BackupFailed { reason }.into());
        }
        if let Some(BackupProgress { done_bytes, total_bytes }) = running {
            bar.show(done_bytes, total_bytes, size);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn describe(backup: &Backup) -> String {
    let mut text = format!(
        "backed up {} and {} ({}) in {}\n",
        counted(backup.sessions, "session"),
        counted(backup.messages, "message"),
        size(backup.bytes),
        plain(&backup.path),
    );
    for path in &backup.removed {
        text += &format!("removed {}\n", plain(path));
    }
    text
}

/// A size for people.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)];
    for (unit, factor) in UNITS {
        if bytes >= factor {
            return format!("{}.{} {unit}", bytes / factor, bytes % factor * 10 / factor);
        }
    }
    format!("{bytes} bytes")
}

/// A progress bar on a terminal; nothing in a pipe.
pub(crate) struct Bar {
    /// The operation, such as `backing up`.
    doing: &'static str,
    is_shown: bool,
    percent: Option<u64>,
}

impl Bar {
    pub(crate) fn new(doing: &'static str, output: &Output, global: &GlobalArgs) -> Self {
        let is_wanted = output.format == Format::Human && !global.quiet;
        Self { doing, is_shown: is_wanted && io::stderr().is_terminal(), percent: None }
    }

    pub(crate) fn show(&mut self, done: u64, total: u64, unit: fn(u64) -> String) {
        let percent = done.saturating_mul(100).checked_div(total).unwrap_or(0);
        if self.is_shown && self.percent != Some(percent) {
            self.percent = Some(percent);
            // Errors of the terminal are ignored.
            let (doing, total) = (self.doing, unit(total));
            write!(io::stderr(), "\r\x1b[K{doing}: {percent}% of {total}").ok();
        }
    }

    pub(crate) fn clear(&mut self) {
        if self.percent.take().is_some() {
            write!(io::stderr(), "\r\x1b[K").ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_in_units_that_people_use() {
        let told = [0, 999, 1000, 192_512, 5_300_000, 2_560_000_000].map(size);
        assert_eq!(told, ["0 bytes", "999 bytes", "1.0 kB", "192.5 kB", "5.3 MB", "2.5 GB"]);
    }
}
