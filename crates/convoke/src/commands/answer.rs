//! `convoke answer`: the terminal UI that answers requests as they come.

use convoke_tui::{AnswerOptions, Arrival, Reach};

use super::{Access, World};
use crate::args::GlobalArgs;
use crate::asking::Asking;
use crate::colour::Colour;
use crate::daemon;
use crate::environment::Environment;
use crate::home::Home;
use crate::logs::Verbosity;
use crate::output::Output;
use crate::{clock, signals};

/// Answer permissions and questions in the terminal as they arrive
///
/// Shows what agents and scripts ask, oldest first, and keeps what you write while you move between requests.
/// Press ? for the keys. Without a running daemon there are the questions of scripts and other programs only; none is
/// started.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke answer")]
pub(crate) struct AnswerArgs {}

pub(crate) fn run(global: &GlobalArgs, world: &World, output: &Output) -> anyhow::Result<()> {
    let home = world.home_for(Access::Write, global, Verbosity::Off, output)?;
    let questions = Asking::new(&world.config(&home)?.config.questions).questions;
    let options = AnswerOptions {
        clock: clock::now,
        colour: colour(output),
        arrival: arrival(&world.environment),
        user_folder: world.environment.user_folder().map(ToOwned::to_owned),
    };
    let reach = reach_running(home);
    signals::block_on(async { Ok(convoke_tui::answer(questions, Some(reach), options).await?) })
}

/// Waits for a daemon that runs, and starts none.
pub(super) fn reach_running(home: Home) -> Reach {
    Box::new(move || {
        let home = home.clone();
        Box::pin(async move {
            daemon::wait_until_running(&home).await.map_err(|error| format!("{error:#}"))
        })
    })
}

/// Whether the screen gets colours.
pub(super) const fn colour(output: &Output) -> convoke_tui::Colour {
    match output.colour {
        Colour::On => convoke_tui::Colour::On,
        Colour::Off => convoke_tui::Colour::Off,
    }
}

/// Terminals that show OSC 9 as a desktop notification, by the name that they set.
const NOTICING: [&str; 4] = ["ghostty", "iTerm.app", "kitty", "WezTerm"];

pub(super) fn arrival(environment: &Environment) -> Arrival {
    let name = environment.get("TERM_PROGRAM").map(|name| name.to_string_lossy());
    match name {
        Some(name) if NOTICING.contains(&&*name) => Arrival::Notice,
        Some(_) | None => Arrival::Bell,
    }
}
