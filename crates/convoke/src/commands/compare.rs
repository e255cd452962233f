//! `convoke compare`: one prompt for several agents, each in a work tree of its own.

use std::time::Duration;

use clap::ArgGroup;
use convoke_api::Client;
use convoke_api::bodies::{
    Comparison, ComparisonEntry, ComparisonState, Comparisons, FinishOutcome, KeepEntry, KeptEntry,
    NewComparison, NewComparisonEntry,
};
use convoke_core::count::counted;
use convoke_core::id::short;

use super::World;
use super::session::{CommitFlags, chosen_project, limit};
use crate::args::GlobalArgs;
use crate::daemon::{self, DaemonArgs};
use crate::output::{Output, aside, plain, table};

/// The polling interval for a running comparison.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Options that are given instead of a prompt; those after the first two are for the session that is kept.
const OTHERS: [&str; 9] =
    ["keep", "list", "merge", "squash", "rebase", "pr", "message", "force", "resolve"];
/// What an empty list says.
const NONE: &str = "No comparisons. Start one with `convoke compare PROMPT --agents AGENT,AGENT`\n";

/// Give one prompt to several agents, and compare their work
///
/// Waits until all are done, and prints changes, cost, time and the result of the test. Then
/// `--keep SESSION` keeps one: on its branch, or with `--merge`, `--squash` or `--rebase` in the
/// branch that it was made from, or with `--pr` as a pull request. The others are discarded after a
/// snapshot.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke compare 'fix the failing test' --agents claude-code,codex --test 'npm test'
  convoke compare 'fix it' --agents claude-code:opus,claude-code:sonnet
  convoke compare --keep 3fa8 --merge
  convoke compare --keep 3fa8 --rebase --resolve
  convoke compare --list")]
#[command(group = ArgGroup::new("way").args(CommitFlags::NAMES).conflicts_with_all(["prompt", "list"]))]
pub(crate) struct CompareArgs {
    /// Prompt that every agent gets
    #[arg(required_unless_present_any = OTHERS, conflicts_with_all = ["keep", "list"])]
    prompt: Option<String>,
    /// Agents, each with a model if it is to be another one than its own: AGENT or AGENT:MODEL
    #[arg(
        long,
        value_name = "AGENTS",
        value_delimiter = ',',
        conflicts_with_all = ["keep", "list"],
        required_unless_present_any = OTHERS
    )]
    agents: Vec<String>,
    /// Line of shell that tests the work of each
    #[arg(long, value_name = "CMD", conflicts_with_all = ["keep", "list"])]
    test: Option<String>,
    /// Project: its name, its path, or a unique prefix of its id [default: the one around the
    /// current folder]
    #[arg(long, value_name = "PROJECT", conflicts_with_all = ["keep", "list"])]
    project: Option<String>,
    /// Do not wait until the agents are done
    #[arg(long, conflicts_with_all = ["keep", "list"])]
    no_wait: bool,
    /// Session to keep; the others of its comparison are discarded
    #[arg(long, value_name = "SESSION")]
    keep: Option<String>,
    #[command(flatten)]
    commits: CommitFlags,
    /// Message of commits, or title and body of the pull request [default: the session's title]
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["prompt", "list"])]
    message: Option<String>,
    /// Delete files that no snapshot holds, such as very large ones; without it, sessions that have
    /// such files are not discarded
    #[arg(long, conflicts_with_all = ["prompt", "list"])]
    force: bool,
    /// Prompt the agent of the one that is kept to resolve conflicts, if there are any
    #[arg(long, conflicts_with_all = ["prompt", "list"])]
    resolve: bool,
    /// List comparisons
    #[arg(long, conflicts_with = "keep")]
    list: bool,
    #[command(flatten)]
    daemon: DaemonArgs,
}

/// The session is in no comparison.
#[derive(Debug, thiserror::Error)]
#[error("no comparison has a session {text}; `convoke compare --list` lists them")]
pub(crate) struct NotCompared {
    text: String,
}

