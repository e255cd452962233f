//! `convoke session queue`: the prompts that wait for a running turn to end.

use clap::builder::NonEmptyStringValueParser;
use convoke_api::bodies::Session;
use convoke_api::{Client, Result};
use convoke_core::id::short;
use convoke_core::state::{QueuedPrompt, SessionState};
use serde::Serialize;

use super::lines::one_line;
use crate::args::number;
use crate::output::{Output, plain, table};

/// The shortest prefix of a prompt's id.
const PREFIX_MIN: usize = 4;

/// List, edit, move, remove or send the queued prompts of a session
///
/// PROMPT is the id of a prompt, or a unique prefix of one with at least four characters.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke session queue list 3fa8
  convoke session queue edit 3fa8 91c2 'fix the test, but do not commit'
  convoke session queue send 3fa8 91c2"
)]
pub(super) struct QueueArgs {
    #[command(subcommand)]
    command: QueueCommand,
}

#[derive(Debug, clap::Subcommand)]
enum QueueCommand {
    /// List the queued prompts, in the order in which they are sent
    ///
    /// Prompts that wait for a machine which is away are among them, and can be removed.
    #[command(after_help = "Examples:
  convoke session queue list 3fa8
  convoke session queue list 3fa8 --json | jq -r '.prompts[].text'")]
    List(ListArgs),
    /// Change the text of a prompt
    #[command(after_help = "Examples:
  convoke session queue edit 3fa8 91c2 'fix the test, but do not commit'")]
    Edit(EditArgs),
    /// Move a prompt to another place in the queue
    #[command(after_help = "Examples:
  convoke session queue move 3fa8 91c2 1")]
    Move(MoveArgs),
    /// Remove a prompt; it is not sent
    #[command(after_help = "Examples:
  convoke session queue remove 3fa8 91c2")]
    Remove(PromptArgs),
    /// Cancel the running turn and send this prompt next
    #[command(after_help = "Examples:
  convoke session queue send 3fa8 91c2")]
    Send(PromptArgs),
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

#[derive(Debug, clap::Args)]
struct PromptArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Prompt
    prompt: String,
}

#[derive(Debug, clap::Args)]
struct EditArgs {
    #[command(flatten)]
    prompt: PromptArgs,
    /// Its new text
    text: String,
}

#[derive(Debug, clap::Args)]
struct MoveArgs {
    #[command(flatten)]
    prompt: PromptArgs,
    /// Its new place; 1 is sent next
    #[arg(value_parser = number(1_u32..=1_000))]
    place: u32,
}

/// Why the prompt that was meant is not known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueueError {
    /// It is too short.
    #[error("{text} is too short for a prefix of an id")]
    Short {
        /// What was given.
        text: String,
    },
    /// No such prompt waits.
    #[error("no queued prompt has an id that starts with {text}")]
    Unknown {
        /// The session.
        session: String,
        /// What was given.
        text: String,
    },
    /// The prefix matches several ids.
    #[error("{text} matches several ids: {}", candidates.join(", "))]
    Ambiguous {
        /// What was given.
        text: String,
        /// All of them.
        candidates: Vec<String>,
    },
}

/// The output of `queue list --json`. A contract with scripts.
#[derive(Serialize)]
struct Queue {
    prompts: Vec<QueuedPrompt>,
    /// Whether they wait for the next prompt, or until one of them is sent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    held: bool,
}

pub(super) async fn run(client: &Client, args: &QueueArgs, output: &Output) -> anyhow::Result<()> {
    match &args.command {
        QueueCommand::List(args) => list(client, args, output).await,
        QueueCommand::Edit(EditArgs { prompt: args, text }) => {
            let prompt = find(client, args).await?;
            let session = client.edit_queued(&args.id, &prompt, text).await;
            show(session, &prompt, output, "changed")
        }
        QueueCommand::Move(MoveArgs { prompt: args, place }) => {
            let prompt = find(client, args).await?;
            let session = client.move_queued(&args.id, &prompt, place.saturating_sub(1)).await;
            show(session, &prompt, output, "moved")
        }
        QueueCommand::Remove(args) => {
            let prompt = find(client, args).await?;
            show(client.remove_queued(&args.id, &prompt).await, &prompt, output, "removed")
        }
        QueueCommand::Send(args) => {
            let prompt = find(client, args).await?;
            show(client.send_queued(&args.id, &prompt).await, &prompt, output, "is sent next")
        }
    }
}

async fn list(client: &Client, args: &ListArgs, output: &Output) -> anyhow::Result<()> {
    let queue = waiting(client, &args.id).await?;
    output.show(&queue, |Queue { prompts, held }, _| {
        if prompts.is_empty() {
            return "No queued prompts.\n".to_owned();
        }
        let mut text = listed(prompts);
        if *held {
            text.push_str("They are held until the next prompt, or until one of them is sent.\n");
        }
        text
    })
}

/// The prompts for people, with a mark for those that wait for a node that is away.
fn listed(prompts: &[QueuedPrompt]) -> String {
    if prompts.iter().all(|prompt| prompt.waits_for.is_none()) {
        let row = |prompt: &QueuedPrompt| [short(prompt.id), one_line(&prompt.text)];
        return table(["PROMPT", "TEXT"], prompts.iter().map(row).collect());
    }
    let row = |prompt: &QueuedPrompt| {
        let node = prompt.waits_for.as_deref().map(plain).unwrap_or_default();
        [short(prompt.id), node, one_line(&prompt.text)]
    };
    table(["PROMPT", "WAITS FOR", "TEXT"], prompts.iter().map(row).collect())
}

async fn waiting(client: &Client, session: &str) -> Result<Queue> {
    let state = client.session_state(session).await?.state;
    let queue = state.into_iter().find_map(|state| match state {
        SessionState::Queue { prompts, held } => Some(Queue { prompts, held }),
        SessionState::Commands { .. }
        | SessionState::Modes { .. }
        | SessionState::Settings { .. }
        | SessionState::Usage(_) => None,
    });
    Ok(queue.unwrap_or(Queue { prompts: Vec::new(), held: false }))
}

/// The id of the prompt that is meant.
async fn find(client: &Client, args: &PromptArgs) -> anyhow::Result<String> {
    let (text, prefix) = (args.prompt.clone(), args.prompt.to_ascii_lowercase());
    if text.len() < PREFIX_MIN {
        return Err(QueueError::Short { text }.into());
    }
    let ids =
        waiting(client, &args.id).await?.prompts.into_iter().map(|prompt| prompt.id.to_string());
    let mut candidates: Vec<String> = ids.filter(|id| id.starts_with(&prefix)).collect();
    match (candidates.pop(), candidates.is_empty()) {
        (None, _) => Err(QueueError::Unknown { session: args.id.clone(), text }.into()),
        (Some(id), true) => Ok(id),
        (Some(id), false) => {
            candidates.push(id);
            Err(QueueError::Ambiguous { text, candidates }.into())
        }
    }
}

fn show(
    session: Result<Session>,
    prompt: &str,
    output: &Output,
    became: &str,
) -> anyhow::Result<()> {
    let prompt = short(prompt);
    output.show(&session?, |_, _| format!("{prompt} {became}\n"))
}
