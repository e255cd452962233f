//! Commands of the user that run where an agent works, confined as the agent is: set-up commands and tests.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::acp::terminal::{Command, Order, Screen};
use crate::driver::Launch;
use crate::{Error, Result};

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandResult {
    /// Its exit code; `None` when a signal or the time limit ended it.
    pub code: Option<i32>,
    /// The end of what it printed.
    pub output: String,
    /// How long it took.
    pub took: Duration,
}

/// Runs a shell line in the workspace of a launch, and kills everything that it started.
pub async fn run(
    launch: &Launch,
    line: &str,
    time_max: Duration,
    bytes_max: usize,
) -> Result<CommandResult> {
    let screen = Arc::new(Mutex::new(Screen::new(bytes_max)));
    let order = Order {
        command: line.to_owned(),
        args: Vec::new(),
        environment: Vec::new(),
        folder: None,
        output_bytes_max: None,
    };
    let begun = Instant::now();
    let command = Command::start(launch, order, Arc::clone(&screen)).map_err(Error::from)?;
    let ended = tokio::time::timeout(time_max, command.end()).await;
    drop(command);
    // The bytes stay valid if a writer panicked.
    let output = screen.lock().unwrap_or_else(PoisonError::into_inner).text();
    Ok(CommandResult {
        code: ended.ok().and_then(|ended| ended.code),
        output,
        took: begun.elapsed(),
    })
}
