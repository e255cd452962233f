//! `convoke spawn`: sessions in the terminal, stored in files.

mod list;
mod open;

use std::time::Duration;

use convoke_core::count::counted;
use convoke_core::time::Timestamp;
use convoke_files::transcripts::{Cleaned, Error, Id, Status, Transcripts};
use serde::Serialize;

use super::{Access, World};
use crate::args::{GlobalArgs, number, one_of};
use crate::asking::days;
use crate::logs::Verbosity;
use crate::output::{self, Answer, Output};
use crate::repl::{self, Opening};
use crate::{clock, signals};

use open::Opener;

pub(crate) use open::NoAgent;

/// Talk with an agent in the terminal, and resume the session later
///
/// In a pipe, every line is a prompt, and only the answers are printed. --agent takes the name of an agent, as shown by
/// `convoke agent list`, or of a role: a Markdown file .convoke/agents/NAME.md in the project or agents/NAME.md in the
/// home, with `agent:` between two lines of `---` and the text for the agent below them. ID may be any unambiguous
/// start of an id, four characters or more. Works without the daemon.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "convoke spawn [--interactive] [--agent A] [--session ID]
       convoke spawn --resume ID [--agent A]
       convoke spawn --list-sessions [--agent A] [--status S]
       convoke spawn --delete-session ID [--yes]
       convoke spawn --clean-sessions DAYS",
    after_help = "Examples:
  convoke spawn
  convoke spawn --agent demo --session try-out
  convoke spawn --resume try-out
  echo 'What is in this folder?' | convoke spawn
  convoke spawn --list-sessions --status interrupted"
)]
pub(crate) struct SpawnArgs {
    /// Start a session; this is what happens without any option
    #[arg(short, long, conflicts_with_all = ["list_sessions", "delete_session", "clean_sessions"])]
    interactive: bool,
    /// Resume a session
    #[arg(long, value_name = "ID", conflicts_with_all = ["list_sessions", "delete_session", "clean_sessions"])]
    resume: Option<String>,
    /// List sessions, newest first
    #[arg(long, conflicts_with_all = ["delete_session", "clean_sessions"])]
    list_sessions: bool,
    /// Delete a session
    #[arg(long, value_name = "ID", conflicts_with = "clean_sessions")]
    delete_session: Option<String>,
    /// Delete sessions without activity for this many days
    #[arg(long, value_name = "DAYS", value_parser = number(0_u64..))]
    clean_sessions: Option<u64>,
    /// Agent or role to talk with, or to list the sessions of [default: claude-code, or one that is installed]
    #[arg(long, value_name = "AGENT", conflicts_with_all = ["delete_session", "clean_sessions"])]
    agent: Option<String>,
    /// Id of the new session [default: a random one]
    #[arg(long, value_name = "ID", conflicts_with_all = ["resume", "list_sessions", "delete_session", "clean_sessions"])]
    session: Option<String>,
    /// List only sessions with this status
    #[arg(long, value_name = "STATUS", value_parser = one_of(Status::ALL, Status::as_str), requires = "list_sessions", conflicts_with_all = ["interactive", "resume", "delete_session", "clean_sessions"])]
    status: Option<Status>,
    /// Delete without asking
    #[arg(long, requires = "delete_session", conflicts_with_all = ["interactive", "resume", "list_sessions", "clean_sessions"])]
    yes: bool,
}

/// Why a session was not deleted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeleteError {
    /// The user said no.
    #[error("nothing was deleted")]
    Declined,
    /// There is no terminal to ask on.
    #[error("cannot ask whether to delete the session: this is not a terminal")]
    NoTerminal,
}

/// Some sessions could not be deleted; see the log for the cause.
#[derive(Debug, thiserror::Error)]
#[error("{} could not be deleted", counted(count, "session"))]
pub(crate) struct CleanIncomplete {
    count: usize,
}

/// A contract with scripts.
#[derive(Serialize)]
struct Deleted {
    session_id: Id,
    deleted: bool,
}

/// A contract with scripts.
#[derive(Serialize)]
struct CleanedUp {
    deleted: usize,
    /// Old ones that are open in another process.
    open: usize,
    failed: usize,
}

