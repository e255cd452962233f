//! Conversations of other programs: which of them are imported, up to which cursor, and into which
//! session.
//!
//! Stamps and cursors are opaque texts here; only their reader in `convoke-histories` interprets
//! them. They are stored in the same transaction as the messages.

use std::path::PathBuf;

use convoke_core::id::{AgentName, MessageId, ProjectId, SessionId};
use convoke_core::message::Seq;
use convoke_core::session::Summary;
use convoke_core::time::Timestamp;
use convoke_core::update::Update;

use crate::Archived;
use crate::db::{Db, Optional as _, Row, SqlResult, params};
use crate::error::{Error, Fault, Result};
use crate::row;
use crate::store::Store;
use crate::write::Durability;
use crate::write::histories::{
    AddConsents, ContinueHistory, ImportHistories, MarkHistory, RecordHistory,
};
use crate::write::record::Record;
use crate::write::sessions::number;

/// Where a conversation is kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HistoryKey {
    /// The agent's name.
    pub agent: AgentName,
    /// The folder of the agent's store.
    pub root: String,
    /// The file or database below it.
    pub path: String,
    /// The conversation in a database; empty for a file.
    pub entry: String,
}

/// How Convoke treats a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryStatus {
    /// Its session was made of it.
    Imported,
    /// Agents that Convoke started wrote it, and its session has their messages already.
    Own,
    /// The file was rewritten, and another session has its new content.
    Replaced,
    /// Its session was erased here.
    Erased,
}

impl HistoryStatus {
    const ALL: [Self; 4] = [Self::Imported, Self::Own, Self::Replaced, Self::Erased];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Imported => "imported",
            Self::Own => "own",
            Self::Replaced => "replaced",
            Self::Erased => "erased",
        }
    }
}

/// A conversation of which something is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownHistory {
    /// Where it is kept.
    pub key: HistoryKey,
    /// How Convoke treats it.
    pub status: HistoryStatus,
    /// Its session, unless that was erased.
    pub session: Option<SessionId>,
    /// The agent's own id of it.
    pub agent_session_id: String,
    /// The agent session id that the session uses now; another one if the session was forked here.
    pub current: Option<String>,
    /// Its stamp when it was last read.
    pub stamp: String,
}

/// The position up to which a conversation was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryMark {
    /// Where it is kept.
    pub key: HistoryKey,
    /// The agent's own id of it.
    pub agent_session_id: String,
    /// The agent's own id of the session whose subagent it is.
    pub parent: Option<String>,
    /// Its stamp.
    pub stamp: String,
    /// The cursor from which reading continues.
    pub cursor: String,
    /// Tokens that its model read.
    pub input_tokens: u64,
    /// Tokens that its model wrote.
    pub output_tokens: u64,
}

/// A conversation that is imported as a new session.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryRecord {
    /// The position up to which it was read.
    pub mark: HistoryMark,
    /// The session.
    pub session: NewHistorySession,
    /// The session that was imported from the file before it was rewritten; it stays.
    pub replaces: Option<SessionId>,
}

/// A session that is made of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct NewHistorySession {
    /// A new id.
    pub id: SessionId,
    /// When the conversation began.
    pub created_at: Timestamp,
    /// The folder in which the agent worked; its project is created as found if there is none.
    pub project: FoundProject,
    /// Its messages and state.
    pub updates: Vec<Update>,
    /// The summary after these updates.
    pub summary: Summary,
}

/// The folder of an imported conversation. If it is no project, it is recorded as found, not as
/// added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundProject {
    /// A new id, or that of the project.
    pub id: ProjectId,
    /// What people call it.
    pub name: String,
    /// The folder.
    pub path: PathBuf,
    /// When it was found.
    pub found_at: Timestamp,
}

/// When messages are put into the search index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indexing {
    /// Together with what is stored.
    Now,
    /// In the background, after [`Store::index_imported`] or at the next start. Until then,
    /// searches are marked as incomplete.
    Later,
}

/// The result of importing a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryOutcome {
    /// It is a session now.
    Added(SessionId),
    /// Agents of this session, which Convoke started, wrote it.
    Own(SessionId),
    /// A human erased it here.
    Erased,
    /// A concurrent import has stored it.
    Known,
}

/// What a user agreed to have imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// The agent's name.
    pub agent: AgentName,
    /// Conversations that changed then or later.
    pub since: Option<Timestamp>,
    /// Conversations in this folder or below.
    pub folder: Option<PathBuf>,
}

