//! A thread of an import: reads conversations, and stores many of them in one change.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use convoke_core::id::SessionId;
use convoke_histories::{Cursor, Reader, Reading, Store};
use convoke_store::{HistoryMark, HistoryOutcome, HistoryRecord, HistoryStatus, KnownHistory};
use tokio::runtime::Handle;

use super::build::{self, Chunk, ImportContext};
use super::import::{Earlier, Job};
use super::scan::Changed;
use super::{AgentRun, Purpose};
use crate::error::{Error, Result};
use crate::session::{self, Request};

/// Conversations and messages that are stored in one change: enough that a commit costs little for each of them.
const RECORDS_MAX: usize = 128;
const MESSAGES_MAX: usize = 8000;

/// A thread that reads conversations, and stores what it read.
pub(super) struct Worker {
    job: Arc<Job>,
    runtime: Handle,
    stores: HashMap<PathBuf, Store>,
    records: Vec<HistoryRecord>,
    messages: usize,
    context: ImportContext,
    added: Vec<SessionId>,
}

impl Worker {
    pub(super) fn new(job: Arc<Job>, runtime: Handle) -> Self {
        let host = &job.shared.sessions.host;
        let context = ImportContext { now: host.now(), random: host.random };
        Self {
            job,
            runtime,
            stores: HashMap::new(),
            records: Vec::new(),
            messages: 0,
            context,
            added: Vec::new(),
        }
    }

    pub(super) fn work(mut self) -> Result<Vec<SessionId>> {
        let worked = self.read_all();
        if worked.is_err() {
            // The other workers would fail in the same way.
            self.job.is_aborted.store(true, Ordering::Relaxed);
        }
        worked.map(|()| self.added)
    }

