//! A scripted agent as a separate process, with the faults that only a process can have.

use std::fs;
use std::io;
use std::process::{Command, ExitCode, Stdio};

use rustix::process::{Signal, getpid, kill_process};
use tokio::io::AsyncWriteExt;
use tokio::signal::unix::{SignalKind, signal};

use super::player::{Ending, serve};
use super::script::{Ignored, Protocol, Script};

const USAGE: &str = "usage: scripted_agent --protocol acp|claude SCRIPT.json";

/// Plays the script that the arguments name on standard input and output. Further arguments are those of `claude`,
/// which include the session's id.
pub async fn main(args: impl Iterator<Item = String>) -> io::Result<ExitCode> {
    let args: Vec<String> = args.collect();
    let ["--protocol", protocol, file, rest @ ..] =
        &*args.iter().map(String::as_str).collect::<Vec<_>>()
    else {
        return Err(io::Error::other(USAGE));
    };
    let protocol = match *protocol {
        "acp" => Protocol::Acp,
        "claude" => Protocol::Claude,
        _ => return Err(io::Error::other(USAGE)),
    };
    let mut script: Script = serde_json::from_slice(&fs::read(file)?)?;
    let after = |flag: &str| {
        let pair = rest.windows(2).find(|pair| pair.first() == Some(&flag));
        pair.and_then(|pair| pair.last()).map(|id| (*id).to_owned())
    };
    // A copy of a session has both.
    if let Some(id) = after("--session-id").or_else(|| after("--resume")) {
        script.session = id;
    }
    if script.ignores.contains(&Ignored::Terminate) {
        // A signal with an installed handler does not kill the process, and one that is never read is ignored.
        drop(signal(SignalKind::terminate())?);
    }
    let stays = script.ignores.contains(&Ignored::EndOfInput);
    match serve(protocol, script, tokio::io::stdin(), tokio::io::stdout()).await {
        Ending::Closed if stays => std::future::pending().await,
        Ending::Closed => Ok(ExitCode::SUCCESS),
        Ending::Exit(code) => Ok(ExitCode::from(code)),
        Ending::Die(number) => {
            let signal =
                Signal::from_named_raw(number).ok_or_else(|| io::Error::other("no such signal"))?;
            kill_process(getpid(), signal)?;
            std::future::pending().await
        }
        Ending::Failed(error) => Err(error),
    }
}

/// Prints so many bytes on standard error, in lines.
pub(super) async fn complain(bytes: usize) -> io::Result<()> {
    let line = format!("{}\n", "complaint ".repeat(10));
    let mut errors = tokio::io::stderr();
    for _ in 0..bytes.div_ceil(line.len()) {
        errors.write_all(line.as_bytes()).await?;
    }
    errors.flush().await
}

/// Starts a process that outlives this one, and writes its pid to a file once it runs.
pub(super) fn spawn_sleeper(file: &str) -> io::Result<()> {
    // It keeps this process's output open, as the children of real agents do.
    let sleeper = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn()?;
    fs::write(file, sleeper.id().to_string())
}