/// The branch of the kept session conflicts with its base.
#[derive(Debug, thiserror::Error)]
#[error("{} in conflict; nothing was kept or discarded", counted(files, "file"))]
pub(crate) struct KeptNothing {
    files: usize,
}

pub(crate) fn run(
    args: &CompareArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    daemon::with(world, global, &args.daemon, output, async |client, _| {
        match (&args.keep, &args.prompt) {
            (Some(session), _) => keep(client, session, args, output).await,
            (None, Some(prompt)) => compare(client, prompt, args, output).await,
            (None, None) if !args.list => Err(NotComparable::WithoutKeep.into()),
            (None, None) => {
                let listed = client.comparisons().await?;
                output.show(&listed, |Comparisons { comparisons }, _| {
                    if comparisons.is_empty() {
                        return NONE.to_owned();
                    }
                    comparisons.iter().map(for_people).collect::<Vec<_>>().join("\n")
                })
            }
        }
    })
}

async fn compare(
    client: &Client,
    prompt: &str,
    args: &CompareArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let project = chosen_project(client, args.project.as_deref()).await?;
    let entries = args.agents.iter().map(|word| {
        let (agent, model) = match word.split_once(':') {
            Some((agent, model)) => (agent, Some(model.to_owned())),
            None => (word.as_str(), None),
        };
        NewComparisonEntry { agent: agent.trim().to_owned(), model, mode: None }
    });
    let new = NewComparison {
        repo_id: project.id.to_string(),
        prompt: prompt.to_owned(),
        entries: entries.collect(),
        test: args.test.clone(),
    };
    check(client, &new.entries).await?;
    let mut comparison = match client.begin_comparison(&new).await {
        Ok(comparison) => comparison,
        Err(error) => return Err(limit::explain(client, error, new.entries.len()).await),
    };
    while !comparison.done && !args.no_wait {
        if comparison.entries.iter().any(|entry| entry.state == ComparisonState::Waiting) {
            aside("An agent waits for you: run `convoke inbox list`");
        }
        tokio::time::sleep(POLL_INTERVAL).await;
        comparison = client.comparison(&comparison.id).await?;
    }
    output.show(&comparison, |comparison, _| {
        let first = comparison.entries.iter().find_map(|entry| entry.session.as_ref());
        let next = first.filter(|_| comparison.done).map(|session| {
            let id = short(session.id);
            format!("Keep one, such as the first: `convoke compare --keep {id} --merge`\n")
        });
        for_people(comparison) + &next.unwrap_or_default()
    })
}

/// The agents cannot be compared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotComparable {
    /// Options of `--keep` without it.
    #[error("these options are for the session that is kept: add `--keep SESSION`")]
    WithoutKeep,
    /// There is nothing to compare it with.
    #[error("a comparison needs two agents or more, such as `--agents claude-code,codex`")]
    Alone,
    /// There is no such agent.
    #[error("there is no agent {name}; there are {}", known.join(", "))]
    Unknown {
        /// What was given.
        name: String,
        /// The agents of the daemon.
        known: Vec<String>,
    },
}

/// Checks the agents before the first of them is started.
async fn check(client: &Client, entries: &[NewComparisonEntry]) -> anyhow::Result<()> {
    if entries.len() < 2 {
        return Err(NotComparable::Alone.into());
    }
    let agents = client.agents().await?.agents.into_iter();
    let known: Vec<String> = agents.map(|agent| agent.name.to_string()).collect();
    match entries.iter().find(|entry| !known.contains(&entry.agent)) {
        Some(entry) => Err(NotComparable::Unknown { name: entry.agent.clone(), known }.into()),
        None => Ok(()),
    }
}

