//! `convoke session send`: sends a prompt to an agent, and with `--wait` prints the answer.

use clap::builder::NonEmptyStringValueParser;
use std::io::{self, IsTerminal as _, Read};
use std::path::PathBuf;

use anyhow::Context;
use convoke_api::bodies::{Inbox, InboxKind, Prompt, Prompted, code};
use convoke_api::entry::Entry;
use convoke_api::{Client, Error, EventsSince, SessionEvent};
use convoke_core::content::Content;
use convoke_core::id::{MessageId, short};
use convoke_core::message::{Message, Role, Seq};
use convoke_core::notice::{Event, Notice, TurnEvent};
use convoke_core::turn::{self, Stop};
use serde::Serialize;

use super::attachments;
use super::follow::Following;
use super::lines::one_line;
use super::list::state;
use super::print::Printer;
use crate::home::Home;
use crate::output::{Format, Output, aside, plain};
use crate::signals;

/// Send a prompt to the agent of a session
///
/// A session that Convoke completed, because it was idle or to make room, is resumed. With --wait,
/// prints the answer as it arrives and exits when the turn ends: with 0 if it ended normally, with
/// 1 if it failed or was stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session send 3fa8 'fix the failing test'
  convoke session send 3fa8 'what does @src/main.rs do?' --wait
  convoke session send 3fa8 'what is wrong here?' --attach screenshot.png
  convoke session send 3fa8 --review comments.json
  git diff | convoke session send 3fa8 - --wait")]
pub(super) struct SendArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Text of the prompt; - reads standard input
    #[arg(required_unless_present = "review")]
    text: Option<String>,
    /// Attach a file: an image, a text, any file; may be repeated
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
    /// Send comments on changed lines: a JSON array of {path, side, startLine, endLine, quote, comment}
    #[arg(long, value_name = "FILE")]
    review: Option<PathBuf>,
    /// Print the answer as it arrives, and exit when the turn ends
    #[arg(long)]
    wait: bool,
}

/// Why the prompt could not be sent, or why a turn that was waited for does not end with 0.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    /// The session was ended.
    #[error("the session is {state}")]
    Ended {
        /// The session.
        id: String,
        /// Its status.
        state: String,
    },
    /// It did not end well.
    #[error("{sentence}")]
    NotWell {
        /// How it ended, for people.
        sentence: String,
    },
    /// The wait was interrupted; the turn continues.
    #[error("interrupted while waiting; the turn continues")]
    Interrupted {
        /// The session.
        id: String,
    },
}

/// The output of `send --wait --json`. A contract with scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answered {
    #[serde(flatten)]
    prompted: Prompted,
    /// How the turn ended.
    #[serde(flatten)]
    stop: Stop,
    /// The agent's whole answer.
    text: String,
}

pub(super) async fn run(
    client: &Client,
    home: &Home,
    args: &SendArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let text = match args.text.as_deref() {
        Some("-") => read_input()?,
        text => text.unwrap_or_default().to_owned(),
    };
    let review = args.review.as_deref().map(attachments::review).transpose()?.unwrap_or_default();
    let read = attachments::read(&args.attach)?;
    let files = match text.contains('@') {
        true => {
            let project = client.transcript(&args.id).await?.detail.repo.id.to_string();
            attachments::mentioned(client, &project, Some(&text)).await?
        }
        false => Vec::new(),
    };
    let attachments = attachments::store(client, read).await?;
    let new = Prompt { text, attachments, files, review, message_id: None };
    let prompted = prompt(client, &args.id, &new).await?;
    let is_queued = prompted.seq.is_none() && prompted.waits_for.is_none();
    if args.wait {
        if is_queued {
            aside("queued behind the running turn");
            tell_open(client, &args.id).await?;
        }
        return wait(client, home, &args.id, prompted, output).await;
    }
    output.show(&prompted, |prompted, _| match (prompted.seq, &prompted.waits_for) {
        (Some(seq), _) => format!("sent as message {seq}\n"),
        (None, Some(node)) => {
            let (id, node) = (short(prompted.message_id), plain(node));
            format!("queued as {id}: {node} is away\n")
        }
        (None, None) => {
            format!("queued as {} behind the running turn\n", short(prompted.message_id))
        }
    })?;
    if is_queued { tell_open(client, &args.id).await } else { Ok(()) }
}

/// Prints the open requests of a session, for which its running turn waits.
async fn tell_open(client: &Client, id: &str) -> anyhow::Result<()> {
    let session = client.transcript(id).await?.detail.session.id;
    let Inbox { items } = client.inbox().await?;
    for item in items.iter().filter(|item| item.uid == Some(session)) {
        let (id, title) = (short(item.id), one_line(&item.title));
        let way = match item.kind {
            InboxKind::Permission => {
                format!("`convoke inbox allow {id}`, or `convoke inbox deny {id}`")
            }
            InboxKind::Questions => format!("`convoke inbox show {id}`"),
        };
        aside(&format!("the running turn waits for you: {title}\n  answer with {way}"));
    }
    Ok(())
}

fn read_input() -> anyhow::Result<String> {
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text).context("cannot read standard input")?;
    Ok(text)
}

