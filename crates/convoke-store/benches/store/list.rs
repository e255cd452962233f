//! Lists of twenty among very many sessions.

use std::time::Instant;

use convoke_core::session::Status;
use convoke_store::{Archived, SessionFilter, SessionKind, SessionOrder, Window};
use convoke_testkit::bench::measure::{Samples, in_turn_async, seconds};
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};

use crate::database::{Database, project_id, session_number};
use crate::read::{SESSION, read_session};

pub(crate) const ROWS: [&str; 4] = [
    "list: 20 newest sessions",
    "list: 20 sessions of a project",
    "list: 20 sessions in either of two statuses",
    "list: 20 sessions at offset 1,000",
];

/// Times a list is read.
const READS: (usize, usize) = (300, 20);
/// Sessions of a list.
const LIMIT: u32 = 20;

pub(crate) async fn measure(bench: &mut Bench, database: &Database) -> Result<()> {
    let shown = shown();
    let [newest, of_project, of_statuses, deep] = ROWS;
    let first = Window::first(LIMIT);
    let project = SessionFilter { project: Some(project_id(3)), ..shown.clone() };
    let statuses =
        SessionFilter { statuses: vec![Status::Active, Status::Completed], ..shown.clone() };
    measure_one(bench, database, newest, shown.clone(), first).await?;
    measure_one(bench, database, of_project, project, first).await?;
    measure_one(bench, database, of_statuses, statuses, first).await?;
    measure_one(bench, database, deep, shown, Window { offset: 1000, ..first }).await
}

async fn measure_one(
    bench: &mut Bench,
    database: &Database,
    name: &str,
    filter: SessionFilter,
    window: Window,
) -> Result<()> {
    if !bench.wants(&[name]) {
        return Ok(());
    }
    bench.progress(name)?;
    let (time, bare) = time(bench, database, filter, window).await?;
    bench.add(
        Row::new(name, Unit::Seconds, time.median())
            .against("20 sessions by primary key, bare SQL", bare.median())
            .goal(Goal::AtMost(0.002)),
    )
}

/// How long the first list takes: what people see first.
pub(crate) async fn time_newest(bench: &Bench, database: &Database) -> Result<(Samples, Samples)> {
    time(bench, database, shown(), Window::first(LIMIT)).await
}

fn shown() -> SessionFilter {
    SessionFilter {
        archived: Archived::Hidden,
        kind: Some(SessionKind::Session),
        ..SessionFilter::all()
    }
}

/// A list, and as many sessions by their numbers with nothing but statements.
async fn time(
    bench: &Bench,
    database: &Database,
    filter: SessionFilter,
    window: Window,
) -> Result<(Samples, Samples)> {
    let (store, db) = (database.open().await?, database.connect()?);
    let mut statement = db.prepare(&format!("{SESSION} WHERE n = ?1"))?;
    let numbers = (1..=LIMIT as usize).map(|back| session_number(database.sessions - back));
    let numbers: Vec<i64> = numbers.collect::<Result<_>>()?;
    let times = in_turn_async(
        bench.size(READS.0, READS.1),
        async || {
            let filter = filter.clone();
            let start = Instant::now();
            let page = store.sessions(filter, SessionOrder::Active, window).await?;
            let taken = start.elapsed().as_secs_f64();
            if page.sessions.len() == LIMIT as usize { Ok(taken) } else { Err("too few".into()) }
        },
        || {
            let mut read = |n: &i64| statement.query_row([n], read_session);
            seconds(|| numbers.iter().try_for_each(&mut read))
        },
    )
    .await?;
    store.close().await;
    Ok(times)
}
