//! The terminal: questions for the human, shown as they come and answered where they are read.
//!
//! `update` is the only place that changes what `model` holds, `view` paints it and changes nothing, `run` waits
//! for whatever happens next. Clock and environment are handed in; there is no daemon here and no network.

mod draft;
mod editor;
mod error;
mod message;
mod model;
mod palette;
mod run;
mod scout;
mod set;
mod terminal;
mod text;
mod update;
mod view;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use convoke_core::time::Timestamp;
use convoke_files::questions::Questions;

pub use error::Error;

/// What the caller knows and this crate must not look up for itself.
#[derive(Debug, Clone)]
pub struct AnswerOptions {
    /// Reads the clock.
    pub clock: fn() -> Timestamp,
    /// Whether to use colours; bold, underline and reverse stay without them.
    pub colour: Colour,
    /// How to tell a person who looks elsewhere that there are new questions.
    pub arrival: Arrival,
    /// The user's own folder, which is shown as `~`.
    pub user_folder: Option<PathBuf>,
}

/// Whether to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// The sixteen of the terminal's own theme.
    On,
    /// None, as `NO_COLOR` asks.
    Off,
}

/// How new questions make themselves heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// The terminal's bell.
    Bell,
    /// A notice on the desktop (OSC 9), for terminals that are known to show one.
    Notice,
}

/// Shows the questions in a folder as they come, and writes the human's answers, until the human leaves.
///
/// Needs a tokio runtime with time and I/O. The terminal is left as it was found, also after a panic and on
/// SIGTERM, SIGINT and SIGHUP, which end it as `q` does.
pub async fn answer(questions: Questions, options: AnswerOptions) -> Result<(), Error> {
    run::run(questions, options).await
}
