//! `convoke session show`: a session with all its messages.

use clap::builder::NonEmptyStringValueParser;
use convoke_api::bodies::SessionDetail;
use convoke_api::entry::{Entry, EntryBody};
use convoke_api::{Client, Messages, Transcript};
use convoke_core::count::counted;
use convoke_core::prompt::Attachment;
use convoke_core::state::SessionState;
use convoke_core::time::relative;
use convoke_core::turn::TurnNumbers;

use super::lines;
use super::list::state;
use crate::clock;
use crate::colour::Colour;
use crate::output::{Format, Output, Reader, plain};
use crate::written::attached;

/// Show a session and its messages
///
/// Its turns are numbered as on the page; `diff`, `restore` and `fork` take these numbers.
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
        Format::Human => for_people(client, &detail, messages, output).await,
    }
}

/// The JSON of the REST response, streamed: a session may be of any length.
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
    client: &Client,
    detail: &SessionDetail,
    mut messages: Messages,
    output: &Output,
) -> anyhow::Result<()> {
    let mut stream = output.stream()?;
    stream.write(&heading(detail))?;
    let mut turns = TurnNumbers::default();
    while let Some(message) = messages.next().await? {
        let shown = shown(&Entry::from(&message), output.colour).unwrap_or_default();
        let shown = match turns.count(&message) {
            Some(number) => {
                format!("\n{}{shown}", output.colour.faint(format!("Turn {number}")))
            }
            None => shown,
        };
        if stream.write(&shown)? == Reader::Gone {
            return stream.finish();
        }
    }
    for state in client.session_state(&detail.session.id.to_string()).await?.state {
        let SessionState::Queue { prompts, held } = state else { continue };
        for prompt in prompts {
            let waits = output.colour.faint(if held { "(held)" } else { "(queued)" });
            let text = quoted(&prompt.text, &prompt.attachments);
            stream.write(&format!("\n{text}{waits}\n"))?;
        }
    }
    stream.finish()
}

fn heading(detail: &SessionDetail) -> String {
    let SessionDetail { session, repo } = detail;
    let now = clock::now();
    let archived = if session.archived { ", archived" } else { "" };
    format!(
        "{}\n{}  {}{archived}, {} in {} ({})\ncreated {}, last active {}, {}\n",
        plain(&session.title),
        session.id,
        state(session),
        session.agent,
        plain(&repo.name),
        plain(&repo.path),
        ago(&relative(session.created_at, now)),
        ago(&relative(session.last_active_at, now)),
        counted(session.message_count, "message"),
    )
}

fn ago(relative: &str) -> String {
    match relative {
        "now" => "just now".to_owned(),
        long => format!("{long} ago"),
    }
}

/// An entry for people: its text, or one line.
fn shown(entry: &Entry, colour: Colour) -> Option<String> {
    match &entry.body {
        EntryBody::User(prompt) => {
            let words = convoke_core::review::words(&prompt.content, &prompt.review);
            Some(format!("\n{}", quoted(&words, &prompt.attachments)))
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
        EntryBody::Queue { .. }
        | EntryBody::Commands { .. }
        | EntryBody::Modes { .. }
        | EntryBody::Settings { .. }
        | EntryBody::Usage(_) => None,
    }
}

fn quoted(text: &str, attachments: &[Attachment]) -> String {
    let text = plain(text);
    let lines = text.lines().map(ToOwned::to_owned).chain(attached(attachments));
    lines.map(|line| format!("> {line}\n")).collect()
}
