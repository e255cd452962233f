//! Shell completion: commands and options, and the existing agents, projects, sessions, teams and
//! machines.
//!
//! The script of `convoke completions` calls this program with `CONVOKE_COMPLETE` set. It never
//! starts the daemon, and prints no errors: the user is in the middle of a line.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Arg, Command, CommandFactory as _};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use convoke_api::{Client, SessionQuery};
use convoke_core::id::short;

use crate::args::Args;
use crate::commands::World;
use crate::daemon;
use crate::environment::Environment;
use crate::home::Home;
use crate::signals;

/// Set by the script of a shell, to the name of that shell.
pub(crate) const VARIABLE: &str = "CONVOKE_COMPLETE";
/// How long a user waits for a daemon that is busy.
const TIMEOUT: Duration = Duration::from_millis(700);
/// Sessions that are offered, newest first.
const SESSIONS: u64 = 50;

/// The agents whose conversations `convoke import` reads.
const HISTORIES: [&str; 11] = [
    "claude", "codex", "gemini", "opencode", "goose", "qwen", "copilot", "cline", "kimi", "vibe",
    "droid",
];

/// Answers the completion script of a shell; returns whether it was one.
pub(crate) fn answer(words: &[OsString], environment: &Environment) -> anyhow::Result<bool> {
    let Some(shell) = environment.get(VARIABLE).filter(|shell| !shell.is_empty()) else {
        return Ok(false);
    };
    let name = shell.to_string_lossy();
    let shells = Shells::builtins();
    let shell = shells.completer(&name);
    let shell =
        shell.with_context(|| format!("{VARIABLE} names no shell that is known: {name}"))?;
    let line: Vec<OsString> =
        words.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    let offers = Arc::new(Offers::of(&line, environment)?);
    let mut command = with_offers(Args::command(), &offers, &[]);
    let mut answer = Vec::new();
    let folder = std::env::current_dir().ok();
    shell.write_complete(&mut command, line, folder.as_deref(), &mut answer)?;
    std::io::stdout().write_all(&answer)?;
    Ok(true)
}

/// The kind of an argument's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Agent,
    Project,
    Session,
    Team,
    Node,
    Request,
    Rule,
    User,
    Transcript,
    History,
    Compared,
}

impl Kind {
    /// The kind of an argument, by its name and its value name.
    fn of(path: &[&str], arg: &Arg) -> Option<Self> {
        let value = arg.get_value_names().and_then(<[_]>::first).map(|name| name.as_str());
        match (path.first(), arg.get_id().as_str(), value) {
            (Some(&"compare"), "keep", _) => Some(Self::Compared),
            (Some(&"inbox"), "id", _) => Some(Self::Request),
            (Some(&"rule"), "id", _) => Some(Self::Rule),
            // A name to add is a new one.
            (Some(&"user"), "name", _) if path.last() != Some(&"add") => Some(Self::User),
            (Some(&"spawn"), "resume" | "delete_session", _) => Some(Self::Transcript),
            (Some(&"import"), _, Some("SOURCE")) => Some(Self::History),
            (Some(&"session" | &"worktree"), "id", _) | (_, _, Some("SESSION")) => {
                Some(Self::Session)
            }
            (Some(&"agent"), "agent" | "name", _) | (_, _, Some("AGENT" | "AGENTS")) => {
                Some(Self::Agent)
            }
            (_, _, Some("PROJECT")) => Some(Self::Project),
            (Some(&"team"), "team", _) | (_, _, Some("TEAM")) => Some(Self::Team),
            (_, _, Some("NODE")) => Some(Self::Node),
            _ => None,
        }
    }
}

/// Adds completions to the arguments of a command and its subcommands.
fn with_offers(command: Command, offers: &Arc<Offers>, path: &[&str]) -> Command {
    let command = command.mut_args(|arg| match Kind::of(path, &arg) {
        Some(kind) => {
            let offers = Arc::clone(offers);
            arg.add(ArgValueCompleter::new(move |current: &OsStr| offers.list(kind, current)))
        }
        None => arg,
    });
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    names.iter().fold(command, |command, name| {
        let path: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        command.mut_subcommand(name, |it| with_offers(it, offers, &path))
    })
}

/// Where the values are.
#[derive(Debug)]
struct Offers {
    world: World,
    home: Home,
}

impl Offers {
    fn of(line: &[OsString], environment: &Environment) -> anyhow::Result<Self> {
        let variables = environment.iter().map(|(name, value)| (name.clone(), value.clone()));
        let world = World::around(variables.collect())?;
        let home = Home::locate(home_of(line), &world.environment)?;
        Ok(Self { world, home })
    }

