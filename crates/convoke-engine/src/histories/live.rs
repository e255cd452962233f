//! Whether the conversation of an imported session may be open in another program.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use convoke_core::id::SessionId;
use convoke_core::time::Timestamp;
use convoke_histories::{Cursor, Liveness, Processes as Running, Store, liveness};
use convoke_store::{HistoryKey, Window};

use super::{HistoryAgent, name_of};
use crate::blocking::blocking;
use crate::error::Result;
use crate::processes::Processes;

/// Why an agent session is recorded whose conversation was imported and not continued here since.
pub(crate) const IMPORTED: &str = "imported";

/// Whether another program may have the session's conversation open. If that is unknown, it is
/// assumed: two programs that continue one conversation would fork it without noticing.
pub(crate) async fn is_open_elsewhere(
    processes: &Processes,
    session: SessionId,
    agent_session: &str,
) -> Result<bool> {
    let Some(history) = processes.store.session_history(session).await? else { return Ok(false) };
    if history.agent_session_id != agent_session {
        return Ok(false);
    }
    let Some(cursor) = processes.store.history_cursor(history.key.clone()).await? else {
        return Ok(false);
    };
    let records = processes.store.agent_session_records(session, Window::first(1)).await?;
    let is_untouched = records.first().is_some_and(|record| record.why == IMPORTED);
    let (key, now) = (history.key, processes.host.now());
    let open_for = processes.settings.history.open_for;
    let found = blocking(move || liveness_of(&key, &cursor, open_for, now)).await?;
    Ok(match found {
        // The last change may have been made by an agent that Convoke started.
        Some(Liveness::Recent) => is_untouched,
        Some(found) => found.may_be_open(),
        // A conversation that was deleted is not open.
        None => false,
    })
}

fn liveness_of(
    key: &HistoryKey,
    cursor: &str,
    open_for: Duration,
    now: Timestamp,
) -> Option<Liveness> {
    let agent = HistoryAgent::ALL.into_iter().find(|agent| name_of(*agent) == key.agent)?;
    let cursor: Cursor = serde_json::from_str(cursor).ok()?;
    let mut store = Store::open_at(agent, Path::new(&key.root)).ok()??;
    let mut histories = store.scan().ok()?.into_iter();
    let history = histories.find(|history| {
        history.path == key.path && history.session.as_deref().unwrap_or_default() == key.entry
    })?;
    let running = Running::read(Path::new("/proc"), &own_processes()).ok();
    Some(liveness(&history, cursor.identity(), running.as_ref(), open_for, now))
}

/// This process and all that it started, also indirectly.
fn own_processes() -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if let Some(parent) = parent_of(&entry.path()) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut own = HashSet::new();
    let mut next = vec![std::process::id()];
    while let Some(pid) = next.pop() {
        if own.insert(pid) {
            next.extend(children.get(&pid).into_iter().flatten());
        }
    }
    own.into_iter().collect()
}

/// The parent in `/proc/PID/stat`, which follows the name in parentheses and the state.
fn parent_of(process: &Path) -> Option<u32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}
