//! `convoke questions`: shows and settles question sessions without a terminal UI.

mod show;

use std::time::Duration;

use convoke_core::count::counted;
use convoke_core::id::{RequestId, short};
use convoke_core::question::GivenAnswers;
use convoke_core::time::{Timestamp, relative};
use convoke_files::questions::{Cleaned, Entry, Status, Verdict, Which};
use serde::Serialize;

use super::ask::print_outcome;
use super::{Access, World};
use crate::args::{GlobalArgs, number, one_of};
use crate::asking::{Asking, timeout_of};
use crate::clock;
use crate::exit::Ended;
use crate::logs::Verbosity;
use crate::output::{Output, plain, table};
use crate::signals;

/// List, show, answer, reject and clean up questions to the human
///
/// ID is an id, or a unique prefix of one with at least four characters. Works without the daemon.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke questions list --status pending
  convoke questions show 3fa8
  convoke questions reject 3fa8 --reason 'ask me tomorrow'"
)]
pub(crate) struct QuestionsArgs {
    #[command(subcommand)]
    command: QuestionsCommand,
}

#[derive(Debug, clap::Subcommand)]
enum QuestionsCommand {
    List(ListArgs),
    Show(ShowArgs),
    Wait(WaitArgs),
    Answer(AnswerArgs),
    Reject(RejectArgs),
    Validate(ValidateArgs),
    Clean(CleanArgs),
}

impl QuestionsCommand {
    const fn access(&self) -> Access {
        match self {
            Self::List(_) | Self::Show(_) | Self::Validate(_) => Access::Read,
            Self::Wait(_) | Self::Answer(_) | Self::Reject(_) | Self::Clean(_) => Access::Write,
        }
    }
}

/// List the question sessions, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke questions list
  convoke questions list --status pending --json")]
struct ListArgs {
    /// Only those with this status
    #[arg(long, value_name = "STATUS", value_parser = one_of(Status::ALL, Status::as_str))]
    status: Option<Status>,
}

/// Show the questions and answers of a session
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke questions show 3fa8")]
struct ShowArgs {
    /// Session
    id: String,
}

/// Wait for the answers of a session and print them
///
/// Also works for questions whose asker has left. Exits with 4 if the human rejects them, and with
/// 5 on timeout.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke questions wait 3fa8 --timeout-ms 60000
  convoke questions wait 3fa8 --call-id build-42")]
struct WaitArgs {
    /// Session
    id: String,
    /// Milliseconds to wait; 0 waits without limit [default: questions.timeout_ms]
    #[arg(long, value_name = "N", value_parser = number(0_u64..))]
    timeout_ms: Option<u64>,
    /// Name of the call that asked, which the answers must carry
    #[arg(long, value_name = "ID")]
    call_id: Option<String>,
}

/// Answer the questions of a session
///
/// The answers are JSON, keyed by the number of the question, counted from 0; each has
/// "selectedOption", "selectedOptions" or "customText". The first answer wins.
#[derive(Debug, clap::Args)]
#[command(after_help = r#"Examples:
  convoke questions answer 3fa8 --answers '{"0": {"selectedOption": "SQLite"}}'
  convoke questions answer 3fa8 --answers '{"0": {"selectedOptions": ["A", "B"]}, "1": {"customText": "no idea"}}'"#)]
struct AnswerArgs {
    /// Session
    id: String,
    /// The answers
    #[arg(long, value_name = "JSON")]
    answers: String,
}

/// Reject the questions of a session
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke questions reject 3fa8
  convoke questions reject 3fa8 --reason 'ask me tomorrow'")]
struct RejectArgs {
    /// Session
    id: String,
    /// Reason, sent to the asker
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Check that the files of a session are complete and consistent; changes nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke questions validate 3fa8")]
struct ValidateArgs {
    /// Session
    id: String,
}

/// Delete old question sessions, except those whose asker still waits
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke questions clean
  convoke questions clean --older-than-days 1")]
struct CleanArgs {
    /// Days without a change [default: questions.retention_days]
    #[arg(long, value_name = "N", value_parser = number(0_u64..))]
    older_than_days: Option<u64>,
}

/// Answers that are no answers.
#[derive(Debug, thiserror::Error)]
#[error("cannot parse `--answers`")]
pub(crate) struct NotAnswers {
    source: serde_json::Error,
}

/// A contract with scripts.
#[derive(Serialize)]
struct Listed {
    sessions: Vec<ListedSession>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedSession {
    session_id: RequestId,
    status: Status,
    created_at: Timestamp,
    total_questions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    working_directory: Option<String>,
}

/// The new state of a session. A contract with scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Settled {
    session_id: RequestId,
    status: Status,
}

/// A contract with scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Validated {
    session_id: RequestId,
    is_valid: bool,
    issues: Vec<String>,
}

/// A contract with scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CleanedUp {
    deleted: usize,
    waited_on: usize,
    failed: usize,
}

