//! `convoke session export`: a session as a transcript, a list or a page.

use clap::builder::NonEmptyStringValueParser;
use convoke_api::bodies::{Session, SessionDetail};
use convoke_api::{Client, Transcript};
use convoke_core::session::Status;
use convoke_files::transcripts::{self, Metadata, Record, Role};

use crate::output::{Format, Output, Reader, plain};
use crate::turn_builder::TurnBuilder;
use crate::written::{Form, attached_list};

/// Print a session as a transcript for `convoke import spawn`, as a JSON array or as Markdown
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session export 3fa8 > talk.jsonl
  convoke session export 3fa8 --format markdown | less")]
pub(super) struct ExportArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Output format [default: jsonl, or json with --json]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Form>,
}

pub(super) async fn run(client: &Client, args: &ExportArgs, output: &Output) -> anyhow::Result<()> {
    let form = args.format.unwrap_or(match output.format {
        Format::Human => Form::Jsonl,
        Format::Json => Form::Json,
    });
    let Transcript { detail: SessionDetail { session, repo }, mut messages } =
        client.transcript(&args.id).await?;
    let name = format!("{} in {}", session.agent, repo.name);
    if output.piece(&head(form, &session, &name)?)? == Reader::Gone {
        return Ok(());
    }
    let (mut builder, mut count) = (TurnBuilder::default(), 0);
    // No more than the turn that is open is held.
    while let Some(message) = messages.next().await? {
        for mut turn in builder.push(&message) {
            // A transcript has no place for them.
            if form == Form::Markdown && turn.role == Role::User {
                turn.content.push_str(&attached_list(&message.content));
            }
            if output.piece(&form.turn(turn, count)?)? == Reader::Gone {
                return Ok(());
            }
            count += 1;
        }
    }
    if let Some(turn) = builder.end() {
        output.piece(&form.turn(turn, count)?)?;
        count += 1;
    }
    output.piece(form.end(count))?;
    if form == Form::Jsonl && session.status != Status::Active {
        let (status, timestamp) = (transcripts::Status::Completed, session.updated_at);
        output.piece(&line(&Record::Status { status, timestamp })?)?;
    }
    Ok(())
}

/// The text before the first turn.
fn head(form: Form, session: &Session, name: &str) -> serde_json::Result<String> {
    match form {
        Form::Jsonl => line(&Record::Metadata(Metadata {
            session_id: session.id.to_string(),
            agent: session.agent.to_string(),
            created_at: session.created_at,
            status: transcripts::Status::Active,
        })),
        Form::Json => Ok(String::new()),
        Form::Markdown => {
            // A prompt of several lines is a title of one.
            let title = plain(&session.title).split_whitespace().collect::<Vec<_>>().join(" ");
            let name = plain(name);
            let (id, begun) = (session.id, session.created_at);
            Ok(format!("# {title}\n\nSession {id} with {name}, begun {begun}.\n"))
        }
    }
}

fn line(record: &Record) -> serde_json::Result<String> {
    Ok(serde_json::to_string(record)? + "\n")
}
