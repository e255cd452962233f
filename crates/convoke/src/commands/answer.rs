//! `convoke answer`: the terminal UI that answers questions as they come.

use convoke_tui::{AnswerOptions, Arrival};

use super::{Access, World};
use crate::args::GlobalArgs;
use crate::colour::Colour;
use crate::environment::Environment;
use crate::logs::Loudness;
use crate::output::Output;
use crate::{clock, signals};

/// Answer questions in the terminal as they arrive
///
/// Shows what agents and scripts ask, oldest first, and keeps what you write while you move between questions.
/// Press ? for the keys. Works without the daemon.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke answer")]
pub(crate) struct AnswerArgs {}

pub(crate) fn run(global: &GlobalArgs, world: &World, output: &Output) -> anyhow::Result<()> {
    let asking = world.asking(Access::Write, global, Loudness::Off, output)?;
    let options = AnswerOptions {
        clock: clock::now,
        colour: colour(output),
        arrival: arrival(&world.environment),
        user_folder: world.environment.user_folder().map(ToOwned::to_owned),
    };
    signals::block_on(async { Ok(convoke_tui::answer(asking.questions, options).await?) })
}

/// Whether the screen gets colours.
pub(super) const fn colour(output: &Output) -> convoke_tui::Colour {
    match output.colour {
        Colour::On => convoke_tui::Colour::On,
        Colour::Off => convoke_tui::Colour::Off,
    }
}

/// Terminals that show OSC 9 as a notice on the desktop, by what they call themselves.
const NOTICING: [&str; 4] = ["ghostty", "iTerm.app", "kitty", "WezTerm"];

pub(super) fn arrival(environment: &Environment) -> Arrival {
    let name = environment.get("TERM_PROGRAM").map(|name| name.to_string_lossy());
    match name {
        Some(name) if NOTICING.contains(&&*name) => Arrival::Notice,
        Some(_) | None => Arrival::Bell,
    }
}
