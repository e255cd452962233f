//! Lists of sessions. A list walks along an index and never sorts or counts all sessions.

use convoke_core::session::Status;

use super::{
    Archived, NodeScope, SessionFilter, SessionKind, SessionOrder, SessionPage, SessionPiece,
    columns, session,
};
use crate::db::{Db, Param, SqlResult, ToParam};
use crate::store::Window;

/// The sessions in a window and the total number, from one snapshot.
pub(super) fn page(
    db: Db<'_>,
    filter: &SessionFilter,
    order: SessionOrder,
    window: Window,
) -> SqlResult<SessionPage> {
    let mut page = SessionPage { sessions: Vec::new(), total: 0 };
    pieces(db, filter, order, window, usize::MAX, |piece| match piece {
        SessionPiece::Sessions(sessions) => page.sessions = sessions,
        SessionPiece::Total(total) => page.total = total,
    })?;
    Ok(page)
}

/// As `page`, delivered in pieces of this size, with the total at the end.
pub(super) fn pieces(
    db: Db<'_>,
    filter: &SessionFilter,
    order: SessionOrder,
    window: Window,
    piece: usize,
    mut take: impl FnMut(SessionPiece),
) -> SqlResult<()> {
    let _snapshot = db.snapshot()?;
    let (limit, project) = (window.limit(), filter.project.map(|id| id.to_string()));
    let mut params = vec![limit.to_param(), window.offset.to_param()];
    params.extend(project.iter().map(ToParam::to_param));
    let mut statement = db.prepare_cached(&page_sql(db, filter, order))?;
    let mut rows = statement.query_map(params.as_slice(), session)?;
    loop {
        let sessions = rows.by_ref().take(piece).collect::<SqlResult<Vec<_>>>()?;
        if sessions.is_empty() {
            break;
        }
        take(SessionPiece::Sessions(sessions));
    }
    take(SessionPiece::Total(total(db, filter)?));
    Ok(())
}

/// How many sessions a list has.
pub(super) fn total(db: Db<'_>, filter: &SessionFilter) -> SqlResult<u64> {
    let quoted =
        |words: Vec<&str>| words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>();
    let sql = format!(
        "SELECT CAST(coalesce(sum(count), 0) AS BIGINT) FROM session_counts
         WHERE archived IN ({}) AND kind IN ({}) AND status IN ({}) {}{}",
        archived(filter).join(", "),
        quoted(kinds(filter)).join(", "),
        quoted(statuses(filter)).join(", "),
        if filter.project.is_some() { "AND project_id = ?1" } else { "" },
        own(db, filter, "session_counts"),
    );
    let project = filter.project.map(|id| id.to_string());
    let params: Vec<Param<'_>> = project.iter().map(ToParam::to_param).collect();
    db.prepare_cached(&sql)?.query_row(params.as_slice(), |row| row.get(0))
}

/// Each requested combination is one sorted range of an index; the database merges them as far as
/// the window reaches.
fn page_sql(db: Db<'_>, filter: &SessionFilter, order: SessionOrder) -> String {
    let at = match order {
        SessionOrder::Created => "created_at",
        SessionOrder::Active => "last_active_at",
    };
    let project = if filter.project.is_some() { "project_id = ?3 AND " } else { "" };
    let (own, columns) = (own(db, filter, "agent_sessions"), columns(db));
    let mut ranges = Vec::new();
    for archived in archived(filter) {
        for kind in kinds(filter) {
            for status in statuses(filter) {
                ranges.push(format!(
                    "SELECT n, {at} AS at FROM agent_sessions
                     WHERE {project}archived = {archived} AND kind = '{kind}' AND status = '{status}'{own}"
                ));
            }
        }
    }
    format!(
        "SELECT {columns} FROM ({} ORDER BY at DESC, n DESC LIMIT ?1 OFFSET ?2) AS key
         CROSS JOIN agent_sessions AS s ON s.n = key.n ORDER BY key.at DESC, key.n DESC",
        ranges.join(" UNION ALL ")
    )
}

fn own(db: Db<'_>, filter: &SessionFilter, table: &str) -> String {
    match filter.of {
        NodeScope::All => String::new(),
        NodeScope::Own => db.own(table),
    }
}

fn archived(filter: &SessionFilter) -> Vec<&'static str> {
    match filter.archived {
        Archived::Hidden => vec!["0"],
        Archived::Shown => vec!["0", "1"],
        Archived::Only => vec!["1"],
    }
}

fn kinds(filter: &SessionFilter) -> Vec<&'static str> {
    SessionKind::ALL
        .into_iter()
        .filter(|kind| filter.kind.is_none_or(|wanted| wanted == *kind))
        .map(SessionKind::as_str)
        .collect()
}

/// Every status once, in a fixed order, so that equal filters yield equal statements for the cache.
fn statuses(filter: &SessionFilter) -> Vec<&'static str> {
    Status::ALL
        .into_iter()
        .filter(|status| filter.statuses.is_empty() || filter.statuses.contains(status))
        .map(Status::as_str)
        .collect()
}

#[cfg(test)]
mod tests;