pub(crate) fn run(
    args: &SpawnArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let access = if args.list_sessions { Access::Read } else { Access::Write };
    let home = world.home_for(access, global, Verbosity::of(global), output)?;
    let config = world.config(&home)?.config;
    let transcripts = Transcripts::new(home.path().join("spawn/sessions"));
    if let Some(id) = &args.delete_session {
        let id = transcripts.find(id)?;
        if !args.yes {
            confirm(&id)?;
        }
        return delete(&transcripts, id, output);
    }
    if let Some(days) = args.clean_sessions {
        return clean(&transcripts, days, output);
    }
    let expiry = days(config.spawner.session_expiry_days);
    if args.list_sessions {
        let listing = transcripts.list()?;
        return list::show(&listing, args.agent.as_deref(), args.status, output);
    }
    let (transcripts, verbosity) = (&transcripts, Verbosity::of(global));
    let opener = Opener { transcripts, config, home: &home, world, verbosity };
    let Some(opening) = open(args, opener)? else { return Ok(()) };
    // Only now, so that the session that is resumed does not expire while it is opened.
    let cleaning = expiry.map(|expiry| {
        let transcripts = transcripts.clone();
        Cleaning::start(move |now| transcripts.clean(expiry, now))
    });
    let result = signals::block_on(repl::run(opening, &home, world, output));
    if let Some(cleaning) = cleaning {
        cleaning.finish();
    }
    result
}

fn open(args: &SpawnArgs, opener: Opener<'_>) -> anyhow::Result<Option<Opening>> {
    let name = args.agent.as_deref();
    match &args.resume {
        Some(id) => opener.resume(id, name),
        None => opener.start(name, args.session.as_deref()).map(Some),
    }
}

/// Asks the user whether to delete a session.
fn confirm(id: &Id) -> anyhow::Result<()> {
    match output::ask(&format!("Delete the session {id} for good?"))? {
        Answer::Yes => Ok(()),
        Answer::No => Err(DeleteError::Declined.into()),
        Answer::NoTerminal => Err(DeleteError::NoTerminal.into()),
    }
}

fn delete(transcripts: &Transcripts, id: Id, output: &Output) -> anyhow::Result<()> {
    transcripts.delete(&id)?;
    let deleted = Deleted { session_id: id, deleted: true };
    output.show(&deleted, |deleted, _| format!("Deleted session {}\n", deleted.session_id))
}

fn clean(transcripts: &Transcripts, days: u64, output: &Output) -> anyhow::Result<()> {
    let Cleaned { deleted, open, failed } = transcripts.clean(age(days), clock::now())?;
    let cleaned = CleanedUp { deleted: deleted.len(), open: open.len(), failed: failed.len() };
    output.show(&cleaned, |cleaned, _| {
        let (sessions, age) = (counted(cleaned.deleted, "session"), counted(days, "day"));
        let mut text = format!("Deleted {sessions} older than {age}\n");
        if cleaned.open > 0 {
            text += &format!("Kept {} that are open\n", cleaned.open);
        }
        text
    })?;
    if cleaned.failed == 0 { Ok(()) } else { Err(CleanIncomplete { count: cleaned.failed }.into()) }
}

fn age(days: u64) -> Duration {
    Duration::from_secs(days.saturating_mul(86_400))
}

/// Old sessions being deleted in the background.
struct Cleaning(std::sync::mpsc::Receiver<()>);

/// How long the end of the program waits for it; sessions that are left are deleted the next time.
const CLEANING_GRACE: Duration = Duration::from_secs(1);

impl Cleaning {
    fn start(clean: impl FnOnce(Timestamp) -> Result<Cleaned, Error> + Send + 'static) -> Self {
        let (done, finished) = std::sync::mpsc::sync_channel(1);
        std::thread::spawn(move || {
            match clean(clock::now()) {
                Ok(cleaned) => tracing::debug!("cleaned {} sessions", cleaned.deleted.len()),
                Err(error) => tracing::warn!("old sessions cannot be cleaned up: {error}"),
            }
            // The receiver is dropped after the grace period.
            done.send(()).ok();
        });
        Self(finished)
    }

    fn finish(self) {
        // Sessions that are left are deleted the next time.
        self.0.recv_timeout(CLEANING_GRACE).ok();
    }
}
