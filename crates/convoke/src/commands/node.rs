//! `convoke node`: the machines that share a database.

use std::collections::HashMap;

use convoke_api::Client;
use convoke_api::bodies::{Node, Nodes};
use convoke_core::id::NodeId;
use convoke_core::time::relative;

use super::World;
use crate::args::GlobalArgs;
use crate::clock;
use crate::daemon::{self, DaemonArgs};
use crate::output::{Output, plain, table};

/// List the machines that share a PostgreSQL database
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke node list
  convoke node list --json | jq -r '.nodes[] | select(.away) | .name'"
)]
pub(crate) struct NodeArgs {
    #[command(subcommand)]
    command: NodeCommand,
    #[command(flatten)]
    daemon: DaemonArgs,
}

#[derive(Debug, clap::Subcommand)]
enum NodeCommand {
    List(ListArgs),
}

/// List the nodes, by name
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke node list
  convoke node list --json")]
struct ListArgs {}

pub(crate) fn run(
    args: &NodeArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    daemon::with(world, global, &args.daemon, output, async |client, _| match &args.command {
        NodeCommand::List(ListArgs {}) => list(client, output).await,
    })
}

async fn list(client: &Client, output: &Output) -> anyhow::Result<()> {
    let nodes = client.nodes().await?;
    output.show(&nodes, |Nodes { nodes }, _| {
        if nodes.is_empty() {
            return "No nodes: this daemon has its database for itself. Several share one on a server: store.url in config.toml\n"
                .to_owned();
        }
        let now = clock::now();
        let row = |node: &Node| {
            let state = match (node.own, node.away) {
                (true, _) => "this one".to_owned(),
                (false, false) => "running".to_owned(),
                (false, true) => format!("away, last seen {}", relative(node.seen_at, now)),
            };
            [plain(&node.name), state, relative(node.started_at, now), node.version.clone()]
        };
        table(["NODE", "STATE", "STARTED", "VERSION"], nodes.iter().map(row).collect())
    })
}

/// The names of the nodes, for lists; `None` unless several share the database.
pub(super) async fn names(
    client: &Client,
    mut listed: impl Iterator<Item = Option<NodeId>>,
) -> anyhow::Result<Option<NodeNames>> {
    // With a database that is a file, nothing belongs to a node.
    if listed.all(|node| node.is_none()) {
        return Ok(None);
    }
    let Nodes { nodes } = client.nodes().await?;
    let several = nodes.len() > 1;
    let names = nodes.into_iter().map(|node| (node.id, node.name)).collect();
    Ok(several.then_some(NodeNames(names)))
}

/// The nodes by id.
pub(super) struct NodeNames(HashMap<NodeId, String>);

impl NodeNames {
    /// The name for a table; a dash where it is not known.
    pub(super) fn of(&self, node: Option<NodeId>) -> String {
        node.and_then(|id| self.0.get(&id)).map_or_else(|| "-".to_owned(), |name| plain(name))
    }
}