    /// The values of a kind that begin with the typed text; none if they cannot be loaded in time.
    fn list(&self, kind: Kind, current: &OsStr) -> Vec<CompletionCandidate> {
        let found = match kind {
            Kind::Agent => self.agents(),
            Kind::Transcript => self.transcripts(),
            Kind::History => Some(HISTORIES.map(|name| (name.to_owned(), String::new())).to_vec()),
            Kind::Project
            | Kind::Session
            | Kind::Team
            | Kind::Node
            | Kind::Request
            | Kind::Rule
            | Kind::User
            | Kind::Compared => {
                signals::block_on(async { Ok(self.ask(kind).await) }).ok().flatten()
            }
        };
        let current = current.to_string_lossy();
        // Of values that are separated by commas, the last is completed.
        let (before, last) = current.rsplit_once(',').map_or(("", &*current), |(before, last)| {
            (current.get(..=before.len()).unwrap_or_default(), last)
        });
        let found = found.unwrap_or_default().into_iter();
        found
            .filter(|(value, _)| value.starts_with(last))
            .map(|(value, about)| {
                let about = Some(about).filter(|about| !about.is_empty());
                CompletionCandidate::new(format!("{before}{value}")).help(about.map(Into::into))
            })
            .collect()
    }

    fn agents(&self) -> Option<Vec<(String, String)>> {
        let agents = self.world.config(&self.home).ok()?.config.agents;
        let offer = |agent: &convoke_agents::catalogue::Agent| {
            (agent.name.to_string(), agent.title.clone())
        };
        Some(agents.iter().map(offer).collect())
    }

    /// The transcripts of `convoke spawn`, by their files.
    fn transcripts(&self) -> Option<Vec<(String, String)>> {
        let folder = self.home.path().join("spawn/sessions");
        let name = |entry: std::fs::DirEntry| {
            let file = entry.file_name().into_string().ok()?;
            Some((file.strip_suffix(".jsonl")?.to_owned(), String::new()))
        };
        Some(std::fs::read_dir(folder).ok()?.flatten().filter_map(name).collect())
    }

    async fn ask(&self, kind: Kind) -> Option<Vec<(String, String)>> {
        let asked = async {
            let running = daemon::find(&self.home).await.ok()??;
            values(&running.client, kind).await.ok()
        };
        tokio::time::timeout(TIMEOUT, asked).await.ok()?
    }
}

/// The values of a kind that the daemon knows, each with a description.
async fn values(client: &Client, kind: Kind) -> convoke_api::Result<Vec<(String, String)>> {
    Ok(match kind {
        Kind::Agent | Kind::Transcript | Kind::History => Vec::new(),
        Kind::Request => {
            let items = client.inbox().await?.items.into_iter();
            items.map(|item| (short(item.id), item.title)).collect()
        }
        Kind::Rule => {
            let rules = client.rules(None).await?.rules.into_iter();
            rules.map(|rule| (short(rule.id), rule.text)).collect()
        }
        Kind::User => {
            let users = client.users().await?.users.into_iter();
            users.map(|user| (user.name.to_string(), user.role.to_string())).collect()
        }
        Kind::Compared => {
            let comparisons = client.comparisons().await?.comparisons.into_iter();
            let open = comparisons.filter(|comparison| comparison.kept.is_none());
            let sessions = open.flat_map(|it| it.entries).filter_map(|entry| entry.session);
            sessions.map(|it| (short(it.id), it.title)).collect()
        }
        Kind::Project => {
            let repos = client.repos().await?.repos.into_iter();
            repos.map(|repo| (repo.name, repo.path)).collect()
        }
        Kind::Session => {
            let query = SessionQuery { limit: Some(SESSIONS), ..SessionQuery::default() };
            let sessions = client.sessions(&query).await?.sessions.into_iter();
            sessions.map(|it| (short(it.id), it.title)).collect()
        }
        Kind::Team => {
            let teams = client.teams().await?.teams.into_iter();
            teams
                .map(|team| (team.name.to_string(), team.description.unwrap_or_default()))
                .collect()
        }
        Kind::Node => {
            let nodes = client.nodes().await?.nodes.into_iter();
            nodes.map(|node| (node.name, node.version)).collect()
        }
    })
}

/// The home that a command line names.
fn home_of(line: &[OsString]) -> Option<&Path> {
    let mut words = line.iter();
    while let Some(word) = words.next() {
        if word == "--home" {
            return words.next().map(Path::new);
        }
        if let Some(path) = word.to_str().and_then(|word| word.strip_prefix("--home=")) {
            return Some(Path::new(path));
        }
    }
    None
}
