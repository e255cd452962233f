//! Why questions could not be shown, or an answer not be kept.

use std::io;

/// What ended the terminal UI.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nobody to show anything to.
    #[error("standard output is not a terminal")]
    NoTerminal,
    /// The terminal does not do as it is told.
    #[error("cannot use the terminal")]
    Terminal(#[source] io::Error),
    /// The folder of questions cannot be read, or an answer not be written.
    #[error(transparent)]
    Questions(#[from] convoke_files::Error),
    /// Part of the program failed; the panic's own words are on standard error.
    #[error("the terminal UI stopped: part of it panicked")]
    Panicked,
}
