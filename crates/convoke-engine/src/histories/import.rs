//! Imports conversations: some threads read, each of them stores many conversations in one change.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use convoke_core::id::SessionId;
use convoke_histories::{Cursor, Identity, Reader, Reading, Store};
use convoke_store::{Consent, HistoryMark, HistoryOutcome, HistoryRecord, HistoryStanding};
use tokio::runtime::Handle;

use super::build::{self, Chunk, Occasion};
use super::scan::{self, Changed};
use super::{
    AgentRun, FAILED_MAX, FailedHistory, HistoryAgent, ImportRequest, Purpose, Shared, name_of,
};
use crate::asking::blocking;
use crate::error::{Error, Result};
use crate::session::{self, Request};

/// Threads that read. The writer of the store is one more.
const READERS: usize = 3;
/// Conversations and messages that are stored in one change: enough that a commit costs little for each of them.
const RECORDS_MAX: usize = 128;
const MESSAGES_MAX: usize = 8000;
/// How often the progress is announced.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Carries out what a user asked for.
pub(super) async fn run(shared: &Arc<Shared>, request: ImportRequest) -> Result<()> {
    let ImportRequest { agents, since, folder, purpose } = request;
    let agents = if agents.is_empty() { HistoryAgent::ALL.to_vec() } else { agents };
    let folder = folder.map(|folder| std::fs::canonicalize(&folder).unwrap_or(folder));
    let consent = |agent| Consent { agent: name_of(agent), since, folder: folder.clone() };
    let consents: Vec<Consent> = agents.iter().map(|agent| consent(*agent)).collect();
    // What did not fit an earlier import may fit this one.
    shared.passed_over.lock().unwrap_or_else(PoisonError::into_inner).clear();
    if purpose == Purpose::Import {
        let now = shared.sessions.now();
        shared.sessions.store.consent_to_histories(consents.clone(), now).await?;
    }
    for agent in agents {
        import_agent(shared, agent, &consents, purpose).await?;
    }
    Ok(())
}

/// Imports what is new of an agent's conversations; returns the new sessions.
pub(super) async fn import_agent(
    shared: &Arc<Shared>,
    agent: HistoryAgent,
    consents: &[Consent],
    purpose: Purpose,
) -> Result<Vec<SessionId>> {
    let Some(turn) = shared.turns.get(&agent) else { return Ok(Vec::new()) };
    // It is never closed.
    let Ok(_turn) = turn.acquire().await else { return Ok(Vec::new()) };
    let environment = shared.environment.clone();
    let histories = blocking(move || scan::scan(agent, &environment)).await?;
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
    let found = queue.len();
    let readers = READERS.min(found);
    let job = Arc::new(Job {
        shared: Arc::clone(shared),
        agent,
        consents,
        purpose,
        queue: Mutex::new(queue),
        told: Mutex::new(Instant::now()),
        is_aborted: AtomicBool::new(false),
    });
    if found > 0 {
        job.count(|run| run.total += found as u64);
    }
    let work = |_| {
        let (job, runtime) = (Arc::clone(&job), Handle::current());
        tokio::task::spawn_blocking(move || Worker::new(job, runtime).work())
    };
    let workers: Vec<_> = (0..readers).map(work).collect();
    let mut added = Vec::new();
    let mut failed = None;
    for worker in workers {
        match worker.await {
            Ok(Ok(sessions)) => added.extend(sessions),
            Ok(Err(error)) => failed = Some(error),
            Err(error) => {
                let source = std::io::Error::other(error);
                failed = Some(Error::Io { path: shared.sessions.around.home.clone(), source });
            }
        }
    }
    failed.map_or(Ok(added), Err)
}

/// Whether a conversation changed late enough for what the user agreed to.
fn is_in_time(changed: &Changed, consents: &[Consent]) -> bool {
    let at = changed.history.stamp.changed_at();
    consents.iter().any(|consent| consent.since.is_none_or(|since| at.is_none_or(|at| at >= since)))
}

/// What the threads of an import share.
struct Job {
    shared: Arc<Shared>,
    agent: HistoryAgent,
    consents: Vec<Consent>,
    purpose: Purpose,
    queue: Mutex<VecDeque<(Changed, Option<Cursor>)>>,
    told: Mutex<Instant>,
    is_aborted: AtomicBool,
}

impl Job {
    fn next(&self) -> Option<(Changed, Option<Cursor>)> {
        let is_over =
            self.is_aborted.load(Ordering::Relaxed) || self.shared.sessions.registry.is_stopping();
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if is_over { None } else { queue.pop_front() }
    }

    fn count(&self, change: impl FnOnce(&mut AgentRun)) {
        if self.purpose == Purpose::Follow {
            return;
        }
        change(self.shared.run().agents.entry(self.agent).or_default());
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.elapsed() >= TELL_EVERY {
            *told = Instant::now();
            drop(told);
            self.shared.tell();
        }
    }

