//! `convoke browser`: which browsers are signed in to the page.

use convoke_api::Client;
use convoke_api::bodies::{BrowserSession, BrowserSessions};
use convoke_core::time::relative;
use serde::Serialize;

use super::World;
use crate::args::GlobalArgs;
use crate::clock;
use crate::daemon::{self, DaemonArgs};
use crate::output::{Output, plain, table};

/// List the browsers signed in to the page, and sign them out
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke browser list
  convoke browser revoke 3fa81c07
  convoke browser revoke --all"
)]
pub(crate) struct BrowserArgs {
    #[command(subcommand)]
    command: BrowserCommand,
    #[command(flatten)]
    daemon: DaemonArgs,
}

#[derive(Debug, clap::Subcommand)]
enum BrowserCommand {
    List(ListArgs),
    Revoke(RevokeArgs),
}

/// List the signed-in browsers, last used first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke browser list
  convoke browser list --json | jq -r '.browserSessions[].id'")]
struct ListArgs {}

/// Sign a browser out; its open pages are disconnected at once
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke browser revoke 3fa81c07
  convoke browser revoke --all")]
struct RevokeArgs {
    /// Browser, by its id
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,
    /// Sign out every browser
    #[arg(long)]
    all: bool,
}

/// Who was signed out. A contract with scripts.
#[derive(Serialize)]
struct Revoked {
    revoked: Vec<String>,
}

pub(crate) fn run(
    args: &BrowserArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    daemon::with(world, global, &args.daemon, output, async |client, _| match &args.command {
        BrowserCommand::List(_) => list(client, output).await,
        BrowserCommand::Revoke(args) => revoke(client, args, output).await,
    })
}

async fn list(client: &Client, output: &Output) -> anyhow::Result<()> {
    let browsers = client.browser_sessions().await?;
    output.show(&browsers, |BrowserSessions { browser_sessions }, _| {
        if browser_sessions.is_empty() {
            return "No browser is signed in. Sign one in with `convoke open`\n".to_owned();
        }
        let now = clock::now();
        let row = |browser: &BrowserSession| {
            [
                plain(&browser.id),
                relative(browser.last_used_at, now),
                relative(browser.created_at, now),
                plain(&browser.user_agent),
            ]
        };
        let header = ["BROWSER", "USED", "SIGNED IN", "USER AGENT"];
        table(header, browser_sessions.iter().map(row).collect())
    })
}

async fn revoke(client: &Client, args: &RevokeArgs, output: &Output) -> anyhow::Result<()> {
    let revoked = match &args.id {
        Some(id) => vec![id.clone()],
        None => {
            let BrowserSessions { browser_sessions } = client.browser_sessions().await?;
            browser_sessions.into_iter().map(|browser| browser.id).collect()
        }
    };
    for id in &revoked {
        client.revoke_browser_session(id).await?;
    }
    output.show(&Revoked { revoked }, |Revoked { revoked }, _| {
        if revoked.is_empty() {
            return "No browser is signed in.\n".to_owned();
        }
        revoked.iter().map(|id| format!("signed out {}\n", plain(id))).collect()
    })
}