    fn read_all(&mut self) -> Result<()> {
        while let Some((changed, cursor)) = self.job.next() {
            match self.read(&changed, cursor.as_ref()) {
                Ok(()) => {}
                Err(ImportError::Store(error)) => return Err(error),
                Err(ImportError::Source(error)) if error.is_gone() => {
                    self.job.count(|run| run.skipped += 1);
                }
                Err(ImportError::Source(error)) => {
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
        // An import takes long, and lines may be written meanwhile.
        self.context.now = self.job.shared.sessions.now();
        if !self.stores.contains_key(&history.root) {
            let Some(store) = Store::open_at(history.agent, &history.root)? else { return Ok(()) };
            self.stores.insert(history.root.clone(), store);
        }
        let Some(store) = self.stores.get_mut(&history.root) else { return Ok(()) };
        let known = changed.known.as_ref();
        let session = known.and_then(|known| known.session);
        let is_apart = known.is_some_and(is_apart);
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
            (Reading::Whole(reader), None) if known.is_none() => self.begin(changed, reader),
            (Reading::Rewritten(reader), session) => self.add(changed, reader, session),
            (Reading::Whole(reader) | Reading::Rest(reader), session) => {
                self.add(changed, reader, session)
            }
        }
    }

    /// Reads a conversation for the first time. One that continues another is not imported beside it.
    fn begin(&mut self, changed: &Changed, reader: Reader) -> Read {
        let job = Arc::clone(&self.job);
        match job.earlier(changed, reader.identity()) {
            Some(Earlier::Found) => {
                job.count(|run| run.grown += 1);
                Ok(())
            }
            Some(Earlier::Stored(before)) if before.key != changed.key && !is_apart(before) => {
                self.continue_with(changed, reader, before)
            }
            Some(Earlier::Stored(_)) | None => self.add(changed, reader, None),
        }
    }

    /// Adds what a conversation has beyond the one that it continues to the session of that one.
    fn continue_with(
        &mut self,
        changed: &Changed,
        mut reader: Reader,
        before: &KnownHistory,
    ) -> Read {
        if self.job.plan.purpose == Purpose::DryRun {
            self.job.count(|run| run.grown += 1);
            return Ok(());
        }
        let (sessions, now) = (Arc::clone(&self.job.shared.sessions), self.context.now);
        let go_on = |mark| {
            let recorded = sessions.store.continue_history(mark, before.clone(), now);
            self.runtime.block_on(recorded).map_err(|error| ImportError::Store(error.into()))
        };
        match (before.status, before.session) {
            (HistoryStatus::Imported, Some(session)) => {
                let Some(store) = self.stores.get_mut(&changed.history.root) else { return Ok(()) };
                let reader = store.read_continuation(&changed.history)?;
                go_on(mark_of(changed, &reader, false)?)?;
                self.grow(changed, reader, session, 0)
            }
            // An agent of Convoke's wrote it, or a human erased it here.
            (HistoryStatus::Own | HistoryStatus::Erased, _) => {
                while reader.next_batch()?.is_some() {}
                self.job.count(|run| run.skipped += 1);
                go_on(mark_of(changed, &reader, true)?)
            }
            (HistoryStatus::Imported | HistoryStatus::Replaced, _) => {
                self.add(changed, reader, None)
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
        if self.job.plan.purpose == Purpose::DryRun {
            self.job.record_found(changed, reader.identity());
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
        let record = build::record(changed, identity, chunk, mark, replaces, self.context);
        let id = record.session.id;
        self.messages += record.session.updates.len();
        self.records.push(record);
        if is_last {
            return Ok(());
        }
        match self.flush().map_err(ImportError::Store)? {
            Some(HistoryOutcome::Added(_)) => self.grow(changed, reader, id, 0),
            Some(HistoryOutcome::Own(_) | HistoryOutcome::Erased) => {
                self.mark_whole(changed, reader)
            }
            Some(HistoryOutcome::Known) | None => Ok(()),
        }
    }

    /// Appends the new messages of a conversation to its session. `broken` lines were counted
    /// before.
    fn grow(
        &mut self,
        changed: &Changed,
        mut reader: Reader,
        session: SessionId,
        broken: u64,
    ) -> Read {
        if self.job.plan.purpose == Purpose::DryRun {
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
            let now = self.context.now;
            let growth = build::growth(changed, session, identity, chunk, mark, now);
            let sessions = &self.job.shared.sessions;
            let grown = self.runtime.block_on(session::ask(sessions, session, |reply| {
                Request::Grow { growth: Box::new(growth), reply }
            }));
            match grown {
                Ok(grown) => messages += grown,
                // The session was moved to another machine, or erased meanwhile. Its file is not
                // followed any more, and the others are imported.
                Err(Error::OtherNode { .. } | Error::UnknownSession { .. }) => {
                    return self.pass_over(changed, reader);
                }
                Err(error) => return Err(ImportError::Store(error)),
            }
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

    /// Records that a conversation was read, without adding anything to a session.
    fn pass_over(&self, changed: &Changed, reader: Reader) -> Read {
        self.job.count(|run| run.skipped += 1);
        self.mark_whole(changed, reader)
    }

    /// Records that a conversation was read to its end.
    fn mark_whole(&self, changed: &Changed, mut reader: Reader) -> Read {
        while reader.next_batch()?.is_some() {}
        self.mark(changed, &reader.cursor()?)
    }

    fn mark(&self, changed: &Changed, cursor: &Cursor) -> Read {
        if self.job.plan.purpose == Purpose::DryRun {
            return Ok(());
        }
        let store = &self.job.shared.sessions.store;
        let marked = self.runtime.block_on(store.mark_history(build::mark(changed, cursor)));
        marked.map_err(|error| ImportError::Store(error.into()))
    }

    /// Records the lines that could not be read, once the conversation was read to its end, except
    /// those recorded before.
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
        let outcomes =
            self.runtime.block_on(store.import_histories(&records, self.job.plan.indexing))?;
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

/// Whether the session was continued in Convoke as a fork, so that it no longer follows the file.
fn is_apart(known: &KnownHistory) -> bool {
    known.status == HistoryStatus::Imported
        && known.current.as_ref().is_some_and(|id| *id != known.agent_session_id)
}

/// The mark for the current position of a reader.
fn mark_of(
    changed: &Changed,
    reader: &Reader,
    is_last: bool,
) -> convoke_histories::Result<HistoryMark> {
    let cursor = reader.cursor()?;
    Ok(if is_last { build::mark(changed, &cursor) } else { build::mark_part(changed, &cursor) })
}

/// The result of importing one conversation.
type Read = std::result::Result<(), ImportError>;

/// Why a conversation was not imported.
enum ImportError {
    /// It cannot be read; the others may be.
    Source(convoke_histories::Error),
    /// Nothing can be stored.
    Store(Error),
}

impl From<convoke_histories::Error> for ImportError {
    fn from(error: convoke_histories::Error) -> Self {
        Self::Source(error)
    }
}