async fn keep(
    client: &Client,
    session: &str,
    args: &CompareArgs,
    output: &Output,
) -> anyhow::Result<()> {
    let Comparisons { comparisons } = client.comparisons().await?;
    let has = |comparison: &&Comparison| {
        let mut sessions = comparison.entries.iter().filter_map(|entry| entry.session.as_ref());
        sessions.any(|found| found.id.to_string().starts_with(&session.to_ascii_lowercase()))
    };
    let found = comparisons.iter().find(has);
    let found = found.ok_or_else(|| NotCompared { text: session.to_owned() })?;
    let keep = KeepEntry {
        session_id: session.to_owned(),
        how: args.commits.chosen(),
        message: args.message.clone(),
        force: args.force,
        resolve: args.resolve,
    };
    let kept = client.keep_entry(&found.id, &keep).await?;
    output.show(&kept, |kept, _| kept_for_people(kept))?;
    match kept.finished.outcome {
        FinishOutcome::Conflicts if kept.finished.prompt.is_none() => {
            Err(KeptNothing { files: kept.finished.conflicts.len() }.into())
        }
        FinishOutcome::Conflicts | FinishOutcome::Finished | FinishOutcome::PullRequest => Ok(()),
    }
}

fn kept_for_people(KeptEntry { finished, comparison }: &KeptEntry) -> String {
    let mut text = for_people(comparison);
    if finished.prompt.is_some() {
        let id = short(finished.session.id);
        text.push_str(&format!("{id} was prompted to resolve conflicts; keep it again then\n"));
    }
    text
}

fn for_people(comparison: &Comparison) -> String {
    let mut text = format!("{}\n", plain(comparison.prompt.lines().next().unwrap_or_default()));
    let header = ["SESSION", "AGENT", "STATE", "CHANGES", "COST", "TIME", "TEST"];
    let rows = comparison.entries.iter().map(|entry| row(entry, comparison));
    text.push_str(&table(header, rows.collect()));
    for entry in &comparison.entries {
        if let Some(error) = &entry.error {
            let id = entry.session.as_ref().map_or_else(String::new, |it| short(it.id));
            let agent = entry.agent.as_ref().map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("{}: {}\n", [agent, id].join(" ").trim(), plain(error)));
        }
    }
    text
}

fn row(entry: &ComparisonEntry, comparison: &Comparison) -> [String; 7] {
    let session = entry.session.as_ref();
    let none = || "-".to_owned();
    let agent = entry.agent.as_ref().map(ToString::to_string).unwrap_or_default();
    let model = entry.model.as_ref().map(|model| format!(":{}", plain(model)));
    let changes = session.and_then(|session| session.changes);
    let cost = session.and_then(|session| session.cost.as_ref());
    let test = entry.test.as_ref().map(|test| match test.exit_code {
        Some(0) => "passed".to_owned(),
        Some(code) => format!("failed with exit code {code}"),
        None => "did not end".to_owned(),
    });
    let time = entry.duration_ms.map(|millis| format!("{:.1} s", millis as f64 / 1000.0));
    [
        session.map_or_else(none, |session| short(session.id)),
        format!("{agent}{}", model.unwrap_or_default()),
        state(entry, comparison).to_owned(),
        changes.map_or_else(none, |it| {
            format!("{} +{} -{}", counted(it.files, "file"), it.added, it.removed)
        }),
        cost.map_or_else(none, |cost| format!("{:.2} {}", cost.amount, plain(&cost.currency))),
        time.unwrap_or_else(none),
        test.unwrap_or_else(none),
    ]
}

/// The state of an entry, in a word.
fn state(entry: &ComparisonEntry, comparison: &Comparison) -> &'static str {
    let session = entry.session.as_ref();
    let kept = comparison.kept.is_some() && comparison.kept == session.map(|session| session.id);
    // One that could not be discarded has an error and its work tree.
    let own = session.and_then(|session| session.worktree.as_ref());
    let is_removed = comparison.kept.is_some() && own.is_some_and(|own| own.removed.is_some());
    match entry.state {
        _ if kept => "kept",
        ComparisonState::Working => "working",
        ComparisonState::Waiting => "waiting",
        ComparisonState::Testing => "testing",
        ComparisonState::Ended if is_removed => "discarded",
        ComparisonState::Ended => "ended",
        ComparisonState::Failed => "failed",
    }
}