/// Sends a prompt; the error for a session that a human ended states how it ended.
async fn prompt(client: &Client, id: &str, new: &Prompt) -> anyhow::Result<Prompted> {
    match client.prompt(id, new).await {
        Err(error) if is_ended(&error) => {
            let session = client.transcript(id).await?.detail.session;
            let (id, state) = (short(session.id), state(&session));
            Err(SendError::Ended { id, state }.into())
        }
        prompted => Ok(prompted?),
    }
}

fn is_ended(error: &Error) -> bool {
    error.problem().is_some_and(|problem| problem.code == code::SESSION_ENDED)
}

/// Prints the agent's output until the turn has ended, or the user interrupts.
async fn wait(
    client: &Client,
    home: &Home,
    id: &str,
    prompted: Prompted,
    output: &Output,
) -> anyhow::Result<()> {
    let interrupted = signals::ended()?;
    let mut turn = Turn::new(&prompted, output);
    let stop = tokio::select! {
        stop = follow(client, home, id, &prompted, &mut turn) => stop,
        () = interrupted => Err(SendError::Interrupted { id: id.to_owned() }.into()),
    };
    let stop = match stop {
        Ok(stop) => stop,
        // The reader of stdout has closed the pipe; the turn continues without it.
        Err(error) if is_reader_gone(&error) => return Ok(()),
        Err(error) => {
            turn.finish()?;
            return Err(error);
        }
    };
    turn.finish()?;
    if io::stdout().is_terminal() {
        // A person saw the answer. If this fails, the session is only listed as unseen.
        client.see(id).await.ok();
    }
    if output.format == Format::Json {
        let text = turn.answers.join("\n\n");
        output.show(&Answered { prompted, stop: stop.clone(), text }, |_, _| String::new())?;
    }
    match stop {
        Stop::EndTurn => Ok(()),
        Stop::Cancelled
        | Stop::Refusal
        | Stop::MaxTokens
        | Stop::MaxTurnRequests
        | Stop::Failed(_) => Err(SendError::NotWell { sentence: stop.sentence() }.into()),
    }
}

fn is_reader_gone(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

async fn follow(
    client: &Client,
    home: &Home,
    id: &str,
    prompted: &Prompted,
    turn: &mut Turn,
) -> anyhow::Result<Stop> {
    // The revision at which the prompt was accepted: the prompt itself is not newer, its answer is.
    let since = EventsSince::Revision(prompted.rev);
    let mut following = Following::new(client.clone(), home, id, since);
    loop {
        if let Some(stop) = turn.take(following.next().await?)? {
            return Ok(stop);
        }
    }
}

/// One turn, among all that happens in its session.
struct Turn {
    prompt: MessageId,
    /// The seq of its prompt, once the turn has begun.
    begun: Option<Seq>,
    /// Prints for people; a program gets the whole at the end.
    printer: Option<Printer>,
    /// The agent's answers, one per message.
    answers: Vec<String>,
}

impl Turn {
    fn new(prompted: &Prompted, output: &Output) -> Self {
        let printer = match output.format {
            Format::Human => Some(Printer::new(output)),
            Format::Json => None,
        };
        let (prompt, begun) = (prompted.message_id, prompted.seq);
        Self { prompt, begun, printer, answers: Vec::new() }
    }

    /// Ends the last line.
    fn finish(&mut self) -> io::Result<()> {
        self.printer.as_mut().map_or(Ok(()), Printer::finish)
    }

    /// Handles the next update of the session; returns how the turn ended, once it has.
    fn take(&mut self, event: SessionEvent) -> io::Result<Option<Stop>> {
        match event {
            SessionEvent::Message(message) if message.id == self.prompt => {
                self.begun = Some(message.seq);
                match (message.turn, &mut self.printer) {
                    (Some(turn::Turn::Ended(stop)), _) => return Ok(Some(stop)),
                    (Some(turn::Turn::Cancelling), Some(printer)) => printer.stopping()?,
                    (Some(_) | None, _) => {}
                }
            }
            SessionEvent::Message(message) => self.message(&message)?,
            SessionEvent::Delta(delta) => {
                if let Some(printer) = &mut self.printer {
                    printer.append(&delta.id.to_string(), &delta.text)?;
                }
            }
            SessionEvent::State(_) | SessionEvent::Reset => {}
        }
        Ok(None)
    }

    fn message(&mut self, message: &Message) -> io::Result<()> {
        // Earlier messages belong to other turns, and the exit code shows how this one ends.
        let is_ours = self.begun.is_some_and(|begun| begun < message.seq);
        if !is_ours || is_end(message) {
            return Ok(());
        }
        if let (Content::Text { text, partial: false, .. }, Role::Agent) =
            (&message.content, message.role)
        {
            self.answers.push(text.clone());
        }
        self.printer.as_mut().map_or(Ok(()), |printer| printer.entry(&Entry::from(message)))
    }
}

const fn is_end(message: &Message) -> bool {
    matches!(
        message.content,
        Content::Notice(Notice { event: Event::Turn(TurnEvent::Ended { .. }), .. })
    )
}
