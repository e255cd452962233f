//! The terminal: a workbench for sessions, and a screen that answers requests as they come.
//!
//! Each screen has a model that only its `update` changes, a `view` that draws it and changes
//! nothing, and a `run` that waits for the next event. Clock and environment are parameters; the
//! daemon is reached through a client, and questions in files through their folder.

mod answer;
mod card;
mod editor;
mod error;
mod hints;
mod link;
mod list_keys;
mod notice;
mod palette;
mod permission;
mod picture;
mod rule;
mod sheet;
#[cfg(test)]
mod stage;
mod terminal;
mod text;
mod words;
pub mod workbench;

use std::path::PathBuf;
use std::pin::Pin;

use convoke_api::Client;
use convoke_core::time::Timestamp;
use convoke_files::questions::Questions;

pub use error::Error;

/// The parameters of `answer`, which this crate must not look up itself.
#[derive(Debug, Clone)]
pub struct AnswerOptions {
    /// Reads the clock.
    pub clock: fn() -> Timestamp,
    /// Whether to use colours; bold, underline and reverse stay without them.
    pub colour: Colour,
    /// How to notify a human who looks elsewhere of new questions.
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

/// How the human is notified of new questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// The terminal's bell.
    Bell,
    /// A notice on the desktop (OSC 9), for terminals that are known to show one.
    Notice,
}

/// Shows the questions in a folder and the requests of a daemon's agents as they arrive, until the
/// human leaves.
///
/// `reach` waits for a running daemon and starts none; without one, only questions are shown. Needs
/// a tokio runtime with time and I/O. The terminal is restored, also after a panic and on SIGTERM,
/// SIGINT and SIGHUP, which end it as `q` does.
pub async fn answer(
    questions: Questions,
    reach: Option<Reach>,
    options: AnswerOptions,
) -> Result<(), Error> {
    answer::run(questions, reach, options).await
}

/// Finds the daemon, also after the connection was lost; may take any time. Fails with the reason.
pub type Reach =
    Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<Client, String>> + Send>> + Send + Sync>;

/// The parameters of `workbench`, which must not look them up itself.
pub struct WorkbenchOptions {
    /// Reads the clock.
    pub clock: fn() -> Timestamp,
    /// Whether to use colours.
    pub colour: Colour,
    /// How to notify a human who looks elsewhere of a new request.
    pub arrival: Arrival,
    /// The user's own folder, which is shown as `~`.
    pub user_folder: Option<PathBuf>,
    /// The folder in which the program was started, where a new project may be.
    pub folder: PathBuf,
    /// Reconnects to the daemon.
    pub reach: Reach,
}

/// Shows sessions, the open one, the inbox and teams of a daemon, until the human leaves.
///
/// Reconnects when the daemon is back. Needs a tokio runtime with time and I/O, and restores the terminal, as
/// [`answer()`] does.
pub async fn workbench(client: Client, options: WorkbenchOptions) -> Result<(), Error> {
    workbench::run(client, options).await
}
