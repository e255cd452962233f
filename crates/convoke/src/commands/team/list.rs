//! `convoke team list` and `convoke team status`.

use convoke_api::Client;
use convoke_api::bodies::{Team, TeamSessionNow, TeamStatus, Teams};
use convoke_core::time::relative;
use serde::Serialize;

use crate::clock;
use crate::commands::node::{self, NodeNames};
use crate::output::{Output, plain, table};

/// List the teams
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team list
  convoke team list --json | jq -r '.teams[].name'")]
pub(super) struct ListArgs {}

/// Show what teams are working on, and for whom
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team status
  convoke team status backend --json | jq .team.busy")]
pub(super) struct StatusArgs {
    /// Team [default: all teams]
    team: Option<String>,
}

/// The output of `team status` for all teams. A contract with scripts.
#[derive(Serialize)]
struct Statuses {
    teams: Vec<TeamStatus>,
}

const NONE: &str =
    "No teams. Configure them in teams.json in the home, then run `convoke team reload`\n";

pub(super) async fn list(client: &Client, _: &ListArgs, output: &Output) -> anyhow::Result<()> {
    let teams = client.teams().await?;
    let nodes = node::names(client, teams.teams.iter().map(|team| team.node)).await?;
    output.show(&teams, |teams, _| human(teams, nodes.as_ref()))
}

/// The teams for people.
pub(super) fn human(Teams { teams }: &Teams, nodes: Option<&NodeNames>) -> String {
    if teams.is_empty() {
        return NONE.to_owned();
    }
    let row = |team: &Team| {
        let description = team.description.as_deref().unwrap_or_default();
        [
            team.name.to_string(),
            team.agent.to_string(),
            activity(team),
            plain(&team.path),
            plain(description).replace(['\n', '\t'], " "),
        ]
    };
    let Some(nodes) = nodes else {
        let header = ["TEAM", "AGENT", "STATUS", "PATH", "DESCRIPTION"];
        return table(header, teams.iter().map(row).collect());
    };
    let row = |team: &Team| {
        let [name, agent, status, path, description] = row(team);
        [name, nodes.of(team.node), agent, status, path, description]
    };
    let header = ["TEAM", "NODE", "AGENT", "STATUS", "PATH", "DESCRIPTION"];
    table(header, teams.iter().map(row).collect())
}

fn activity(team: &Team) -> String {
    match (team.busy, team.queued, team.processes) {
        (0, _, 0) => "asleep".to_owned(),
        (0, _, _) => "awake".to_owned(),
        (busy, 0, _) => format!("busy ({busy})"),
        (busy, queued, _) => format!("busy ({busy}, {queued} waiting)"),
    }
}

pub(super) async fn status(
    client: &Client,
    args: &StatusArgs,
    output: &Output,
) -> anyhow::Result<()> {
    if let Some(team) = &args.team {
        let status = client.team_status(team).await?;
        let nodes = node::names(client, [status.team.node].into_iter()).await?;
        return output.show(&status, |status, _| about(status, nodes.as_ref()));
    }
    let mut teams = Vec::new();
    for team in client.teams().await?.teams {
        teams.push(client.team_status(team.name.as_str()).await?);
    }
    let nodes = node::names(client, teams.iter().map(|status| status.team.node)).await?;
    output.show(&Statuses { teams }, |Statuses { teams }, _| {
        if teams.is_empty() {
            return NONE.to_owned();
        }
        let about = |status| about(status, nodes.as_ref());
        teams.iter().map(about).collect::<Vec<_>>().join("\n")
    })
}

fn about(status: &TeamStatus, nodes: Option<&NodeNames>) -> String {
    let TeamStatus { team, sessions } = status;
    let node = nodes.map(|nodes| format!(" on {}", nodes.of(team.node))).unwrap_or_default();
    let mut text = format!("{}  {}{node}, {}\n", team.name, team.agent, activity(team));
    if sessions.is_empty() {
        return text;
    }
    let now = clock::now();
    let row = |it: &TeamSessionNow| {
        let session = &it.session;
        [
            format!("  {}", session.id),
            session.from_team.as_ref().map_or_else(|| "(outside)".to_owned(), ToString::to_string),
            session.thread.clone().unwrap_or_default(),
            session.status.as_str().to_owned(),
            it.activity.to_string(),
            it.queued.to_string(),
            session.message_count.to_string(),
            relative(session.last_used_at, now),
        ]
    };
    let header = ["  ID", "FROM", "THREAD", "STATUS", "ACTIVITY", "WAITING", "MESSAGES", "USED"];
    text.push_str(&table(header, sessions.iter().map(row).collect()));
    text
}
