//! Requests of many at once, beside a bare server that answers with as many bytes.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use convoke_testkit::bench::measure::Samples;
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};

use crate::daemon::{Daemon, new_home};
use crate::fill::fill;
use crate::hello::Hello;
use crate::http::Connection;
use crate::listing::{MESSAGES, SESSIONS};

pub(crate) const ROWS: [&str; 4] = [
    "serve: one session, 32 connections",
    "serve: one session, 32 connections, p99",
    "serve: 20 sessions, 32 connections",
    "serve: 20 sessions, 32 connections, p99",
];

/// What all are compared with.
const REFERENCE: &str = "bare axum, a body as long";
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
    let [get, get_p99, list, list_p99] = ROWS;
    let session = sessions.first().ok_or("no session")?;
    measure_path(bench, &daemon, &format!("/api/sessions/{session}"), [get, get_p99]).await?;
    measure_path(bench, &daemon, "/api/sessions", [list, list_p99]).await
}

async fn measure_path(
    bench: &mut Bench,
    daemon: &Daemon,
    path: &str,
    [rate, p99]: [&str; 2],
) -> Result<()> {
    if !bench.wants(&[rate, p99]) {
        return Ok(());
    }
    bench.progress(rate)?;
    let request = daemon.request("GET", path, "");
    let mut connection = daemon.connect().await?;
    connection.send(&request).await?;
    let hello = Hello::start(connection.count().await?)?;
    let bare = format!("GET / HTTP/1.1\r\nhost: {}\r\n\r\n", hello.address).into_bytes();
    let requests = bench.size(REQUESTS.0, REQUESTS.1);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=bench.size(ROUNDS.0, ROUNDS.1) {
        let one = round_of(daemon.address, &request, requests).await?;
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
    bench.add(
        Row::new(rate, Unit::PerSecond, median(&ours, |round| round.per_second))
            .against(REFERENCE, median(&theirs, |round| round.per_second))
            .goal(Goal::RatioAtLeast(0.5)),
    )?;
    bench.add(
        Row::new(p99, Unit::Seconds, median(&ours, |round| round.p99))
            .against(REFERENCE, median(&theirs, |round| round.p99))
            .goal(Goal::AtMost(5e-3)),
    )
}

/// Makes a request again and again on each of many connections.
async fn round_of(address: SocketAddr, request: &[u8], requests: usize) -> Result<Round> {
    let begun = Instant::now();
    let connections: Vec<_> = (0..CONNECTIONS)
        .map(|_| tokio::spawn(repeat(address, request.to_vec(), requests)))
        .collect();
    let mut times = Vec::new();
    for connection in connections {
        times.extend(connection.await??);
    }
    let per_second = times.len() as f64 / begun.elapsed().as_secs_f64();
    Ok(Round { per_second, p99: times.into_iter().collect::<Samples>().percentile(99.0) })
}

async fn repeat(address: SocketAddr, request: Vec<u8>, requests: usize) -> Result<Vec<f64>> {
    let mut connection = Connection::open(address).await?;
    let mut times = Vec::with_capacity(requests);
    for _ in 0..requests {
        let begun = Instant::now();
        connection.send(&request).await?;
        connection.count().await?;
        times.push(begun.elapsed().as_secs_f64());
    }
    Ok(times)
}
