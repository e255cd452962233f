//! `convoke worktree`: the work trees of sessions.

use clap::builder::NonEmptyStringValueParser;
use convoke_api::Client;
use convoke_api::bodies::{ListedWorktree, Session, WorktreeState, Worktrees};
use convoke_core::files::Removal;
use convoke_core::id::short;

use super::World;
use crate::args::GlobalArgs;
use crate::daemon::{self, DaemonArgs};
use crate::output::{Output, plain, table};

/// List, remove and restore the git work trees of sessions
///
/// `convoke session new --worktree` creates one, and `convoke session finish` merges, keeps or
/// discards it. ID is the session's.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke worktree list
  convoke worktree remove 3fa8
  convoke worktree restore 3fa8"
)]
pub(crate) struct WorktreeArgs {
    #[command(subcommand)]
    command: WorktreeCommand,
    #[command(flatten)]
    daemon: DaemonArgs,
}

#[derive(Debug, clap::Subcommand)]
enum WorktreeCommand {
    List(ListArgs),
    Restore(RestoreArgs),
    Remove(RemoveArgs),
}

/// List the work trees of sessions, also those that were removed
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke worktree list
  convoke worktree list --json")]
struct ListArgs {}

/// Restore a removed work tree: branch, commits and files
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke worktree restore 3fa8")]
struct RestoreArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

/// Remove the folder of a work tree after a snapshot; its branch stays
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke worktree remove 3fa8")]
struct RemoveArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Delete files that no snapshot holds, such as very large ones
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(
    args: &WorktreeArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    daemon::with(world, global, &args.daemon, output, async |client, _| match &args.command {
        WorktreeCommand::List(_) => list(client, output).await,
        WorktreeCommand::Restore(RestoreArgs { id }) => {
            let session = client.restore_worktree(id).await?;
            output.show(&session, |session, _| restored(session))
        }
        WorktreeCommand::Remove(RemoveArgs { id, force }) => {
            let session = client.remove_worktree(id, *force).await?;
            output.show(&session, |session, _| {
                format!("{} removed; its branch stays\n", short(session.id))
            })
        }
    })
}

async fn list(client: &Client, output: &Output) -> anyhow::Result<()> {
    let listed = client.worktrees().await?;
    output.show(&listed, |Worktrees { worktrees }, _| {
        if worktrees.is_empty() {
            return "No session has a work tree of its own.\n".to_owned();
        }
        let header = ["SESSION", "STATE", "BRANCH", "BASE", "PATH"];
        table(header, worktrees.iter().map(row).collect())
    })
}

fn row(worktree: &ListedWorktree) -> [String; 5] {
    let state = match (worktree.state, worktree.removed.as_ref().map(|removed| removed.how)) {
        (WorktreeState::Ready, _) => "ready",
        (WorktreeState::Missing, _) => "missing",
        (WorktreeState::Removed, Some(Removal::Merge)) => "merged",
        (WorktreeState::Removed, Some(Removal::Squash)) => "squashed",
        (WorktreeState::Removed, Some(Removal::Rebase)) => "rebased",
        (WorktreeState::Removed, Some(Removal::Keep)) => "kept",
        (WorktreeState::Removed, Some(Removal::Discard)) => "discarded",
        (WorktreeState::Removed, Some(Removal::Remove) | None) => "removed",
    };
    let path = match worktree.state {
        WorktreeState::Ready => plain(&worktree.path),
        WorktreeState::Missing | WorktreeState::Removed => "-".to_owned(),
    };
    [
        short(worktree.session_id),
        state.to_owned(),
        plain(&worktree.branch),
        worktree.base.as_deref().map_or_else(|| "-".to_owned(), plain),
        path,
    ]
}

fn restored(session: &Session) -> String {
    let path = session.worktree.as_ref().map(|own| own.path.as_str()).unwrap_or_default();
    format!("{} restored: {}\n", short(session.id), plain(path))
}
