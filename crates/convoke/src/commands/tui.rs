//! `convoke tui`: sessions, chat, inbox and teams in the terminal.

use std::io::{self, IsTerminal as _};

use anyhow::Context;
use convoke_tui::WorkbenchOptions;

use super::answer::{arrival, colour, reach_running};
use super::{Access, World};
use crate::args::GlobalArgs;
use crate::daemon::{self, DaemonArgs};
use crate::logs::Verbosity;
use crate::output::Output;
use crate::{clock, signals};

/// Work with sessions in the terminal: list, chat, inbox and teams
///
/// Shows the sessions of all projects live, their requests to you, and the conversations of teams.
/// Press ? for the keys. When the daemon restarts, the screen reconnects and keeps its place.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke tui")]
pub(crate) struct TuiArgs {
    #[command(flatten)]
    daemon: DaemonArgs,
}

pub(crate) fn run(
    args: &TuiArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    // Checked first, so that no daemon is started without a terminal.
    if !io::stdout().is_terminal() {
        return Err(convoke_tui::Error::NoTerminal.into());
    }
    let folder = std::env::current_dir().context("cannot determine the current folder")?;
    // Output on stderr would appear in the middle of the screen.
    let home = world.home_for(Access::Read, global, Verbosity::Off, output)?;
    signals::block_on(async {
        let client = daemon::reach(&home, world, args.daemon.autostart()).await?;
        let options = WorkbenchOptions {
            clock: clock::now,
            colour: colour(output),
            arrival: arrival(&world.environment),
            user_folder: world.environment.user_folder().map(ToOwned::to_owned),
            folder,
            reach: reach_running(home.clone()),
        };
        Ok(convoke_tui::workbench(client, options).await?)
    })
}
