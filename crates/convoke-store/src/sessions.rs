//! Sessions without their messages, and lists of them.

mod elsewhere;
mod list;
mod unseen;

use convoke_core::files::{ChangeTotals, OwnWorktree};
use convoke_core::id::{AgentName, CanonicalId, NodeId, ProjectId, SessionId};
use convoke_core::message::Rev;
use convoke_core::session::{EndReason, Status, Summary, Work};
use convoke_core::time::Timestamp;
use convoke_core::update::Update;
use tokio::sync::mpsc;

use crate::db::{Db, Optional as _, Params, Row, SqlResult, params};
use crate::error::{Error, Result};
use crate::row;
use crate::store::{Store, Window};
use crate::write::Durability;
use crate::write::changes::{SetChanges, SetWorktree};
use crate::write::erase::EraseSession;
use crate::write::record::Record;
use crate::write::sessions::{CreateSession, RecordAgentSession, number};
use crate::write::work::MarkSeen;

pub use unseen::{Unseen, UnseenCount};

/// The shortest prefix of an id that is looked up.
const PREFIX_MIN: usize = 4;

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionKind {
    /// A human's; it counts against the limit.
    Session,
    /// A pair of teams'; it does not count.
    Team,
}

impl SessionKind {
    const ALL: [Self; 2] = [Self::Session, Self::Team];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Team => "team",
        }
    }
}

/// A session that is to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// A new id.
    pub id: SessionId,
    /// The project it works in.
    pub project_id: ProjectId,
    /// The agent it talks to.
    pub agent: AgentName,
    /// What it is for.
    pub kind: SessionKind,
    /// When it begins.
    pub created_at: Timestamp,
}

/// A session without its messages.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSession {
    /// Its id.
    pub id: SessionId,
    /// The project it works in.
    pub project_id: ProjectId,
    /// The agent it talks to.
    pub agent: AgentName,
    /// What it is for.
    pub kind: SessionKind,
    /// When it began.
    pub created_at: Timestamp,
    /// Its summary after the newest update.
    pub summary: Summary,
    /// The newest id by which its agent knows it.
    pub agent_session_id: Option<String>,
    /// What it changed in its project; `None` without checkpoints.
    pub changes: Option<ChangeTotals>,
    /// The work tree that it has for itself.
    pub worktree: Option<OwnWorktree>,
    /// The node it belongs to; none if the database is a file.
    pub node: Option<NodeId>,
    /// Whether a request to its human was pending when its row was read; never in a file, whose
    /// daemon has the live state of every session.
    pub is_asking: bool,
}

/// An id by which an agent knew a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSessionRecord {
    /// The agent's own id.
    pub agent_session_id: String,
    /// Why it was recorded: created, resumed, …
    pub why: String,
    /// When it was recorded.
    pub recorded_at: Timestamp,
}

/// Selects the sessions of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFilter {
    /// Those of one project.
    pub project: Option<ProjectId>,
    /// Those with one of these statuses; none means all.
    pub statuses: Vec<Status>,
    /// Whether archived ones are among them.
    pub archived: Archived,
    /// Those of one kind.
    pub kind: Option<SessionKind>,
    /// Those of all nodes, or of this one.
    pub of: NodeScope,
}

/// Whether a list has the sessions of all nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeScope {
    /// All nodes.
    All,
    /// This node only.
    Own,
}

impl SessionFilter {
    /// Every session there is.
    pub const fn all() -> Self {
        Self {
            project: None,
            statuses: Vec::new(),
            archived: Archived::Shown,
            kind: None,
            of: NodeScope::All,
        }
    }
}

/// Whether archived sessions are in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Archived {
    /// They are left out.
    Hidden,
    /// They are included.
    Shown,
    /// Only they are listed.
    Only,
}

impl Archived {
    /// The condition for rows `c` of `session_counts`.
    pub(crate) const fn counted(self) -> &'static str {
        match self {
            Self::Hidden => "AND c.archived = 0",
            Self::Shown => "",
            Self::Only => "AND c.archived = 1",
        }
    }
}

/// How a list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionOrder {
    /// The last created first.
    Created,
    /// The last active first.
    Active,
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionPage {
    /// The sessions in the window.
    pub sessions: Vec<StoredSession>,
    /// How many there are in the whole list.
    pub total: u64,
}

/// A long list that is read in pieces, from one snapshot.
#[derive(Debug)]
pub enum SessionPiece {
    /// The next sessions in the window.
    Sessions(Vec<StoredSession>),
    /// At the end: how many there are in the whole list.
    Total(u64),
}

/// When an update must be on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sync {
    /// Before it is acknowledged: a human said or decided it.
    Now,
    /// Within 200 ms.
    Soon,
}

impl Store {
    /// Begins a session. Fails with `UnknownProject` or `SessionExists`.
    pub async fn create_session(&self, new: NewSession) -> Result<()> {
        self.make(CreateSession(new)).await
    }

