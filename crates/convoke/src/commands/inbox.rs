//! `convoke inbox`: the pending requests of all sessions.

mod find;
mod show;

use std::num::NonZeroUsize;

use clap::builder::NonEmptyStringValueParser;
use convoke_api::Client;
use convoke_api::bodies::{Answer, Inbox, InboxItem, InboxKind, Rejection};
use convoke_core::id::{RuleId, short};
use convoke_core::request::{PermissionKind, Status};
use convoke_core::time::relative;
use serde::Serialize;

use super::World;
use super::questions::parse_answers;
use crate::args::{GlobalArgs, number};
use crate::clock;
use crate::daemon::{self, DaemonArgs};
use crate::output::{Output, plain, table};

pub(crate) use find::InboxError;
use find::{allowing, denying, find};

/// List and answer the permissions and questions of all sessions
///
/// ID is an id, or a unique prefix of one with at least four characters. The first answer wins.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke inbox list
  convoke inbox allow 3fa8
  convoke inbox reject 3fa8 --reason 'ask me tomorrow'"
)]
pub(crate) struct InboxArgs {
    #[command(subcommand)]
    command: InboxCommand,
    #[command(flatten)]
    daemon: DaemonArgs,
}

#[derive(Debug, clap::Subcommand)]
enum InboxCommand {
    List(ListArgs),
    Show(ShowArgs),
    Allow(AllowArgs),
    Deny(DenyArgs),
    Answer(AnswerArgs),
    Reject(RejectArgs),
}

/// List pending requests, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke inbox list
  convoke inbox list --json | jq '.items | length'")]
struct ListArgs {}

/// Show a request in full: what it is about, its options, and the rules that an answer can make
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke inbox show 3fa8
  convoke inbox show 3fa8 --json | jq .permission.evidence")]
struct ShowArgs {
    /// Request
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

/// Allow a permission request
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke inbox allow 3fa8
  convoke inbox allow 3fa8 --always
  convoke inbox allow 3fa8 --always 2
  convoke inbox allow 3fa8 --option allow_for_session")]
struct AllowArgs {
    /// Request
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Option of the agent to choose, by its id or its name
    #[arg(long, value_name = "OPTION")]
    option: Option<String>,
    /// Also make a rule: number N of those that `convoke inbox show` lists, the narrowest without N
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1", value_parser = number(NonZeroUsize::MIN..))]
    always: Option<NonZeroUsize>,
}

/// Deny a permission request
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke inbox deny 3fa8
  convoke inbox deny 3fa8 --always")]
struct DenyArgs {
    /// Request
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Also make a rule: number N of those that `convoke inbox show` lists, the narrowest without N
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1", value_parser = number(NonZeroUsize::MIN..))]
    always: Option<NonZeroUsize>,
}

/// Answer questions
///
/// The answers are JSON, keyed by the number of the question, counted from 0; each has
/// "selectedOption", "selectedOptions" or "customText".
#[derive(Debug, clap::Args)]
#[command(after_help = r#"Examples:
  convoke inbox answer 3fa8 --answers '{"0": {"selectedOption": "SQLite"}}'
  convoke inbox answer 3fa8 --answers '{"0": {"selectedOptions": ["A", "B"]}, "1": {"customText": "no idea"}}'"#)]
struct AnswerArgs {
    /// Request
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// The answers
    #[arg(long, value_name = "JSON")]
    answers: String,
}

/// Reject a permission request or questions, with a reason
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke inbox reject 3fa8
  convoke inbox reject 3fa8 --reason 'ask me tomorrow'")]
struct RejectArgs {
    /// Request
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// Reason, sent to the asker
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// The new state of a request. A contract with scripts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Settled {
    id: String,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    option_id: Option<String>,
    /// The rule that the answer made.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<MadeRule>,
}

/// A rule that an answer made.
#[derive(Serialize)]
struct MadeRule {
    id: RuleId,
    text: String,
}

pub(crate) fn run(
    args: &InboxArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    daemon::with(world, global, &args.daemon, output, async |client, _| {
        let inbox = client.inbox().await?;
        match &args.command {
            InboxCommand::List(_) => list(&inbox, output),
            InboxCommand::Show(args) => show::show(find(&inbox, &args.id)?, output),
            InboxCommand::Allow(args) => allow(client, &inbox, args, output).await,
            InboxCommand::Deny(args) => deny(client, &inbox, args, output).await,
            InboxCommand::Answer(args) => answer(client, &inbox, args, output).await,
            InboxCommand::Reject(args) => reject(client, &inbox, args, output).await,
        }
    })
}

fn list(inbox: &Inbox, output: &Output) -> anyhow::Result<()> {
    output.show(inbox, |Inbox { items }, _| {
        if items.is_empty() {
            return "No pending requests.\n".to_owned();
        }
        let now = clock::now();
        let row = |item: &InboxItem| {
            [
                short(item.id),
                kind(item).to_owned(),
                relative(item.created_at, now),
                from(item),
                options(item),
                plain(&item.title).replace(['\n', '\t'], " "),
            ]
        };
        let header = ["REQUEST", "KIND", "ASKED", "FROM", "OPTIONS", "TITLE"];
        table(header, items.iter().map(row).collect())
    })
}

const fn kind(item: &InboxItem) -> &'static str {
    match item.kind {
        InboxKind::Permission => "permission",
        InboxKind::Questions => "questions",
    }
}

