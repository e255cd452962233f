//! Requests to humans, in the state of their newest messages.

use convoke_core::id::{RequestId, SessionId};
use convoke_core::message::Seq;
use convoke_core::request::Request;
use convoke_core::time::Timestamp;

use crate::db::{Optional as _, Row, SqlResult, params};
use crate::error::Result;
use crate::row;
use crate::store::{Store, Window};

/// A permission or a set of questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRequest {
    /// The session in which it was asked.
    pub session_id: Option<SessionId>,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When its state last changed.
    pub changed_at: Timestamp,
    /// The place of its message.
    pub seq: Option<Seq>,
    /// The request with its state.
    pub request: Request,
}

impl Store {
    /// Finds a request by its id, in any state.
    pub async fn request(&self, id: RequestId) -> Result<Option<StoredRequest>> {
        self.read(move |db| {
            let mut statement = db.prepare_cached(&format!("{SELECT} WHERE r.id = ?1"))?;
            Ok(statement.query_row([id.to_string()], request).optional()?)
        })
        .await
    }

    /// Finds the requests with this prefix of the id, at most `limit` of them.
    pub async fn requests_by_prefix(&self, prefix: &str, limit: u32) -> Result<Vec<StoredRequest>> {
        let prefix = prefix.to_ascii_lowercase();
        if !prefix.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
            return Ok(Vec::new());
        }
        // Sorts after every id with this prefix.
        let beyond = format!("{prefix}g");
        let window = Window::first(limit);
        self.read_list(window, move |db| {
            let mut statement = db.prepare_cached(&format!(
                "{SELECT} WHERE r.id >= ?1 AND r.id < ?2 ORDER BY r.id LIMIT ?3"
            ))?;
            let requests = statement.query_map(params![prefix, beyond, window.limit()], request)?;
            Ok(requests.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// Lists pending requests, the first asked first.
    pub async fn pending_requests(&self, window: Window) -> Result<Vec<StoredRequest>> {
        self.read_list(window, move |db| {
            let mut statement = db.prepare_cached(&format!(
                "{SELECT} WHERE r.status = 'pending'
                 ORDER BY r.asked_at, r.rowid LIMIT ?1 OFFSET ?2"
            ))?;
            let requests = statement.query_map([window.limit(), window.offset], request)?;
            Ok(requests.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// Lists the questions of active sessions that their asker no longer waits for, but that can
    /// still be answered, first asked first.
    pub async fn left_questions(&self, window: Window) -> Result<Vec<StoredRequest>> {
        self.read_list(window, move |db| {
            let mut statement = db.prepare_cached(&format!(
                "{SELECT} WHERE r.kind = 'questions' AND r.status IN ('timed_out', 'abandoned')
                 AND s.status = 'active' AND s.archived = 0
                 ORDER BY r.asked_at, r.rowid LIMIT ?1 OFFSET ?2"
            ))?;
            let requests = statement.query_map([window.limit(), window.offset], request)?;
            Ok(requests.collect::<SqlResult<_>>()?)
        })
        .await
    }

    /// Counts what `pending_requests` lists.
    pub async fn count_pending_requests(&self) -> Result<u64> {
        self.read(move |db| {
            let mut statement =
                db.prepare_cached("SELECT count(*) FROM human_requests WHERE status = 'pending'")?;
            Ok(statement.query_row(params![], |row| row.get(0))?)
        })
        .await
    }
}

const SELECT: &str = "SELECT s.id, r.asked_at, r.changed_at, r.body, r.seq
    FROM human_requests AS r LEFT JOIN agent_sessions AS s ON s.n = r.session";

fn request(row: &Row<'_>) -> SqlResult<StoredRequest> {
    let body = row.str(3)?;
    Ok(StoredRequest {
        session_id: row::optional_text(row, 0)?,
        asked_at: row::timestamp(row, 1)?,
        changed_at: row::timestamp(row, 2)?,
        seq: row.get::<Option<u64>>(4)?.map(Seq::new),
        request: serde_json::from_str(body).map_err(|error| row::unreadable(3, error))?,
    })
}