    /// Records updates of a session together with its new summary, in one transaction.
    ///
    /// The revisions must be newer than the stored one; else it fails with `OutOfOrder`. With
    /// `Sync::Now` they are on disk when this returns.
    pub async fn record(
        &self,
        session: SessionId,
        updates: &[Update],
        summary: Summary,
        sync: Sync,
    ) -> Result<()> {
        let durability = match sync {
            Sync::Now => Durability::Acknowledged,
            Sync::Soon => Durability::Soon,
        };
        self.make(Record::new(session, updates, summary, durability)?).await
    }

    /// Records that a human has looked at a session, up to a revision.
    pub async fn mark_seen(&self, session: SessionId, rev: Rev) -> Result<()> {
        self.make(MarkSeen { session, rev }).await
    }

    /// Records what a session changed in its project.
    pub async fn set_changes(&self, session: SessionId, changes: ChangeTotals) -> Result<()> {
        self.make(SetChanges::new(session, changes)?).await
    }

    /// Records the session's own work tree, or that it has none any more.
    pub async fn set_worktree(
        &self,
        session: SessionId,
        worktree: Option<&OwnWorktree>,
    ) -> Result<()> {
        self.make(SetWorktree::new(session, worktree)?).await
    }

    /// Erases a session with its messages, requests, search entries and agent session ids. Fails
    /// with `UnknownSession`.
    ///
    /// The caller ensures that no pair of teams refers to it.
    pub async fn erase_session(&self, id: SessionId) -> Result<()> {
        self.make(EraseSession(id)).await
    }

    /// Records a new agent session id. The previous ones are kept.
    pub async fn record_agent_session(
        &self,
        session: SessionId,
        agent_session_id: String,
        why: String,
        at: Timestamp,
    ) -> Result<()> {
        if agent_session_id.is_empty() {
            return Err(Error::Misuse { what: "an agent's session id is never empty" });
        }
        self.make(RecordAgentSession { session, agent_session_id, why, at }).await
    }

    /// Finds a session by its id.
    pub async fn session(&self, id: SessionId) -> Result<Option<StoredSession>> {
        self.read(move |db| {
            let columns = columns(db);
            let sql = format!("SELECT {columns} FROM agent_sessions AS s WHERE id = ?1");
            Ok(db.prepare_cached(&sql)?.query_row([id.to_string()], session).optional()?)
        })
        .await
    }

    /// Finds a session by any id that its agent ever had for it.
    pub async fn session_by_canonical_id(&self, id: &CanonicalId) -> Result<Option<StoredSession>> {
        let id = id.clone();
        self.read(move |db| {
            let columns = columns(db);
            let sql = format!(
                "SELECT {columns} FROM agent_session_ids AS i JOIN agent_sessions AS s
                 ON s.n = i.session AND s.agent = ?1
                 WHERE i.agent_session_id = ?2 ORDER BY i.n DESC LIMIT 1"
            );
            let ids = [id.agent.as_str(), id.agent_session.as_str()];
            Ok(db.prepare_cached(&sql)?.query_row(ids, session).optional()?)
        })
        .await
    }