    fn failed(&self, file: PathBuf, line: Option<u64>, error: String) {
        let mut run = self.shared.run();
        if self.purpose != Purpose::Follow && run.failed.len() < FAILED_MAX {
            run.failed.push(FailedHistory { file, line, error });
        }
    }

    fn fits(&self, changed: &Changed, identity: &Identity) -> bool {
        let cwd = identity.cwd.as_deref().map(Path::new);
        self.consents.iter().any(|consent| {
            let is_there = match (&consent.folder, cwd) {
                (None, _) => true,
                (Some(folder), Some(cwd)) => cwd.starts_with(folder),
                (Some(_), None) => false,
            };
            is_there && is_in_time(changed, std::slice::from_ref(consent))
        })
    }
}

/// A thread that reads conversations, and stores what it read.
struct Worker {
    job: Arc<Job>,
    runtime: Handle,
    stores: HashMap<PathBuf, Store>,
    records: Vec<HistoryRecord>,
    messages: usize,
    occasion: Occasion,
    added: Vec<SessionId>,
}

impl Worker {
    fn new(job: Arc<Job>, runtime: Handle) -> Self {
        let around = &job.shared.sessions.around;
        let occasion = Occasion { now: around.now(), random: around.random };
        Self {
            job,
            runtime,
            stores: HashMap::new(),
            records: Vec::new(),
            messages: 0,
            occasion,
            added: Vec::new(),
        }
    }

    fn work(mut self) -> Result<Vec<SessionId>> {
        let worked = self.read_all();
        if worked.is_err() {
            // The others would fail in the same way.
            self.job.is_aborted.store(true, Ordering::Relaxed);
        }
        worked.map(|()| self.added)
    }

    fn read_all(&mut self) -> Result<()> {
        while let Some((changed, cursor)) = self.job.next() {
            match self.read(&changed, cursor.as_ref()) {
                Ok(()) => {}
                Err(Trouble::Store(error)) => return Err(error),
                Err(Trouble::Source(error)) if error.is_gone() => {
                    self.job.count(|run| run.skipped += 1);
                }
                Err(Trouble::Source(error)) => {
                    tracing::warn!(file = %changed.history.file().display(), "not imported: {error}");
                    self.job.count(|run| run.failed += 1);
                    let text = session::start::explain(&error);
                    self.job.failed(changed.history.file(), None, text);
                }
            }
            self.job.count(|run| run.done += 1);
            if self.records.len() >= RECORDS_MAX || self.messages >= MESSAGES_MAX {
                self.flush()?;
            }
        }
        self.flush().map(drop)
    }

    fn read(&mut self, changed: &Changed, cursor: Option<&Cursor>) -> Read {
        let history = &changed.history;
        if !self.stores.contains_key(&history.root) {
            let Some(store) = Store::open_at(history.agent, &history.root)? else { return Ok(()) };
            self.stores.insert(history.root.clone(), store);
        }
        let Some(store) = self.stores.get_mut(&history.root) else { return Ok(()) };
        let known = changed.known.as_ref();
        let session = known.and_then(|known| known.session);
        // A session that went on here as a copy is not the file's any more.
        let is_apart = known.is_some_and(|known| {
            known.standing == HistoryStanding::Imported
                && known.current.as_ref().is_some_and(|id| *id != known.agent_session_id)
        });
        match (store.read(history, cursor)?, session) {
            (Reading::Unchanged, _) => {
                let Some(cursor) = cursor else { return Ok(()) };
                self.mark(changed, cursor)
            }
            (Reading::Rest(_), session @ Some(_)) if is_apart => match store.read(history, None)? {
                Reading::Whole(reader) => self.add(changed, reader, session),
                Reading::Unchanged | Reading::Rest(_) | Reading::Rewritten(_) => Ok(()),
            },
            (Reading::Rest(reader), Some(session)) => {
                let broken = cursor.map_or(0, |cursor| cursor.tally().broken);
                self.grow(changed, reader, session, broken)
            }
            (Reading::Rewritten(reader), session) => self.add(changed, reader, session),
            (Reading::Whole(reader) | Reading::Rest(reader), session) => {
                self.add(changed, reader, session)
            }
        }
    }

    /// Makes a session of a conversation, or of the first part of a long one and then of its rest.
    fn add(&mut self, changed: &Changed, mut reader: Reader, replaces: Option<SessionId>) -> Read {
        let chunk = Chunk::read(&mut reader)?;
        let is_empty = chunk.is_last && !chunk.has_words();
        if is_empty || (changed.known.is_none() && !self.job.fits(changed, reader.identity())) {
            self.job.count(|run| run.skipped += 1);
            let mut passed_over =
                self.job.shared.passed_over.lock().unwrap_or_else(PoisonError::into_inner);
            passed_over.insert(changed.key.clone(), changed.stamp.clone());
            return Ok(());
        }
        if self.job.purpose == Purpose::DryRun {
            self.job.count(|run| match replaces {
                Some(_) => run.rewritten += 1,
                None => run.added += 1,
            });
            return Ok(());
        }
        self.count_lines(changed, &reader, &chunk, 0);
        let is_last = chunk.is_last;
        let mark = mark_of(changed, &reader, is_last)?;
        let identity = reader.identity();
        let record = build::record(changed, identity, chunk, mark, replaces, self.occasion);
        let id = record.session.id;
        self.messages += record.session.updates.len();
        self.records.push(record);
        if is_last {
            return Ok(());
        }
        match self.flush().map_err(Trouble::Store)? {
            Some(HistoryOutcome::Added(_)) => self.grow(changed, reader, id, 0),
            Some(HistoryOutcome::Own(_) | HistoryOutcome::Erased) => {
                while reader.next_batch()?.is_some() {}
                self.mark(changed, &reader.cursor()?)
            }
            Some(HistoryOutcome::Known) | None => Ok(()),
        }
    }

