//! Reading one session, and a page of its messages.

use std::time::Instant;

use convoke_core::id::SessionId;
use convoke_core::message::Seq;
use convoke_store::Store;
use convoke_testkit::bench::measure::{in_turn_async, seconds};
use convoke_testkit::bench::random::Random;
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};
use rusqlite::{Connection, params};

use crate::database::{Database, LOG_MESSAGES, session_id};

pub(crate) const ROWS: [&str; 2] = ["read: session by id", "read: page of 50 messages"];

/// What both are compared with.
const REFERENCE: &str = "the same SQL, bare";

/// Rounds, of which the median counts.
const ROUNDS: (usize, usize) = (30, 3);
/// Reads in a round; one alone is too short for a clock.
const READS: (usize, usize) = (1000, 50);
/// Messages of a page.
const PAGE: u32 = 50;

/// What the store reads of a session.
pub(crate) const SESSION: &str = "SELECT id, project_id, agent, kind, created_at, agent_session_id,
        status, reason, archived, title, last_seq, settled_seq, updated_at, last_active_at, rev
    FROM agent_sessions";
const NUMBER: &str = "SELECT n FROM agent_sessions WHERE id = ?1";
const MESSAGES: &str = "SELECT seq, rev, id, role, content, turn, created_at, updated_at, open
    FROM messages WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";

pub(crate) async fn measure(bench: &mut Bench, database: &Database) -> Result<()> {
    if !bench.wants(&ROWS) {
        return Ok(());
    }
    let (store, db) = (database.open().await?, database.connect()?);
    let (rounds, reads) = (bench.size(ROUNDS.0, ROUNDS.1), bench.size(READS.0, READS.1));
    let [session, page] = ROWS;
    bench.progress(session)?;
    let (mut ours, mut theirs) = (Random::new(5), Random::new(5));
    let pick = |random: &mut Random, from: usize| {
        let ids = (0..reads).map(|_| session_id(random.below(from as u64) as usize));
        ids.collect::<Vec<_>>()
    };
    let (time, bare) = in_turn_async(
        rounds,
        async || read_sessions(&store, &pick(&mut ours, database.sessions)).await,
        || read_sessions_bare(&db, &pick(&mut theirs, database.sessions)),
    )
    .await?;
    bench.add(Row::new(session, Unit::Seconds, time.median()).against(REFERENCE, bare.median()))?;
    bench.progress(page)?;
    let (time, bare) = in_turn_async(
        rounds,
        async || read_pages(&store, &pick(&mut ours, database.logs)).await,
        || read_pages_bare(&db, &pick(&mut theirs, database.logs)),
    )
    .await?;
    store.close().await;
    bench.add(
        Row::new(page, Unit::Seconds, time.median())
            .against(REFERENCE, bare.median())
            .goal(Goal::RatioAtMost(1.5)),
    )
}

async fn read_sessions(store: &Store, ids: &[SessionId]) -> Result<f64> {
    let start = Instant::now();
    for id in ids {
        store.session(*id).await?.ok_or("a session is missing")?;
    }
    Ok(start.elapsed().as_secs_f64() / ids.len() as f64)
}

fn read_sessions_bare(db: &Connection, ids: &[SessionId]) -> Result<f64> {
    let mut statement = db.prepare(&format!("{SESSION} WHERE id = ?1"))?;
    let taken = seconds(|| {
        ids.iter().try_for_each(|id| statement.query_row([id.to_string()], read_session))
    })?;
    Ok(taken / ids.len() as f64)
}

/// Reads every column of a session, as values of its own.
pub(crate) fn read_session(row: &rusqlite::Row<'_>) -> rusqlite::Result<()> {
    for text in [0, 1, 2, 3, 6] {
        row.get::<_, String>(text)?;
    }
    for perhaps in [5, 7, 9] {
        row.get::<_, Option<String>>(perhaps)?;
    }
    for number in [4, 8, 10, 11, 12, 13, 14] {
        row.get::<_, i64>(number)?;
    }
    Ok(())
}

/// Where a page begins, so that all parts of the logs are read.
fn page_start(at: usize) -> u64 {
    (at * 50 % (LOG_MESSAGES - PAGE as usize)) as u64
}

async fn read_pages(store: &Store, ids: &[SessionId]) -> Result<f64> {
    let start = Instant::now();
    for (at, id) in ids.iter().enumerate() {
        let page = store.messages(*id, Seq::new(page_start(at)), PAGE).await?;
        if page.messages.len() != PAGE as usize {
            return Err("a page is not full".into());
        }
    }
    Ok(start.elapsed().as_secs_f64() / ids.len() as f64)
}

fn read_pages_bare(db: &Connection, ids: &[SessionId]) -> Result<f64> {
    let (mut number, mut messages) = (db.prepare(NUMBER)?, db.prepare(MESSAGES)?);
    let taken = seconds(|| {
        for (at, id) in ids.iter().enumerate() {
            let n: i64 = number.query_row([id.to_string()], |row| row.get(0))?;
            let page = messages.query_map(params![n, page_start(at), PAGE + 1], |row| {
                let (seq, rev, id): (u64, u64, [u8; 16]) = (row.get(0)?, row.get(1)?, row.get(2)?);
                let (role, content): (String, String) = (row.get(3)?, row.get(4)?);
                let turn: Option<String> = row.get(5)?;
                let (created_at, updated_at): (i64, i64) = (row.get(6)?, row.get(7)?);
                Ok((seq, rev, id, role, content, turn, created_at, updated_at))
            })?;
            page.collect::<rusqlite::Result<Vec<_>>>()?;
        }
        Ok::<_, rusqlite::Error>(())
    })?;
    Ok(taken / ids.len() as f64)
}
