//! `convoke import`: conversations from elsewhere become sessions.

mod file;
mod histories;

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use convoke_api::Client;
use convoke_api::bodies::ImportOutcome;
use convoke_core::count::counted;
use convoke_core::id::SessionId;
use serde::Serialize;

use super::World;
use super::session::chosen_project;
use crate::args::GlobalArgs;
use crate::daemon::{self, DaemonArgs};
use crate::output::{Output, aside, plain};
use crate::repl::Profiles;
use file::Sent;
use histories::HistoryArgs;

/// Import conversations of other agents as sessions
///
/// Reads the conversations that Claude Code, Codex and others store, so that they can be searched,
/// read and resumed. What was imported before is skipped; conversations that went on get the rest.
/// From then on the daemon follows what was imported: a conversation held elsewhere appears while it
/// continues. Nothing in the stores of other agents is changed.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  convoke import --dry-run
  convoke import --all
  convoke import claude codex --since 2026-10-01
  convoke import --all --in ~/src/web
  convoke import spawn --project ~/src/web"
)]
pub(crate) struct ImportArgs {
    #[command(subcommand)]
    command: Option<ImportCommand>,
    #[command(flatten)]
    histories: HistoryArgs,
    #[command(flatten)]
    daemon: DaemonArgs,
}

#[derive(Debug, clap::Subcommand)]
enum ImportCommand {
    Spawn(SpawnArgs),
}

/// Import transcripts of `convoke spawn`, so that they can be searched and resumed
///
/// Turns that were imported before are skipped; newer turns are added, unless the session itself
/// has continued. Unreadable lines are reported, and all others are imported.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke import spawn --project ~/src/web
  convoke import spawn old/talk.jsonl --json")]
struct SpawnArgs {
    /// Transcript, or a folder of transcripts [default: those of this home]
    #[arg(value_name = "FILE|DIR")]
    path: Option<PathBuf>,
    /// Project that the sessions belong to: its name, id or folder [default: the one around the current folder]
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
}

/// Not everything was imported; the rest was listed before.
#[derive(Debug, thiserror::Error)]
#[error("{}", worded(*.files, *.lines))]
pub(crate) struct ImportIncomplete {
    files: usize,
    lines: usize,
}

fn worded(files: usize, lines: usize) -> String {
    let parts = [(files, "file"), (lines, "line")];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, noun)| counted(count, noun)).collect();
    format!("{} could not be imported", parts.join(" and "))
}

/// The source of the conversations is missing.
#[derive(Debug, thiserror::Error)]
#[error("name the agents whose conversations are imported, or say `--all`")]
pub(crate) struct NoSource;

/// A contract with scripts.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    sessions: Vec<Imported>,
    damaged: Vec<DamagedLine>,
    failed: Vec<FailedFile>,
}

/// A transcript that is a session now.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Imported {
    file: PathBuf,
    session_id: SessionId,
    /// Turns of the transcript that the session has.
    turns: u64,
    /// Those among them that are new.
    added: u64,
    outcome: ImportOutcome,
}

/// A line that was left out.
#[derive(Debug, Serialize)]
struct DamagedLine {
    file: PathBuf,
    line: u64,
    problem: String,
}

/// A file that was left out.
#[derive(Debug, Serialize)]
struct FailedFile {
    file: PathBuf,
    error: String,
}

pub(crate) fn run(
    args: &ImportArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let Some(ImportCommand::Spawn(spawn)) = &args.command else {
        if !args.histories.is_given() {
            anyhow::bail!(NoSource);
        }
        return daemon::with(world, global, &args.daemon, output, async |client, _| {
            histories::run(&args.histories, client, output).await
        });
    };
    daemon::with(world, global, &args.daemon, output, async |client, home| {
        let folder = home.path().join("spawn/sessions");
        let files = match &spawn.path {
            Some(path) => transcripts(path)?,
            None if folder.exists() => transcripts(&folder)?,
            // `convoke spawn` was never used.
            None => Vec::new(),
        };
        let project = chosen_project(client, spawn.project.as_deref()).await?;
        let profiles = Profiles::around(world.config(home)?.config.agents, home);
        let report = import(client, &files, &project.id.to_string(), &profiles).await?;
        output.show(&report, |report, _| report.summary())?;
        report.complain(output)
    })
}

/// The transcripts at a path.
fn transcripts(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let fail = || format!("cannot read {}", path.display());
    if !fs::metadata(path).with_context(fail)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).with_context(fail)? {
        let file = entry.with_context(fail)?.path();
        if file.extension().is_some_and(|ending| ending == "jsonl") {
            files.push(file);
        }
    }
    files.sort_unstable();
    Ok(files)
}

async fn import(
    client: &Client,
    files: &[PathBuf],
    project: &str,
    profiles: &Profiles,
) -> anyhow::Result<Report> {
    let mut report = Report::default();
    let is_watched = io::stderr().is_terminal();
    for (number, path) in files.iter().enumerate() {
        let progress = |turns: u64| {
            if is_watched {
                let (number, count) = (number + 1, files.len());
                let turns = counted(turns, "turn");
                // Progress that cannot be printed is not needed.
                write!(io::stderr(), "\rFile {number} of {count}, {turns}\x1b[K").ok();
            }
        };
        let sent = Sent::new(client, path, project, profiles);
        match file::import(sent, &mut report.damaged, progress).await {
            Ok(Some(imported)) => report.sessions.push(imported),
            Ok(None) => {}
            // The others would fail in the same way.
            Err(error) if is_end(&error) => return Err(error),
            Err(error) => {
                report.failed.push(FailedFile { file: path.clone(), error: format!("{error:#}") });
            }
        }
    }
    if is_watched && !files.is_empty() {
        write!(io::stderr(), "\r\x1b[K").ok();
    }
    Ok(report)
}

/// Whether an error is about the daemon rather than about a file.
fn is_end(error: &anyhow::Error) -> bool {
    error.downcast_ref::<convoke_api::Error>().is_some_and(
        |error| !matches!(error, convoke_api::Error::Problem(problem) if problem.status < 500),
    )
}

impl Report {
    fn summary(&self) -> String {
        let count = |outcome| self.sessions.iter().filter(|it| it.outcome == outcome).count();
        let turns: u64 = self.sessions.iter().map(|it| it.added).sum();
        let mut text = format!(
            "{} imported, {}\n",
            counted(count(ImportOutcome::Added), "transcript"),
            counted(turns, "turn"),
        );
        let (known, continued) = (count(ImportOutcome::Known), count(ImportOutcome::Continued));
        if known > 0 {
            text += &format!("{} imported before\n", counted(known, "transcript"));
        }
        if continued > 0 {
            let sessions = counted(continued, "transcript");
            text += &format!("{sessions} skipped: the session exists already and has continued\n");
        }
        text
    }

    /// Lists what was left out, and fails if there is anything.
    fn complain(&self, output: &Output) -> anyhow::Result<()> {
        if self.damaged.is_empty() && self.failed.is_empty() {
            return Ok(());
        }
        if output.format == crate::output::Format::Human {
            for DamagedLine { file, line, problem } in &self.damaged {
                aside(&plain(&format!("{}:{line}: {problem}", file.display())));
            }
            for FailedFile { file, error } in &self.failed {
                aside(&plain(&format!("{}: {error}", file.display())));
            }
        }
        let (files, lines) = (self.failed.len(), self.damaged.len());
        Err(ImportIncomplete { files, lines }.into())
    }
}
