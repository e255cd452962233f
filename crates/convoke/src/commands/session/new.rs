//! `convoke session new`: begins a conversation.

use std::path::{Path, PathBuf};

use anyhow::Context;
use convoke_api::Client;
use convoke_api::bodies::{CreatedSession, NewRepo, NewSession, NewWorktree, Repo, Repos};
use convoke_core::id::short;

use super::attachments::{mentioned, read, store};
use super::limit;
use crate::commands::project::{DaemonNode, ProjectArgument, ProjectError, around, find};
use crate::output::{Output, aside, plain};

/// Create a session and start its agent
///
/// A folder that is not a project yet is added as one; without `--project`, the git repository around
/// the current folder is.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session new
  convoke session new --project ~/src/web --agent codex
  convoke session new --agent claude-code --model opus --mode plan
  convoke session new --project ~/src/web --prompt 'fix the failing test'
  convoke session new --prompt 'what is wrong here?' --attach screenshot.png
  convoke session new --worktree fix-login --prompt 'fix the login'
  convoke session send $(convoke session new --json | jq -r .id) 'hello' --wait")]
pub(super) struct NewArgs {
    /// Project: its name, its path, or a unique prefix of its id [default: the one around the
    /// current folder]
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Agent, as in `convoke agent list` [default: the first that is installed]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Model, by its id or name [default: the agent's own]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Mode, by its id or name [default: the agent's own]
    #[arg(long)]
    mode: Option<String>,
    /// First prompt, which is sent to the agent at once
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Attach a file to the first prompt: an image, a text, any file; may be repeated
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
    /// Give the session a git work tree of its own, on this branch [default: a new branch]
    #[arg(long, value_name = "BRANCH", num_args = 0..=1)]
    worktree: Option<Option<String>>,
}

pub(super) async fn run(client: &Client, args: &NewArgs, output: &Output) -> anyhow::Result<()> {
    let attachments = read(&args.attach)?;
    let project = project(client, args.project.as_deref()).await?;
    let text = args.prompt.clone().or_else(|| (!args.attach.is_empty()).then(String::new));
    let new = NewSession {
        repo_id: project.id.to_string(),
        agent: args.agent.clone(),
        model: args.model.clone(),
        mode: args.mode.clone(),
        prompt: text.clone().filter(|text| !text.is_empty()),
        attachments: store(client, attachments).await?,
        files: mentioned(client, &project.id.to_string(), text.as_deref()).await?,
        worktree: args.worktree.clone().map(|branch| NewWorktree { branch }),
    };
    let created = match client.create_session(&new).await {
        Ok(created) => created,
        Err(error) => return Err(limit::explain(client, error, 1).await),
    };
    output.show(&created, |CreatedSession { session, .. }, _| {
        let place = match &session.worktree {
            Some(own) => format!("{}, branch {}", plain(&own.path), plain(&own.branch)),
            None => plain(&project.name),
        };
        format!("{} {} in {place}\n", short(session.id), session.agent)
    })?;
    match created.refused {
        Some(why) => Err(PromptRefused { session: short(created.session.id), why }.into()),
        None => Ok(()),
    }
}

/// The session was created, and its first prompt was not accepted.
#[derive(Debug, thiserror::Error)]
#[error("the session {session} was created, but the prompt was not accepted: {why}")]
struct PromptRefused {
    session: String,
    why: String,
}

/// The project that is meant; a folder that is none becomes one.
pub(crate) async fn project(client: &Client, wanted: Option<&str>) -> anyhow::Result<Repo> {
    let Repos { repos } = client.repos().await?;
    let on_node = DaemonNode::of(client, &repos).await?;
    let path = match wanted {
        Some(text) => match find(text, &repos, &on_node)? {
            ProjectArgument::Project(repo) => return Ok(*repo),
            ProjectArgument::Folder(path) => path,
        },
        None => {
            let here = std::env::current_dir().context("cannot determine the current folder")?;
            match (around(&here, repos, &on_node), repository(&here)) {
                (Ok(repo), _) => return Ok(repo),
                (Err(_), Some(folder)) => folder.display().to_string(),
                // Not any folder: it might be the user's home.
                (Err(error), None) => return Err(nowhere(client, here, error).await.into()),
            }
        }
    };
    let repo = client.add_repo(&NewRepo { path, name: None }).await?;
    aside(&format!("{} is now the project {}", plain(&repo.path), plain(&repo.name)));
    Ok(repo)
}

/// Why a folder is in no project: one that contains Convoke's home, or lies in it, cannot be added.
async fn nowhere(client: &Client, folder: PathBuf, error: ProjectError) -> ProjectError {
    // Without the status, the hint suggests to add the folder, which the daemon refuses with the reason.
    let Ok(status) = client.status().await else { return error };
    let home = PathBuf::from(status.home);
    let home = home.canonicalize().unwrap_or(home);
    if home.starts_with(&folder) || folder.starts_with(&home) {
        return ProjectError::AroundHome { folder };
    }
    error
}

/// The top of the git repository that a folder is in.
fn repository(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").exists())
}
