//! Creates a session without a conversation, so that it can be resumed later and elsewhere.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use convoke_core::process::Exit;
use tokio::time::timeout;

use super::session_file::session_file_in;
use super::{arguments, refusal};
use crate::driver::Launch;
use crate::lines::{Line, Reader};
use crate::process::Child;
use crate::{Error, Result};

/// Lets `claude` create the session `id`, and returns the path of its file. A process that takes
/// too long is killed.
///
/// The conversation and the MCP servers of the launch are ignored. A failed attempt may have used
/// up the id, so the next one needs another.
pub async fn create_session(launch: &Launch, id: &str) -> Result<PathBuf> {
    let launch = Launch { args: arguments::to_create(launch, id)?, ..launch.clone() };
    let file = session_file_in(&settings_folder(&launch)?, &launch.workspace, id);
    let (mut child, mut pipes) = Child::spawn(&launch).await?;
    // Until its input is closed, it waits for more of the prompt.
    pipes.input.close().await;
    let ended = async { tokio::join!(child.exited(), last_words(&mut pipes.lines)) };
    let Ok((exit, said)) = timeout(launch.start_timeout, ended).await else {
        return Err(Error::SessionTimeout { after: launch.start_timeout });
    };
    if exit.exit_code != Some(0) {
        let stderr_tail = exit.stderr_tail.or(said);
        return Err(refusal::sort_out(Exit { stderr_tail, ..exit }, id));
    }
    let made = file.clone();
    match tokio::task::spawn_blocking(move || made.try_exists()).await {
        Ok(Ok(true)) => Ok(file),
        Ok(Ok(false)) => {
            let detail = format!("it made no session at {}", file.display());
            Err(Error::Protocol { detail })
        }
        Ok(Err(error)) => Err(error.into()),
        Err(panic) => Err(std::io::Error::other(panic).into()),
    }
}

/// The folder in which `claude` stores everything, by its environment.
fn settings_folder(launch: &Launch) -> Result<PathBuf> {
    let variable = |name| launch.environment.get(OsStr::new(name)).map(Path::new);
    let folder = variable("CLAUDE_CONFIG_DIR").map(Path::to_owned);
    let folder = folder.or_else(|| Some(variable("HOME")?.join(".claude")));
    let detail = "Claude needs a HOME to keep its sessions in".to_owned();
    folder.ok_or(Error::Refused { detail })
}

/// The last line of output.
async fn last_words(lines: &mut Reader) -> Option<String> {
    let mut last = None;
    while let Ok(Some(line)) = lines.next().await {
        last = match line {
            Line::Junk(text) => Some(text),
            Line::Json(value) => Some(value.to_string()),
            Line::TooLong { .. } => last,
        };
    }
    last
}
