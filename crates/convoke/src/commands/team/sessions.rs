//! `convoke team sessions`: the lasting conversations of teams.

use convoke_api::bodies::{TeamSession, TeamSessions};
use convoke_api::{Client, TeamSessionQuery};
use convoke_core::id::short;
use convoke_core::team::PairStatus;
use convoke_core::time::relative;

use super::time;
use crate::args::{number, one_of};
use crate::clock;
use crate::commands::node::{self, NodeNames};
use crate::output::{Output, plain, table};

/// List the conversations of teams, last used first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team sessions
  convoke team sessions --external --to backend
  convoke team sessions --status active --used-after 7d
  convoke team sessions --created-after 2026-11-01 --json | jq -r '.sessions[].sessionId'")]
pub(super) struct SessionsArgs {
    /// Only conversations in which this team asks
    #[arg(long, value_name = "TEAM", conflicts_with = "external")]
    from: Option<String>,
    /// Only conversations of callers outside of teams
    #[arg(long)]
    external: bool,
    /// Only conversations in which this team answers
    #[arg(long, value_name = "TEAM")]
    to: Option<String>,
    /// Only those with this status
    #[arg(long, value_name = "STATUS", value_parser = one_of(PairStatus::ALL, PairStatus::as_str))]
    status: Option<PairStatus>,
    /// Only conversations created after this: a date, a time, or an age such as 7d
    #[arg(long, value_name = "DATE")]
    created_after: Option<String>,
    /// Only conversations used after this: a date, a time, or an age such as 12h
    #[arg(long, value_name = "DATE")]
    used_after: Option<String>,
    /// Maximum number to list [default: 100]
    #[arg(long, value_name = "N", value_parser = number(1_u64..=10_000))]
    limit: Option<u64>,
}

pub(super) async fn run(
    client: &Client,
    args: &SessionsArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let now = clock::now();
    let read =
        |text: &Option<String>| text.as_deref().map(|text| time::read(text, now)).transpose();
    let query = TeamSessionQuery {
        from: args.from.clone(),
        external: args.external.then_some(true),
        to: args.to.clone(),
        status: args.status,
        created_after: read(&args.created_after)?,
        used_after: read(&args.used_after)?,
        limit: args.limit,
    };
    let sessions = client.team_sessions(&query).await?;
    let nodes = node::names(client, sessions.sessions.iter().map(|session| session.node)).await?;
    output.show(&sessions, |sessions, _| human(sessions, nodes.as_ref()))
}

fn human(TeamSessions { sessions }: &TeamSessions, nodes: Option<&NodeNames>) -> String {
    if sessions.is_empty() {
        return "No matching conversations.\n".to_owned();
    }
    let now = clock::now();
    let row = |session: &TeamSession| {
        [
            session.id.to_string(),
            session.from_team.as_ref().map_or_else(|| "(outside)".to_owned(), ToString::to_string),
            session.to_team.to_string(),
            plain(session.thread.as_deref().unwrap_or_default()),
            session.status.as_str().to_owned(),
            session.message_count.to_string(),
            relative(session.last_used_at, now),
            short(session.session_id),
        ]
    };
    let Some(nodes) = nodes else {
        let header = ["ID", "FROM", "TO", "THREAD", "STATUS", "MESSAGES", "USED", "SESSION"];
        return table(header, sessions.iter().map(row).collect());
    };
    let row = |session: &TeamSession| {
        let [id, from, to, thread, status, messages, used, short] = row(session);
        [id, from, to, nodes.of(session.node), thread, status, messages, used, short]
    };
    let header = ["ID", "FROM", "TO", "NODE", "THREAD", "STATUS", "MESSAGES", "USED", "SESSION"];
    table(header, sessions.iter().map(row).collect())
}
