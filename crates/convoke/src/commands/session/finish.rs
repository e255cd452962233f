//! `convoke session finish`: finishes a session's work tree.

use clap::ArgGroup;
use clap::builder::NonEmptyStringValueParser;
use convoke_api::Client;
use convoke_api::bodies::{
    ConflictSide, FinishOutcome, FinishWay, FinishWorktree, FinishedWorktree, WorktreeConflict,
};
use convoke_core::count::counted;
use convoke_core::id::short;

use crate::output::{Output, plain};

/// Finish the work tree of a session: merge it, make a pull request, keep or discard it
///
/// Uncommitted files are committed first, unless it is discarded. A snapshot is made before folder
/// and branch are removed, and `convoke worktree restore` brings them back. With conflicts nothing
/// else is changed, and the exit code is 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke session finish 3fa8 --merge
  convoke session finish 3fa8 --squash --message 'Fix the login'
  convoke session finish 3fa8 --rebase --resolve
  convoke session finish 3fa8 --discard")]
#[command(group = ArgGroup::new("way")
    .required(true)
    .args(CommitFlags::NAMES)
    .args(["keep", "discard"]))]
#[group(skip)]
pub(super) struct FinishArgs {
    /// Session
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    #[command(flatten)]
    commits: CommitFlags,
    /// Keep its branch, and remove its folder
    #[arg(long)]
    keep: bool,
    /// Remove its branch and its folder
    #[arg(long)]
    discard: bool,
    /// Message of commits, or title and body of the pull request [default: the session's title]
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// Delete files that no snapshot holds, such as very large ones
    #[arg(long)]
    force: bool,
    /// Prompt the agent to resolve conflicts, if there are any
    #[arg(long)]
    resolve: bool,
}

impl FinishArgs {
    fn way(&self) -> FinishWay {
        let other = if self.discard { FinishWay::Discard } else { FinishWay::Keep };
        self.commits.chosen().unwrap_or(other)
    }
}

/// What becomes of the commits of a work tree.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[expect(clippy::struct_excessive_bools, reason = "at most one of them is given")]
pub(crate) struct CommitFlags {
    /// Merge the session's branch into the branch that it was made from
    #[arg(long)]
    merge: bool,
    /// Make one commit of all changes on the branch that the session's branch was made from
    #[arg(long)]
    squash: bool,
    /// Put the commits on top of the branch that the session's branch was made from
    #[arg(long)]
    rebase: bool,
    /// Push the session's branch and make a pull request with `gh`; the work tree stays
    #[arg(long)]
    pr: bool,
}

impl CommitFlags {
    /// The names of the flags, of which at most one can be given.
    pub(crate) const NAMES: [&str; 4] = ["merge", "squash", "rebase", "pr"];

    pub(crate) fn chosen(&self) -> Option<FinishWay> {
        let ways = [
            (self.merge, FinishWay::Merge),
            (self.squash, FinishWay::Squash),
            (self.rebase, FinishWay::Rebase),
            (self.pr, FinishWay::Pr),
        ];
        let chosen = ways.into_iter().find(|(is_chosen, _)| *is_chosen);
        chosen.map(|(_, way)| way)
    }
}

/// Base and branch contradict each other.
#[derive(Debug, thiserror::Error)]
#[error("{} in conflict; nothing was merged", counted(files, "file"))]
pub(crate) struct ConflictsFound {
    files: usize,
}

pub(super) async fn run(client: &Client, args: &FinishArgs, output: &Output) -> anyhow::Result<()> {
    let finish = FinishWorktree {
        how: args.way(),
        message: args.message.clone(),
        force: args.force,
        resolve: args.resolve,
    };
    let finished = client.finish(&args.id, &finish).await?;
    output.show(&finished, |finished, _| for_people(finished, finish.how))?;
    match finished.outcome {
        FinishOutcome::Conflicts if finished.prompt.is_none() => {
            Err(ConflictsFound { files: finished.conflicts.len() }.into())
        }
        FinishOutcome::Conflicts | FinishOutcome::Finished | FinishOutcome::PullRequest => Ok(()),
    }
}

fn for_people(finished: &FinishedWorktree, how: FinishWay) -> String {
    let id = short(finished.session.id);
    let branch = finished.session.worktree.as_ref().map(|own| own.branch.as_str());
    let branch = plain(branch.unwrap_or_default());
    let base = plain(finished.base.as_deref().unwrap_or_default());
    match (finished.outcome, how) {
        (FinishOutcome::PullRequest, _) => {
            format!("{}\n", plain(finished.pull_request.as_deref().unwrap_or_default()))
        }
        (FinishOutcome::Conflicts, _) => {
            let mut text: String = finished.conflicts.iter().map(conflict).collect();
            if finished.prompt.is_some() {
                text.push_str(&format!("{id} was prompted to resolve these conflicts\n"));
            }
            text
        }
        (FinishOutcome::Finished, FinishWay::Merge | FinishWay::Squash | FinishWay::Rebase) => {
            format!("{id} finished: {base} has the changes of {branch}\n")
        }
        (FinishOutcome::Finished, FinishWay::Discard) => {
            format!("{id} finished: {branch} was discarded\n")
        }
        (FinishOutcome::Finished, FinishWay::Keep | FinishWay::Pr) => {
            format!("{id} finished: {branch} was kept\n")
        }
    }
}

fn conflict(conflict: &WorktreeConflict) -> String {
    let deleted = match (conflict.base, conflict.branch) {
        (ConflictSide::Deleted, ConflictSide::Changed) => " (deleted in the base)",
        (ConflictSide::Changed, ConflictSide::Deleted) => " (deleted here)",
        (ConflictSide::Changed, ConflictSide::Changed)
        | (ConflictSide::Deleted, ConflictSide::Deleted) => "",
    };
    format!("conflict: {}{deleted}\n", plain(&conflict.path))
}
