//! Stores conversations of other programs, each together with its cursor.

use std::rc::Rc;

use convoke_core::id::SessionId;
use convoke_core::session::{EndReason, Summary};
use convoke_core::time::Timestamp;

use super::record::{Encoded, Record, store_state};
use super::search::{self, Searched};
use super::sessions::number;
use super::work::WorkRow;
use super::{Change, Durability, refill};
use crate::db::{Db, Optional as _, params};
use crate::error::{Error, Fault, Result};
use crate::histories::{
    Consent, HistoryKey, HistoryMark, HistoryOutcome, HistoryRecord, HistoryStatus, Indexing,
    KnownHistory, NewHistorySession,
};
use crate::search::scope::Scope;

/// Imports conversations as sessions. The caller encodes them.
#[derive(Debug)]
pub(crate) struct ImportHistories {
    histories: Vec<EncodedHistory>,
    indexing: Indexing,
}

#[derive(Debug)]
struct EncodedHistory {
    record: HistoryRecord,
    path: String,
    updates: Vec<Encoded>,
    work: WorkRow,
}

impl ImportHistories {
    pub(crate) fn new(records: &[HistoryRecord], indexing: Indexing) -> Result<Self> {
        let encode = |record: &HistoryRecord| {
            let session = &record.session;
            let path = session.project.path.to_str();
            let path = path.ok_or(Error::Misuse { what: "a project's path must be UTF-8" })?;
            let updates = session.updates.iter();
            let updates =
                updates.map(|update| Encoded::of(update, indexing)).collect::<Result<_>>()?;
            let work = WorkRow::encode(&session.summary.work)?;
            // The updates are encoded now, and are not held in memory twice.
            let session = NewHistorySession { updates: Vec::new(), ..session.clone_head() };
            let record =
                HistoryRecord { mark: record.mark.clone(), session, replaces: record.replaces };
            Ok(EncodedHistory { record, path: path.to_owned(), updates, work })
        };
        let histories = records.iter().map(encode).collect::<Result<_>>()?;
        Ok(Self { histories, indexing })
    }
}

impl NewHistorySession {
    /// The session without its messages.
    fn clone_head(&self) -> Self {
        Self {
            id: self.id,
            created_at: self.created_at,
            project: self.project.clone(),
            updates: Vec::new(),
            summary: self.summary.clone(),
        }
    }
}

impl Change for ImportHistories {
    type Outcome = Vec<HistoryOutcome>;

    // The other program still has the data, so the import can be repeated.
    fn durability(&self) -> Durability {
        Durability::Repeatable
    }

    fn apply(&self, db: Db<'_>) -> Result<Vec<HistoryOutcome>, Fault> {
        let mut stored = Stored::default();
        let outcomes = self.histories.iter().map(|history| history.apply(db, &mut stored));
        let outcomes = outcomes.collect::<Result<_, Fault>>()?;
        match (self.indexing, stored.rows) {
            (Indexing::Now, _) => search::add_all(db, &mut stored.searched)?,
            (Indexing::Later, Some((first, last))) => refill::postpone(db, first, last)?,
            (Indexing::Later, None) => {}
        }
        Ok(outcomes)
    }
}

/// The messages that an import has stored.
#[derive(Default)]
struct Stored<'a> {
    /// Those to be indexed in the same transaction.
    searched: Vec<(Rc<Scope>, Searched<'a>)>,
    /// The numbers of the first and the last row.
    rows: Option<(i64, i64)>,
}