/// Where a session comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHistory {
    /// Where the conversation is kept.
    pub key: HistoryKey,
    /// The agent's own id of it.
    pub agent_session_id: String,
    /// How Convoke treats it.
    pub status: HistoryStatus,
    /// The session whose subagent it is, if that was imported.
    pub parent: Option<SessionId>,
    /// The sessions of its subagents.
    pub children: Vec<SessionId>,
}

impl Store {
    /// Lists the conversations of an agent of which something is stored.
    pub async fn histories(&self, agent: AgentName) -> Result<Vec<KnownHistory>> {
        self.read_aside(move |db| {
            let own = db.own("h");
            let mut statement = db.prepare_cached(&format!(
                "SELECT h.root, h.path, h.entry, h.standing, s.id, h.agent_session_id,
                     s.agent_session_id, h.stamp
                 FROM histories AS h LEFT JOIN agent_sessions AS s ON s.n = h.session
                 WHERE h.agent = ?1 AND h.standing <> 'replaced'{own}"
            ))?;
            let known = statement.query_map([agent.as_str()], |row| {
                Ok(KnownHistory {
                    key: key(row, &agent, 0)?,
                    status: status(row, 3)?,
                    session: row::optional_text(row, 4)?,
                    agent_session_id: row.get(5)?,
                    current: row.get(6)?,
                    stamp: row.get(7)?,
                })
            })?;
            Ok(known.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// Records that a conversation continues another one, and belongs to the same session from now
    /// on.
    pub async fn continue_history(
        &self,
        mark: HistoryMark,
        before: KnownHistory,
        at: Timestamp,
    ) -> Result<()> {
        self.make(ContinueHistory { mark, before, at }).await
    }

    /// The cursor from which a conversation is read next.
    pub async fn history_cursor(&self, key: HistoryKey) -> Result<Option<String>> {
        self.read(move |db| {
            let own = db.own("histories");
            let sql = format!(
                "SELECT cursor FROM histories WHERE agent = ?1 AND root = ?2 AND path = ?3
                 AND entry = ?4 AND standing <> 'replaced'{own}"
            );
            let place = [key.agent.as_str(), &key.root, &key.path, &key.entry];
            Ok(db.prepare_cached(&sql)?.query_row(place, |row| row.get(0)).optional()?)
        })
        .await
    }

    /// Imports conversations as sessions in one transaction; returns the outcome of each, in the
    /// same order.
    pub async fn import_histories(
        &self,
        records: &[HistoryRecord],
        indexing: Indexing,
    ) -> Result<Vec<HistoryOutcome>> {
        self.make(ImportHistories::new(records, indexing)?).await
    }

    /// Records new messages of a conversation, together with the position up to which it was read.
    pub async fn record_history(
        &self,
        session: SessionId,
        updates: &[Update],
        summary: Summary,
        mark: HistoryMark,
    ) -> Result<()> {
        let record = match updates {
            [] => None,
            _ => {
                let record = Record::new(session, updates, summary.clone(), Durability::Soon)?;
                Some(record.uncounted())
            }
        };
        self.make(RecordHistory { session, record, summary, mark }).await
    }

    /// Records the position up to which a conversation was read, without messages.
    pub async fn mark_history(&self, mark: HistoryMark) -> Result<()> {
        self.make(MarkHistory(mark)).await
    }

    /// The ids of the newest messages of a session, with their places.
    pub async fn message_ids(
        &self,
        session: SessionId,
        limit: u32,
    ) -> Result<Vec<(MessageId, Seq)>> {
        self.read_aside(move |db| {
            let n = number(db, session)?.ok_or(Error::UnknownSession { id: session })?;
            let mut statement = db.prepare_cached(
                "SELECT id, seq FROM messages WHERE session = ?1 ORDER BY seq DESC LIMIT ?2",
            )?;
            let ids = statement.query_map(params![n, limit], |row| {
                let id = MessageId::from_bytes(row.get(0)?);
                Ok((id.ok_or_else(|| row::unreadable(0, "not an id"))?, row::seq(row, 1)?))
            })?;
            Ok(ids.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// The newest conversation that a session was imported from, with its parent and subagents.
    pub async fn session_history(&self, session: SessionId) -> Result<Option<SessionHistory>> {
        self.read(move |db| session_history(db, session)).await
    }

    /// What the user agreed to have imported.
    pub async fn history_consents(&self) -> Result<Vec<Consent>> {
        self.read(move |db| {
            let sql = format!(
                "SELECT agent, since, folder FROM history_consents WHERE true{}",
                db.own("history_consents")
            );
            let mut statement = db.prepare_cached(&sql)?;
            let consents = statement.query_map(params![], |row| {
                let (since, folder): (i64, String) = (row.get(1)?, row.get(2)?);
                Ok(Consent {
                    agent: row::text(row, 0)?,
                    since: (since > 0).then(|| Timestamp::from_millis(since)),
                    folder: (!folder.is_empty()).then(|| PathBuf::from(folder)),
                })
            })?;
            Ok(consents.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// Records what the user agreed to.
    pub async fn consent_to_histories(&self, consents: Vec<Consent>, at: Timestamp) -> Result<()> {
        self.make(AddConsents { consents, at }).await
    }

    /// Projects that were found and not added, each with how many sessions it has, most sessions first.
    pub async fn found_projects(
        &self,
        sessions: Archived,
        limit: u32,
    ) -> Result<Vec<(FoundProject, u64)>> {
        self.read_aside(move |db| {
            let mut statement = db.prepare_cached(&format!(
                "SELECT p.id, p.name, p.path, p.added_at,
                     (SELECT CAST(coalesce(sum(c.count), 0) AS BIGINT) FROM session_counts AS c
                      WHERE c.project_id = p.id {}) AS sessions
                 FROM projects AS p WHERE p.found = 1 ORDER BY sessions DESC, p.path LIMIT ?1",
                sessions.counted()
            ))?;
            let found = statement.query_map([limit], |row| {
                let project = FoundProject {
                    id: row::text(row, 0)?,
                    name: row.get(1)?,
                    path: PathBuf::from(row.get::<String>(2)?),
                    found_at: row::timestamp(row, 3)?,
                };
                Ok((project, row.get(4)?))
            })?;
            Ok(found.collect::<SqlResult<_>>()?)
        })
        .await
    }
}

fn session_history(db: Db<'_>, id: SessionId) -> Result<Option<SessionHistory>, Fault> {
    let n = number(db, id)?.ok_or(Error::UnknownSession { id })?;
    let found = db
        .prepare_cached(
            "SELECT root, path, entry, standing, agent, agent_session_id, parent FROM histories
             WHERE session = ?1 ORDER BY n DESC LIMIT 1",
        )?
        .query_row([n], |row| {
            let agent: AgentName = row::text(row, 4)?;
            let history = SessionHistory {
                key: key(row, &agent, 0)?,
                agent_session_id: row.get(5)?,
                status: status(row, 3)?,
                parent: None,
                children: Vec::new(),
            };
            Ok((history, row.get::<Option<String>>(6)?))
        })
        .optional()?;
    let Some((mut history, parent)) = found else { return Ok(None) };
    if let Some(parent) = parent {
        history.parent = db
            .prepare_cached(
                "SELECT s.id FROM agent_session_ids AS i JOIN agent_sessions AS s
                 ON s.n = i.session AND s.agent = ?1
                 WHERE i.agent_session_id = ?2 ORDER BY i.n DESC LIMIT 1",
            )?
            .query_row(params![history.key.agent.as_str(), parent], |row| row::text(row, 0))
            .optional()?;
    }
    let mut children = db.prepare_cached(
        "SELECT s.id FROM histories AS h JOIN agent_sessions AS s ON s.n = h.session
         WHERE h.agent = ?1 AND h.parent IN (
             SELECT agent_session_id FROM histories WHERE session = ?2
         ) ORDER BY s.created_at, s.n LIMIT 1000",
    )?;
    let rows =
        children.query_map(params![history.key.agent.as_str(), n], |row| row::text(row, 0))?;
    history.children = rows.collect::<SqlResult<_>>()?;
    Ok(Some(history))
}

/// The key of a conversation, from three columns.
fn key(row: &Row<'_>, agent: &AgentName, first: usize) -> SqlResult<HistoryKey> {
    Ok(HistoryKey {
        agent: agent.clone(),
        root: row.get(first)?,
        path: row.get(first + 1)?,
        entry: row.get(first + 2)?,
    })
}

fn status(row: &Row<'_>, column: usize) -> SqlResult<HistoryStatus> {
    row::word(row, column, &HistoryStatus::ALL, HistoryStatus::as_str)
}
