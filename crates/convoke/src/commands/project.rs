//! `convoke project`: the folders in which agents may work.

mod find;

use clap::builder::NonEmptyStringValueParser;
use convoke_api::bodies::{Activity, NewRepo, Repo, Repos};
use convoke_api::{Client, SessionQuery};
use convoke_core::id::short;
use convoke_core::session::Status;
use convoke_core::time::relative;

use super::{World, node};
use crate::args::GlobalArgs;
use crate::clock;
use crate::daemon::{self, DaemonArgs};
use crate::output::{Output, aside, plain, table};

pub(crate) use find::{DaemonNode, ProjectArgument, ProjectError, absolute, around, find};

/// Add, list and remove projects: folders in which agents may work
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke project add ~/src/web
  convoke project list
  convoke project remove web"
)]
pub(crate) struct ProjectArgs {
    #[command(subcommand)]
    command: ProjectCommand,
    #[command(flatten)]
    daemon: DaemonArgs,
}

#[derive(Debug, clap::Subcommand)]
enum ProjectCommand {
    Add(AddArgs),
    List(ListArgs),
    Remove(RemoveArgs),
}

/// Add a folder; it must be inside sessions.workspace_root
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke project add .
  convoke project add ~/src/web --name shop")]
struct AddArgs {
    /// Folder
    path: String,
    /// Name of the project [default: the folder's name]
    #[arg(long, value_name = "N")]
    name: Option<String>,
}

/// List the projects, in the order in which they were added
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke project list
  convoke project list --json | jq -r '.repos[].path'")]
struct ListArgs {}

/// Remove a project from the list
///
/// Its sessions stay readable, and nothing in the folder is touched.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke project remove web
  convoke project remove 3fa8")]
struct RemoveArgs {
    /// Project: its name, its path, or a unique prefix of its id
    #[arg(value_name = "PROJECT", value_parser = NonEmptyStringValueParser::new())]
    project: String,
}

pub(crate) fn run(
    args: &ProjectArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    daemon::with(world, global, &args.daemon, output, async |client, _| match &args.command {
        ProjectCommand::Add(args) => add(client, args, output).await,
        ProjectCommand::List(_) => list(client, output).await,
        ProjectCommand::Remove(args) => remove(client, args, output).await,
    })
}

async fn add(client: &Client, args: &AddArgs, output: &Output) -> anyhow::Result<()> {
    let new = NewRepo { path: absolute(&args.path)?, name: args.name.clone() };
    let repo = client.add_repo(&new).await?;
    output.show(&repo, |repo, _| describe("added", repo))
}

async fn list(client: &Client, output: &Output) -> anyhow::Result<()> {
    let repos = client.repos().await?;
    let nodes = node::names(client, repos.repos.iter().map(|repo| repo.node)).await?;
    output.show(&repos, |Repos { repos }, _| {
        if repos.is_empty() {
            return "No projects. Add one with `convoke project add PATH`\n".to_owned();
        }
        let now = clock::now();
        let row = |repo: &Repo| {
            let ago = relative(repo.added_at, now);
            [short(repo.id), plain(&repo.name), ago, plain(&repo.path)]
        };
        let Some(nodes) = &nodes else {
            return table(["PROJECT", "NAME", "ADDED", "PATH"], repos.iter().map(row).collect());
        };
        let rows = repos.iter().map(|repo| {
            let [id, name, added, path] = row(repo);
            [id, name, nodes.of(repo.node), added, path]
        });
        table(["PROJECT", "NAME", "NODE", "ADDED", "PATH"], rows.collect())
    })
}

async fn remove(client: &Client, args: &RemoveArgs, output: &Output) -> anyhow::Result<()> {
    let Repos { repos } = client.repos().await?;
    let here = DaemonNode::of(client, &repos).await?;
    let ProjectArgument::Project(repo) = find(&args.project, &repos, &here)? else {
        return Err(ProjectError::Unknown { text: args.project.clone() }.into());
    };
    let query = SessionQuery {
        repo_id: Some(repo.id.to_string()),
        statuses: vec![Status::Active],
        ..SessionQuery::default()
    };
    let active = client.sessions(&query).await?.sessions;
    client.remove_repo(&repo.id.to_string()).await?;
    output.show(&repo, |repo, _| describe("removed", repo))?;
    for session in active {
        let does = match session.activity {
            Activity::Idle => continue,
            Activity::Running => "is still working",
            Activity::Waiting => "still waits for you",
        };
        let id = short(session.id);
        aside(&format!(
            "session {id} {does} there; `convoke session cancel {id} --turn` stops its turn"
        ));
    }
    Ok(())
}

fn describe(done: &str, repo: &Repo) -> String {
    format!("{done} {} {} {}\n", short(repo.id), plain(&repo.name), plain(&repo.path))
}

/// The id of the project that is meant; the one around this folder without a text.
pub(super) async fn id_of(client: &Client, text: Option<&str>) -> anyhow::Result<String> {
    let Repos { repos } = client.repos().await?;
    let here = DaemonNode::of(client, &repos).await?;
    let Some(text) = text else {
        return Ok(around(&std::env::current_dir()?, repos, &here)?.id.to_string());
    };
    match find(text, &repos, &here)? {
        ProjectArgument::Project(repo) => Ok(repo.id.to_string()),
        ProjectArgument::Folder(_) => Err(ProjectError::Unknown { text: text.to_owned() }.into()),
    }
}
