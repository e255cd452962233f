//! `convoke spawn`: conversations in the terminal, kept in files.

mod list;
mod open;

use std::time::Duration;

use convoke_core::time::Timestamp;
use convoke_files::transcripts::{Cleaned, Error, Id, Status, Transcripts};
use serde::Serialize;

use super::{Access, World};
use crate::args::GlobalArgs;
use crate::asking::days;
use crate::logs::Loudness;
use crate::output::{self, Answer, Output};
use crate::repl::{self, Opening};
use crate::{clock, signals};

use open::Desk;

pub(crate) use open::NoAgent;

/// Talk with an agent in the terminal, and resume the conversation later
///
/// In a pipe, each line of input is a prompt, and only the answers are printed. --agent takes a
/// name from `convoke agent list`, or a role: a Markdown file .convoke/agents/NAME.md in the
/// project or agents/NAME.md in the home, with `agent:` between two lines of `---` and the
/// instructions for the agent below them. ID is an id, or a unique prefix of one with at least four
/// characters. Works without the daemon.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("what").required(true).multiple(true),
    override_usage = "convoke spawn --interactive [--agent A] [--session ID]
       convoke spawn --resume ID [--agent A]
       convoke spawn --list-sessions [--agent A] [--status S]
       convoke spawn --delete-session ID [--yes]
       convoke spawn --clean-sessions DAYS",
    after_help = "Examples:
  convoke spawn --interactive
  convoke spawn --interactive --agent demo --session try-out
  convoke spawn --resume try-out
  echo 'What is in this folder?' | convoke spawn --interactive
  convoke spawn --list-sessions --status interrupted"
)]
pub(crate) struct SpawnArgs {
    /// Start a conversation
    #[arg(short, long, group = "what", conflicts_with_all = ["list_sessions", "delete_session", "clean_sessions"])]
    interactive: bool,
    /// Resume a conversation
    #[arg(long, value_name = "ID", group = "what", conflicts_with_all = ["list_sessions", "delete_session", "clean_sessions"])]
    resume: Option<String>,
    /// List the conversations, newest first
    #[arg(long, group = "what", conflicts_with_all = ["delete_session", "clean_sessions"])]
    list_sessions: bool,
    /// Delete a conversation
    #[arg(long, value_name = "ID", group = "what", conflicts_with = "clean_sessions")]
    delete_session: Option<String>,
    /// Delete the conversations without activity for this many days
    #[arg(long, value_name = "DAYS", group = "what")]
    clean_sessions: Option<u64>,
    /// Agent or role to talk with, or whose conversations to list [default: claude-code, or an
    /// installed agent]
    #[arg(long, value_name = "A", conflicts_with_all = ["delete_session", "clean_sessions"])]
    agent: Option<String>,
    /// Id of the new conversation [default: a new one]
    #[arg(long, value_name = "ID", conflicts_with_all = ["resume", "list_sessions", "delete_session", "clean_sessions"])]
    session: Option<String>,
    /// List only conversations with this status
    #[arg(long, value_name = "S", conflicts_with_all = ["interactive", "resume", "delete_session", "clean_sessions"])]
    status: Option<ShownStatus>,
    /// Delete without asking
    #[arg(long, conflicts_with_all = ["interactive", "resume", "list_sessions", "clean_sessions"])]
    yes: bool,
}

/// A status, as it is asked for.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ShownStatus {
    Active,
    Completed,
    Interrupted,
}

impl From<ShownStatus> for Status {
    fn from(shown: ShownStatus) -> Self {
        match shown {
            ShownStatus::Active => Self::Active,
            ShownStatus::Completed => Self::Completed,
            ShownStatus::Interrupted => Self::Interrupted,
        }
    }
}

/// Why nothing was deleted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeleteError {
    /// The person said no.
    #[error("nothing was deleted")]
    Declined,
    /// There is no person to ask.
    #[error("cannot ask whether to delete the session: this is not a terminal")]
    NobodyToAsk,
}

