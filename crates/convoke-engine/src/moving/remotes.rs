//! Where the repositories of this machine's projects come from, recorded for the other machines.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use convoke_core::id::ProjectId;
use convoke_git::remote_of;
use convoke_store::{Project, Store, Window};
use tokio::time::MissedTickBehavior;

use crate::blocking::blocking;
use crate::error::Result;
use crate::sessions::Sessions;

/// How often the configurations of the repositories are read; they are small files.
const EVERY: Duration = Duration::from_secs(10);

/// Records the remotes of all projects of this machine whenever they change, until the daemon stops.
pub(crate) fn start(sessions: &Arc<Sessions>) {
    if sessions.store.node().is_none() {
        return;
    }
    let sessions = Arc::clone(sessions);
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut known = HashMap::new();
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = sessions.registry.stopped() => return,
            }
            if let Err(error) = record_changed(&sessions.store, &mut known).await {
                tracing::warn!("the remotes of the projects cannot be recorded: {error}");
            }
        }
    });
}

/// Records the remote of one project.
pub(crate) async fn record(store: &Store, project: &Project) -> Result<()> {
    let (id, path) = (project.id, project.path.clone());
    let remote = blocking(move || remote_of(&path)).await?;
    Ok(store.set_remotes(vec![(id, remote)]).await?)
}

async fn record_changed(
    store: &Store,
    known: &mut HashMap<ProjectId, Option<String>>,
) -> Result<()> {
    let own = store.own_projects(Window::first(Window::LIMIT_MAX)).await?;
    let found = blocking(move || -> Vec<(ProjectId, Option<String>)> {
        own.into_iter().map(|project| (project.id, remote_of(&project.path))).collect()
    });
    let mut changed = found.await?;
    changed.retain(|(id, remote)| known.get(id) != Some(remote));
    store.set_remotes(changed.clone()).await?;
    known.extend(changed);
    Ok(())
}
