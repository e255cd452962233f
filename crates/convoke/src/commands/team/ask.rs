//! `convoke team ask` and `convoke team send`.

use std::io::{self, Read};

use anyhow::Context;
use convoke_api::Client;
use convoke_api::bodies::{TeamAnswer, TeamMessage, TeamQuestion};
use convoke_core::team::AnswerStatus;

use super::TeamError;
use crate::args::number;
use crate::output::{Format, Output, aside, plain};

/// Ask a team and print its answer
///
/// Exits with 0 if there is an answer, with 5 on timeout, and with 1 if there will be none. The
/// team keeps working after a timeout; `convoke team report` prints a late answer.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team ask backend 'Which endpoint creates a user?'
  convoke team ask backend 'What changed?' --from frontend --thread release
  git diff | convoke team ask backend - --timeout-ms 120000")]
pub(super) struct AskArgs {
    /// Team to ask
    team: String,
    /// Text of the question; - reads standard input
    text: String,
    #[command(flatten)]
    speaker: Speaker,
    /// Milliseconds to wait; 0 waits without limit, -1 does not wait
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true,
        value_parser = number(-1_i64..))]
    timeout_ms: i64,
}

/// Send a team a message and print its answer
///
/// Exits with 0 if there is an answer, and with --no-wait once the message is sent.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke team send backend 'The new client is out.'
  convoke team send backend 'Please update the docs.' --from frontend --no-wait")]
pub(super) struct SendArgs {
    /// Team to send to
    team: String,
    /// Text of the prompt; - reads standard input
    text: String,
    #[command(flatten)]
    speaker: Speaker,
    /// Do not wait for an answer
    #[arg(long)]
    no_wait: bool,
    /// Milliseconds to wait; 0 waits without limit
    #[arg(long, value_name = "N", conflicts_with = "no_wait",
        value_parser = number(0_i64..))]
    timeout_ms: Option<i64>,
}

/// The speaker, and the thread of the conversation.
#[derive(Debug, clap::Args)]
pub(super) struct Speaker {
    /// Team that asks [default: a caller outside of teams]
    #[arg(long, value_name = "TEAM")]
    pub(super) from: Option<String>,
    /// Named thread beside the main conversation
    #[arg(long, value_name = "NAME")]
    pub(super) thread: Option<String>,
}

/// Whether the caller chose not to wait for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Wanted,
    NotWanted,
}

pub(super) async fn ask(client: &Client, args: &AskArgs, output: &Output) -> anyhow::Result<()> {
    let question = TeamQuestion {
        question: words(&args.text)?,
        from_team: args.speaker.from.clone(),
        thread: args.speaker.thread.clone(),
        timeout: Some(args.timeout_ms),
    };
    let answer = client.ask_team(&args.team, &question).await?;
    let waiting = if args.timeout_ms == -1 { Waiting::NotWanted } else { Waiting::Wanted };
    show(&answer, waiting, output)
}

pub(super) async fn send(client: &Client, args: &SendArgs, output: &Output) -> anyhow::Result<()> {
    let message = TeamMessage {
        message: words(&args.text)?,
        from_team: args.speaker.from.clone(),
        thread: args.speaker.thread.clone(),
        wait_for_response: Some(!args.no_wait),
        timeout: args.timeout_ms,
    };
    let answer = client.send_to_team(&args.team, &message).await?;
    let waiting = if args.no_wait { Waiting::NotWanted } else { Waiting::Wanted };
    show(&answer, waiting, output)
}

fn words(text: &str) -> anyhow::Result<String> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut read = String::new();
    io::stdin().lock().read_to_string(&mut read).context("cannot read standard input")?;
    Ok(read)
}

/// Prints an answer. Any other status is printed by the caller.
fn show(answer: &TeamAnswer, waiting: Waiting, output: &Output) -> anyhow::Result<()> {
    let team = answer.team.to_string();
    if output.format == Format::Json {
        output.show(answer, |_, _| String::new())?;
    }
    match answer.status {
        AnswerStatus::Answered => match output.format {
            Format::Human => output.line(plain(&answer.response).trim_end()),
            Format::Json => Ok(()),
        },
        AnswerStatus::Queued if waiting == Waiting::NotWanted => match output.format {
            Format::Human => output.line(&queued(answer)),
            Format::Json => Ok(()),
        },
        AnswerStatus::Queued | AnswerStatus::TimedOut => {
            so_far(answer, output);
            let waited = format!("{:.1} s", answer.duration_ms as f64 / 1000.0);
            Err(TeamError::TimedOut { team, waited, way_out: later(answer) }.into())
        }
        AnswerStatus::Failed => {
            so_far(answer, output);
            let reason = answer.error.clone().unwrap_or_else(|| "it gave no reason".to_owned());
            Err(TeamError::Failed { team, reason: plain(&reason) }.into())
        }
    }
}

/// Prints a partial response that is no answer.
fn so_far(answer: &TeamAnswer, output: &Output) {
    if output.format == Format::Human && !answer.response.trim().is_empty() {
        aside(&format!("{} has said so far:\n{}", answer.team, plain(&answer.response).trim_end()));
    }
}

fn queued(answer: &TeamAnswer) -> String {
    let place = match answer.queued {
        None | Some(0) => format!("{} has it", answer.team),
        Some(1) => format!("{} has queued it behind another question", answer.team),
        Some(count) => format!("{} has queued it behind {count} other questions", answer.team),
    };
    format!("{place}; {}", later(answer))
}

fn later(answer: &TeamAnswer) -> String {
    let mut line = format!("fetch the answer with `convoke team report {}", answer.team);
    if let Some(from) = &answer.from_team {
        line.push_str(&format!(" --from {from}"));
    }
    if let Some(thread) = &answer.thread {
        line.push_str(&format!(" --thread {thread}"));
    }
    match (answer.seq, answer.message_id) {
        (Some(seq), _) => line.push_str(&format!(" --seq {seq}")),
        (None, Some(message)) => line.push_str(&format!(" --message {message}")),
        (None, None) => {}
    }
    line + "`"
}