impl EncodedHistory {
    fn apply<'a>(&'a self, db: Db<'_>, stored: &mut Stored<'a>) -> Result<HistoryOutcome, Fault> {
        let HistoryRecord { mark, session, replaces } = &self.record;
        match (find(db, &mark.key)?, replaces) {
            (Some((_, HistoryStatus::Erased)), _) => {
                touch(db, mark)?;
                return Ok(HistoryOutcome::Erased);
            }
            (Some(_), None) => return Ok(HistoryOutcome::Known),
            (Some((n, _)), Some(_)) => {
                db.prepare_cached("UPDATE histories SET standing = 'replaced' WHERE n = ?1")?
                    .execute([n])?;
            }
            (None, Some(_)) => {}
            (None, None) => {
                if let Some((n, id)) = driven_here(db, mark)? {
                    insert(db, mark, Some(n), HistoryStatus::Own)?;
                    return Ok(HistoryOutcome::Own(id));
                }
            }
        }
        let project = self.project(db)?;
        let n = self.create(db, &project)?;
        let scope = Rc::new(Scope::new(n, &project, mark.key.agent.as_str()));
        for update in &self.updates {
            match update {
                Encoded::Message(message) => {
                    let message_n = message.insert_row(db, n)?;
                    let (first, _) = stored.rows.unwrap_or((message_n, message_n));
                    stored.rows = Some((first.min(message_n), message_n));
                    let message = message.searched(message_n);
                    stored.searched.extend(message.map(|message| (Rc::clone(&scope), message)));
                }
                Encoded::State { kind, body, rev, .. } => store_state(db, n, kind, body, *rev)?,
                Encoded::Delta(_) => {
                    return Err(Error::Misuse { what: "a history has whole messages" }.into());
                }
            }
        }
        if mark.parent.is_none() {
            name(db, n, mark, session.project.found_at)?;
        }
        insert(db, mark, Some(n), HistoryStatus::Imported)?;
        Ok(HistoryOutcome::Added(session.id))
    }

    /// The id of the folder's project: the existing or removed one, or a new one that is recorded
    /// as found.
    fn project(&self, db: Db<'_>) -> Result<String, Fault> {
        let known: Option<String> = db
            .prepare_cached(&format!(
                "SELECT id FROM projects WHERE path = ?1{}
                 ORDER BY removed_at IS NOT NULL, removed_at DESC LIMIT 1",
                db.own("projects")
            ))?
            .query_row([&self.path], |row| row.get(0))
            .optional()?;
        if let Some(known) = known {
            return Ok(known);
        }
        let project = &self.record.session.project;
        let (id, at) = (project.id.to_string(), project.found_at.as_millis());
        db.prepare_cached(
            "INSERT INTO projects (id, name, path, added_at, removed_at, found)
             VALUES (?1, ?2, ?3, ?4, ?4, 1)",
        )?
        .execute(params![id, project.name, self.path, at])?;
        Ok(id)
    }

    fn create(&self, db: Db<'_>, project: &str) -> Result<i64, Fault> {
        let HistoryRecord { mark, session, .. } = &self.record;
        let (summary, work) = (&session.summary, &self.work);
        if number(db, session.id)?.is_some() {
            return Err(Error::SessionExists { id: session.id }.into());
        }
        let n = db.insert(
            "INSERT INTO agent_sessions
                 (id, project_id, agent, kind, created_at, status, reason, archived, title,
                  last_seq, settled_seq, updated_at, last_active_at, rev, ended_rev, seen_rev,
                  step, last_line, cost, input_tokens, output_tokens)
             VALUES (?1, ?2, ?3, 'session', ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,
                  ?15, ?16, ?17, ?18, ?19, ?20)",
            params![
                session.id.to_string(),
                project,
                mark.key.agent.as_str(),
                session.created_at.as_millis(),
                summary.status.as_str(),
                summary.reason.as_ref().map(EndReason::as_str),
                summary.archived,
                summary.title,
                summary.last_seq.get(),
                summary.settled_seq.get(),
                summary.updated_at.as_millis(),
                summary.last_active_at.as_millis(),
                summary.rev.get(),
                work.ended_rev,
                work.seen_rev,
                work.step,
                work.last_line,
                work.cost,
                count(mark.input_tokens),
                count(mark.output_tokens),
            ],
        )?;
        Ok(n)
    }
}

/// Records new messages of a conversation, and the cursor after them.
#[derive(Debug)]
pub(crate) struct RecordHistory {
    pub(crate) session: SessionId,
    pub(crate) record: Option<Record>,
    /// Without messages, only the title and the last activity are stored.
    pub(crate) summary: Summary,
    pub(crate) mark: HistoryMark,
}

