//! `convoke session cancel|complete|resume|archive|unarchive|rename`: one call each.

use clap::builder::NonEmptyStringValueParser;
use convoke_api::bodies::{Session, SessionPatch};
use convoke_api::{Client, Result};

use super::list::state;
use crate::commands::project::short;
use crate::output::{Output, plain};

/// Cancel a session for good, or only its running turn
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session cancel 3fa8 --turn
  convoke session cancel 3fa8")]
pub(super) struct CancelArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Cancel only the running turn; the session stays active
    #[arg(long)]
    turn: bool,
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

/// Resume a session that has ended, so that it accepts prompts again
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

pub(super) async fn cancel(
    client: &Client,
    args: &CancelArgs,
    output: &Output,
) -> anyhow::Result<()> {
    if args.turn {
        let session = client.cancel_turn(&args.id).await;
        return show(session, output, |_| "is stopping its turn".to_owned());
    }
    show(client.cancel(&args.id).await, output, state)
}

pub(super) async fn complete(
    client: &Client,
    args: &CompleteArgs,
    output: &Output,
) -> anyhow::Result<()> {
    show(client.complete(&args.id).await, output, state)
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
