//! `convoke spawn --list-sessions`.

use convoke_core::time::Timestamp;
use convoke_files::transcripts::{Entry, Id, Listing, Status};
use serde::Serialize;

use crate::output::{Output, plain, table};

/// A contract with scripts.
#[derive(Serialize)]
struct Listed<'a> {
    sessions: Vec<ListedSession<'a>>,
}

#[derive(Serialize)]
struct ListedSession<'a> {
    session_id: &'a Id,
    agent: &'a str,
    turn_count: u64,
    created_at: Timestamp,
    status: Status,
}

impl<'a> From<&'a Entry> for ListedSession<'a> {
    fn from(entry: &'a Entry) -> Self {
        let &Entry { ref id, ref agent, turn_count, created_at, status } = entry;
        Self { session_id: id, agent, turn_count, created_at, status }
    }
}

/// Shows the sessions of an agent, with a status, or all.
pub(super) fn show(
    listing: &Listing,
    agent: Option<&str>,
    status: Option<Status>,
    output: &Output,
) -> anyhow::Result<()> {
    for damage in &listing.damaged {
        let cause = std::error::Error::source(&damage.error).map(ToString::to_string);
        let cause = cause.unwrap_or_else(|| damage.error.to_string());
        tracing::warn!("the session {} cannot be listed: {cause}", damage.id);
    }
    let is_wanted = |entry: &&Entry| {
        agent.is_none_or(|agent| entry.agent == agent)
            && status.is_none_or(|status| entry.status == status)
    };
    let sessions = listing.entries.iter().filter(is_wanted).map(ListedSession::from);
    output.show(&Listed { sessions: sessions.collect() }, |listed, _| {
        let row = |session: &ListedSession<'_>| {
            [
                session.session_id.to_string(),
                plain(session.agent),
                session.turn_count.to_string(),
                session.created_at.to_string(),
                session.status.to_string(),
            ]
        };
        let rows = listed.sessions.iter().map(row).collect();
        table(["SESSION_ID", "AGENT", "TURN_COUNT", "CREATED_AT", "STATUS"], rows)
    })
}
