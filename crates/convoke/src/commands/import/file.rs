//! One transcript, read line by line and sent page by page: none is too long.

use std::path::Path;

use convoke_api::Client;
use convoke_api::bodies::{Import, ImportOutcome, ImportTurn, TurnRole};
use convoke_core::id::AgentName;
use convoke_files::transcripts::{Found, Metadata, Record, Records, Role, Turn, UNKNOWN_AGENT};

use super::{DamagedLine, Imported};
use crate::repl::Profiles;

/// Turns after which a page ends with the next prompt.
const PAGE_TURNS: usize = 200;
/// Turns after which a page always ends; the daemon accepts no more.
const PAGE_TURNS_MAX: usize = 1000;
/// Bytes after which it ends with the next prompt.
const PAGE_BYTES: usize = 1 << 20;
/// Bytes after which a page always ends, well below the daemon's limit. A longer turn gets its own
/// page.
const PAGE_BYTES_MAX: usize = 8 << 20;

/// Imports a transcript; `None` if it has no turns. Lines that cannot be read are skipped and
/// listed.
pub(super) async fn import(
    mut sent: Sent<'_>,
    damaged: &mut Vec<DamagedLine>,
    progress: impl Fn(u64),
) -> anyhow::Result<Option<Imported>> {
    let (path, mut page) = (sent.path, Page::default());
    for found in Records::open(path)? {
        match found? {
            Found::Bad(bad) => {
                let (line, problem) = (bad.number, bad.problem);
                damaged.push(DamagedLine { file: path.to_owned(), line, problem });
            }
            Found::Record(Record::Metadata(metadata)) => {
                page.metadata.get_or_insert(metadata);
            }
            Found::Record(Record::Turn(turn)) => {
                if page.is_full_before(&turn) {
                    sent.send(&mut page).await?;
                    progress(page.after);
                }
                page.push(turn);
            }
            Found::Record(
                Record::Status { .. }
                | Record::Agent { .. }
                | Record::AgentSession(_)
                | Record::Cleared { .. }
                | Record::Imported { .. },
            ) => {}
        }
    }
    sent.send(&mut page).await?;
    Ok(sent.so_far)
}

/// Turns that are not sent yet.
#[derive(Default)]
struct Page {
    metadata: Option<Metadata>,
    /// How many turns come before them.
    after: u64,
    turns: Vec<ImportTurn>,
    bytes: usize,
}

impl Page {
    /// Whether the turn begins the next page. A prompt and its answer are kept together.
    fn is_full_before(&self, turn: &Turn) -> bool {
        let (count, bytes) = (self.turns.len(), self.bytes + turn.content.len());
        let may_end = turn.role == Role::User && (count >= PAGE_TURNS || bytes > PAGE_BYTES);
        count > 0 && (may_end || count >= PAGE_TURNS_MAX || bytes > PAGE_BYTES_MAX)
    }

    fn push(&mut self, turn: Turn) {
        self.bytes += turn.content.len();
        let role = match turn.role {
            Role::User => TurnRole::User,
            Role::Assistant => TurnRole::Assistant,
        };
        let (timestamp, tokens) = (turn.timestamp, turn.tokens);
        self.turns.push(ImportTurn { role, content: turn.content, timestamp, tokens });
    }
}

/// The progress of sending a transcript.
pub(super) struct Sent<'a> {
    client: &'a Client,
    path: &'a Path,
    project: &'a str,
    profiles: &'a Profiles,
    so_far: Option<Imported>,
}

impl<'a> Sent<'a> {
    /// Nothing yet of the transcript at this path.
    pub(super) const fn new(
        client: &'a Client,
        path: &'a Path,
        project: &'a str,
        profiles: &'a Profiles,
    ) -> Self {
        Self { client, path, project, profiles, so_far: None }
    }

    /// Sends a page, unless the daemon has it already.
    async fn send(&mut self, page: &mut Page) -> anyhow::Result<()> {
        let after = page.after;
        let turns = std::mem::take(&mut page.turns);
        page.after += turns.len() as u64;
        page.bytes = 0;
        let is_known = self.so_far.as_ref().is_some_and(|so_far| {
            // The last imported page is sent again, so that the daemon can compare it.
            so_far.outcome == ImportOutcome::Continued || so_far.turns > page.after
        });
        let Some(first) = turns.first().filter(|_| !is_known) else { return Ok(()) };
        // A file without metadata is called by its name, and begins with its first turn.
        let name = self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (transcript, agent, created_at) = match &page.metadata {
            Some(about) if !about.session_id.is_empty() => {
                (about.session_id.clone(), about.agent.as_str(), about.created_at)
            }
            Some(about) => (name, about.agent.as_str(), about.created_at),
            None => (name, UNKNOWN_AGENT, first.timestamp),
        };
        let agent = self.agent_called(agent);
        let repo_id = self.project.to_owned();
        let import = Import { repo_id, transcript, agent, created_at, after, turns };
        let answer = self.client.import(&import).await?;
        let so_far = self.so_far.get_or_insert_with(|| Imported {
            file: self.path.to_owned(),
            session_id: answer.session.id,
            turns: 0,
            added: 0,
            outcome: answer.outcome,
        });
        so_far.turns = answer.turns;
        so_far.added += answer.added;
        if answer.outcome == ImportOutcome::Added {
            so_far.outcome = ImportOutcome::Added;
        }
        Ok(())
    }

    /// The agent that continues a conversation: the one of its role, if that is known here.
    fn agent_called(&self, name: &str) -> String {
        match self.profiles.find(name) {
            Ok(profile) => profile.agent.name.to_string(),
            // The name of a role may not be valid for an agent.
            Err(_) => name.parse::<AgentName>().map_or(UNKNOWN_AGENT, |_| name).to_owned(),
        }
    }
}
