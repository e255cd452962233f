//! How soon those who watch a session hear what its agent says, and whether they hear all of it when it is much.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use convoke_testkit::bench::measure::Samples;
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};
use serde_json::{Value, json};

use crate::agent::{PIECE, now_nanos};
use crate::daemon::{Daemon, new_home};
use crate::http::Connection;

pub(crate) const ROWS: [&str; 3] = [
    "watch: latency from agent to the last of 200 watchers",
    "watch: throughput of one session at 10,000 updates per second",
    "watch: peak memory of the daemon at 10,000 updates per second",
];

const WATCHERS: (usize, usize) = (200, 5);
/// Things that are said, and the pause between two of them in milliseconds.
const TICKS: (usize, usize) = (200, 10);
const PAUSE: usize = 20;
/// Digits of a time in nanoseconds, in this century and the next.
const NANOS_DIGITS: usize = 19;
/// Updates of a flood, and how many come in a second.
const FLOOD: (usize, usize) = (100_000, 1_000);
const RATE: usize = 10_000;

pub(crate) async fn measure(bench: &mut Bench, program: &Path) -> Result<()> {
    if !bench.wants(&ROWS) {
        return Ok(());
    }
    let daemon = Daemon::start(program, new_home()?).await?;
    let project = daemon.project().await?;
    let [last, rate, memory] = ROWS;
    if bench.wants(&[last]) {
        bench.progress(last)?;
        let ticks = bench.size(TICKS.0, TICKS.1);
        let watchers = bench.size(WATCHERS.0, WATCHERS.1);
        let many = ticking(&daemon, &project, watchers, ticks).await?;
        let alone = ticking(&daemon, &project, 1, ticks).await?;
        bench.add(
            Row::new(last, Unit::Seconds, many.median())
                .against("a single watcher", alone.median())
                .goal(Goal::AtMost(10e-3)),
        )?;
    }
    if bench.wants(&[rate, memory]) {
        bench.progress(rate)?;
        let updates = bench.size(FLOOD.0, FLOOD.1);
        let came = flooded(&daemon, &project, updates).await?;
        bench.add(
            Row::new(rate, Unit::PerSecond, came)
                .against("the rate at which the agent sends", RATE as f64)
                .goal(Goal::RatioAtLeast(0.95)),
        )?;
        let peak = daemon.peak_bytes()?;
        bench.add(Row::new(memory, Unit::Bytes, peak).goal(Goal::AtMost(100e6)))?;
    }
    Ok(())
}

/// How long each thing that is said is on its way to the last of those who watch.
async fn ticking(daemon: &Daemon, project: &str, watchers: usize, ticks: usize) -> Result<Samples> {
    let session = daemon.begin(project).await?;
    let mut watching = Vec::new();
    for _ in 0..watchers {
        watching.push(Watcher::open(daemon, &session).await?);
    }
    let watching: Vec<_> = watching
        .into_iter()
        .map(|mut watcher| {
            tokio::spawn(async move {
                let mut delays = Vec::with_capacity(ticks);
                while delays.len() < ticks {
                    let text = watcher.next_text().await?;
                    // A watcher that is behind gets several at once.
                    for said in text.as_bytes().chunks(NANOS_DIGITS) {
                        let said: u64 = std::str::from_utf8(said)?.parse()?;
                        delays.push(now_nanos().saturating_sub(said) as f64 / 1e9);
                    }
                }
                Result::Ok(delays)
            })
        })
        .collect();
    prompt(daemon, &session, &format!("tick {ticks} {PAUSE}")).await?;
    let mut last = vec![0.0_f64; ticks];
    for watcher in watching {
        for (last, delay) in last.iter_mut().zip(watcher.await??) {
            *last = last.max(delay);
        }
    }
    daemon.call("POST", &format!("/api/sessions/{session}/complete"), &json!({})).await?;
    Ok(last.into_iter().collect())
}

/// How many updates come in a second; fails unless all do.
async fn flooded(daemon: &Daemon, project: &str, updates: usize) -> Result<f64> {
    let session = daemon.begin(project).await?;
    let mut watcher = Watcher::open(daemon, &session).await?;
    prompt(daemon, &session, &format!("flood {updates} {RATE}")).await?;
    let mut came = watcher.next_text().await?.len();
    let begun = Instant::now();
    while came < updates * PIECE.len() {
        came += watcher.next_text().await?.len();
    }
    let taken = begun.elapsed();
    watcher.until_end().await?;
    if came != updates * PIECE.len() {
        return Err(format!("{came} letters came of {updates} updates").into());
    }
    Ok(updates as f64 / taken.as_secs_f64())
}

pub(crate) async fn prompt(daemon: &Daemon, session: &str, text: &str) -> Result<()> {
    let path = format!("/api/sessions/{session}/prompt");
    daemon.call("POST", &path, &json!({"text": text})).await.map(drop)
}

/// A client that follows a session.
pub(crate) struct Watcher {
    connection: Connection,
    /// The bytes of each of the agent's answers that have been returned.
    known: BTreeMap<String, usize>,
}

impl Watcher {
    pub(crate) async fn open(daemon: &Daemon, session: &str) -> Result<Self> {
        let mut connection = daemon.connect().await?;
        connection
            .send(&daemon.request("GET", &format!("/api/sessions/{session}/events"), ""))
            .await?;
        connection.follow().await?;
        Ok(Self { connection, known: BTreeMap::new() })
    }

    /// The next words of the agent's. They come as deltas, or with the whole message when it begins, when it is closed, and
    /// when this watcher was behind.
    async fn next_text(&mut self) -> Result<String> {
        loop {
            let (name, said) = self.next().await?;
            let Some(id) = said.get("id").and_then(Value::as_str) else { continue };
            let known = self.known.entry(id.to_owned()).or_default();
            let new = match name.as_str() {
                "message" if said.get("role") == Some(&json!("agent")) => {
                    let whole = said.pointer("/content/text").and_then(Value::as_str);
                    whole.unwrap_or_default().get(*known..).unwrap_or_default()
                }
                "delta" => said.get("text").and_then(Value::as_str).unwrap_or_default(),
                _ => "",
            };
            *known += new.len();
            if !new.is_empty() {
                return Ok(new.to_owned());
            }
        }
    }

    /// Reads until a turn has ended.
    pub(crate) async fn until_end(&mut self) -> Result<()> {
        while self.next().await?.1.pointer("/turn/status") != Some(&json!("ended")) {}
        Ok(())
    }

    /// The next event: its name and what it carries.
    async fn next(&mut self) -> Result<(String, Value)> {
        let mut name = String::new();
        loop {
            let line = self.connection.next_line().await?;
            if let Some(word) = line.strip_prefix("event:") {
                name = word.trim().to_owned();
            } else if let Some(data) = line.strip_prefix("data:") {
                return Ok((name, serde_json::from_str(data)?));
            }
        }
    }
}
