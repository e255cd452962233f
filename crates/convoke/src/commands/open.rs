//! `convoke open`: the page in the browser.

use std::path::Path;

use anyhow::Context as _;
use convoke_api::Client;
use convoke_api::bodies::{BrowserLink, LinkForm};
use serde::Serialize;

use super::World;
use crate::args::GlobalArgs;
use crate::browser;
use crate::daemon::{self, DaemonArgs};
use crate::output::Output;

/// Open the page in your browser and sign the browser in
///
/// Creates a link that works once, within five minutes, and passes it to the browser in a private
/// file. A browser stays signed in until it has not been used for 30 days; see `convoke browser`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke open
  convoke open --print    for a browser that cannot read the file, or a tunnel from another machine")]
pub(crate) struct OpenArgs {
    /// Print the link instead; the browser that follows it first within five minutes is signed in
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    daemon: DaemonArgs,
}

/// The opened page. A contract with scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Opened<'a> {
    url: &'a str,
}

pub(crate) fn run(
    args: &OpenArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    daemon::with(world, global, &args.daemon, output, async |client, _| {
        if args.print { print(client, output).await } else { open(client, output).await }
    })
}

async fn print(client: &Client, output: &Output) -> anyhow::Result<()> {
    let link = client.browser_link(LinkForm::Url).await?;
    output.show(&link, |BrowserLink { url, .. }, _| format!("{}\n", url.as_deref().unwrap_or("")))
}

async fn open(client: &Client, output: &Output) -> anyhow::Result<()> {
    let url = client.status().await?.url;
    let link = client.browser_link(LinkForm::File).await?;
    let file = link.file.context("the daemon created no file for the browser")?;
    browser::open(Path::new(&file)).await?;
    output
        .show(&Opened { url: &url }, |Opened { url }, _| format!("Opened {url} in your browser.\n"))
}
