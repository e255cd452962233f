//! Imports conversations: finds the new and changed ones of an agent, and reads them on several
//! threads.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use convoke_core::id::SessionId;
use convoke_histories::{Cursor, Identity};
use convoke_store::{Consent, Indexing, KnownHistory};
use tokio::runtime::Handle;

use super::scan::{self, Changed};
use super::worker::Worker;
use super::{
    AgentRun, FAILED_MAX, FailedHistory, HistoryAgent, ImportRequest, Purpose, Shared, name_of,
};
use crate::blocking::{blocking, panicked};
use crate::error::Result;

/// Threads that read. The writer of the store is one more.
const READERS: usize = 3;
/// From this many conversations of one agent on, they are added to the search index after the
/// import.
const BULK: usize = 64;
/// How often the progress is announced.
const PUBLISH_EVERY: Duration = Duration::from_millis(100);

/// Runs the import that a user requested.
pub(super) async fn run(shared: &Arc<Shared>, request: ImportRequest) -> Result<()> {
    let ImportRequest { agents, since, folder, purpose } = request;
    let agents = if agents.is_empty() { HistoryAgent::ALL.to_vec() } else { agents };
    let folder = folder.map(|folder| std::fs::canonicalize(&folder).unwrap_or(folder));
    let consent = |agent| Consent { agent: name_of(agent), since, folder: folder.clone() };
    let consents: Vec<Consent> = agents.iter().map(|agent| consent(*agent)).collect();
    // A conversation that an earlier import skipped may match this one.
    shared.passed_over.lock().unwrap_or_else(PoisonError::into_inner).clear();
    if purpose == Purpose::Import {
        let now = shared.sessions.now();
        shared.sessions.store.consent_to_histories(consents.clone(), now).await?;
    }
    let mut failed = None;
    for agent in agents {
        // The conversations of the other agents are imported all the same; the first error is
        // reported at the end.
        if let Err(error) = import_agent(shared, agent, &consents, purpose).await {
            tracing::warn!(%agent, "histories are not imported: {error}");
            failed.get_or_insert(error);
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Imports what is new of an agent's conversations; returns the new sessions.
pub(super) async fn import_agent(
    shared: &Arc<Shared>,
    agent: HistoryAgent,
    consents: &[Consent],
    purpose: Purpose,
) -> Result<Vec<SessionId>> {
    let Some(turn) = shared.turns.get(&agent) else { return Ok(Vec::new()) };
    // The semaphore is never closed.
    let Ok(_turn) = turn.acquire().await else { return Ok(Vec::new()) };
    let environment = shared.environment.clone();
    let scan = move || scan::scan_with_failures(agent, &environment);
    let (histories, failed) = blocking(scan).await?;
    if purpose != Purpose::Follow && !failed.is_empty() {
        let mut run = shared.run();
        run.agents.entry(agent).or_default().failed += failed.len() as u64;
        run.failed.extend(failed);
        run.failed.truncate(FAILED_MAX);
    }
    let known = shared.sessions.store.histories(name_of(agent)).await?;
    let mut changed = {
        let passed_over = shared.passed_over.lock().unwrap_or_else(PoisonError::into_inner);
        scan::changed(histories, known, &passed_over)
    };
    let name = name_of(agent);
    let consents: Vec<Consent> =
        consents.iter().filter(|consent| consent.agent == name).cloned().collect();
    changed.retain(|changed| changed.known.is_some() || is_in_time(changed, &consents));
    let mut queue = VecDeque::with_capacity(changed.len());
    for changed in changed {
        let cursor = match &changed.known {
            Some(_) => shared.sessions.store.history_cursor(changed.key.clone()).await?,
            None => None,
        };
        let cursor = cursor.and_then(|cursor| serde_json::from_str::<Cursor>(&cursor).ok());
        queue.push_back((changed, cursor));
    }
    let indexing = if queue.len() < BULK { Indexing::Now } else { Indexing::Later };
    let plan = Plan { agent, consents, purpose, indexing };
    // A conversation that continues another one comes after that one.
    let (later, first): (VecDeque<_>, VecDeque<_>) =
        queue.into_iter().partition(|(changed, _)| changed.history.may_continue());
    let (mut added, found) = read_all(shared, plan.clone(), first, EarlierById::new()).await?;
    if later.is_empty() {
        return Ok(added);
    }
    let mut earlier: EarlierById = found.into_iter().map(|id| (id, Earlier::Found)).collect();
    if later.iter().any(|(changed, _)| changed.known.is_none()) {
        let known = shared.sessions.store.histories(name_of(agent)).await?;
        earlier.extend(known.into_iter().map(|known| {
            let id = (known.key.root.clone(), known.agent_session_id.clone());
            (id, Earlier::Stored(known))
        }));
    }
    added.extend(read_all(shared, plan, later, earlier).await?.0);
    Ok(added)
}

/// The root of a store, and the agent's own id of a conversation in it.
type RootAndId = (String, String);
type EarlierById = HashMap<RootAndId, Earlier>;

/// Reads conversations on several threads; returns the new sessions, and the conversations that a
/// dry run would import.
async fn read_all(
    shared: &Arc<Shared>,
    plan: Plan,
    queue: VecDeque<(Changed, Option<Cursor>)>,
    earlier: EarlierById,
) -> Result<(Vec<SessionId>, Vec<RootAndId>)> {
    let queued = queue.len();
    let job = Arc::new(Job {
        shared: Arc::clone(shared),
        plan,
        queue: Mutex::new(queue),
        earlier,
        found: Mutex::default(),
        published_at: Mutex::new(Instant::now()),
        is_aborted: AtomicBool::new(false),
    });
    if queued > 0 {
        job.count(|run| run.total += queued as u64);
    }
    let work = |_| {
        let (job, runtime) = (Arc::clone(&job), Handle::current());
        tokio::task::spawn_blocking(move || Worker::new(job, runtime).work())
    };
    let workers: Vec<_> = (0..READERS.min(queued)).map(work).collect();
    let mut added = Vec::new();
    let mut failed = None;
    for worker in workers {
        match worker.await {
            Ok(Ok(sessions)) => added.extend(sessions),
            Ok(Err(error)) => failed = Some(error),
            Err(error) => failed = Some(panicked(error)),
        }
    }
    if job.plan.indexing == Indexing::Later {
        shared.sessions.store.index_imported();
    }
    let found = std::mem::take(&mut *job.found.lock().unwrap_or_else(PoisonError::into_inner));
    failed.map_or(Ok((added, found)), Err)
}

/// Whether a conversation changed late enough for what the user agreed to.
fn is_in_time(changed: &Changed, consents: &[Consent]) -> bool {
    let at = changed.history.stamp.changed_at();
    consents.iter().any(|consent| consent.since.is_none_or(|since| at.is_none_or(|at| at >= since)))
}

/// What an import is to do.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    agent: HistoryAgent,
    consents: Vec<Consent>,
    pub(super) purpose: Purpose,
    /// Many conversations are put into the search index afterwards, so that they can be read sooner.
    pub(super) indexing: Indexing,
}

/// An earlier conversation that another one continues.
#[derive(Debug)]
pub(super) enum Earlier {
    Stored(KnownHistory),
    /// A dry run found it; it is not stored.
    Found,
}

/// What the threads of an import share.
pub(super) struct Job {
    pub(super) shared: Arc<Shared>,
    pub(super) plan: Plan,
    queue: Mutex<VecDeque<(Changed, Option<Cursor>)>>,
    earlier: EarlierById,
    found: Mutex<Vec<RootAndId>>,
    published_at: Mutex<Instant>,
    pub(super) is_aborted: AtomicBool,
}

impl Job {
    pub(super) fn next(&self) -> Option<(Changed, Option<Cursor>)> {
        let is_over =
            self.is_aborted.load(Ordering::Relaxed) || self.shared.sessions.registry.is_stopping();
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if is_over { None } else { queue.pop_front() }
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut AgentRun)) {
        if self.plan.purpose == Purpose::Follow {
            return;
        }
        change(self.shared.run().agents.entry(self.plan.agent).or_default());
        let mut published_at = self.published_at.lock().unwrap_or_else(PoisonError::into_inner);
        if published_at.elapsed() >= PUBLISH_EVERY {
            *published_at = Instant::now();
            drop(published_at);
            self.shared.publish_progress();
        }
    }

    /// Records that a dry run found a conversation that would be imported.
    pub(super) fn record_found(&self, changed: &Changed, identity: &Identity) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.push((changed.key.root.clone(), identity.id.clone()));
    }

    /// The conversation of another file that this one continues.
    pub(super) fn earlier(&self, changed: &Changed, identity: &Identity) -> Option<&Earlier> {
        let id = identity.continues.clone()?;
        self.earlier.get(&(changed.key.root.clone(), id))
    }

    pub(super) fn failed(&self, file: PathBuf, line: Option<u64>, error: String) {
        let mut run = self.shared.run();
        if self.plan.purpose != Purpose::Follow && run.failed.len() < FAILED_MAX {
            run.failed.push(FailedHistory { file, line, error });
        }
    }

    pub(super) fn fits(&self, changed: &Changed, identity: &Identity) -> bool {
        let cwd = identity.cwd.as_deref().map(Path::new);
        self.plan.consents.iter().any(|consent| {
            let is_there = match (&consent.folder, cwd) {
                (None, _) => true,
                (Some(folder), Some(cwd)) => cwd.starts_with(folder),
                (Some(_), None) => false,
            };
            is_there && is_in_time(changed, std::slice::from_ref(consent))
        })
    }
}
