//! `convoke session export`: what was said in a session, as a transcript, a list or a page.

mod turns;

use clap::builder::NonEmptyStringValueParser;
use convoke_api::bodies::{Session, SessionDetail};
use convoke_api::{Client, Transcript};
use convoke_core::session::Status;
use convoke_files::transcripts::{self, Metadata, Record, Role, Turn};
use serde::Serialize;

use crate::output::{Format, Output, Reader, plain};
use turns::Spoken;

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
    #[arg(long, value_name = "F")]
    format: Option<Form>,
}

/// How a session is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// A transcript, one JSON object per line
    Jsonl,
    /// Markdown, for reading
    Markdown,
    /// A JSON array of turns
    Json,
}

pub(super) async fn run(client: &Client, args: &ExportArgs, output: &Output) -> anyhow::Result<()> {
    let form = args.format.unwrap_or(match output.format {
        Format::Human => Form::Jsonl,
        Format::Json => Form::Json,
    });
    let Transcript { detail: SessionDetail { session, repo }, mut messages } =
        client.transcript(&args.id).await?;
    let mut page = Page { form, output, is_empty: true };
    let name = format!("{} in {}", session.agent, repo.name);
    if page.begin(&session, &name)? == Reader::Gone {
        return Ok(());
    }
    let mut spoken = Spoken::default();
    while let Some(message) = messages.next().await? {
        for turn in spoken.hear(&message) {
            // No more than what is open is held.
            if page.add(turn)? == Reader::Gone {
                return Ok(());
            }
        }
    }
    if let Some(turn) = spoken.end() {
        page.add(turn)?;
    }
    page.end(&session)
}

/// What is being written.
struct Page<'a> {
    form: Form,
    output: &'a Output,
    is_empty: bool,
}

impl Page<'_> {
    fn begin(&self, session: &Session, name: &str) -> anyhow::Result<Reader> {
        match self.form {
            Form::Jsonl => self.line(&Record::Metadata(Metadata {
                session_id: session.id.to_string(),
                agent: session.agent.to_string(),
                created_at: session.created_at,
                status: transcripts::Status::Active,
            })),
            Form::Json => self.output.piece("["),
            Form::Markdown => self.output.piece(&format!(
                "# {}\n\nSession {} with {}, begun {}.\n",
                plain(&session.title),
                session.id,
                plain(name),
                session.created_at
            )),
        }
    }

    fn add(&mut self, turn: Turn) -> anyhow::Result<Reader> {
        let is_first = std::mem::replace(&mut self.is_empty, false);
        match self.form {
            Form::Jsonl => self.line(&Record::Turn(turn)),
            Form::Json => {
                let comma = if is_first { "" } else { "," };
                self.output.piece(&format!("{comma}\n{}", serde_json::to_string(&turn)?))
            }
            Form::Markdown => {
                let who = match turn.role {
                    Role::User => "User",
                    Role::Assistant => "Assistant",
                };
                // Markdown is read in terminals, too; the JSON formats keep every character.
                let (at, said) = (turn.timestamp, plain(turn.content.trim_end()));
                self.output.piece(&format!("\n## {who}, {at}\n\n{said}\n"))
            }
        }
    }

    fn end(&self, session: &Session) -> anyhow::Result<()> {
        match self.form {
            Form::Jsonl => {
                let status = match session.status {
                    Status::Active => return Ok(()),
                    Status::Completed | Status::Cancelled | Status::Error => {
                        transcripts::Status::Completed
                    }
                };
                self.line(&Record::Status { status, timestamp: session.updated_at }).map(drop)
            }
            Form::Json => self.output.piece("\n]\n").map(drop),
            Form::Markdown => Ok(()),
        }
    }

    fn line(&self, record: &impl Serialize) -> anyhow::Result<Reader> {
        self.output.piece(&(serde_json::to_string(record)? + "\n"))
    }
}