    /// Adds what a conversation says besides to its session. So many broken lines were counted before.
    fn grow(
        &mut self,
        changed: &Changed,
        mut reader: Reader,
        session: SessionId,
        broken: u64,
    ) -> Read {
        if self.job.purpose == Purpose::DryRun {
            self.job.count(|run| run.grown += 1);
            return Ok(());
        }
        let mut messages = 0;
        loop {
            let chunk = Chunk::read(&mut reader)?;
            self.count_lines(changed, &reader, &chunk, broken);
            let is_last = chunk.is_last;
            let mark = mark_of(changed, &reader, is_last)?;
            let identity = reader.identity();
            let now = self.occasion.now;
            let growth = build::growth(changed, session, identity, chunk, mark, now);
            let sessions = &self.job.shared.sessions;
            let grown = self.runtime.block_on(session::ask(sessions, session, |reply| {
                Request::Grow { growth: Box::new(growth), reply }
            }));
            messages += grown.map_err(Trouble::Store)?;
            if is_last {
                break;
            }
        }
        self.job.count(|run| {
            run.grown += u64::from(messages > 0);
            run.messages += messages;
        });
        Ok(())
    }

    fn mark(&self, changed: &Changed, cursor: &Cursor) -> Read {
        if self.job.purpose == Purpose::DryRun {
            return Ok(());
        }
        let store = &self.job.shared.sessions.store;
        let marked = self.runtime.block_on(store.mark_history(build::mark(changed, cursor)));
        marked.map_err(|error| Trouble::Store(error.into()))
    }

    /// Names the lines that could not be read, once all of them were, but for those that were named before.
    fn count_lines(&self, changed: &Changed, reader: &Reader, chunk: &Chunk, before: u64) {
        let (unknown, tally) = (chunk.unknown_lines(), reader.tally());
        let broken = if chunk.is_last { tally.broken.saturating_sub(before) } else { 0 };
        self.job.count(|run| {
            run.unknown_lines += unknown;
            run.broken_lines += broken;
        });
        if broken > 0 {
            let named = usize::try_from(before).unwrap_or(usize::MAX);
            for line in tally.broken_lines.iter().skip(named) {
                let file = changed.history.file();
                self.job.failed(file, Some(line.line), line.why.clone());
            }
        }
    }

    /// Stores what was read; returns what became of the last conversation.
    fn flush(&mut self) -> Result<Option<HistoryOutcome>> {
        if self.records.is_empty() {
            return Ok(None);
        }
        let records = std::mem::take(&mut self.records);
        self.messages = 0;
        let store = &self.job.shared.sessions.store;
        let outcomes = self.runtime.block_on(store.import_histories(&records))?;
        let mut counted = AgentRun::default();
        for (outcome, record) in outcomes.iter().zip(&records) {
            match outcome {
                HistoryOutcome::Added(id) => {
                    match record.replaces {
                        Some(_) => counted.rewritten += 1,
                        None => counted.added += 1,
                    }
                    counted.messages += record.session.summary.last_seq.get() - 1;
                    if !record.session.summary.archived {
                        self.added.push(*id);
                    }
                }
                HistoryOutcome::Own(_) | HistoryOutcome::Erased | HistoryOutcome::Known => {
                    counted.skipped += 1;
                }
            }
        }
        self.job.count(|run| {
            run.added += counted.added;
            run.rewritten += counted.rewritten;
            run.skipped += counted.skipped;
            run.messages += counted.messages;
        });
        Ok(outcomes.last().copied())
    }
}

/// How far a reader is.
fn mark_of(
    changed: &Changed,
    reader: &Reader,
    is_last: bool,
) -> convoke_histories::Result<HistoryMark> {
    let cursor = reader.cursor()?;
    Ok(if is_last { build::mark(changed, &cursor) } else { build::mark_part(changed, &cursor) })
}

/// What came of a conversation.
type Read = std::result::Result<(), Trouble>;

/// Why a conversation was not imported.
enum Trouble {
    /// It cannot be read; the others may be.
    Source(convoke_histories::Error),
    /// Nothing can be stored.
    Store(Error),
}

impl From<convoke_histories::Error> for Trouble {
    fn from(error: convoke_histories::Error) -> Self {
        Self::Source(error)
    }
}
