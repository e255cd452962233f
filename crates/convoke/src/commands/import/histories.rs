//! `convoke import SOURCE…`: conversations that other agents keep become sessions.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use convoke_api::Client;
use convoke_api::bodies::{HistoryImport, NewHistoryImport, SourceImport};
use convoke_core::count::counted;
use convoke_core::time::Timestamp;

use super::ImportIncomplete;
use crate::output::{Format, Output, aside, plain};

/// The polling interval for the daemon's progress. The first polls are closer together, so that a
/// short import is not delayed.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
const FIRST_POLL: Duration = Duration::from_millis(10);
/// Characters of the progress bar.
const BAR: usize = 24;

/// Which conversations are imported.
#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    /// Agents whose conversations are imported: claude, codex, gemini, opencode, goose, qwen,
    /// copilot, cline, kimi, vibe or droid
    #[arg(value_name = "SOURCE")]
    pub(super) sources: Vec<String>,
    /// Import the conversations of all agents
    #[arg(long, conflicts_with = "sources")]
    pub(super) all: bool,
    /// Import only what changed at this date or later, such as 2026-10-01 or 2026-10-01T08:00:00Z
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(super) since: Option<Timestamp>,
    /// Import only what was said in this folder or below
    #[arg(long = "in", value_name = "PATH")]
    pub(super) folder: Option<PathBuf>,
    /// Say what would be imported, and import nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

fn date(text: &str) -> Result<Timestamp, String> {
    let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    whole.parse().map_err(|_| "write a date as 2026-10-01 or 2026-10-01T08:00:00Z".to_owned())
}

impl HistoryArgs {
    /// Whether any option about histories is given.
    pub(super) fn is_given(&self) -> bool {
        self.all || self.dry_run || !self.sources.is_empty()
    }
}

pub(super) async fn run(
    args: &HistoryArgs,
    client: &Client,
    output: &Output,
) -> anyhow::Result<()> {
    let folder = args.folder.as_ref().map(std::path::absolute).transpose();
    let folder = folder.context("cannot find the current folder")?;
    let folder = folder.map(|folder| {
        let resolved = std::fs::canonicalize(&folder).unwrap_or(folder);
        resolved.into_os_string().into_string().ok().context("the folder's path is not UTF-8")
    });
    let new = NewHistoryImport {
        sources: args.sources.clone(),
        since: args.since,
        folder: folder.transpose()?,
        dry_run: args.dry_run,
    };
    let import = wait(client, client.import_histories(&new).await?).await?;
    output.show(&import, |import, _| summary(import, args.dry_run))?;
    if output.format == Format::Human {
        for failed in &import.failed {
            let line = failed.line.map(|line| format!(":{line}")).unwrap_or_default();
            aside(&plain(&format!("{}{line}: {}", failed.file, failed.error)));
        }
    }
    if let Some(error) = import.error {
        anyhow::bail!("the import ended early: {error}; the next one continues there");
    }
    let sum = |count: fn(&SourceImport) -> u64| import.sources.iter().map(count).sum::<u64>();
    let (files, lines) = (sum(|it| it.failed), sum(|it| it.broken_lines));
    if files + lines > 0 {
        let count = |number| usize::try_from(number).unwrap_or(usize::MAX);
        return Err(ImportIncomplete { files: count(files), lines: count(lines) }.into());
    }
    Ok(())
}

/// Waits for the end of an import, with a progress bar where there is a terminal.
async fn wait(client: &Client, begun: HistoryImport) -> anyhow::Result<HistoryImport> {
    let is_watched = io::stderr().is_terminal();
    let (mut import, mut pause) = (begun, FIRST_POLL);
    while import.running {
        tokio::time::sleep(pause).await;
        // An import that finds nothing new ends within some of these, and is not waited for in longer ones.
        pause = (pause * 6 / 5).min(POLL_INTERVAL);
        import = client.history_import().await?;
        if is_watched {
            // Progress that cannot be printed is not needed.
            write!(io::stderr(), "\r{}\x1b[K", bar(&import)).ok();
        }
    }
    if is_watched {
        write!(io::stderr(), "\r\x1b[K").ok();
    }
    Ok(import)
}

fn bar(import: &HistoryImport) -> String {
    let sum = |count: fn(&SourceImport) -> u64| import.sources.iter().map(count).sum::<u64>();
    let (done, total) = (sum(|it| it.done), sum(|it| it.total).max(1));
    let filled = usize::try_from(done * BAR as u64 / total).unwrap_or(BAR).min(BAR);
    let name = import.sources.last().map_or("", |source| source.name.as_str());
    let bar = "█".repeat(filled) + &"░".repeat(BAR - filled);
    format!("{bar} {done} of {total} {name}")
}

fn summary(import: &HistoryImport, is_dry: bool) -> String {
    let mut text = String::new();
    for source in &import.sources {
        let SourceImport { name, added, grown, rewritten, skipped, messages, .. } = source;
        let parts = [
            (*added, if is_dry { "to import" } else { "imported" }),
            (*grown, if is_dry { "with more messages" } else { "continued" }),
            (*rewritten, "rewritten since, imported again"),
        ];
        let mut parts: Vec<String> = parts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if let Some(last) = parts.last_mut().filter(|_| *messages > 0) {
            *last += &format!(" ({})", counted(*messages, "message"));
        }
        if *skipped > 0 {
            let why = "empty, of another folder, deleted here, or already a session";
            parts.push(format!("{skipped} skipped ({why})"));
        }
        if parts.is_empty() {
            continue;
        }
        text += &format!("{name}: {}\n", parts.join(", "));
    }
    let is_new = import.sources.iter().any(|source| source.added + source.grown > 0);
    if is_new && !is_dry {
        text += "Search them with `convoke search WORD`; or open the page: `convoke open`\n";
    }
    if text.is_empty() { "There is nothing new to import\n".to_owned() } else { text }
}
