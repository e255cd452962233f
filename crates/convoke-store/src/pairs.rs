//! Pairs of teams that talk to each other, each in one lasting session.

use std::fmt;

use convoke_core::id::{NodeId, SessionId};
use convoke_core::team::{Pair, PairStatus, TeamName};
use convoke_core::time::Timestamp;

use crate::db::{Db, Optional as _, Param, Row, SqlResult, params};
use crate::error::Result;
use crate::row;
use crate::sessions::{NewSession, NodeScope};
use crate::store::{Store, Window};
use crate::write::pairs::{ChangePair, CreatePair, DeletePair};

/// The number of a pair; never used again for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PairId(u64);

impl PairId {
    /// The id with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for PairId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A pair as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPair {
    /// Its id.
    pub id: PairId,
    /// Who talks to whom.
    pub pair: Pair,
    /// The session in which they talk.
    pub session_id: SessionId,
    /// The newest id by which the agent knows that session.
    pub agent_session_id: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_used_at: Timestamp,
    /// Messages since it was created or last compacted.
    pub message_count: u64,
    /// Its status.
    pub status: PairStatus,
    /// What went wrong, if it did.
    pub error: Option<String>,
    /// The node that has the team's folder; none if the database is a file.
    pub node: Option<NodeId>,
}

/// What came of creating a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairCreation {
    /// It is new.
    Created(StoredPair),
    /// It was there; nothing was stored.
    Existed(StoredPair),
}

/// A change of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PairChange {
    /// Messages went between the teams.
    Used {
        /// How many.
        messages: u64,
        /// When.
        at: Timestamp,
    },
    /// Its status changed.
    Status {
        /// The new status.
        status: PairStatus,
        /// What went wrong, if it did.
        error: Option<String>,
    },
    /// Its conversation was compacted, and the message count is reset.
    Compacted,
    /// It continues in another session.
    Moved {
        /// Which one.
        session_id: SessionId,
    },
}

/// Selects the pairs of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairFilter {
    /// Those of one asker.
    pub from: Asker,
    /// Those with one answering team.
    pub to: Option<TeamName>,
    /// Those with this status.
    pub status: Option<PairStatus>,
    /// Those created later than this.
    pub created_after: Option<Timestamp>,
    /// Those used later than this.
    pub used_after: Option<Timestamp>,
    /// Those of all nodes, or of this one.
    pub of: NodeScope,
}

impl PairFilter {
    /// Every pair there is.
    pub const fn all() -> Self {
        Self {
            from: Asker::Any,
            to: None,
            status: None,
            created_after: None,
            used_after: None,
            of: NodeScope::All,
        }
    }

    /// Every pair of this node.
    pub const fn own() -> Self {
        let mut own = Self::all();
        own.of = NodeScope::Own;
        own
    }
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asker {
    /// Any asker.
    Any,
    /// A caller that is no team.
    External,
    /// This team.
    Team(TeamName),
}

/// Statistics of all pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairStats {
    /// How many there are.
    pub total: u64,
    /// Those in use.
    pub active: u64,
    /// Those that should be compacted.
    pub compact_pending: u64,
    /// Those kept for reference.
    pub archived: u64,
    /// Messages of all of them.
    pub total_messages: u64,
}

impl Store {
    /// Creates a pair and its session in one transaction, or returns the existing pair; of
    /// concurrent callers one creates it.
    pub async fn create_pair(&self, pair: Pair, session: NewSession) -> Result<PairCreation> {
        self.make(CreatePair { pair, session }).await
    }

    /// Changes a pair and returns its new state. Fails with `UnknownPair`, `UnknownSession` or
    /// `PairExists`.
    pub async fn change_pair(&self, id: PairId, change: PairChange) -> Result<StoredPair> {
        self.make(ChangePair { id, change }).await
    }

    /// Deletes a pair and returns it as it was. Its session stays.
    pub async fn delete_pair(&self, id: PairId) -> Result<StoredPair> {
        self.make(DeletePair { id }).await
    }

    /// Finds a pair by its id.
    pub async fn pair(&self, id: PairId) -> Result<Option<StoredPair>> {
        self.read(move |db| Ok(by_id(db, id)?)).await
    }

    /// Finds the pair of this node that joins these teams now; archived ones do not count.
    pub async fn pair_between(&self, pair: &Pair) -> Result<Option<StoredPair>> {
        let pair = pair.clone();
        self.read(move |db| Ok(find(db, &pair)?)).await
    }

    /// Finds the pair that talks in a session.
    pub async fn pair_in(&self, session: SessionId) -> Result<Option<StoredPair>> {
        self.read(move |db| {
            let select = select(db);
            let sql = format!("{select} WHERE p.session_id = ?1 ORDER BY p.id DESC LIMIT 1");
            let mut statement = db.prepare_cached(&sql)?;
            Ok(statement.query_row([session.to_string()], stored_pair).optional()?)
        })
        .await
    }

    /// Lists pairs, the last used first.
    pub async fn pairs(&self, filter: PairFilter, window: Window) -> Result<Vec<StoredPair>> {
        self.read_list(window, move |db| Ok(list(db, &filter, window)?)).await
    }