fn from(item: &InboxItem) -> String {
    let who = item.agent.as_ref().map(ToString::to_string).or_else(|| item.asked_by.clone());
    let place = item.project.clone().or_else(|| item.working_directory.clone());
    let parts = [who, place].into_iter().flatten();
    plain(&parts.collect::<Vec<_>>().join(" in ")).replace(['\n', '\t'], " ")
}

/// The options of a permission, or the number of questions.
fn options(item: &InboxItem) -> String {
    match (&item.permission, &item.questions) {
        (Some(permission), _) => {
            // The ids are the agent's; `inbox show` and --json have them.
            let (mut others, mut words) = (Vec::new(), Vec::new());
            for option in &permission.options {
                match option.kind {
                    PermissionKind::AllowOnce => words.push("allow".to_owned()),
                    PermissionKind::RejectOnce => words.push("deny".to_owned()),
                    PermissionKind::AllowAlways | PermissionKind::RejectAlways => {
                        others.push(plain(&option.option_id));
                    }
                }
            }
            words.dedup();
            words.extend(others);
            words.join(",")
        }
        (None, Some(questions)) => questions.len().to_string(),
        (None, None) => String::new(),
    }
}

async fn allow(
    client: &Client,
    inbox: &Inbox,
    args: &AllowArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let item = find(inbox, &args.id)?;
    let answer = allowing(item, args.option.as_deref(), args.always)?;
    settle(client, item, answer, output).await
}

async fn deny(
    client: &Client,
    inbox: &Inbox,
    args: &DenyArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let item = find(inbox, &args.id)?;
    match denying(item, args.always)? {
        Some(answer) => settle(client, item, answer, output).await,
        None => {
            client.reject(&item.id.to_string(), &Rejection::default()).await?;
            print_settled(&item.id.to_string(), Status::Rejected, Some("denied"), output)
        }
    }
}

async fn settle(
    client: &Client,
    item: &InboxItem,
    answer: Answer,
    output: &Output,
) -> anyhow::Result<()> {
    let id = item.id.to_string();
    client.answer(&id, &answer).await?;
    let Answer::Option { option_id, rule } = answer else {
        return print_settled(&id, Status::Answered, None, output);
    };
    let made = match rule {
        Some(_) => client.rules(None).await?.rules.into_iter(),
        None => Vec::new().into_iter(),
    };
    let rule = made.into_iter().find(|rule| rule.request_id == Some(item.id));
    let rule = rule.map(|rule| MadeRule { id: rule.id, text: rule.text });
    let option = item.permission.iter().flat_map(|it| &it.options);
    let option = option.into_iter().find(|option| option.option_id == option_id);
    let words = option.map_or("answered", |option| past(option.kind));
    let settled = Settled { id, status: Status::Answered, option_id: Some(option_id), rule };
    output.show(&settled, |settled, _| {
        let mut text = format!("{} {words}\n", short(&settled.id));
        if let Some(rule) = &settled.rule {
            text.push_str(&format!("rule {} made: {}\n", short(rule.id), plain(&rule.text)));
        }
        text
    })
}

/// What an answer to a permission did.
const fn past(kind: PermissionKind) -> &'static str {
    match kind {
        PermissionKind::AllowOnce | PermissionKind::AllowAlways => "allowed",
        PermissionKind::RejectOnce | PermissionKind::RejectAlways => "denied",
    }
}

async fn answer(
    client: &Client,
    inbox: &Inbox,
    args: &AnswerArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let answers = parse_answers(&args.answers)?;
    let id = whole_id(inbox, &args.id)?;
    client.answer(&id, &Answer::Answers(answers)).await?;
    print_settled(&id, Status::Answered, None, output)
}

async fn reject(
    client: &Client,
    inbox: &Inbox,
    args: &RejectArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let id = whole_id(inbox, &args.id)?;
    client.reject(&id, &Rejection { reason: args.reason.clone() }).await?;
    // People see permissions allowed or denied, and questions answered or rejected.
    let is_permission =
        inbox.items.iter().any(|it| it.id.to_string() == id && it.permission.is_some());
    print_settled(&id, Status::Rejected, is_permission.then_some("denied"), output)
}

/// The id of a request in the inbox; any other text is passed to the daemon.
fn whole_id(inbox: &Inbox, text: &str) -> Result<String, InboxError> {
    match find(inbox, text) {
        Ok(item) => Ok(item.id.to_string()),
        Err(InboxError::Unknown { text }) => Ok(text),
        Err(error) => Err(error),
    }
}

fn print_settled(
    id: &str,
    status: Status,
    words: Option<&str>,
    output: &Output,
) -> anyhow::Result<()> {
    let settled = Settled { id: id.to_owned(), status, option_id: None, rule: None };
    output.show(&settled, |settled, _| {
        let words = words.map_or_else(|| settled.status.to_string(), ToOwned::to_owned);
        format!("{} {words}\n", short(&settled.id))
    })
}
