//! `convoke team`: asking the agents of other projects, each in a lasting conversation.

mod ask;
mod list;
mod report;
mod sessions;
mod stats;
mod time;
mod upkeep;

use super::World;
use crate::args::GlobalArgs;
use crate::daemon::{self, DaemonArgs};
use crate::output::Output;

/// Ask teams: projects whose agents answer others, and remember
///
/// Teams are configured in teams.json in the home. Each pair of teams has one lasting conversation;
/// all callers outside of teams share one with each team.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke team list
  convoke team ask backend 'Which endpoint creates a user?'
  convoke team ask backend 'What changed?' --from frontend --timeout-ms 60000
  convoke team sessions --to backend"
)]
pub(crate) struct TeamArgs {
    #[command(subcommand)]
    command: TeamCommand,
    #[command(flatten)]
    daemon: DaemonArgs,
}

#[derive(Debug, clap::Subcommand)]
enum TeamCommand {
    List(list::ListArgs),
    Status(list::StatusArgs),
    Ask(ask::AskArgs),
    Send(ask::SendArgs),
    Report(report::ReportArgs),
    Cancel(upkeep::CancelArgs),
    Sessions(sessions::SessionsArgs),
    Stats(stats::StatsArgs),
    Compact(upkeep::CompactArgs),
    Delete(upkeep::DeleteArgs),
    Sleep(upkeep::SleepArgs),
    Wake(upkeep::WakeArgs),
    Reload(upkeep::ReloadArgs),
}

/// Why a command about teams does not end with 0.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TeamError {
    /// The team did not answer in time and works on.
    #[error("{team} did not answer within {waited} and is still working")]
    TimedOut {
        /// The team.
        team: String,
        /// How long was waited.
        waited: String,
        /// How the answer is had.
        way_out: String,
    },
    /// The team is still at it.
    #[error("{team} has not answered yet")]
    NotYet {
        /// The team.
        team: String,
    },
    /// There is no answer, and none will come.
    #[error("{team} did not answer: {reason}")]
    Failed {
        /// The team.
        team: String,
        /// Why not.
        reason: String,
    },
    /// There is nothing to report.
    #[error("{team} has not been asked anything yet")]
    Unasked {
        /// The team.
        team: String,
        /// How it is asked.
        way_out: String,
    },
    /// A text that is not a time.
    #[error("not a date or time: {text}")]
    NotATime {
        /// The text.
        text: String,
    },
}

pub(crate) fn run(
    args: &TeamArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    daemon::with(world, global, &args.daemon, output, async |client, _| match &args.command {
        TeamCommand::List(args) => list::list(client, args, output).await,
        TeamCommand::Status(args) => list::status(client, args, output).await,
        TeamCommand::Ask(args) => ask::ask(client, args, output).await,
        TeamCommand::Send(args) => ask::send(client, args, output).await,
        TeamCommand::Report(args) => report::run(client, args, output).await,
        TeamCommand::Cancel(args) => upkeep::cancel(client, args, output).await,
        TeamCommand::Sessions(args) => sessions::run(client, args, output).await,
        TeamCommand::Stats(args) => stats::run(client, args, output).await,
        TeamCommand::Compact(args) => upkeep::compact(client, args, output).await,
        TeamCommand::Delete(args) => upkeep::delete(client, args, output).await,
        TeamCommand::Sleep(args) => upkeep::sleep(client, args, output).await,
        TeamCommand::Wake(args) => upkeep::wake(client, args, output).await,
        TeamCommand::Reload(args) => upkeep::reload(client, args, output).await,
    })
}
