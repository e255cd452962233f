//! `convoke export`: all sessions as files that any program can read, one a session.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use convoke_api::bodies::{Session, SessionDetail};
use convoke_api::{Client, SessionQuery, Transcript};
use convoke_core::content::{Content, Tool};
use convoke_core::count::counted;
use convoke_core::id::short;
use convoke_core::message::{Message, Role};
use convoke_core::review;
use serde::Serialize;

use super::World;
use crate::args::GlobalArgs;
use crate::daemon::{self, DaemonArgs};
use crate::home::create_private;
use crate::output::Output;
use crate::written::attached_list;

/// Sessions in one page of the list.
const PAGE: u64 = 500;
/// Letters of a title in a file's name.
const NAME_CHARS: usize = 40;

/// Export all sessions to a folder, one file a session
///
/// A file that is there is replaced. With `jsonl` the first line is the session and every other line
/// one of its messages, with everything that Convoke keeps of it; `markdown` is for reading.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke export --all ~/sessions
  convoke export --all ~/sessions --format jsonl")]
pub(crate) struct ExportArgs {
    /// Export every session, archived ones included
    #[arg(long, required = true)]
    all: bool,
    /// Folder for the files; it is created if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Format of the files
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    format: FileForm,
    #[command(flatten)]
    daemon: DaemonArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FileForm {
    Markdown,
    Jsonl,
}

/// A contract with scripts.
#[derive(Debug, Default, Serialize)]
struct Exported {
    folder: PathBuf,
    sessions: u64,
    messages: u64,
}

pub(crate) fn run(
    args: &ExportArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let folder = std::path::absolute(&args.folder).context("cannot find the current folder")?;
    create_private(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    daemon::with(world, global, &args.daemon, output, async |client, _| {
        let mut exported = Exported { folder: folder.clone(), ..Exported::default() };
        for archived in [false, true] {
            export(client, archived, args.format, &mut exported).await?;
        }
        if io::stderr().is_terminal() {
            // Progress that cannot be printed is not needed.
            write!(io::stderr(), "\r\x1b[K").ok();
        }
        output.show(&exported, |Exported { sessions, messages, folder }, _| {
            let (sessions, messages) = (counted(sessions, "session"), counted(messages, "message"));
            format!("{sessions}, {messages} written to {}\n", folder.display())
        })
    })
}

async fn export(
    client: &Client,
    archived: bool,
    form: FileForm,
    exported: &mut Exported,
) -> anyhow::Result<()> {
    let mut offset = 0;
    loop {
        let query = SessionQuery {
            archived: Some(archived),
            limit: Some(PAGE),
            offset: Some(offset),
            ..SessionQuery::default()
        };
        let page = client.sessions(&query).await?;
        for session in &page.sessions {
            exported.messages += write_session(client, session, form, &exported.folder).await?;
            exported.sessions += 1;
            if io::stderr().is_terminal() {
                write!(io::stderr(), "\r{} of {}\x1b[K", exported.sessions, page.total).ok();
            }
        }
        offset += page.sessions.len() as u64;
        if page.sessions.is_empty() || offset >= page.total {
            return Ok(());
        }
    }
}

/// Writes one session into a file of its own; returns how many messages it has.
async fn write_session(
    client: &Client,
    session: &Session,
    form: FileForm,
    folder: &Path,
) -> anyhow::Result<u64> {
    let ending = match form {
        FileForm::Markdown => "md",
        FileForm::Jsonl => "jsonl",
    };
    let path = folder.join(format!("{}.{ending}", name(session)));
    // Renamed when it is complete, so that an interrupted export leaves no partial file.
    let unfinished = folder.join(format!(".{}.{ending}.part", name(session)));
    let fail = || format!("cannot write {}", path.display());
    let mut file = BufWriter::new(create(&unfinished).with_context(fail)?);
    let Transcript { detail, mut messages } = client.transcript(&session.id.to_string()).await?;
    file.write_all(head(form, &detail)?.as_bytes()).with_context(fail)?;
    let mut count = 0;
    while let Some(message) = messages.next().await? {
        file.write_all(written(form, &message)?.as_bytes()).with_context(fail)?;
        count += 1;
    }
    file.flush().with_context(fail)?;
    fs::rename(&unfinished, &path).with_context(fail)?;
    Ok(count)
}

/// Creates a file that only its owner can read. What is there, a link included, is removed and not followed.
fn create(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

/// The date, the start of the id, and the title in characters that every file system accepts.
fn name(session: &Session) -> String {
    let (date, id) = (session.created_at.to_string(), short(session.id));
    let date = date.get(..10).unwrap_or_default();
    let title = session.title.to_lowercase();
    let words: Vec<&str> = title.split(|c: char| !c.is_alphanumeric()).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let title: String = words.join("-").chars().take(NAME_CHARS).collect();
    format!("{date}-{id}-{title}").trim_end_matches('-').to_owned()
}

fn head(form: FileForm, detail: &SessionDetail) -> serde_json::Result<String> {
    let SessionDetail { session, repo } = detail;
    match form {
        FileForm::Jsonl => Ok(serde_json::to_string(detail)? + "\n"),
        FileForm::Markdown => Ok(format!(
            "# {}\n\n- Session: {}\n- Agent: {}\n- Project: {} ({})\n- Begun: {}\n",
            session.title, session.id, session.agent, repo.name, repo.path, session.created_at
        )),
    }
}

fn written(form: FileForm, message: &Message) -> serde_json::Result<String> {
    match form {
        FileForm::Jsonl => Ok(serde_json::to_string(message)? + "\n"),
        FileForm::Markdown => markdown(message),
    }
}

fn markdown(message: &Message) -> serde_json::Result<String> {
    let at = message.timestamp;
    Ok(match &message.content {
        Content::Text { text, review, .. } => {
            let text = review::words(text, review);
            let who = if message.role == Role::User { "You" } else { "Agent" };
            let attached = attached_list(&message.content);
            format!("\n## {who}, {at}\n\n{text}{attached}\n")
        }
        Content::Thinking { text, .. } => {
            let quoted = text.replace('\n', "\n> ");
            format!("\n> {quoted}\n")
        }
        Content::Plan { steps } => {
            let steps = steps.iter().map(|step| format!("- {}\n", step.content));
            format!("\nPlan:\n\n{}", steps.collect::<String>())
        }
        Content::Tool(tool) => tool_markdown(tool)?,
        Content::Permission(record) => fenced("Permission", &serde_json::to_string(record)?),
        Content::Question(record) => fenced("Questions", &serde_json::to_string(record)?),
        Content::Notice(notice) => format!("\n*{}*\n", notice.text),
    })
}

fn tool_markdown(tool: &Tool) -> serde_json::Result<String> {
    let title = tool.title.as_deref().unwrap_or(&tool.tool);
    let mut text = fenced(&format!("Tool: {title}"), &serde_json::to_string(&tool.args)?);
    if let Some(result) = &tool.result {
        for part in [&result.text, &result.error].into_iter().flatten() {
            text += &fenced("Result", part);
        }
        for diff in &result.diffs {
            text += &fenced(&format!("Changed: {}", diff.path), &diff.new_text);
        }
    }
    Ok(text)
}

/// A block whose fence is longer than any in the text.
fn fenced(title: &str, text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("\n{title}\n\n{fence}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}
