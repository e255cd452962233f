//! The statements that find hits.

use super::SearchOrder;
use crate::db::Db;

/// Of so many of the newest messages PostgreSQL looks at each, before it asks the index. Words that are in more than about
/// one of a hundred messages are found among them, and of rarer ones the index finds all in as short a time.
const RECENT: u32 = 4000;

/// Where hits are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Among the newest messages, one by one.
    Recent,
    /// Everywhere.
    All,
}

/// The statement for hits with their sessions. Its parameters: the words, the first and the end of the keys, the most hits;
/// for the best ones also how many to skip, of how many to rank, and the words without those of filters.
///
/// The cross joins fix the order: from a hit to its message to its session. The planner's own is far slower. What is only
/// shown is joined after the limit.
pub(super) fn hits(db: Db<'_>, order: SearchOrder, reach: Reach) -> String {
    let (hit, shown) = match order {
        SearchOrder::Newest => (newest(db, reach), "hit.key DESC"),
        SearchOrder::Best => (best(db), "hit.rank, hit.key DESC"),
    };
    format!(
        "SELECT hit.key, s.id, m.id, m.seq, m.role, m.created_at, m.content, s.agent_session_id,
             s.title, s.agent, s.project_id, p.name, s.archived
         FROM ({hit}) AS hit
         CROSS JOIN searched_messages AS k ON k.key = hit.key
         CROSS JOIN messages AS m ON m.n = k.message
         CROSS JOIN agent_sessions AS s ON s.n = m.session
         CROSS JOIN projects AS p ON p.id = s.project_id
         ORDER BY {shown}"
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
        // The sums keep the planner from reading all messages in the order of their keys, which it does for rare words,
        // because it takes them for more frequent than they are.
        (Db::Postgres(_), Reach::All) => format!(
            "SELECT f.rowid AS key FROM message_search AS f
             WHERE {matches} AND f.rowid + 0 >= ?2 AND f.rowid + 0 < ?3
             ORDER BY f.rowid + 0 DESC LIMIT ?4"
        ),
    }
}

fn best(db: Db<'_>) -> String {
    let rank = match db {
        // The words of filters count nothing.
        Db::Sqlite(_) => "bm25(message_search, 1.0, 0.0)",
        // Divided by the logarithm of the length.
        Db::Postgres(_) => "-ts_rank(f.vector, CAST(CAST(?7 AS TEXT) AS tsquery), 1)",
    };
    let matches = matches(db);
    format!(
        "SELECT newest.key AS key, newest.rank AS rank FROM (
             SELECT f.rowid AS key, {rank} AS rank FROM message_search AS f
             WHERE {matches} AND f.rowid >= ?2 AND f.rowid < ?3 ORDER BY f.rowid DESC LIMIT ?6
         ) AS newest
         ORDER BY newest.rank, newest.key DESC LIMIT ?4 OFFSET ?5"
    )
}

const fn matches(db: Db<'_>) -> &'static str {
    match db {
        Db::Sqlite(_) => "message_search MATCH ?1",
        Db::Postgres(_) => "f.vector @@ CAST(CAST(?1 AS TEXT) AS tsquery)",
    }
}
