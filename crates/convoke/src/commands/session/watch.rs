//! `convoke session watch`: follows a session, a line for each message.

use std::collections::BTreeMap;
use std::future::pending;
use std::ops::RangeInclusive;
use std::{io, thread};

use clap::builder::NonEmptyStringValueParser;
use convoke_api::bodies::StateOfSession;
use convoke_api::{Client, Cursor, EventsSince, SessionEvent};
use convoke_core::content::Content;
use convoke_core::id::MessageId;
use convoke_core::message::{Message, Rev};
use convoke_core::turn::{Stop, Turn};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::oneshot;

use super::follow::Following;
use super::lines;
use crate::args::number;
use crate::home::Home;
use crate::output::{Format, Output, Reader};
use crate::signals;

/// Follow a session: print each new message until Ctrl-C
///
/// Reconnects when the daemon restarts. What was said before is printed as a conversation. With --json each message is one line of JSON, printed again
/// whenever it changes; a message that is still being written has `partial`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session watch 3fa8
  convoke session watch 3fa8 --after 0 --json | jq -r 'select(.role == \"user\") | .content.text'")]
pub(super) struct WatchArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Start with the changes after this revision, the `rev` of a message; 0 starts from the
    /// beginning [default: now]
    #[arg(long, value_name = "REV", value_parser = number(0_u64..))]
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

/// Waits until stdout is closed, which a silent session would not notice by writing.
async fn reader_gone() {
    let (told, gone) = oneshot::channel();
    // It ends with the program.
    thread::spawn(move || {
        let stdout = io::stdout();
        let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
        while let Err(Errno::INTR) = poll(&mut polled, None) {}
        let is_gone = polled.iter().any(|it| it.revents().intersects(PollFlags::ERR));
        // The receiver may have been dropped.
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
    // The printed text of messages that may change again.
    let mut printed: BTreeMap<MessageId, String> = BTreeMap::new();
    let since = match (args.after, output.format) {
        // Programs get each change in the order in which it was made.
        (Some(rev), Format::Json) => EventsSince::Revision(Rev::new(rev)),
        (after, _) => {
            let StateOfSession { generation, rev, .. } = client.session_state(&args.id).await?;
            if let Some(after) = after
                && backlog(client, args, Rev::new(after)..=rev, &mut printed, output).await?
                    == Reader::Gone
            {
                return Ok(());
            }
            EventsSince::Cursor(Cursor { generation, rev })
        }
    };
    let mut following = Following::endless(client.clone(), home, &args.id, since);
    loop {
        let SessionEvent::Message(message) = following.next().await? else { continue };
        let line = match output.format {
            Format::Human if is_partial(&message) => continue,
            Format::Human => lines::message(&message),
            Format::Json => serde_json::to_string(&message)?,
        };
        let before = printed.remove(&message.id);
        if message.is_open() {
            printed.insert(message.id, line.clone());
        }
        let line = match (output.format, before) {
            (Format::Human, Some(before)) if before == line => match &message.turn {
                // Every other end is a notice of its own.
                Some(Turn::Ended(Stop::EndTurn)) => lines::turn_ended(&message),
                _ => continue,
            },
            _ => line,
        };
        if output.piece(&format!("{line}\n"))? == Reader::Gone {
            return Ok(());
        }
    }
}

/// Prints what changed between two revisions as a conversation, from top to bottom.
async fn backlog(
    client: &Client,
    args: &WatchArgs,
    range: RangeInclusive<Rev>,
    printed: &mut BTreeMap<MessageId, String>,
    output: &Output,
) -> anyhow::Result<Reader> {
    let mut messages = client.transcript(&args.id).await?.messages;
    while let Some(message) = messages.next().await? {
        // Later changes follow, as they do for messages that are still being written.
        if message.rev <= *range.start() || message.rev > *range.end() || is_partial(&message) {
            continue;
        }
        let line = lines::message(&message);
        if output.piece(&format!("{line}\n"))? == Reader::Gone {
            return Ok(Reader::Gone);
        }
        if message.is_open() {
            printed.insert(message.id, line);
        }
    }
    Ok(Reader::There)
}

const fn is_partial(message: &Message) -> bool {
    matches!(
        message.content,
        Content::Text { partial: true, .. } | Content::Thinking { partial: true, .. }
    )
}
