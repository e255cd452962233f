//! Searching among very many messages, newest or best first.

use std::time::Instant;

use convoke_core::message::Role;
use convoke_store::{SearchOrder, SearchQuery};
use convoke_testkit::bench::measure::{Samples, in_turn_async, seconds};
use convoke_testkit::bench::random::word;
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};
use rusqlite::params;

use crate::database::{Database, moment, project_id, session_id};

pub(crate) const ROWS: [&str; 8] = [
    "search: most common word",
    "search: word of medium frequency",
    "search: rare word",
    "search: two words",
    "search: prefix of four letters",
    "search: prefix of three letters",
    "search: all of the above with filters, p99",
    "search: all of the above, ranked among the newest 10,000, p99",
];

/// Times a search is done.
const SEARCHES: (usize, usize) = (300, 10);
/// Hits of a page.
const LIMIT: u32 = 20;

pub(crate) async fn measure(bench: &mut Bench, database: &Database) -> Result<()> {
    // By their ranks; the beginnings are shared by a hundred and by five hundred words.
    let frequent = format!("{} {}", word(20), word(30));
    let beginning = |letters: usize, rank: u64| {
        let letters: String = word(rank).chars().take(letters).collect();
        format!("{letters}*")
    };
    // Rarer ones do not occur among few messages.
    let rare = word(bench.size(40_000, 1000) as u64);
    let texts = [word(1), word(500), rare, frequent, beginning(4, 5000), beginning(3, 5000)];
    for (name, text) in ROWS.into_iter().zip(&texts) {
        if bench.wants(&[name]) {
            measure_one(bench, database, name, text).await?;
        }
    }
    let [.., filtered, best] = ROWS;
    if bench.wants(&[filtered]) {
        measure_all(bench, database, filtered, (&texts, &filters(database)?)).await?;
    }
    if bench.wants(&[best]) {
        let ranked = [SearchQuery { order: SearchOrder::Best, ..SearchQuery::default() }];
        measure_all(bench, database, best, (&texts, &ranked)).await?;
    }
    Ok(())
}

/// Filters of all kinds. Some match nothing: no session of project 3 is of Codex, and none is of Kimi.
fn filters(database: &Database) -> Result<[SearchQuery; 9]> {
    let all = SearchQuery::default();
    let (project, role) = (Some(project_id(3)), Some(Role::Agent));
    let (claude, codex) = (Some("claude-code".parse()?), Some("codex".parse()?));
    let middle = Some(moment(database.messages / 2));
    Ok([
        SearchQuery { project, ..all.clone() },
        SearchQuery { agent: claude, ..all.clone() },
        SearchQuery { agent: Some("kimi".parse()?), ..all.clone() },
        SearchQuery { role, ..all.clone() },
        SearchQuery { until: middle, ..all.clone() },
        SearchQuery { since: Some(moment(database.messages)), ..all.clone() },
        SearchQuery { project, role, until: middle, ..all.clone() },
        SearchQuery { project, agent: codex.clone(), ..all.clone() },
        SearchQuery { agent: codex, session: Some(session_id(7)), ..all },
    ])
}

/// The slowest of all searches for texts with each of the filters.
async fn measure_all(
    bench: &mut Bench,
    database: &Database,
    name: &str,
    (texts, filters): (&[String], &[SearchQuery]),
) -> Result<()> {
    bench.progress(name)?;
    let store = database.open().await?;
    let mut times = Vec::new();
    for _ in 0..bench.size(SEARCHES.0, SEARCHES.1).div_ceil(filters.len()) {
        for (text, filter) in texts.iter().flat_map(|text| filters.iter().map(move |it| (text, it)))
        {
            let query = SearchQuery { text: text.clone(), ..filter.clone() };
            let start = Instant::now();
            store.search(query, None, LIMIT).await?;
            times.push(start.elapsed().as_secs_f64());
        }
    }
    store.close().await;
    let slowest = Samples::from_iter(times).percentile(99.0);
    bench.add(Row::new(name, Unit::Seconds, slowest).goal(Goal::AtMost(0.005)))
}

async fn measure_one(bench: &mut Bench, database: &Database, name: &str, text: &str) -> Result<()> {
    bench.progress(name)?;
    let (store, db) = (database.open().await?, database.connect()?);
    let mut statement = db.prepare(
        "SELECT rowid FROM message_search WHERE message_search MATCH ?1
         ORDER BY rowid DESC LIMIT ?2",
    )?;
    let (time, bare) = in_turn_async(
        bench.size(SEARCHES.0, SEARCHES.1),
        async || {
            let query = SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
            let start = Instant::now();
            let page = store.search(query, None, LIMIT).await?;
            let taken = start.elapsed().as_secs_f64();
            if page.hits.is_empty() { Err("nothing was found".into()) } else { Ok(taken) }
        },
        || {
            seconds(|| {
                let found = statement
                    .query_map(params![format!("text : ({text})"), LIMIT], |row| row.get(0))?;
                found.collect::<rusqlite::Result<Vec<i64>>>()
            })
        },
    )
    .await?;
    store.close().await;
    bench.add(
        Row::new(name, Unit::Seconds, time.median())
            .against("full-text index only, bare SQL", bare.median())
            .goal(Goal::AtMost(0.002)),
    )
}
