//! `convoke session watch`: follows a session, a line for each message.

use std::future::pending;
use std::{io, thread};

use clap::builder::NonEmptyStringValueParser;
use convoke_api::Client;
use convoke_core::message::Seq;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::oneshot;

use super::follow::Following;
use super::lines;
use crate::home::Home;
use crate::output::{Format, Output, Reader};
use crate::signals;

/// Follow a session: a line for each new message, until Ctrl-C
///
/// Goes on by itself when the daemon was restarted. With --json every message is one line of JSON.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session watch 3fa8
  convoke session watch 3fa8 --after 0 --json | jq -r 'select(.role == \"user\") | .content.text'")]
pub(super) struct WatchArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Begin after this message; 0 begins with the first [default: the newest]
    #[arg(long, value_name = "SEQ")]
    after: Option<u64>,
}

pub(super) async fn run(
    client: &Client,
    home: &Home,
    args: &WatchArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let interrupted = signals::ended()?;
    tokio::select! {
        failed = follow(client, home, args, output) => failed,
        () = interrupted => Ok(()),
        () = reader_gone() => Ok(()),
    }
}

/// Waits until nobody reads any more what is written; a silent session would not tell.
async fn reader_gone() {
    let (told, gone) = oneshot::channel();
    // It ends with the program.
    thread::spawn(move || {
        let stdout = io::stdout();
        let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
        while let Err(Errno::INTR) = poll(&mut polled, None) {}
        let is_gone = polled.iter().any(|it| it.revents().intersects(PollFlags::ERR));
        // Nobody may be waiting.
        told.send(is_gone).ok();
    });
    if !gone.await.unwrap_or(false) {
        pending::<()>().await;
    }
}

async fn follow(
    client: &Client,
    home: &Home,
    args: &WatchArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let session = client.transcript(&args.id).await?.detail.session;
    let after = args.after.map_or(Seq::new(session.message_count), Seq::new);
    let id = session.id.to_string();
    let mut following = Following::endless(client.clone(), home, &id, after);
    loop {
        let message = following.next().await?;
        let line = match output.format {
            Format::Human => lines::message(&message),
            Format::Json => serde_json::to_string(&message)?,
        };
        if output.piece(&format!("{line}\n"))? == Reader::Gone {
            return Ok(());
        }
    }
}
