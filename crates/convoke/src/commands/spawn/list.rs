//! The conversations at a glance.

use convoke_core::time::Timestamp;
use convoke_files::transcripts::{Entry, Id, Status, Transcripts};
use serde::Serialize;

use crate::output::{Output, plain, table};

/// A contract with scripts.
#[derive(Serialize)]
struct Listed {
    sessions: Vec<ListedSession>,
}

#[derive(Serialize)]
struct ListedSession {
    session_id: Id,
    agent: String,
    turn_count: u64,
    created_at: Timestamp,
    status: Status,
}

impl From<Entry> for ListedSession {
    fn from(entry: Entry) -> Self {
        let Entry { id, agent, turn_count, created_at, status } = entry;
        Self { session_id: id, agent, turn_count, created_at, status }
    }
}

/// Lists the conversations with an agent, or with a status, or all.
pub(super) fn run(
    transcripts: &Transcripts,
    agent: Option<&str>,
    status: Option<Status>,
    output: &Output,
) -> anyhow::Result<()> {
    let listing = transcripts.list()?;
    for damage in &listing.damaged {
        let cause = std::error::Error::source(&damage.error).map(ToString::to_string);
        let cause = cause.unwrap_or_else(|| damage.error.to_string());
        tracing::warn!("the session {} cannot be listed: {cause}", damage.id);
    }
    let is_wanted = |entry: &Entry| {
        agent.is_none_or(|agent| entry.agent == agent)
            && status.is_none_or(|status| entry.status == status)
    };
    let sessions = listing.entries.into_iter().filter(is_wanted).map(ListedSession::from);
    output.show(&Listed { sessions: sessions.collect() }, |listed, _| {
        let row = |session: &ListedSession| {
            [
                session.session_id.to_string(),
                plain(&session.agent),
                session.turn_count.to_string(),
                session.created_at.to_string(),
                session.status.to_string(),
            ]
        };
        let rows = listed.sessions.iter().map(row).collect();
        table(["SESSION_ID", "AGENT", "TURN_COUNT", "CREATED_AT", "STATUS"], rows)
    })
}