impl Change for RecordHistory {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn session(&self) -> Option<SessionId> {
        Some(self.session)
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        if let Some(record) = &self.record {
            record.apply(db)?;
        }
        let key = &self.mark.key;
        let before: Option<(i64, i64)> = db
            .prepare_cached(&format!(
                "SELECT input_tokens, output_tokens FROM histories WHERE agent = ?1 AND root = ?2
                 AND path = ?3 AND entry = ?4 AND standing <> 'replaced'{}",
                db.own("histories")
            ))?
            .query_row(params![key.agent.as_str(), key.root, key.path, key.entry], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let (input, output) = before.unwrap_or_default();
        db.prepare_cached(
            "UPDATE agent_sessions SET title = ?4, last_active_at = ?5,
                 input_tokens = CASE WHEN input_tokens + ?2 > 0 THEN input_tokens + ?2 ELSE 0 END,
                 output_tokens = CASE WHEN output_tokens + ?3 > 0 THEN output_tokens + ?3 ELSE 0 END
             WHERE id = ?1",
        )?
        .execute(params![
            self.session.to_string(),
            count(self.mark.input_tokens) - input,
            count(self.mark.output_tokens) - output,
            self.summary.title,
            self.summary.last_active_at.as_millis(),
        ])?;
        touch(db, &self.mark)
    }
}

/// Records the cursor of a conversation without messages.
#[derive(Debug)]
pub(crate) struct MarkHistory(pub(crate) HistoryMark);

impl Change for MarkHistory {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        touch(db, &self.0)
    }
}

/// Records a conversation that continues another one and belongs to the same session. It has no
/// messages yet.
#[derive(Debug)]
pub(crate) struct ContinueHistory {
    pub(crate) mark: HistoryMark,
    /// The conversation that it continues.
    pub(crate) before: KnownHistory,
    pub(crate) at: Timestamp,
}

impl Change for ContinueHistory {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Soon
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        let Self { mark, before, at } = self;
        if find(db, &mark.key)?.is_some() {
            return Ok(());
        }
        let session = match before.session {
            Some(id) => Some(number(db, id)?.ok_or(Error::UnknownSession { id })?),
            None => None,
        };
        insert(db, mark, session, before.status)?;
        // The agent resumes the session by the new id from now on. An agent that Convoke started
        // reports its id itself.
        match session.filter(|_| before.status == HistoryStatus::Imported) {
            Some(n) if mark.agent_session_id != before.agent_session_id => name(db, n, mark, *at),
            Some(_) | None => Ok(()),
        }
    }
}

/// Records the id by which the agent knows a session, unless another session has it: a file can
/// claim any id, and would take the other session's place. The session of a file that was rewritten
/// has the id of the one that was imported before.
fn name(db: Db<'_>, session: i64, mark: &HistoryMark, at: Timestamp) -> Result<(), Fault> {
    let key = &mark.key;
    let taken = format!(
        "SELECT 1 FROM agent_session_ids AS i JOIN agent_sessions AS s
         ON s.n = i.session AND s.agent = ?1
         WHERE i.agent_session_id = ?2 AND s.n <> ?3 AND NOT EXISTS (
             SELECT 1 FROM histories AS h WHERE h.session = s.n AND h.agent = ?1 AND h.root = ?4
             AND h.path = ?5 AND h.entry = ?6{}
         )",
        db.own("h")
    );
    let is_taken = db.prepare_cached(&taken)?.exists(params![
        key.agent.as_str(),
        mark.agent_session_id,
        session,
        key.root,
        key.path,
        key.entry
    ])?;
    if is_taken {
        return Ok(());
    }
    db.prepare_cached(
        "INSERT INTO agent_session_ids (session, agent_session_id, why, recorded_at)
         VALUES (?1, ?2, 'imported', ?3)",
    )?
    .execute(params![session, mark.agent_session_id, at.as_millis()])?;
    Ok(())
}

