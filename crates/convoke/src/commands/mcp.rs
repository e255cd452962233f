//! `convoke mcp`: the MCP server on standard input and output.

use super::World;
use crate::args::GlobalArgs;
use crate::logs::Loudness;
use crate::output::Output;
use crate::{mcp, signals};

/// Serve MCP on standard input and output, so that an agent can ask its human
///
/// Register it with an agent as a stdio server; it offers ask_user_questions and get_answered_questions.
/// Works without the daemon.
#[derive(Debug, clap::Args)]
#[command(after_help = r#"Examples:
  claude mcp add convoke -- convoke mcp
  codex mcp add convoke -- convoke mcp
  gemini mcp add convoke convoke mcp"#)]
pub(crate) struct McpArgs {}

pub(crate) fn run(global: &GlobalArgs, world: &World, output: &Output) -> anyhow::Result<()> {
    let asking = world.asking(global, Loudness::of(global), output)?;
    asking.clean_in_background();
    signals::block_on(mcp::serve(asking, std::env::current_dir().ok()))
}
