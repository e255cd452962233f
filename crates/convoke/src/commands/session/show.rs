//! `convoke session show`: a session with everything that was said in it.

use clap::builder::NonEmptyStringValueParser;
use convoke_api::bodies::SessionDetail;
use convoke_api::entry::{Change, Entries, Entry, EntryBody, Fold, PromptState};
use convoke_api::{Client, Messages, Transcript};
use convoke_core::time::relative;

use super::lines;
use super::list::state;
use crate::clock;
use crate::colour::Colour;
use crate::output::{Format, Output, Reader, plain};

/// Show a session and everything that was said in it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session show 3fa8
  convoke session show 3fa8 --json | jq '.messages | length'")]
pub(super) struct ShowArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

pub(super) async fn run(client: &Client, args: &ShowArgs, output: &Output) -> anyhow::Result<()> {
    let Transcript { detail, messages } = client.transcript(&args.id).await?;
    match output.format {
        Format::Json => as_json(&detail, messages, output).await,
        Format::Human => for_people(&detail, messages, output).await,
    }
}

/// The object that REST gives, written as it comes: no session is too long to be shown.
async fn as_json(
    detail: &SessionDetail,
    mut messages: Messages,
    output: &Output,
) -> anyhow::Result<()> {
    let head = serde_json::to_string_pretty(detail)?;
    let head = head.strip_suffix("\n}").unwrap_or(&head);
    output.piece(&format!("{head},\n  \"messages\": ["))?;
    let mut comma = "";
    while let Some(message) = messages.next().await? {
        let line = format!("{comma}\n    {}", serde_json::to_string(&message)?);
        if output.piece(&line)? == Reader::Gone {
            return Ok(());
        }
        comma = ",";
    }
    output.line(if comma.is_empty() { "]\n}" } else { "\n  ]\n}" })
}

async fn for_people(
    detail: &SessionDetail,
    mut messages: Messages,
    output: &Output,
) -> anyhow::Result<()> {
    output.piece(&heading(detail))?;
    let mut fold = Fold::new();
    let mut turn = Entries::new();
    while let Some(message) = messages.next().await? {
        for change in fold.apply(&message) {
            let has_ended = matches!(change, Change::Completed { .. });
            turn.apply(change);
            if has_ended && fold.queue().len() == 0 && fold.running().is_none() {
                // No more than what is open is held.
                let done = std::mem::take(&mut turn);
                if output.piece(&conversation(&done, output.colour))? == Reader::Gone {
                    return Ok(());
                }
            }
        }
    }
    output.piece(&conversation(&turn, output.colour)).map(|_| ())
}

fn heading(detail: &SessionDetail) -> String {
    let SessionDetail { session, repo } = detail;
    let now = clock::now();
    let archived = if session.archived { ", archived" } else { "" };
    format!(
        "{}\n{}  {}{archived}, {} in {} ({})\nbegun {}, active {}, {} messages\n",
        plain(&session.title),
        session.id,
        state(session),
        session.agent,
        plain(&repo.name),
        plain(&repo.path),
        ago(&relative(session.created_at, now)),
        ago(&relative(session.last_active_at, now)),
        session.message_count,
    )
}

fn ago(relative: &str) -> String {
    match relative {
        "now" => "just now".to_owned(),
        long => format!("{long} ago"),
    }
}

fn conversation(entries: &Entries, colour: Colour) -> String {
    entries.conversation().iter().filter_map(|entry| shown(entry, colour)).collect()
}

/// An entry as people read it: the words as they are, all else in a line.
fn shown(entry: &Entry, colour: Colour) -> Option<String> {
    match &entry.body {
        EntryBody::User(prompt) => {
            let quoted: String =
                plain(&prompt.content).lines().map(|line| format!("> {line}\n")).collect();
            let state = match prompt.state {
                PromptState::Queued => format!("{}\n", colour.faint("(waits for its turn)")),
                PromptState::Running | PromptState::Done => String::new(),
            };
            Some(format!("\n{quoted}{state}"))
        }
        EntryBody::Assistant(words) => Some(format!("\n{}\n", plain(&words.content).trim_end())),
        EntryBody::Thinking(words) => {
            Some(format!("{}\n", colour.faint(format!("~ {}", lines::one_line(&words.content)))))
        }
        EntryBody::ToolCall(_)
        | EntryBody::Plan { .. }
        | EntryBody::Permission(_)
        | EntryBody::Question(_)
        | EntryBody::Notice(_) => {
            let line = lines::aside(&entry.body)?;
            Some(format!("{}\n", colour.faint(format!("- {line}"))))
        }
        EntryBody::Commands { .. }
        | EntryBody::Modes { .. }
        | EntryBody::Settings { .. }
        | EntryBody::Usage(_) => None,
    }
}
