//! The statements that find hits.

use super::key::{SIZE_BITS, Size};
use crate::db::Db;

/// PostgreSQL first scans this many of the newest messages without the index. A word in more than
/// about one of a hundred messages is found among them, and for rarer words the index is as fast.
const RECENT: u32 = 4000;

/// Which messages are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The newest messages, scanned one by one.
    Recent,
    /// All messages, by the index.
    All,
}

/// The statement for the newest hits with their sessions. Its parameters: the words, the first and the end of the keys,
/// the most hits.
pub(super) fn newest_hits(db: Db<'_>, reach: Reach) -> String {
    shown(&newest(db, reach))
}

/// The statement for hits whose keys are given as a JSON array, in any order.
pub(super) fn hits_of_keys(db: Db<'_>) -> String {
    shown(match db {
        Db::Sqlite(_) => "SELECT value AS key FROM json_each(?1)",
        Db::Postgres(_) => {
            "SELECT CAST(value AS BIGINT) AS key
             FROM json_array_elements_text(CAST(CAST(?1 AS TEXT) AS JSON)) AS given (value)"
        }
    })
}

/// The statement for the keys of hits, newest first. Its parameters: the words, the first and the end of the keys, the
/// most hits, how many to skip.
pub(super) fn keys(db: Db<'_>) -> String {
    keys_where(db, "")
}

/// As `keys`, for messages up to this size.
pub(super) fn keys_of_size(db: Db<'_>, most: Size) -> String {
    keys_where(db, &format!("AND f.rowid & {SIZE_BITS} <= {}", most as i64))
}

fn keys_where(db: Db<'_>, also: &str) -> String {
    let matches = matches(db);
    format!(
        "SELECT f.rowid AS key FROM message_search AS f
         WHERE {matches} AND f.rowid >= ?2 AND f.rowid < ?3 {also}
         ORDER BY f.rowid DESC LIMIT ?4 OFFSET ?5"
    )
}

/// The cross joins fix the order: from a hit to its message to its session. The planner's own order
/// is far slower. Columns that are only displayed are joined after the limit.
fn shown(hit: &str) -> String {
    format!(
        "SELECT hit.key, s.id, m.id, m.seq, m.role, m.created_at, m.content, s.agent_session_id,
             s.title, s.agent, s.project_id, p.name, s.archived
         FROM ({hit}) AS hit
         CROSS JOIN searched_messages AS k ON k.key = hit.key
         CROSS JOIN messages AS m ON m.n = k.message
         CROSS JOIN agent_sessions AS s ON s.n = m.session
         CROSS JOIN projects AS p ON p.id = s.project_id
         ORDER BY hit.key DESC"
    )
}

fn newest(db: Db<'_>, reach: Reach) -> String {
    let matches = matches(db);
    match (db, reach) {
        (Db::Sqlite(_), Reach::Recent | Reach::All) => format!(
            "SELECT f.rowid AS key FROM message_search AS f
             WHERE {matches} AND f.rowid >= ?2 AND f.rowid < ?3 ORDER BY f.rowid DESC LIMIT ?4"
        ),
        (Db::Postgres(_), Reach::Recent) => format!(
            "SELECT f.rowid AS key FROM (
                 SELECT rowid, vector FROM message_search
                 WHERE rowid >= ?2 AND rowid < ?3 ORDER BY rowid DESC LIMIT {RECENT}
             ) AS f WHERE {matches} ORDER BY f.rowid DESC LIMIT ?4"
        ),
        // The sums keep the planner from scanning all messages in key order, which it prefers for
        // rare words, because it overestimates their frequency.
        (Db::Postgres(_), Reach::All) => format!(
            "SELECT f.rowid AS key FROM message_search AS f
             WHERE {matches} AND f.rowid + 0 >= ?2 AND f.rowid + 0 < ?3
             ORDER BY f.rowid + 0 DESC LIMIT ?4"
        ),
    }
}

const fn matches(db: Db<'_>) -> &'static str {
    match db {
        Db::Sqlite(_) => "message_search MATCH ?1",
        Db::Postgres(_) => "f.vector @@ CAST(CAST(?1 AS TEXT) AS tsquery)",
    }
}
