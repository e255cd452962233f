//! `convoke session`: sessions with agents, managed by the daemon.

mod attachments;
mod change;
mod diff;
mod export;
mod finish;
mod follow;
pub(super) mod limit;
mod lines;
mod list;
mod moving;
mod new;
mod print;
mod queue;
mod restore;
mod send;
mod show;
mod turns;
mod watch;

use super::World;
use crate::args::GlobalArgs;
use crate::daemon::{self, DaemonArgs};
use crate::output::Output;

pub(crate) use finish::CommitFlags;
pub(crate) use limit::SessionLimit;
pub(crate) use new::project as chosen_project;
pub(crate) use queue::QueueError;
pub(crate) use send::SendError;

/// Create, prompt, follow and review sessions with agents
///
/// ID is an id, a unique prefix of one with at least four characters, or `AGENT:ID` with the
/// agent's own id of the session.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke session new --project ~/src/web --agent claude-code
  convoke session send 3fa8 'fix the failing test' --wait
  convoke session list --status active"
)]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    command: SessionCommand,
    #[command(flatten)]
    daemon: DaemonArgs,
}

#[derive(Debug, clap::Subcommand)]
enum SessionCommand {
    New(new::NewArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Send(send::SendArgs),
    Queue(queue::QueueArgs),
    Watch(watch::WatchArgs),
    Diff(diff::DiffArgs),
    Restore(restore::RestoreArgs),
    Undo(restore::UndoArgs),
    Fork(restore::ForkArgs),
    Finish(finish::FinishArgs),
    Move(moving::MoveArgs),
    Export(export::ExportArgs),
    Cancel(change::CancelArgs),
    Complete(change::CompleteArgs),
    Resume(change::ResumeArgs),
    Archive(change::ArchiveArgs),
    Unarchive(change::UnarchiveArgs),
    Rename(change::RenameArgs),
    Delete(change::DeleteArgs),
}

pub(crate) fn run(
    args: &SessionArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    daemon::with(world, global, &args.daemon, output, async |client, home| match &args.command {
        SessionCommand::New(args) => new::run(client, args, output).await,
        SessionCommand::List(args) => list::run(client, args, output).await,
        SessionCommand::Show(args) => show::run(client, args, output).await,
        SessionCommand::Send(args) => send::run(client, home, args, output).await,
        SessionCommand::Queue(args) => queue::run(client, args, output).await,
        SessionCommand::Watch(args) => watch::run(client, home, args, output).await,
        SessionCommand::Diff(args) => diff::run(client, args, world, output).await,
        SessionCommand::Restore(args) => restore::restore(client, args, output).await,
        SessionCommand::Undo(args) => restore::undo(client, args, output).await,
        SessionCommand::Fork(args) => restore::fork(client, args, output).await,
        SessionCommand::Finish(args) => finish::run(client, args, output).await,
        SessionCommand::Move(args) => moving::run(client, args, output).await,
        SessionCommand::Export(args) => export::run(client, args, output).await,
        SessionCommand::Cancel(args) => change::cancel(client, args, output).await,
        SessionCommand::Complete(args) => change::complete(client, args, output).await,
        SessionCommand::Resume(args) => change::resume(client, args, output).await,
        SessionCommand::Archive(args) => change::archive(client, args, output).await,
        SessionCommand::Unarchive(args) => change::unarchive(client, args, output).await,
        SessionCommand::Rename(args) => change::rename(client, args, output).await,
        SessionCommand::Delete(args) => change::delete(client, args, output).await,
    })
}
