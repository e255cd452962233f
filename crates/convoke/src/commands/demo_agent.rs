//! `convoke demo-agent`: the built-in agent, on standard input and output.

use std::path::PathBuf;

use anyhow::Context;
use convoke_agents::demo;

use super::World;
use crate::environment::Environment;
use crate::{random, signals};

/// Be a small scripted agent that speaks ACP on standard input and output
///
/// Convoke starts it like any other agent, so that everything can be tried with nothing installed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke agent check demo")]
pub(crate) struct DemoAgentArgs {}

pub(crate) fn run(world: &World) -> anyhow::Result<()> {
    let state = state_folder(&world.environment)
        .context("cannot determine where to store the demo agent's sessions")?;
    signals::block_on(async {
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        Ok(demo::serve(input, output, &state, random::bytes).await?)
    })
}

/// Outside of Convoke's home, which agents do not get to see.
fn state_folder(environment: &Environment) -> Option<PathBuf> {
    let user = environment.user_folder()?;
    Some(user.join(".local/state/convoke-demo"))
}
