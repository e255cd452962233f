//! Commands that look after teams and their conversations.

use clap::builder::NonEmptyStringValueParser;
use convoke_api::Client;
use convoke_api::bodies::{CompactedHow, TeamCancel};

use super::ask::Speaker;
use super::list;
use crate::output::{Output, plain};

/// Stop what a team works on for somebody, and what waits behind it
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
    output.show(&session, |session, _| format!("told {} to stop\n", session.to_team))
}

/// Compact a conversation that has become long
///
/// Agents that can do it themselves are told to; for others a successor begins with a summary. Waits until it is done.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team compact 3
  convoke team compact 1a2b3c4d")]
pub(super) struct CompactArgs {
    /// Conversation: its number, or an unambiguous start of its session's id
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
                let session: String =
                    compacted.session.session_id.to_string().chars().take(8).collect();
                format!("conversation {id} goes on in session {session}, with a summary\n")
            }
        }
    })
}

/// Forget a conversation; the next ask begins a new one
///
/// Its session ends and stays readable.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team delete 3
  convoke team delete 1a2b3c4d --with-file")]
pub(super) struct DeleteArgs {
    /// Conversation: its number, or an unambiguous start of its session's id
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Delete the file that its agent keeps of it, too
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
        format!("forgot conversation {}, from {from} to {}\n", deleted.id, deleted.to_team)
    })
}

/// Stop the processes of a team that work on nothing; whoever asks it next wakes it
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
        0 => format!("{} had nothing to stop\n", plain(&args.team)),
        1 => format!("{} is asleep: 1 process stopped\n", plain(&args.team)),
        count => format!("{} is asleep: {count} processes stopped\n", plain(&args.team)),
    })
}

/// Start the process of a team, so that the next answer need not wait for it
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

/// Read teams.json again
///
/// Happens by itself when the file changes. What is wrong with it is told, and leaves everything as it was.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team reload")]
pub(super) struct ReloadArgs {}

pub(super) async fn reload(client: &Client, _: &ReloadArgs, output: &Output) -> anyhow::Result<()> {
    output.show(&client.reload_teams().await?, |teams, _| list::human(teams))
}
