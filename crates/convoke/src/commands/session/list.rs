//! `convoke session list`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use convoke_api::bodies::{Activity, Session, Sessions};
use convoke_api::{Client, SessionQuery, Text};
use convoke_core::id::{ProjectId, short};
use convoke_core::session::{Attention, EndReason, Status};
use convoke_core::time::relative;

use crate::args::{number, one_of};
use crate::clock;
use crate::commands::node::{self, NodeNames};
use crate::commands::project::{DaemonNode, ProjectArgument, ProjectError, find};
use crate::output::{Format, Indenter, Output, Reader, aside_on_terminal, plain, table};

/// List sessions, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session list
  convoke session list --project web --status active,error
  convoke session list --limit 100 --json | jq -r '.sessions[].title'")]
pub(super) struct ListArgs {
    /// Only sessions of a project: its name, its path, or a unique prefix of its id
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only sessions with this status; separate several with commas
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = one_of(Status::ALL, Status::as_str))]
    status: Vec<Status>,
    /// Only archived sessions, which are hidden otherwise
    #[arg(long)]
    archived: bool,
    /// Maximum number to list [default: 20]
    #[arg(long, value_name = "N", value_parser = number(1_u64..=10_000))]
    limit: Option<u64>,
    /// Number to skip at the beginning
    #[arg(long, value_name = "N", value_parser = number(0_u64..))]
    offset: Option<u64>,
}

pub(super) async fn run(client: &Client, args: &ListArgs, output: &Output) -> anyhow::Result<()> {
    let repos = match (&args.project, output.format) {
        (None, Format::Json) => Vec::new(),
        (Some(_), _) | (None, Format::Human) => client.found_repos().await?.repos,
    };
    let repo_id = match &args.project {
        Some(text) => match find(text, &repos, &DaemonNode::of(client, &repos).await?)? {
            ProjectArgument::Project(repo) => Some(repo.id.to_string()),
            ProjectArgument::Folder(_) => {
                return Err(ProjectError::Unknown { text: text.clone() }.into());
            }
        },
        None => None,
    };
    let query = SessionQuery {
        repo_id,
        statuses: args.status.clone(),
        archived: args.archived.then_some(true),
        limit: args.limit,
        offset: args.offset,
    };
    if output.format == Format::Json {
        return print(client.sessions_text(&query).await?, output).await;
    }
    let names: BTreeMap<ProjectId, String> =
        repos.into_iter().map(|repo| (repo.id, repo.name)).collect();
    let listed = client.sessions(&query).await?;
    let nodes = node::names(client, listed.sessions.iter().map(|session| session.node)).await?;
    let names = with_removed(client, names, &listed).await?;
    output.show(&listed, |listed, _| match (listed.sessions.is_empty(), args.archived) {
        (true, true) => "No archived sessions.\n".to_owned(),
        (_, _) => listed_table(listed, &names, nodes.as_ref()),
    })?;
    let shown = listed.sessions.len() as u64 + listed.offset;
    if shown < listed.total {
        aside_on_terminal(&format!("{shown} of {}; more with --offset {shown}", listed.total));
    }
    Ok(())
}

/// The names of projects with those of removed ones, whose sessions stay.
async fn with_removed(
    client: &Client,
    mut names: BTreeMap<ProjectId, String>,
    listed: &Sessions,
) -> anyhow::Result<BTreeMap<ProjectId, String>> {
    for session in &listed.sessions {
        if let Entry::Vacant(missing) = names.entry(session.repo_id) {
            let id = session.id.to_string();
            missing.insert(client.transcript(&id).await?.detail.repo.name);
        }
    }
    Ok(names)
}

/// Prints an answer of the daemon's as it comes.
async fn print(mut answer: Text, output: &Output) -> anyhow::Result<()> {
    let mut indenter = Indenter::default();
    while let Some(piece) = answer.next().await? {
        if output.bytes(indenter.take(&piece))? == Reader::Gone {
            return Ok(());
        }
    }
    output.line("")
}

fn listed_table(
    listed: &Sessions,
    names: &BTreeMap<ProjectId, String>,
    nodes: Option<&NodeNames>,
) -> String {
    if listed.sessions.is_empty() {
        return "No sessions. Create one with `convoke session new --project PATH`\n".to_owned();
    }
    let now = clock::now();
    let row = |session: &Session| {
        // The sessions of a removed project stay.
        let project =
            names.get(&session.repo_id).map_or_else(|| short(session.repo_id), |it| plain(it));
        [
            short(session.id),
            status(session),
            attention(session).to_owned(),
            session.agent.to_string(),
            project,
            relative(session.last_active_at, now),
            plain(&session.title).replace(['\n', '\t'], " "),
        ]
    };
    let header = ["SESSION", "STATUS", "ATTENTION", "AGENT", "PROJECT", "ACTIVE", "TITLE"];
    let Some(nodes) = nodes else {
        return table(header, listed.sessions.iter().map(row).collect());
    };
    let rows =
        listed.sessions.iter().map(|session| with_node(row(session), nodes.of(session.node)));
    table(with_node(header, "NODE"), rows.collect())
}

/// A row with the node behind the project.
fn with_node<T>(row: [T; 7], node: T) -> [T; 8] {
    let [id, state, attention, agent, project, active, title] = row;
    [id, state, attention, agent, project, node, active, title]
}

/// The attention of a session; a dash for none.
fn attention(session: &Session) -> &'static str {
    match (session.attention, session.unseen) {
        (Attention::NeedsYou, _) => "needs you",
        (Attention::Working, _) => "working",
        (Attention::Failed, _) => "failed",
        (Attention::Idle | Attention::Ended, true) => "unseen",
        (Attention::Idle | Attention::Ended, false) => "-",
    }
}

/// The status of a session, in a word.
fn status(session: &Session) -> String {
    let is_imported = session.metadata.reason == Some(EndReason::Imported);
    match (session.status, session.activity) {
        (Status::Active, Activity::Running | Activity::Waiting) => session.activity.to_string(),
        (Status::Completed, _) if is_imported => "imported".to_owned(),
        (Status::Active | Status::Completed | Status::Cancelled | Status::Error, _) => {
            session.status.to_string()
        }
    }
}

/// The status of a session, and why it ended.
pub(super) fn state(session: &Session) -> String {
    let reason = session.metadata.reason.as_ref().filter(|it| **it != EndReason::Imported);
    let why = reason.and_then(EndReason::explained);
    match why.filter(|_| session.status == Status::Completed) {
        Some(why) => format!("{} ({})", status(session), plain(why)),
        None => status(session),
    }
}
