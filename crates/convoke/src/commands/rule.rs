//! `convoke rule`: what agents may do without asking, and what they may not.

use clap::ValueEnum;
use convoke_api::Client;
use convoke_api::bodies::{NewRule, Rule, Rules};
use convoke_core::id::short;
use convoke_core::rule::{Effect, InvalidRule, Matcher};
use convoke_core::time::relative;
use serde::Serialize;

use super::World;
use super::project::id_of;
use crate::args::GlobalArgs;
use crate::clock;
use crate::daemon::{self, DaemonArgs};
use crate::output::{Output, plain, table};

/// List, add and remove rules for what agents may do unasked
///
/// A rule is compared with what an agent gives to its tool, never with a title. The sandbox is the boundary, not
/// the rules: they only save you from being asked the same thing again. A denial wins over every allowance.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  convoke rule list
  convoke rule add allow command 'cargo test …' --project web
  convoke rule add deny command 'git push' --everywhere
  convoke rule remove 3fa8"
)]
pub(crate) struct RuleArgs {
    #[command(subcommand)]
    command: RuleCommand,
    #[command(flatten)]
    daemon: DaemonArgs,
}

#[derive(Debug, clap::Subcommand)]
enum RuleCommand {
    List(ListArgs),
    Add(AddArgs),
    Remove(RemoveArgs),
}

/// List the rules, the newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke rule list
  convoke rule list --project web
  convoke rule list --json | jq -r '.rules[].text'")]
struct ListArgs {
    /// Only the rules that hold in this project: its name, its path, or a unique prefix of its id
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
}

/// Add a rule
///
/// PATTERN is a command by its first words, which may end in `…` or `...` for further words that are no options;
/// a path pattern for edits and reads (`*` within a name, `**` for any folders), relative to the project or
/// absolute; a tool, as TOOL or SERVER/TOOL; or a domain, which includes those below it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke rule add allow command 'cargo test …'
  convoke rule add deny command rm --everywhere
  convoke rule add allow edit 'src/**' --project web --agent codex
  convoke rule add allow tool github/list_issues
  convoke rule add allow fetch docs.rs --everywhere")]
struct AddArgs {
    /// What the rule does
    effect: EffectArg,
    /// What it is about
    kind: Kind,
    /// The command, path pattern, tool or domain
    pattern: String,
    /// Project that it holds in: its name, its path, or a unique prefix of its id [default: the one around this folder]
    #[arg(long, value_name = "PROJECT", conflicts_with = "everywhere")]
    project: Option<String>,
    /// Let it hold in every project
    #[arg(long)]
    everywhere: bool,
    /// Agent that it holds for [default: all]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

/// Remove a rule: agents ask again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke rule remove 3fa8")]
struct RemoveArgs {
    /// Rule: its id, or a unique prefix of it
    id: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum EffectArg {
    Allow,
    Deny,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    Command,
    Edit,
    Read,
    Tool,
    Fetch,
}

/// A removed rule. A contract with scripts.
#[derive(Serialize)]
struct Removed {
    id: String,
}

pub(crate) fn run(
    args: &RuleArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    daemon::with(world, global, &args.daemon, output, async |client, _| match &args.command {
        RuleCommand::List(args) => list(client, args, output).await,
        RuleCommand::Add(args) => add(client, args, output).await,
        RuleCommand::Remove(args) => remove(client, args, output).await,
    })
}

async fn list(client: &Client, args: &ListArgs, output: &Output) -> anyhow::Result<()> {
    let project = match &args.project {
        Some(text) => Some(id_of(client, Some(text)).await?),
        None => None,
    };
    let rules = client.rules(project.as_deref()).await?;
    output.show(&rules, |Rules { rules }, _| {
        if rules.is_empty() {
            return "No rules: agents ask for everything. An answer makes one: `convoke inbox allow ID --always`\n"
                .to_owned();
        }
        let now = clock::now();
        let row = |rule: &Rule| {
            let used = rule.last_used_at.map(|at| format!(", {}", relative(at, now)));
            [
                short(rule.id),
                plain(&rule.text).replace(['\n', '\t'], " "),
                relative(rule.created_at, now),
                format!("{}{}", rule.used_count, used.unwrap_or_default()),
            ]
        };
        table(["RULE", "WHAT", "MADE", "USED"], rules.iter().map(row).collect())
    })
}

async fn add(client: &Client, args: &AddArgs, output: &Output) -> anyhow::Result<()> {
    let effect = match args.effect {
        EffectArg::Allow => Effect::Allow,
        EffectArg::Deny => Effect::Deny,
    };
    let matcher = matcher(args.kind, &args.pattern)?;
    matcher.check(effect)?;
    let repo_id =
        if args.everywhere { None } else { Some(id_of(client, args.project.as_deref()).await?) };
    let new = NewRule { effect, matcher, repo_id, agent: args.agent.clone() };
    let rule = client.add_rule(&new).await?;
    output.show(&rule, |rule, _| format!("{} {}\n", short(rule.id), plain(&rule.text)))
}

/// Parses a pattern.
fn matcher(kind: Kind, pattern: &str) -> Result<Matcher, InvalidRule> {
    let pattern = pattern.trim();
    Ok(match kind {
        Kind::Command => Matcher::command(pattern)?,
        Kind::Edit => Matcher::Edit { glob: pattern.to_owned() },
        Kind::Read => Matcher::Read { glob: pattern.to_owned() },
        Kind::Tool => match pattern.split_once('/') {
            Some((server, tool)) => {
                Matcher::Tool { server: Some(server.to_owned()), tool: tool.to_owned() }
            }
            None => Matcher::Tool { server: None, tool: pattern.to_owned() },
        },
        Kind::Fetch => Matcher::Fetch { domain: pattern.to_ascii_lowercase() },
    })
}

async fn remove(client: &Client, args: &RemoveArgs, output: &Output) -> anyhow::Result<()> {
    client.remove_rule(&args.id).await?;
    let removed = Removed { id: args.id.clone() };
    output.show(&removed, |removed, _| format!("removed {}\n", short(&removed.id)))
}
