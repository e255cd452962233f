//! `convoke mcp`: the MCP server on standard input and output.

use super::{Access, World};
use crate::args::GlobalArgs;
use crate::logs::Verbosity;
use crate::output::Output;
use crate::{logs, mcp, signals};

/// Run an MCP server on stdio, with tools to ask humans and teams
///
/// Register it with an agent as a stdio server. The tools ask_user_questions and
/// get_answered_questions work without the daemon; teams_ask and the other team tools start it.
/// Agents that the daemon starts get this server automatically, connected to the daemon.
#[derive(Debug, clap::Args)]
#[command(after_help = r#"Examples:
  claude mcp add convoke -- convoke mcp
  codex mcp add convoke -- convoke mcp
  gemini mcp add convoke convoke mcp"#)]
pub(crate) struct McpArgs {}

pub(crate) fn run(global: &GlobalArgs, world: &World, output: &Output) -> anyhow::Result<()> {
    if let Some(endpoint) = world.environment.mcp_endpoint()? {
        // The home is out of reach for a confined agent, and with it the log in there.
        logs::start(Verbosity::of(global), world, output, None);
        return signals::block_on(mcp::proxy::run(&endpoint));
    }
    let asking = world.asking(Access::Write, global, Verbosity::of(global), output)?;
    asking.clean_in_background();
    let backend = mcp::files::FilesBackend::new(asking, world.home(global)?, world);
    signals::block_on(mcp::serve(backend))
}
