//! `convoke session cancel|complete|resume|archive|unarchive|rename|delete`: one call each.

use clap::builder::NonEmptyStringValueParser;
use convoke_api::bodies::{Activity, Session, SessionPatch};
use convoke_api::{Client, Result};
use convoke_core::count::counted;
use convoke_core::id::{SessionId, short};
use convoke_core::session::{QueueChoice, Status};
use serde::Serialize;

use super::list::state;
use crate::commands::spawn::DeleteError;
use crate::output::{Answer, Output, ask, plain};

/// Cancel a session for good, or only its running turn
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session cancel 3fa8 --turn
  convoke session cancel 3fa8 --turn --queue keep
  convoke session cancel 3fa8")]
pub(super) struct CancelArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Cancel only the running turn; the session stays active
    #[arg(long)]
    turn: bool,
    /// What to do with the queued prompts: the next one is sent, they are kept until you send one,
    /// or they are discarded [default: send]
    #[arg(long, value_name = "CHOICE", requires = "turn")]
    queue: Option<ShownChoice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ShownChoice {
    Send,
    Keep,
    Discard,
}

impl From<ShownChoice> for QueueChoice {
    fn from(choice: ShownChoice) -> Self {
        match choice {
            ShownChoice::Send => Self::Send,
            ShownChoice::Keep => Self::Keep,
            ShownChoice::Discard => Self::Discard,
        }
    }
}

/// Complete a session; it can be resumed
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session complete 3fa8")]
pub(super) struct CompleteArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

/// Resume a completed or failed session, so that it accepts prompts again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session resume 3fa8")]
pub(super) struct ResumeArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

/// Hide a session from lists
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session archive 3fa8
  convoke session list --archived")]
pub(super) struct ArchiveArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

/// Show a session in lists again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session unarchive 3fa8")]
pub(super) struct UnarchiveArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

/// Rename a session
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session rename 3fa8 'The parser'")]
pub(super) struct RenameArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// What to call it
    title: String,
}

/// Delete a session for good, with its messages
///
/// Its agent is stopped. What the agent itself stores, and backups, are not touched.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session delete 3fa8
  convoke session delete 3fa8 --yes")]
pub(super) struct DeleteArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// The output of `delete --json`. A contract with scripts.
#[derive(Serialize)]
struct Deleted {
    id: SessionId,
    deleted: bool,
}

pub(super) async fn delete(
    client: &Client,
    args: &DeleteArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let session = client.transcript(&args.id).await?.detail.session;
    if !args.yes {
        confirm(&session)?;
    }
    client.erase(&session.id.to_string()).await?;
    let deleted = Deleted { id: session.id, deleted: true };
    output.show(&deleted, |deleted, _| format!("{} deleted\n", short(deleted.id)))
}

/// Asks the user for confirmation, and lists what is lost.
fn confirm(session: &Session) -> anyhow::Result<()> {
    let running = match session.activity {
        Activity::Running | Activity::Waiting => " Its agent is working and will be stopped.",
        Activity::Idle => "",
    };
    let messages = counted(session.message_count, "message");
    let question = format!(
        "Delete \"{}\" ({} with {}) for good, with {messages} and all of its requests?{running}",
        plain(&session.title).replace('\n', " "),
        short(session.id),
        session.agent,
    );
    match ask(&question)? {
        Answer::Yes => Ok(()),
        Answer::No => Err(DeleteError::Declined.into()),
        Answer::NoTerminal => Err(DeleteError::NoTerminal.into()),
    }
}

pub(super) async fn cancel(
    client: &Client,
    args: &CancelArgs,
    output: &Output,
) -> anyhow::Result<()> {
    if args.turn {
        let queue = args.queue.map_or(QueueChoice::Send, QueueChoice::from);
        let session = client.cancel_turn(&args.id, queue).await;
        return show(session, output, |_| "is stopping its turn".to_owned());
    }
    show(client.cancel(&args.id).await, output, |session| match session.status {
        Status::Cancelled => state(session),
        // It is left as it is.
        Status::Active | Status::Completed | Status::Error => {
            format!("has already ended: {}", state(session))
        }
    })
}

pub(super) async fn complete(
    client: &Client,
    args: &CompleteArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let before = client.transcript(&args.id).await?.detail.session.status;
    show(client.complete(&args.id).await, output, |session| match before {
        Status::Completed => format!("is already {}", state(session)),
        Status::Active | Status::Cancelled | Status::Error => state(session),
    })
}

pub(super) async fn resume(
    client: &Client,
    args: &ResumeArgs,
    output: &Output,
) -> anyhow::Result<()> {
    show(client.resume(&args.id).await, output, state)
}

pub(super) async fn archive(
    client: &Client,
    args: &ArchiveArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let patch = SessionPatch { archived: Some(true), ..SessionPatch::default() };
    let session = client.change_session(&args.id, &patch).await;
    show(session, output, |_| "archived".to_owned())
}

pub(super) async fn unarchive(
    client: &Client,
    args: &UnarchiveArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let patch = SessionPatch { archived: Some(false), ..SessionPatch::default() };
    let session = client.change_session(&args.id, &patch).await;
    show(session, output, |_| "unarchived".to_owned())
}

pub(super) async fn rename(
    client: &Client,
    args: &RenameArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let patch = SessionPatch { title: Some(args.title.clone()), ..SessionPatch::default() };
    let session = client.change_session(&args.id, &patch).await;
    show(session, output, |session| format!("is now called {}", plain(&session.title)))
}

fn show(
    session: Result<Session>,
    output: &Output,
    became: impl FnOnce(&Session) -> String,
) -> anyhow::Result<()> {
    output.show(&session?, |session, _| format!("{} {}\n", short(session.id), became(session)))
}