/// Records what the user agreed to have imported.
#[derive(Debug)]
pub(crate) struct AddConsents {
    pub(crate) consents: Vec<Consent>,
    pub(crate) at: Timestamp,
}

impl Change for AddConsents {
    type Outcome = ();

    fn durability(&self) -> Durability {
        Durability::Acknowledged
    }

    fn apply(&self, db: Db<'_>) -> Result<(), Fault> {
        for Consent { agent, since, folder } in &self.consents {
            let folder = match folder {
                Some(folder) => folder.to_str(),
                None => Some(""),
            };
            let folder = folder.ok_or(Error::Misuse { what: "a folder's path must be UTF-8" })?;
            db.prepare_cached(
                "INSERT INTO history_consents (agent, since, folder, given_at)
                 VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
            )?
            .execute(params![
                agent.as_str(),
                since.map_or(0, Timestamp::as_millis),
                folder,
                self.at.as_millis(),
            ])?;
        }
        Ok(())
    }
}

/// The row of a conversation, if there is one.
fn find(db: Db<'_>, key: &HistoryKey) -> Result<Option<(i64, HistoryStatus)>, Fault> {
    let found = db
        .prepare_cached(&format!(
            "SELECT n, standing = 'erased' FROM histories WHERE agent = ?1 AND root = ?2
             AND path = ?3 AND entry = ?4 AND standing <> 'replaced'{}",
            db.own("histories")
        ))?
        .query_row(params![key.agent.as_str(), key.root, key.path, key.entry], |row| {
            let is_erased: bool = row.get(1)?;
            let status = if is_erased { HistoryStatus::Erased } else { HistoryStatus::Imported };
            Ok((row.get(0)?, status))
        })
        .optional()?;
    Ok(found)
}

/// The session in which an agent that Convoke started wrote this conversation.
fn driven_here(db: Db<'_>, mark: &HistoryMark) -> Result<Option<(i64, SessionId)>, Fault> {
    let found = db
        .prepare_cached(&format!(
            "SELECT s.n, s.id FROM agent_session_ids AS i JOIN agent_sessions AS s
             ON s.n = i.session AND s.agent = ?1
             WHERE i.agent_session_id = ?2 AND NOT EXISTS (
                 SELECT 1 FROM histories AS h WHERE h.session = s.n AND h.agent_session_id = ?2
             ){} LIMIT 1",
            db.own("s")
        ))?
        .query_row(params![mark.key.agent.as_str(), mark.agent_session_id], |row| {
            Ok((row.get(0)?, crate::row::text(row, 1)?))
        })
        .optional()?;
    Ok(found)
}

fn insert(
    db: Db<'_>,
    mark: &HistoryMark,
    session: Option<i64>,
    status: HistoryStatus,
) -> Result<(), Fault> {
    let key = &mark.key;
    db.prepare_cached(
        "INSERT INTO histories (agent, root, path, entry, agent_session_id, parent, session,
             standing, stamp, cursor, input_tokens, output_tokens)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        key.agent.as_str(),
        key.root,
        key.path,
        key.entry,
        mark.agent_session_id,
        mark.parent,
        session,
        status.as_str(),
        mark.stamp,
        mark.cursor,
        count(mark.input_tokens),
        count(mark.output_tokens),
    ])?;
    Ok(())
}

fn touch(db: Db<'_>, mark: &HistoryMark) -> Result<(), Fault> {
    let key = &mark.key;
    db.prepare_cached(&format!(
        "UPDATE histories SET stamp = ?5, cursor = ?6, input_tokens = ?7, output_tokens = ?8
         WHERE agent = ?1 AND root = ?2 AND path = ?3 AND entry = ?4 AND standing <> 'replaced'{}",
        db.own("histories")
    ))?
    .execute(params![
        key.agent.as_str(),
        key.root,
        key.path,
        key.entry,
        mark.stamp,
        mark.cursor,
        count(mark.input_tokens),
        count(mark.output_tokens),
    ])?;
    Ok(())
}

fn count(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}
