//! Follows the stores of agents whose import the user agreed to: a conversation in another program
//! appears here while it continues.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use convoke_core::id::SessionId;
use convoke_files::watch::Pace;
use convoke_histories::{Environment, Store};
use tokio::time::Instant;

use super::import::import_agent;
use super::{HistoryAgent, Purpose, Shared, name_of, scan};
use crate::blocking::blocking;
use crate::view::Change;

/// How long changes are debounced before a store is scanned.
const GATHER: Duration = Duration::from_millis(20);
/// The pause after a scan is this many times as long as the scan took, so that a slow store is
/// scanned less often.
const PAUSE_FACTOR: u32 = 3;
/// Folders of one agent that are watched, the last changed first; the others are only scanned
/// periodically.
const FOLDERS_MAX: usize = 4096;
/// How often a store is scanned besides: one that does not exist yet, or has more folders than are
/// watched.
const POLL_INTERVAL: Duration = Duration::from_secs(30);
/// New sessions that are announced one by one; for more, one announcement makes clients
/// list everything again.
const ANNOUNCED_MAX: usize = 50;

/// Starts a task for each agent that is to be followed, until the daemon stops.
pub(super) async fn follow(shared: &Arc<Shared>) {
    loop {
        match shared.consents().await {
            Ok(consents) => {
                for agent in HistoryAgent::ALL {
                    let name = name_of(agent);
                    let is_wanted = consents.iter().any(|consent| consent.agent == name);
                    let mut followed =
                        shared.followed.lock().unwrap_or_else(PoisonError::into_inner);
                    if is_wanted && followed.insert(agent) {
                        let shared = Arc::clone(shared);
                        tokio::spawn(async move { follow_agent(&shared, agent).await });
                    }
                }
            }
            Err(error) => tracing::warn!("cannot read which histories are followed: {error}"),
        }
        tokio::select! {
            () = shared.consented.notified() => {}
            () = shared.sessions.registry.stopped() => return,
        }
    }
}

async fn follow_agent(shared: &Arc<Shared>, agent: HistoryAgent) {
    let mut watcher = shared.watches.watcher(Pace::Brisk);
    let mut watched = HashSet::new();
    loop {
        let begun = Instant::now();
        let environment = shared.environment.clone();
        let folders = blocking(move || folders(agent, &environment)).await.unwrap_or_default();
        let is_short = folders.len() > FOLDERS_MAX || watched.is_empty() && folders.is_empty();
        // A change between the listing and the watch would be missed, so the store is scanned after
        // the watches are set.
        for folder in folders.into_iter().take(FOLDERS_MAX) {
            if watched.contains(&folder) {
                continue;
            }
            match watcher.watch(&folder) {
                Ok(()) => drop(watched.insert(folder)),
                Err(error) => tracing::debug!("cannot watch {}: {error}", folder.display()),
            }
        }
        import_new(shared, agent).await;
        let pause = GATHER.max(begun.elapsed() * PAUSE_FACTOR);
        tokio::select! {
            _ = watcher.changed() => {}
            () = tokio::time::sleep(POLL_INTERVAL), if is_short => {}
            () = shared.sessions.registry.stopped() => return,
        }
        tokio::time::sleep(pause.min(POLL_INTERVAL)).await;
    }
}

async fn import_new(shared: &Arc<Shared>, agent: HistoryAgent) {
    let consents = match shared.consents().await {
        Ok(consents) => consents,
        Err(error) => return tracing::warn!("cannot read which histories are followed: {error}"),
    };
    match import_agent(shared, agent, &consents, Purpose::Follow).await {
        Ok(added) => announce(shared, added).await,
        // Retried at the next change.
        Err(error) => tracing::warn!(%agent, "histories are not imported: {error}"),
    }
}

async fn announce(shared: &Shared, added: Vec<SessionId>) {
    if added.len() > ANNOUNCED_MAX {
        return shared.publish_progress();
    }
    for id in added {
        if let Ok(session) = shared.sessions.get(id).await {
            shared.sessions.publish(Change::SessionCreated(Box::new(session)));
        }
    }
}

/// The folders of an agent's conversations with those above them, the last changed first.
fn folders(agent: HistoryAgent, environment: &Environment) -> Vec<PathBuf> {
    let roots = Store::roots(agent, environment);
    let mut histories = scan::scan(agent, environment);
    histories.sort_by_key(|history| std::cmp::Reverse(history.stamp.changed_at()));
    let mut seen = HashSet::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for root in &roots {
        if root.is_dir() && seen.insert(root.clone()) {
            folders.push(root.clone());
        }
    }
    for history in &histories {
        let folder = history.folder();
        let above = folder.ancestors().take_while(|folder| is_inside(folder, &history.root));
        for folder in above {
            if !seen.insert(folder.to_owned()) {
                break;
            }
            folders.push(folder.to_owned());
        }
    }
    folders
}

fn is_inside(folder: &Path, root: &Path) -> bool {
    folder.starts_with(root)
}
