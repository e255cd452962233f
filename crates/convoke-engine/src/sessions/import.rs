//! Imports transcripts as sessions, page by page; each page is stored as a whole.
//!
//! The session's id is derived from the transcript, so that a repeated import, or one that continues after a crash,
//! finds it. After every page the session is completed; no agent is involved.

use std::sync::Arc;

use convoke_core::id::{AgentName, ProjectId, SessionId};
use convoke_core::time::Timestamp;
use convoke_store::{NewSession, SessionKind};

use super::create::own_project;
use crate::error::{Error, Result};
use crate::session::{self, Request};
use crate::sessions::Sessions;
use crate::view::{Change, SessionView};

/// Some turns of a transcript, with its metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The project of the session.
    pub project: ProjectId,
    /// The name of the transcript.
    pub transcript: String,
    /// The agent of the conversation.
    pub agent: AgentName,
    /// When the transcript was begun.
    pub created_at: Timestamp,
    /// How many of its turns precede these.
    pub after: u64,
    /// The turns in order.
    pub turns: Vec<ImportTurn>,
    /// The session that they are from, for a fork.
    pub forked_from: Option<SessionId>,
}

/// A turn of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportTurn {
    /// Who speaks.
    pub speaker: Speaker,
    /// The text.
    pub content: String,
    /// When it was said.
    pub timestamp: Timestamp,
    /// The number of tokens.
    pub tokens: u64,
}

/// Who speaks in a turn of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The human.
    Human,
    /// The agent.
    Agent,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedInto {
    /// The session.
    pub session: SessionView,
    /// How many turns of the transcript it has now.
    pub turns: u64,
    /// How many of them are new.
    pub added: u64,
    /// Whether turns were added.
    pub outcome: ImportOutcome,
}

/// Whether anything was imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportOutcome {
    /// Turns were added.
    Added,
    /// All of them had been imported before.
    Known,
    /// The session was not created by an import, or was resumed since; nothing is added to it.
    Continued,
}

pub(super) async fn import(shared: &Arc<Sessions>, import: Import) -> Result<ImportedInto> {
    own_project(shared, import.project).await?;
    let id = session_of(&import.transcript, import.created_at);
    let is_new = match shared.store.session(id).await? {
        Some(_) => false,
        None if import.after > 0 => {
            return Err(Error::ImportGap { known: 0, after: import.after });
        }
        None => create(shared, id, &import).await?,
    };
    // The session's own task writes its log, as always.
    let imported = session::ask(shared, id, |reply| Request::Import { import, reply }).await?;
    if is_new {
        shared.publish(Change::SessionCreated(Box::new(imported.session.clone())));
    }
    Ok(imported)
}

/// Stores a session without messages; `false` if a concurrent import did.
async fn create(shared: &Sessions, id: SessionId, import: &Import) -> Result<bool> {
    let new = NewSession {
        id,
        project_id: import.project,
        agent: import.agent.clone(),
        kind: SessionKind::Session,
        created_at: import.created_at,
    };
    match shared.store.create_session(new).await {
        Ok(()) => Ok(true),
        Err(convoke_store::Error::SessionExists { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The session id of a transcript: its own id if that is one, else derived from its name and start time, since people
/// reuse names.
fn session_of(transcript: &str, created_at: Timestamp) -> SessionId {
    transcript.parse().unwrap_or_else(|_| {
        let text = format!("{transcript}\n{created_at}");
        SessionId::from_random(fingerprint(text.as_bytes()).to_be_bytes())
    })
}

/// FNV-1a with 128 bits: stable; a collision gains an attacker nothing.
pub(crate) fn fingerprint(bytes: &[u8]) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(BASIS, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}
