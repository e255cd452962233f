//! Requests of many at once, beside a bare server that answers with as many bytes.
//!
//! Answers that still hold are given from a cache, so what it takes to make them is measured apart, by requests that are
//! not in it: for another session, for the same list in other words, and for the list at another offset.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use convoke_testkit::bench::measure::Samples;
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};

use crate::daemon::{Daemon, new_home};
use crate::fill::fill;
use crate::hello::Hello;
use crate::http::Connection;
use crate::listing::{MESSAGES, SESSIONS};

pub(crate) const ROWS: [&str; 10] = [
    "serve: one session, cached, 32 connections",
    "serve: one session, cached, 32 connections, p99",
    "serve: 20 newest sessions, cached, 32 connections",
    "serve: 20 newest sessions, cached, 32 connections, p99",
    "serve: one session, not cached, 32 connections",
    "serve: one session, not cached, 32 connections, p99",
    "serve: 20 newest sessions, not cached, 32 connections",
    "serve: 20 newest sessions, not cached, 32 connections, p99",
    "serve: 20 of 10,000 sessions at random offsets, not cached, 32 connections",
    "serve: 20 of 10,000 sessions at random offsets, not cached, 32 connections, p99",
];

/// What all are compared with.
const REFERENCE: &str = "bare axum, body of the same size";
const CONNECTIONS: usize = 32;
/// Requests of one round on each connection, and rounds, of which the median counts.
const REQUESTS: (usize, usize) = (300, 10);
const ROUNDS: (usize, usize) = (7, 1);

/// What came out of a round.
struct Round {
    per_second: f64,
    p99: f64,
}

pub(crate) async fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    if !bench.wants(&ROWS) {
        return Ok(());
    }
    let home = new_home()?;
    bench.progress("filling a home")?;
    let sessions = fill(home.path(), bench.size(SESSIONS.0, SESSIONS.1), MESSAGES).await?;
    let daemon = Daemon::start(program, home).await?;
    let [get, get_p99, list, list_p99, gets, gets_p99, lists, lists_p99, pages, pages_p99] = ROWS;
    let session = sessions.first().ok_or("no session")?;
    let one = [format!("/api/sessions/{session}")];
    let others: Vec<String> = sessions.iter().map(|id| format!("/api/sessions/{id}")).collect();
    let same: Vec<String> = (0..sessions.len()).map(newest).collect();
    let offsets: Vec<String> =
        (0..sessions.len()).map(|offset| format!("/api/sessions?offset={offset}")).collect();
    let half = Some(Goal::RatioAtLeast(0.5));
    let some = Some(Goal::RatioAtLeast(0.15));
    measure_paths(bench, &daemon, &one, [get, get_p99], half).await?;
    measure_paths(bench, &daemon, &["/api/sessions".to_owned()], [list, list_p99], half).await?;
    measure_paths(bench, &daemon, &others, [gets, gets_p99], some).await?;
    measure_paths(bench, &daemon, &same, [lists, lists_p99], some).await?;
    measure_paths(bench, &daemon, &offsets, [pages, pages_p99], None).await
}

/// One of many requests for the newest sessions of every status, each worded otherwise: a number as a list of statuses.
fn newest(number: usize) -> String {
    let words = ["active", "completed", "cancelled", "error"];
    let digit = |place: u32| words.get(number / 4_usize.pow(place) % 4).copied();
    let digits = (0..7).filter_map(digit).collect::<Vec<_>>().join(",");
    format!("/api/sessions?status={},{digits}", words.join(","))
}

async fn measure_paths(
    bench: &mut Bench,
    daemon: &Daemon,
    paths: &[String],
    [rate, p99]: [&str; 2],
    goal: Option<Goal>,
) -> Result<()> {
    if !bench.wants(&[rate, p99]) {
        return Ok(());
    }
    bench.progress(rate)?;
    let all: Arc<[Vec<u8>]> = paths.iter().map(|path| daemon.request("GET", path, "")).collect();
    let mut connection = daemon.connect().await?;
    connection.send(all.first().ok_or("no path")?).await?;
    let hello = Hello::start(connection.count().await?)?;
    let bare = format!("GET / HTTP/1.1\r\nhost: {}\r\n\r\n", hello.address).into_bytes();
    let bare: Arc<[Vec<u8>]> = [bare].into();
    let requests = bench.size(REQUESTS.0, REQUESTS.1);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=bench.size(ROUNDS.0, ROUNDS.1) {
        let one = round_of(daemon.address, &all, requests).await?;
        let other = round_of(hello.address, &bare, requests).await?;
        // The first time does not count.
        if round > 0 {
            ours.push(one);
            theirs.push(other);
        }
    }
    let median = |rounds: &[Round], figure: fn(&Round) -> f64| {
        rounds.iter().map(figure).collect::<Samples>().median()
    };
    let row = Row::new(rate, Unit::PerSecond, median(&ours, |round| round.per_second))
        .against(REFERENCE, median(&theirs, |round| round.per_second));
    bench.add(match goal {
        Some(goal) => row.goal(goal),
        None => row,
    })?;
    bench.add(
        Row::new(p99, Unit::Seconds, median(&ours, |round| round.p99))
            .against(REFERENCE, median(&theirs, |round| round.p99))
            .goal(Goal::AtMost(5e-3)),
    )
}

/// Makes requests one after the other on each of many connections, each of which begins elsewhere among them.
async fn round_of(address: SocketAddr, all: &Arc<[Vec<u8>]>, requests: usize) -> Result<Round> {
    let begun = Instant::now();
    let connections: Vec<_> = (0..CONNECTIONS)
        .map(|at| tokio::spawn(repeat(address, Arc::clone(all), at * requests, requests)))
        .collect();
    let mut times = Vec::new();
    for connection in connections {
        times.extend(connection.await??);
    }
    let per_second = times.len() as f64 / begun.elapsed().as_secs_f64();
    Ok(Round { per_second, p99: times.into_iter().collect::<Samples>().percentile(99.0) })
}

async fn repeat(
    address: SocketAddr,
    all: Arc<[Vec<u8>]>,
    from: usize,
    requests: usize,
) -> Result<Vec<f64>> {
    let mut connection = Connection::open(address).await?;
    let mut times = Vec::with_capacity(requests);
    for request in all.iter().cycle().skip(from).take(requests) {
        let begun = Instant::now();
        connection.send(request).await?;
        connection.count().await?;
        times.push(begun.elapsed().as_secs_f64());
    }
    Ok(times)
}
