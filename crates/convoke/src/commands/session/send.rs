//! `convoke session send`: says something to an agent, and with `--wait` prints what it answers.

use clap::builder::NonEmptyStringValueParser;
use std::io::{self, Read};

use anyhow::Context;
use convoke_api::bodies::{Circumstances, Prompted, Session, code};
use convoke_api::entry::{Change, EntryBody, Fold};
use convoke_api::{Client, Error, MessageQuery};
use convoke_core::message::{Message, Seq};
use convoke_core::notice::Event;
use convoke_core::session::Status;
use convoke_core::turn::Stop;
use serde::Serialize;

use super::follow::Following;
use super::list::state;
use super::print::Printer;
use crate::commands::project::short;
use crate::home::Home;
use crate::output::{Format, Output, aside_on_terminal};
use crate::signals;

/// Say something to the agent of a session
///
/// A session that ended by idleness is resumed first. With --wait the answer is printed as it comes, and the command
/// ends with the turn: with 0 when it ended well, and with 1 when it failed or was stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session send 3fa8 'fix the failing test'
  convoke session send 3fa8 'what does main.rs do?' --wait
  git diff | convoke session send 3fa8 - --wait")]
pub(super) struct SendArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// What to say; - reads standard input
    text: String,
    /// Print the answer as it comes, and end with the turn
    #[arg(long)]
    wait: bool,
}

/// How often a session is resumed that ends by idleness again before the prompt is there.
const RESUMES_MAX: u32 = 3;

/// Why nothing could be said, or a turn that was waited for does not end with 0.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SendError {
    /// Somebody ended the session.
    #[error("the session is {state}")]
    Ended {
        /// The session.
        id: String,
        /// How it stands.
        state: String,
    },
    /// It did not end well.
    #[error("{sentence}")]
    NotWell {
        /// How it ended, for people.
        sentence: String,
    },
    /// The wait was interrupted; the turn goes on.
    #[error("interrupted while waiting; the turn goes on")]
    Interrupted {
        /// The session.
        id: String,
    },
}

/// What `send --wait --json` prints. A contract with scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answered {
    #[serde(flatten)]
    prompted: Prompted,
    /// How the turn ended.
    #[serde(flatten)]
    stop: Stop,
    /// The agent's words, all of them.
    text: String,
}

pub(super) async fn run(
    client: &Client,
    home: &Home,
    args: &SendArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let text = match args.text.as_str() {
        "-" => read_input()?,
        text => text.to_owned(),
    };
    let prompted = prompt(client, &args.id, &text).await?;
    if args.wait {
        return wait(client, home, &args.id, prompted, output).await;
    }
    output.show(&prompted, |prompted, _| {
        if prompted.queued {
            format!("waits as message {} behind a running turn\n", prompted.seq)
        } else {
            format!("sent as message {}\n", prompted.seq)
        }
    })
}

fn read_input() -> anyhow::Result<String> {
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text).context("cannot read standard input")?;
    Ok(text)
}

/// Says something, and resumes a session that only idleness has ended.
async fn prompt(client: &Client, id: &str, text: &str) -> anyhow::Result<Prompted> {
    let mut resumed = 0;
    loop {
        match client.prompt(id, text).await {
            Err(error) if is_ended(&error) && resumed < RESUMES_MAX => {}
            prompted => return Ok(prompted?),
        }
        let session = client.transcript(id).await?.detail.session;
        if !ended_by_idleness(&session) {
            let (id, state) = (short(session.id), state(&session));
            return Err(SendError::Ended { id, state }.into());
        }
        client.resume(id).await?;
        resumed += 1;
        let id = short(session.id);
        aside_on_terminal(&format!("{id} had ended by idleness and was resumed."));
    }
}

fn is_ended(error: &Error) -> bool {
    error.problem().is_some_and(|problem| problem.code == code::SESSION_ENDED)
}

fn ended_by_idleness(session: &Session) -> bool {
    let Circumstances { reason } = &session.metadata;
    session.status == Status::Completed
        && matches!(reason.as_deref(), Some("idle_timeout" | "made_room"))
}

/// Prints what comes until the turn has ended, or somebody interrupts.
async fn wait(
    client: &Client,
    home: &Home,
    id: &str,
    prompted: Prompted,
    output: &Output,
) -> anyhow::Result<()> {
    let interrupted = signals::ended()?;
    let mut turn = Turn::new(prompted.seq, output);
    let stop = tokio::select! {
        stop = follow(client, home, id, &prompted, &mut turn) => stop,
        () = interrupted => Err(SendError::Interrupted { id: id.to_owned() }.into()),
    };
    let stop = match stop {
        Ok(stop) => stop,
        // A reader that went away has what it wanted; the turn goes on without it.
        Err(error) if is_reader_gone(&error) => return Ok(()),
        Err(error) => {
            turn.finish()?;
            return Err(error);
        }
    };
    turn.finish()?;
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
    let mut after = Seq::new(prompted.seq.get().saturating_sub(1));
    if prompted.queued {
        // Only the log knows which turns come before this one.
        let mut messages = client.messages(id, &MessageQuery::default()).await?;
        while let Some(message) = messages.next().await? {
            after = message.seq;
            if let Some(stop) = turn.take(&message)? {
                return Ok(stop);
            }
        }
    }
    let mut following = Following::new(client.clone(), home, id, after);
    loop {
        let message = following.next().await?;
        if let Some(stop) = turn.take(&message)? {
            return Ok(stop);
        }
    }
}

/// One turn, among all that happens in its session.
struct Turn {
    /// The name of its prompt's entry.
    prompt: String,
    fold: Fold,
    /// Prints for people; a program gets the whole at the end.
    printer: Option<Printer>,
    /// What the agent said, an entry each.
    answers: Vec<String>,
}

impl Turn {
    fn new(turn: Seq, output: &Output) -> Self {
        let printer = match output.format {
            Format::Human => Some(Printer::new(output)),
            Format::Json => None,
        };
        Self { prompt: format!("m{turn}"), fold: Fold::new(), printer, answers: Vec::new() }
    }

    /// Ends the last line.
    fn finish(&mut self) -> io::Result<()> {
        self.printer.as_mut().map_or(Ok(()), Printer::finish)
    }

    /// Takes the next message of the session; tells how the turn ended, when it has.
    fn take(&mut self, message: &Message) -> io::Result<Option<Stop>> {
        let was_running = self.fold.running() == Some(&self.prompt);
        for change in self.fold.apply(message) {
            match &change {
                Change::Completed { entry_id, stop } if *entry_id == self.prompt => {
                    return Ok(Some(stop.clone()));
                }
                // That it ended is told by how the program ends.
                Change::Upsert(entry) if is_end(&entry.body) => {}
                _ if !was_running => {}
                Change::Upsert(_)
                | Change::Append { .. }
                | Change::Completed { .. }
                | Change::Cancelling { .. } => self.happened(&change)?,
            }
        }
        Ok(None)
    }

    fn happened(&mut self, change: &Change) -> io::Result<()> {
        if let Change::Upsert(entry) = change
            && let EntryBody::Assistant(words) = &entry.body
            && !words.partial
        {
            self.answers.push(words.content.clone());
        }
        self.printer.as_mut().map_or(Ok(()), |printer| printer.print(change))
    }
}

fn is_end(body: &EntryBody) -> bool {
    matches!(body, EntryBody::Notice(notice) if matches!(notice.event, Event::TurnEnded { .. }))
}
