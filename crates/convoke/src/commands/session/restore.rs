//! `convoke session restore|undo|fork`: back to an earlier turn.

use clap::builder::NonEmptyStringValueParser;
use convoke_api::Client;
use convoke_api::bodies::{Fork, NewWorktree, Restore, RestoreScope, Restored, Undo};
use convoke_core::id::short;

use super::turns;
use crate::args::number;
use crate::colour::Colour;
use crate::output::{Output, plain};

/// Files that are listed for people; a restore can have thousands.
const LISTED_MAX: usize = 20;

/// Restore files and conversation to what they were before a turn
///
/// Only files that differ are written, and `convoke session undo` takes it back. The conversation
/// is not rewritten: a new session has what was said before the turn, and the old one stays.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session restore 3fa8 --turn 5
  convoke session restore 3fa8 --turn 5 --files")]
pub(super) struct RestoreArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// The turn, by its number in `convoke session show`
    #[arg(long, value_name = "N", value_parser = number(1_u64..))]
    turn: u64,
    /// Only the files
    #[arg(long, conflicts_with = "conversation")]
    files: bool,
    /// Only the conversation
    #[arg(long)]
    conversation: bool,
    /// Overwrite files that someone else changed since the last checkpoint
    #[arg(long)]
    force: bool,
}

/// Undo the last restore of files; until the next turn
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session undo 3fa8")]
pub(super) struct UndoArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Overwrite files that someone else changed since then
    #[arg(long)]
    force: bool,
}

/// Fork a session: a new one has the conversation up to a turn
///
/// The new session has the same agent and project; its agent is given the transcript.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session fork 3fa8
  convoke session fork 3fa8 --turn 5
  convoke session fork 3fa8 --turn 5 --worktree other-way")]
pub(super) struct ForkArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// The last turn of the new session, by its number in `convoke session show` [default: the last
    /// one]
    #[arg(long, value_name = "N", value_parser = number(1_u64..))]
    turn: Option<u64>,
    /// Give the new session a git work tree of its own with the files as they were after that turn,
    /// on this branch [default: a new branch]
    #[arg(long, value_name = "BRANCH", num_args = 0..=1)]
    worktree: Option<Option<String>>,
}

pub(super) async fn restore(
    client: &Client,
    args: &RestoreArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let what = match (args.files, args.conversation) {
        (true, _) => RestoreScope::Files,
        (false, true) => RestoreScope::Conversation,
        (false, false) => RestoreScope::Both,
    };
    let turn = turns::prompt(client, &args.id, args.turn).await?;
    let restore = Restore { turn, what: Some(what), force: args.force };
    let restored = match client.restore(&args.id, &restore).await {
        Ok(restored) => restored,
        Err(error) => return Err(turns::explain(client, &args.id, args.turn, error).await),
    };
    output.show(&restored, for_people)
}

pub(super) async fn undo(client: &Client, args: &UndoArgs, output: &Output) -> anyhow::Result<()> {
    let restored = client.undo(&args.id, &Undo { force: args.force }).await?;
    output.show(&restored, for_people)
}

pub(super) async fn fork(client: &Client, args: &ForkArgs, output: &Output) -> anyhow::Result<()> {
    let worktree = args.worktree.clone().map(|branch| NewWorktree { branch });
    let turn = match args.turn {
        Some(number) => Some(turns::prompt(client, &args.id, number).await?),
        None => None,
    };
    let fork = Fork { turn, worktree };
    let session = client.fork(&args.id, &fork).await?;
    output.show(&session, |session, _| {
        format!("{} created: {}\n", short(session.id), plain(&session.title))
    })
}

fn for_people(restored: &Restored, colour: Colour) -> String {
    let mut text = list(&restored.written, "restored", |path| plain(path));
    text.push_str(&list(&restored.removed, "removed", |path| plain(path)));
    let left = list(&restored.blocked, "left alone:", |file| {
        format!("{} ({})", plain(&file.path), file.why)
    });
    for line in left.lines() {
        text.push_str(&format!("{}\n", colour.doubtful(line)));
    }
    if let Some(session) = &restored.session {
        text.push_str(&format!("The conversation continues in session {}\n", short(session.id)));
    }
    if text.is_empty() {
        text.push_str("Nothing differs.\n");
    }
    text
}

/// A line for each file, and one for those beyond the limit.
fn list<T>(files: &[T], verb: &str, name: impl Fn(&T) -> String) -> String {
    let mut text = String::new();
    for file in files.iter().take(LISTED_MAX) {
        text.push_str(&format!("{verb} {}\n", name(file)));
    }
    let more = files.len().saturating_sub(LISTED_MAX);
    if more > 0 {
        text.push_str(&format!("{verb} {more} more; `--json` lists all\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use convoke_api::bodies::Restored;

    use super::*;

    #[test]
    fn many_files_are_listed_briefly() {
        let written = (0..1000).map(|number| format!("f{number}.txt")).collect();
        let removed = vec!["old.txt".to_owned()];
        let restored = Restored { written, removed, blocked: Vec::new(), session: None };
        let text = for_people(&restored, Colour::Off);
        assert!(text.starts_with("restored f0.txt\nrestored f1.txt\n"), "{text}");
        assert!(
            text.contains("restored f19.txt\nrestored 980 more; `--json` lists all\n"),
            "{text}"
        );
        assert!(text.ends_with("removed old.txt\n"), "{text}");
    }
}