    /// Counts pairs and their messages.
    pub async fn pair_stats(&self) -> Result<PairStats> {
        self.read_aside(|db| {
            let stats = db
                .prepare_cached(
                    "SELECT count(*), count(*) FILTER (WHERE status = 'active'),
                        count(*) FILTER (WHERE status = 'compact_pending'),
                        count(*) FILTER (WHERE status = 'archived'),
                        CAST(coalesce(sum(message_count), 0) AS BIGINT)
                 FROM team_pairs",
                )?
                .query_row(params![], |row| {
                    Ok(PairStats {
                        total: row.get(0)?,
                        active: row.get(1)?,
                        compact_pending: row.get(2)?,
                        archived: row.get(3)?,
                        total_messages: row.get(4)?,
                    })
                })?;
            Ok(stats)
        })
        .await
    }
}

/// The query for rows that `stored_pair` reads.
fn select(db: Db<'_>) -> String {
    let node = match db {
        Db::Sqlite(_) => "NULL",
        Db::Postgres(_) => "p.node",
    };
    format!(
        "SELECT p.id, p.from_team, p.to_team, p.thread, p.session_id,
        s.agent_session_id, p.created_at, p.last_used_at, p.message_count, p.status, p.error, {node}
    FROM team_pairs AS p JOIN agent_sessions AS s ON s.id = p.session_id"
    )
}

/// A condition for pairs of this node.
fn own(db: Db<'_>) -> &'static str {
    match db {
        Db::Sqlite(_) => "",
        Db::Postgres(_) => {
            " AND coalesce(p.node, '') = coalesce(current_setting('convoke.node', true), '')"
        }
    }
}

pub(crate) fn by_id(db: Db<'_>, id: PairId) -> SqlResult<Option<StoredPair>> {
    let mut statement = db.prepare_cached(&format!("{} WHERE p.id = ?1", select(db)))?;
    statement.query_row([id.get()], stored_pair).optional()
}

/// The pair that is not archived.
pub(crate) fn find(db: Db<'_>, pair: &Pair) -> SqlResult<Option<StoredPair>> {
    let (from, thread) = (pair.from.as_ref().map_or("", TeamName::as_str), pair.thread.as_deref());
    let (select, own) = (select(db), own(db));
    let mut statement = db.prepare_cached(&format!(
        "{select} WHERE p.to_team = ?1 AND coalesce(p.from_team, '') = ?2
         AND coalesce(p.thread, '') = ?3 AND p.status <> 'archived'{own}"
    ))?;
    statement.query_row([pair.to.as_str(), from, thread.unwrap_or("")], stored_pair).optional()
}

/// A value of a filter.
enum Given {
    Text(String),
    Number(i64),
}

impl Given {
    fn to_param(&self) -> Param<'_> {
        match self {
            Self::Text(text) => Param::Text(text),
            Self::Number(number) => Param::Int(*number),
        }
    }
}

fn list(db: Db<'_>, filter: &PairFilter, window: Window) -> SqlResult<Vec<StoredPair>> {
    let own = match filter.of {
        NodeScope::Own => own(db),
        NodeScope::All => "",
    };
    let mut sql = format!("{} WHERE true{own}", select(db));
    let mut values: Vec<Given> = Vec::new();
    let mut narrow = |condition: &str, value: Option<Given>| {
        if let Some(value) = value {
            sql.push_str(condition);
            values.push(value);
        }
    };
    match &filter.from {
        Asker::Any => {}
        Asker::External => {
            narrow(" AND coalesce(p.from_team, '') = ?", Some(Given::Text(String::new())));
        }
        Asker::Team(team) => narrow(" AND p.from_team = ?", Some(Given::Text(team.to_string()))),
    }
    narrow(" AND p.to_team = ?", filter.to.as_ref().map(|team| Given::Text(team.to_string())));
    narrow(
        " AND p.status = ?",
        filter.status.map(|status| Given::Text(status.as_str().to_owned())),
    );
    narrow(" AND p.created_at > ?", filter.created_after.map(|at| Given::Number(at.as_millis())));
    narrow(" AND p.last_used_at > ?", filter.used_after.map(|at| Given::Number(at.as_millis())));
    sql.push_str(" ORDER BY p.last_used_at DESC, p.id DESC LIMIT ? OFFSET ?");
    values.extend([window.limit(), window.offset].map(|it| Given::Number(i64::from(it))));
    let params: Vec<Param<'_>> = values.iter().map(Given::to_param).collect();
    db.prepare_cached(&sql)?.query_map(params.as_slice(), stored_pair)?.collect()
}

fn stored_pair(row: &Row<'_>) -> SqlResult<StoredPair> {
    Ok(StoredPair {
        id: PairId(row.get(0)?),
        pair: Pair {
            from: row::optional_text(row, 1)?,
            to: row::text(row, 2)?,
            thread: row.get(3)?,
        },
        session_id: row::text(row, 4)?,
        agent_session_id: row.get(5)?,
        created_at: row::timestamp(row, 6)?,
        last_used_at: row::timestamp(row, 7)?,
        message_count: row.get(8)?,
        status: row::word(row, 9, &PairStatus::ALL, PairStatus::as_str)?,
        error: row.get(10)?,
        node: row::optional_text(row, 11)?,
    })
}
