//! The stored state of a session in its row, and how much of the row its updates change.

use std::borrow::Cow;

use convoke_core::id::SessionId;
use convoke_core::message::{Rev, Seq};
use convoke_core::session::{EndReason, Summary};

use crate::db::{Db, Optional as _, Row, SqlResult, params};
use crate::row;
use crate::write::work::WorkRow;

/// The stored state of a session before its updates.
pub(super) struct StoredRow {
    pub(super) n: i64,
    pub(super) last_seq: Seq,
    pub(super) rev: Rev,
    change: SummaryChange,
}

/// How much of a session's row changes. The fewer columns are named, the fewer indexes are written.
enum SummaryChange {
    /// Only seqs and revisions. The usual case, and the cheapest: no list is sorted by them.
    Progress,
    /// Also the last activity, and the agent's work.
    Work,
    Whole,
}

const SELECT_ROW: &str = "SELECT n, last_seq, status, reason, archived, title, last_active_at, rev,
        ended_rev, seen_rev, running_since, failure, step, last_line, cost
    FROM agent_sessions WHERE id = ?1";

pub(super) fn stored_row(
    db: Db<'_>,
    session: SessionId,
    summary: &Summary,
    work: &WorkRow,
) -> SqlResult<Option<StoredRow>> {
    let sql = match db {
        Db::Sqlite(_) => Cow::Borrowed(SELECT_ROW),
        // Locks the row against other writers, but not against transactions that only lock it for
        // foreign keys.
        Db::Postgres(_) => {
            Cow::Owned(format!("{SELECT_ROW}{} FOR NO KEY UPDATE", db.own("agent_sessions")))
        }
    };
    db.prepare_cached(&sql)?
        .query_row([session.to_string()], |row| {
            let is_active_alike = row::timestamp(row, 6)? == summary.last_active_at;
            let change = match is_shown_alike(row, summary)? {
                true if is_active_alike && work.is_stored(row)? => SummaryChange::Progress,
                true => SummaryChange::Work,
                false => SummaryChange::Whole,
            };
            let (last_seq, rev) = (row::seq(row, 1)?, Rev::new(row.get(7)?));
            Ok(StoredRow { n: row.get(0)?, last_seq, rev, change })
        })
        .optional()
}

impl StoredRow {
    /// Stores what has changed of the summary.
    pub(super) fn store(&self, db: Db<'_>, summary: &Summary, work: &WorkRow) -> SqlResult<()> {
        match self.change {
            SummaryChange::Progress => store_progress(db, self.n, summary),
            SummaryChange::Work => store_work(db, self.n, summary, work),
            SummaryChange::Whole => {
                store_work(db, self.n, summary, work)?;
                store_shown(db, self.n, summary)
            }
        }
    }
}

fn is_shown_alike(row: &Row<'_>, summary: &Summary) -> SqlResult<bool> {
    Ok(row.str(2)? == summary.status.as_str()
        && row.optional_str(3)? == summary.reason.as_ref().map(EndReason::as_str)
        && row.get::<bool>(4)? == summary.archived
        && row.optional_str(5)? == summary.title.as_deref())
}

fn store_progress(db: Db<'_>, n: i64, summary: &Summary) -> SqlResult<()> {
    db.prepare_cached(
        "UPDATE agent_sessions SET last_seq = ?2, settled_seq = ?3, rev = ?4, updated_at = ?5
         WHERE n = ?1",
    )?
    .execute(params![
        n,
        summary.last_seq.get(),
        summary.settled_seq.get(),
        summary.rev.get(),
        summary.updated_at.as_millis(),
    ])?;
    Ok(())
}

fn store_work(db: Db<'_>, n: i64, summary: &Summary, work: &WorkRow) -> SqlResult<()> {
    db.prepare_cached(
        "UPDATE agent_sessions
         SET last_seq = ?2, settled_seq = ?3, rev = ?4, updated_at = ?5, last_active_at = ?6,
             ended_rev = ?7, seen_rev = ?8, running_since = ?9, failure = ?10, step = ?11,
             last_line = ?12, cost = ?13
         WHERE n = ?1",
    )?
    .execute(params![
        n,
        summary.last_seq.get(),
        summary.settled_seq.get(),
        summary.rev.get(),
        summary.updated_at.as_millis(),
        summary.last_active_at.as_millis(),
        work.ended_rev,
        work.seen_rev,
        work.running_since,
        work.failure,
        work.step,
        work.last_line,
        work.cost,
    ])?;
    Ok(())
}

fn store_shown(db: Db<'_>, n: i64, summary: &Summary) -> SqlResult<()> {
    db.prepare_cached(
        "UPDATE agent_sessions SET status = ?2, reason = ?3, archived = ?4, title = ?5
         WHERE n = ?1",
    )?
    .execute(params![
        n,
        summary.status.as_str(),
        summary.reason.as_ref().map(EndReason::as_str),
        summary.archived,
        summary.title,
    ])?;
    Ok(())
}