    /// Finds the sessions whose ids begin with at least four characters; no more than `limit` of them.
    pub async fn sessions_by_prefix(&self, prefix: &str, limit: u32) -> Result<Vec<StoredSession>> {
        let prefix = prefix.to_ascii_lowercase();
        if prefix.len() < PREFIX_MIN {
            return Err(Error::Misuse { what: "a prefix of an id needs at least 4 characters" });
        }
        if !prefix.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
            return Ok(Vec::new());
        }
        // Sorts after every id with this prefix.
        let beyond = format!("{prefix}g");
        let window = Window::first(limit);
        self.read_list(window, move |db| {
            let columns = columns(db);
            let sql = format!(
                "SELECT {columns} FROM agent_sessions AS s
                 WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3"
            );
            Ok(many(db, &sql, params![prefix, beyond, window.limit()])?)
        })
        .await
    }

    /// Lists sessions, newest first.
    pub async fn sessions(
        &self,
        filter: SessionFilter,
        order: SessionOrder,
        window: Window,
    ) -> Result<SessionPage> {
        self.read_list(window, move |db| Ok(list::page(db, &filter, order, window)?)).await
    }

    /// Lists sessions in the same way, and sends the first ones while the others are read. A slow receiver does not
    /// block a reader connection for others.
    pub fn sessions_in_pieces(
        &self,
        filter: SessionFilter,
        order: SessionOrder,
        window: Window,
        piece: usize,
    ) -> mpsc::Receiver<Result<SessionPiece>> {
        // The capacity for all pieces, the total, and an error.
        let (to_caller, pieces) = mpsc::channel(window.limit() as usize / piece.max(1) + 3);
        let store = self.clone();
        tokio::spawn(async move {
            let to_reader = to_caller.clone();
            let read = move |db: Db<'_>| {
                list::pieces(db, &filter, order, window, piece, |piece| {
                    // The receiver may be gone.
                    to_reader.try_send(Ok(piece)).ok();
                })?;
                Ok(())
            };
            if let Err(error) = store.read_aside(read).await {
                to_caller.send(Err(error)).await.ok();
            }
        });
        pieces
    }

    /// Counts sessions by the index, without reading each of them.
    pub async fn count_sessions(&self, filter: &SessionFilter) -> Result<u64> {
        let filter = filter.clone();
        self.read(move |db| Ok(list::total(db, &filter)?)).await
    }

    /// Lists the sessions with work in progress, the first created first, after the given one.
    pub async fn unsettled_sessions(
        &self,
        after: Option<SessionId>,
        limit: u32,
    ) -> Result<Vec<StoredSession>> {
        let window = Window::first(limit);
        self.read_list(window, move |db| {
            let after = match after {
                None => 0,
                Some(id) => number(db, id)?.ok_or(Error::UnknownSession { id })?,
            };
            let columns = columns(db);
            let sql = format!(
                "SELECT {columns} FROM agent_sessions AS s
                 WHERE settled_seq <> last_seq AND n > ?1{} ORDER BY n LIMIT ?2",
                db.own("s")
            );
            Ok(many(db, &sql, params![after, window.limit()])?)
        })
        .await
    }

    /// Lists the sessions that have or had their own work tree, the newest first.
    pub async fn sessions_with_worktree(&self, window: Window) -> Result<Vec<StoredSession>> {
        self.read_list(window, move |db| {
            let columns = columns(db);
            let sql = format!(
                "SELECT {columns} FROM agent_sessions AS s
                 WHERE s.worktree IS NOT NULL{} ORDER BY n DESC LIMIT ?1 OFFSET ?2",
                db.own("s")
            );
            Ok(many(db, &sql, params![window.limit(), window.offset])?)
        })
        .await
    }

    /// Lists the ids by which its agent knew a session, the newest first.
    pub async fn agent_session_records(
        &self,
        id: SessionId,
        window: Window,
    ) -> Result<Vec<AgentSessionRecord>> {
        self.read_list(window, move |db| {
            let n = number(db, id)?.ok_or(Error::UnknownSession { id })?;
            let mut statement = db.prepare_cached(
                "SELECT agent_session_id, why, recorded_at FROM agent_session_ids
                 WHERE session = ?1 ORDER BY n DESC LIMIT ?2 OFFSET ?3",
            )?;
            let records =
                statement.query_map(params![n, window.limit(), window.offset], |row| {
                    Ok(AgentSessionRecord {
                        agent_session_id: row.get(0)?,
                        why: row.get(1)?,
                        recorded_at: row::timestamp(row, 2)?,
                    })
                })?;
            Ok(records.collect::<SqlResult<_>>()?)
        })
        .await
    }
}

/// The columns that `session` reads from both databases, of a table called `s`.
const OWN_COLUMNS: &str = "s.id, s.project_id, s.agent, s.kind, s.created_at, s.agent_session_id, \
     s.status, s.reason, s.archived, s.title, s.last_seq, s.settled_seq, s.updated_at, \
     s.last_active_at, s.rev, s.ended_rev, s.seen_rev, s.running_since, s.failure, s.step, \
     s.last_line, s.cost, s.changes, s.worktree";

/// Whether a request of a session is pending; only while its turn runs.
const IS_ASKING: &str = "s.running_since IS NOT NULL AND EXISTS (SELECT 1 FROM human_requests AS r \
     WHERE r.session = s.n AND r.status = 'pending')";

fn columns(db: Db<'_>) -> String {
    match db {
        Db::Sqlite(_) => format!("{OWN_COLUMNS}, 0, NULL"),
        Db::Postgres(_) => format!("{OWN_COLUMNS}, {IS_ASKING}, s.node"),
    }
}

fn many(db: Db<'_>, sql: &str, params: impl Params) -> SqlResult<Vec<StoredSession>> {
    db.prepare_cached(sql)?.query_map(params, session)?.collect()
}

fn session(row: &Row<'_>) -> SqlResult<StoredSession> {
    Ok(StoredSession {
        id: row::text(row, 0)?,
        project_id: row::text(row, 1)?,
        agent: row::text(row, 2)?,
        kind: row::word(row, 3, &SessionKind::ALL, SessionKind::as_str)?,
        created_at: row::timestamp(row, 4)?,
        agent_session_id: row.get(5)?,
        changes: row::json(row, 22)?,
        worktree: row::json(row, 23)?,
        is_asking: row.get(24)?,
        node: row::optional_text(row, 25)?,
        summary: Summary {
            status: row::word(row, 6, &Status::ALL, Status::as_str)?,
            reason: row.get::<Option<String>>(7)?.map(EndReason::from),
            archived: row.get(8)?,
            title: row.get(9)?,
            last_seq: row::seq(row, 10)?,
            settled_seq: row::seq(row, 11)?,
            updated_at: row::timestamp(row, 12)?,
            last_active_at: row::timestamp(row, 13)?,
            rev: Rev::new(row.get(14)?),
            work: Work {
                ended_rev: Rev::new(row.get(15)?),
                seen_rev: Rev::new(row.get(16)?),
                running_since: row.get::<Option<i64>>(17)?.map(Timestamp::from_millis),
                failure: row::json(row, 18)?,
                step: row.get(19)?,
                last_line: row.get(20)?,
                cost: row::json(row, 21)?,
            },
        },
    })
}