pub(crate) fn run(
    args: &QuestionsArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    let asking = world.asking(args.command.access(), global, Verbosity::of(global), output)?;
    match &args.command {
        QuestionsCommand::List(args) => list(&asking, args, output),
        QuestionsCommand::Show(args) => show::run(&asking, &args.id, output),
        QuestionsCommand::Wait(args) => wait(&asking, args, output),
        QuestionsCommand::Answer(args) => answer(&asking, args, output),
        QuestionsCommand::Reject(args) => {
            let verdict = Verdict::Reject { reason: args.reason.clone() };
            settle(&asking, &args.id, verdict, output)
        }
        QuestionsCommand::Validate(args) => validate(&asking, &args.id, output),
        QuestionsCommand::Clean(args) => clean(&asking, args, output),
    }
}

fn list(asking: &Asking, args: &ListArgs, output: &Output) -> anyhow::Result<()> {
    let mut listing = asking.questions.list()?;
    for damage in &listing.damaged {
        let id = short(damage.id);
        tracing::warn!(
            "question session {id}: {}; see `convoke questions validate {id}`",
            damage.error
        );
    }
    listing.entries.retain(|entry| args.status.is_none_or(|status| status == entry.status));
    let session = |entry: Entry| ListedSession {
        session_id: entry.id,
        status: entry.status,
        created_at: entry.created_at,
        total_questions: entry.total_questions,
        working_directory: entry.working_directory,
    };
    let listed = Listed { sessions: listing.entries.into_iter().map(session).collect() };
    output.show(&listed, |listed, _| {
        if listed.sessions.is_empty() {
            return "No questions.\n".to_owned();
        }
        let now = clock::now();
        let row = |session: &ListedSession| {
            [
                short(session.session_id),
                session.status.to_string(),
                relative(session.created_at, now),
                session.total_questions.to_string(),
                plain(session.working_directory.as_deref().unwrap_or_default()),
            ]
        };
        let rows = listed.sessions.iter().map(row).collect();
        table(["SESSION", "STATUS", "ASKED", "QUESTIONS", "FROM"], rows)
    })
}

fn wait(asking: &Asking, args: &WaitArgs, output: &Output) -> anyhow::Result<()> {
    let id = asking.questions.find(&args.id)?;
    let (request, _) = asking.questions.read(id)?;
    let timeout = args.timeout_ms.map_or(asking.timeout, timeout_of);
    let waiting = asking.questions.wait_again(id, args.call_id.as_deref(), timeout, clock::now);
    let outcome = signals::block_on(async { Ok(waiting.await?) })?;
    print_outcome(id, &request.questions, &outcome, output)
}

fn answer(asking: &Asking, args: &AnswerArgs, output: &Output) -> anyhow::Result<()> {
    let given = parse_answers(&args.answers)?;
    settle(asking, &args.id, Verdict::Answer(given.at(clock::now())), output)
}

/// Parses the value of `--answers`.
pub(super) fn parse_answers(text: &str) -> Result<GivenAnswers, NotAnswers> {
    serde_json::from_str(text).map_err(|source| NotAnswers { source })
}

fn settle(asking: &Asking, id: &str, verdict: Verdict, output: &Output) -> anyhow::Result<()> {
    let id = asking.questions.find(id)?;
    let status = match &verdict {
        Verdict::Answer(_) => Status::Completed,
        Verdict::Reject { .. } => Status::Rejected,
        Verdict::TimeOut => Status::TimedOut,
        Verdict::Abandon => Status::Abandoned,
    };
    asking.questions.settle(id, verdict, clock::now())?;
    output.show(&Settled { session_id: id, status }, |_, _| format!("{} {status}\n", short(id)))
}

fn validate(asking: &Asking, id: &str, output: &Output) -> anyhow::Result<()> {
    let id = asking.questions.find(id)?;
    let issues = asking.questions.validate(id)?;
    let validated = Validated { session_id: id, is_valid: issues.is_empty(), issues };
    output.show(&validated, |validated, _| match validated.issues.as_slice() {
        [] => format!("{id} is valid\n"),
        issues => issues.iter().map(|issue| format!("{issue}\n")).collect(),
    })?;
    if validated.is_valid { Ok(()) } else { Err(Ended::Invalid.into()) }
}

fn clean(asking: &Asking, args: &CleanArgs, output: &Output) -> anyhow::Result<()> {
    let given = args.older_than_days.map(|days| Duration::from_secs(days.saturating_mul(86_400)));
    let Cleaned { deleted, waited_on, failed } = match given.or(asking.retention) {
        Some(retention) => asking.questions.clean(Which::All, retention, clock::now())?,
        // The configuration keeps them for ever.
        None => Cleaned::default(),
    };
    let cleaned =
        CleanedUp { deleted: deleted.len(), waited_on: waited_on.len(), failed: failed.len() };
    output.show(&cleaned, |cleaned, _| {
        let mut text = format!("deleted {}\n", counted(cleaned.deleted, "question session"));
        if cleaned.waited_on > 0 {
            text += &format!("kept {} whose asker still waits\n", cleaned.waited_on);
        }
        text
    })?;
    if cleaned.failed == 0 {
        Ok(())
    } else {
        Err(Ended::Incomplete { count: cleaned.failed }.into())
    }
}
