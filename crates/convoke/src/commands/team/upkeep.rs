//! Commands that maintain teams and their conversations.

use clap::builder::NonEmptyStringValueParser;
use convoke_api::Client;
use convoke_api::bodies::{CompactedHow, TeamCancel};
use convoke_core::id::short;

use super::ask::Speaker;
use super::list;
use crate::commands::node;
use crate::output::{Output, plain};

/// Cancel the running and queued questions of a caller to a team
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team cancel backend
  convoke team cancel backend --from frontend")]
pub(super) struct CancelArgs {
    /// Team that was asked
    team: String,
    #[command(flatten)]
    speaker: Speaker,
}

pub(super) async fn cancel(
    client: &Client,
    args: &CancelArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let cancel =
        TeamCancel { from_team: args.speaker.from.clone(), thread: args.speaker.thread.clone() };
    let session = client.cancel_team(&args.team, &cancel).await?;
    output.show(&session, |session, _| format!("asked {} to stop\n", session.to_team))
}

/// Compact a conversation that has become long
///
/// An agent with a compaction command runs it; for others, a new session starts with a summary.
/// Waits until it is done.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team compact 3
  convoke team compact 1a2b3c4d")]
pub(super) struct CompactArgs {
    /// Conversation: its number, or a unique prefix of its session's id
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

pub(super) async fn compact(
    client: &Client,
    args: &CompactArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let compacted = client.compact_team_session(&args.id).await?;
    output.show(&compacted, |compacted, _| {
        let id = compacted.session.id;
        match compacted.how {
            CompactedHow::Own => format!("the agent compacted conversation {id}\n"),
            CompactedHow::Successor => {
                let session = short(compacted.session.session_id);
                format!("conversation {id} continues in session {session}, with a summary\n")
            }
        }
    })
}

/// Delete a conversation; the next ask starts a new one
///
/// Its session ends and stays readable.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team delete 3
  convoke team delete 1a2b3c4d --with-file")]
pub(super) struct DeleteArgs {
    /// Conversation: its number, or a unique prefix of its session's id
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Also delete the agent's own file of it
    #[arg(long)]
    with_file: bool,
}

pub(super) async fn delete(
    client: &Client,
    args: &DeleteArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let deleted = match args.with_file {
        true => client.delete_team_session_with_file(&args.id).await?,
        false => client.delete_team_session(&args.id).await?,
    };
    output.show(&deleted, |deleted, _| {
        let from = deleted.from_team.as_ref().map_or("outside", |from| from.as_str());
        format!("deleted conversation {}, from {from} to {}\n", deleted.id, deleted.to_team)
    })
}

/// Stop the idle processes of a team; the next ask starts one again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team sleep backend")]
pub(super) struct SleepArgs {
    /// Team
    team: String,
}

pub(super) async fn sleep(
    client: &Client,
    args: &SleepArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let stopped = client.sleep_team(&args.team).await?;
    output.show(&stopped, |stopped, _| match stopped.processes {
        0 => format!("{} had no idle process to stop\n", plain(&args.team)),
        1 => format!("{} is asleep: 1 process stopped\n", plain(&args.team)),
        count => format!("{} is asleep: {count} processes stopped\n", plain(&args.team)),
    })
}

/// Start the process of a team, so that the next ask does not wait for it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team wake backend")]
pub(super) struct WakeArgs {
    /// Team
    team: String,
}

pub(super) async fn wake(client: &Client, args: &WakeArgs, output: &Output) -> anyhow::Result<()> {
    let session = client.wake_team(&args.team).await?;
    output.show(&session, |session, _| format!("{} is awake\n", session.to_team))
}

/// Reload teams.json
///
/// The daemon also does this when the file changes. Errors in the file are reported, and the teams
/// then stay as they were.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team reload")]
pub(super) struct ReloadArgs {}

pub(super) async fn reload(client: &Client, _: &ReloadArgs, output: &Output) -> anyhow::Result<()> {
    let teams = client.reload_teams().await?;
    let nodes = node::names(client, teams.teams.iter().map(|team| team.node)).await?;
    output.show(&teams, |teams, _| list::human(teams, nodes.as_ref()))
}
