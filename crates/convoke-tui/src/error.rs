//! Errors of the terminal UI.

use std::io;

/// Why the terminal UI ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Standard output is not a terminal.
    #[error("standard output is not a terminal")]
    NoTerminal,
    /// The terminal failed.
    #[error("cannot use the terminal")]
    Terminal(#[source] io::Error),
    /// The folder of questions cannot be read, or an answer not be written.
    #[error(transparent)]
    Questions(#[from] convoke_files::Error),
    /// A task panicked; its message is on standard error.
    #[error("the terminal UI stopped: part of it panicked")]
    Panicked,
}