/// Some sessions could not be deleted; see the log for the cause.
#[derive(Debug, thiserror::Error)]
#[error("{count} sessions could not be deleted")]
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
    /// Old ones that somebody has open.
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
    let home = world.home_for(access, global, Loudness::of(global), output)?;
    let config = world.config(&home)?.config;
    let transcripts = Transcripts::new(home.path().join("spawn/sessions"));
    if let Some(id) = &args.delete_session {
        return delete(&transcripts, id, Consent::of(args), output);
    }
    if let Some(days) = args.clean_sessions {
        return clean(&transcripts, days, output);
    }
    let expiry = days(config.spawner.session_expiry_days);
    if args.list_sessions {
        let status = args.status.map(Status::from);
        let listing = transcripts.list()?;
        return list::show(&listing, args.agent.as_deref(), status, output);
    }
    let (transcripts, loudness) = (&transcripts, Loudness::of(global));
    let desk = Desk { transcripts, config, home: &home, world, loudness };
    let Some(opening) = open(args, desk)? else { return Ok(()) };
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

fn open(args: &SpawnArgs, desk: Desk<'_>) -> anyhow::Result<Option<Opening>> {
    let name = args.agent.as_deref();
    match &args.resume {
        Some(id) => desk.again(id, name),
        None => desk.anew(name, args.session.as_deref()).map(Some),
    }
}

/// Whether somebody has already said that it may be deleted.
#[derive(Debug, Clone, Copy)]
enum Consent {
    Given,
    ToAsk,
}

impl Consent {
    const fn of(args: &SpawnArgs) -> Self {
        if args.yes { Self::Given } else { Self::ToAsk }
    }
}

fn delete(
    transcripts: &Transcripts,
    id: &str,
    consent: Consent,
    output: &Output,
) -> anyhow::Result<()> {
    let id = transcripts.find(id)?;
    match consent {
        Consent::Given => {}
        Consent::ToAsk => match output::ask(&format!("Delete the session {id} for good?"))? {
            Answer::Yes => {}
            Answer::No => return Err(DeleteError::Declined.into()),
            Answer::Nobody => return Err(DeleteError::NobodyToAsk.into()),
        },
    }
    transcripts.delete(&id)?;
    let deleted = Deleted { session_id: id, deleted: true };
    output.show(&deleted, |deleted, _| format!("Deleted session {}\n", deleted.session_id))
}

fn clean(transcripts: &Transcripts, days: u64, output: &Output) -> anyhow::Result<()> {
    let Cleaned { deleted, open, failed } = transcripts.clean(age(days), clock::now())?;
    let cleaned = CleanedUp { deleted: deleted.len(), open: open.len(), failed: failed.len() };
    output.show(&cleaned, |cleaned, _| {
        let sessions = if cleaned.deleted == 1 { "session" } else { "sessions" };
        let mut text = format!("Deleted {} {sessions} older than {days} days\n", cleaned.deleted);
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

/// Old sessions being deleted in the background of something more important.
struct Cleaning(std::sync::mpsc::Receiver<()>);

/// How long the end of the program waits for it; what is left then is deleted the next time.
const CLEANING_GRACE: Duration = Duration::from_secs(1);

impl Cleaning {
    fn start(clean: impl FnOnce(Timestamp) -> Result<Cleaned, Error> + Send + 'static) -> Self {
        let (done, finished) = std::sync::mpsc::sync_channel(1);
        std::thread::spawn(move || {
            match clean(clock::now()) {
                Ok(cleaned) => tracing::debug!("cleaned {} sessions", cleaned.deleted.len()),
                Err(error) => tracing::warn!("old sessions cannot be cleaned up: {error}"),
            }
            // Nobody waits any more when this cannot be told.
            done.send(()).ok();
        });
        Self(finished)
    }

    fn finish(self) {
        // Whatever is left is deleted the next time.
        self.0.recv_timeout(CLEANING_GRACE).ok();
    }
}
