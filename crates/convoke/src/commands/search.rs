//! `convoke search`: finds what was said in any session.

use convoke_api::bodies::{Fragment, Hit, Hits};
use convoke_api::{Client, SearchQuery, SessionQuery as SearchSessions};
use convoke_core::id::short;
use convoke_core::message::Role;
use convoke_core::time::relative;

use super::World;
use super::project;
use crate::args::{GlobalArgs, number};
use crate::clock;
use crate::colour::Colour;
use crate::daemon::{self, DaemonArgs};
use crate::output::{Output, aside_on_terminal, plain};

/// Sessions in which an agent is looked for that is not configured.
const SESSIONS_MAX: u64 = 10_000;

/// Search the prompts, answers and questions of all sessions
///
/// All words must occur; `*` after three or more letters matches the rest of a word. The filters
/// `agent:`, `project:`, `role:`, `since:` and `until:` may also stand among the words, and `order:best`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  convoke search parser error
  convoke search 'migrat*' --project web --role agent
  convoke search database migration --order best
  convoke search roof since:2026-11-01 --json | jq -r '.hits[].session.title'")]
pub(crate) struct SearchArgs {
    /// Words to search for
    #[arg(required = true)]
    words: Vec<String>,
    /// Only sessions of an agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only sessions of a project: its name, its path, or a unique prefix of its id
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only what was said by you, by agents, or by neither
    #[arg(long, value_name = "ROLE", value_parser = ["user", "agent", "system"])]
    role: Option<String>,
    /// Only what was said on this date or later, such as 2026-11-15 (UTC)
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Only what was said until the end of this date
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    /// Maximum number of hits [default: 20]
    #[arg(long, value_name = "N", value_parser = number(1_u64..=100))]
    limit: Option<u64>,
    /// Which hits come first: the newest, or the most relevant of the newest 10,000 [default: newest]
    #[arg(long, value_name = "ORDER", value_parser = ["newest", "best"])]
    order: Option<String>,
    /// Only the hits that follow: `next` of the page before
    #[arg(long, value_name = "NEXT", value_parser = number(0_u64..))]
    before: Option<u64>,
    #[command(flatten)]
    daemon: DaemonArgs,
}

pub(crate) fn run(
    args: &SearchArgs,
    global: &GlobalArgs,
    world: &World,
    output: &Output,
) -> anyhow::Result<()> {
    daemon::with(world, global, &args.daemon, output, async |client, _| {
        let repo_id = match &args.project {
            Some(text) => Some(project::id_of(client, Some(text)).await?),
            None => None,
        };
        if let Some(name) = &args.agent {
            check_agent(client, name).await?;
        }
        let query = SearchQuery {
            text: args.words.join(" "),
            repo_id,
            session_id: None,
            agent: args.agent.clone(),
            role: args.role.clone(),
            since: args.since.clone(),
            until: args.until.clone(),
            order: args.order.clone(),
            before: args.before,
            limit: args.limit,
        };
        let hits = client.search(&query).await?;
        output.show(&hits, listed)?;
        if hits.incomplete {
            aside_on_terminal(
                "the search index is still being filled, so that hits may be missing",
            );
        }
        if let Some(next) = hits.next {
            aside_on_terminal(&format!("there are more hits; see them with --before {next}"));
        }
        Ok(())
    })
}

/// There is no such agent.
#[derive(Debug, thiserror::Error)]
#[error("there is no agent {name}; there are {}", known.join(", "))]
struct UnknownSearched {
    name: String,
    known: Vec<String>,
}

/// Refuses an agent that is neither configured nor in any session.
async fn check_agent(client: &Client, name: &str) -> anyhow::Result<()> {
    let agents = client.agents().await?.agents.into_iter();
    let known: Vec<String> = agents.map(|agent| agent.name.to_string()).collect();
    if known.iter().any(|it| it == name) {
        return Ok(());
    }
    // Imported conversations may be of an agent that is not configured any more.
    let query = SearchSessions { limit: Some(SESSIONS_MAX), ..SearchSessions::default() };
    let sessions = client.sessions(&query).await?.sessions;
    if sessions.iter().any(|session| session.agent.as_str() == name) {
        return Ok(());
    }
    Err(UnknownSearched { name: name.to_owned(), known }.into())
}

fn listed(hits: &Hits, colour: Colour) -> String {
    if hits.hits.is_empty() {
        return "Nothing found.\n".to_owned();
    }
    let hits: Vec<String> = hits.hits.iter().map(|hit| shown(hit, colour)).collect();
    hits.join("\n")
}

/// Where a hit is, in one line, and its surroundings below.
fn shown(hit: &Hit, colour: Colour) -> String {
    let session = &hit.session;
    let speaker = match hit.role {
        Role::User => "you",
        Role::Agent => session.agent.as_str(),
        Role::System => "convoke",
    };
    let place = format!(
        "{}  #{}  {speaker} in {}, {}",
        short(session.uid),
        hit.seq,
        plain(&session.project),
        relative(hit.timestamp, clock::now()),
    );
    let title = plain(&session.title).replace(['\n', '\t'], " ");
    let excerpt: String = hit.excerpt.iter().map(|part| fragment(part, colour)).collect();
    format!("{}  {title}\n    {}\n", colour.faint(place), excerpt.trim())
}

fn fragment(part: &Fragment, colour: Colour) -> String {
    let text = plain(&part.text).replace(['\n', '\t'], " ");
    if part.matched { colour.found(text) } else { text }
}
