//! Starting the user's browser.
//!
//! The browser gets the path of a file that only the user can read, never a link: every user of the
//! machine sees the arguments of a process.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

/// The program that opens a file with the user's default application.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
/// How long the opener may take to fail. After that it has become the browser, or waits for it.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Why no browser was opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrowserError {
    /// The opener cannot be started.
    #[error("cannot open a browser with {OPENER}")]
    Start(#[source] io::Error),
    /// It found no browser, or the browser failed.
    #[error("cannot open a browser: {OPENER} ended with {0}")]
    Failed(ExitStatus),
}

/// Opens a file in the user's browser.
pub(crate) async fn open(file: &Path) -> Result<(), BrowserError> {
    let started = tokio::process::Command::new(OPENER)
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut opener = started.map_err(BrowserError::Start)?;
    match tokio::time::timeout(TIMEOUT, opener.wait()).await {
        Ok(Ok(status)) if !status.success() => Err(BrowserError::Failed(status)),
        Ok(Ok(_)) | Err(_) => Ok(()),
        Ok(Err(error)) => Err(BrowserError::Start(error)),
    }
}
