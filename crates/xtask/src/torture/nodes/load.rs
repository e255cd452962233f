//! Many nodes under load without faults: every notification arrives, and memory stays flat.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use convoke_testkit::bench::random::Random;
use serde_json::{Value, json};

use super::super::clients::text_of;
use super::super::http::{Answer, Endpoint, Outcome, StreamItem};
use super::super::machine::Machine;
use super::super::{Options, Verdict};
use super::Nodes;

/// Sessions of each node.
const SESSIONS: usize = 50;
/// A change that a watcher on another node has not received by then counts as lost: nothing else
/// would deliver it.
const ARRIVAL_MAX: Duration = Duration::from_secs(15);
/// How much a node may grow between the first rounds and the end, in kilobytes: memory that
/// allocators and caches keep.
const GROWTH_MAX_KB: u64 = 32 << 10;
/// Rounds before memory counts: until then, connections are made and statements prepared.
const WARM_UP: usize = 3;

/// Runs rounds of prompts from node to node, followed on a third one, until the time is over.
pub(in super::super) fn load(program: &Path, agent: &Path, options: &Options) -> Result<Verdict> {
    let nodes = Nodes::start(program, agent, options, "")?;
    let endpoints = nodes.machines.iter().map(Machine::endpoint).collect::<Option<Vec<_>>>();
    let endpoints = endpoints.context("a node does not say where it is")?;
    let begun = Instant::now();
    let sessions: Vec<Vec<String>> = thread::scope(|scope| {
        let begin = |(endpoint, machine)| scope.spawn(move || begin_sessions(endpoint, machine));
        let begun: Vec<_> = endpoints.iter().zip(&nodes.machines).map(begin).collect();
        begun.into_iter().map(|thread| thread.join().unwrap_or_default()).collect()
    });
    let count: usize = sessions.iter().map(Vec::len).sum();
    let mut out = io::stdout().lock();
    let took = begun.elapsed().as_secs();
    writeln!(out, "{} nodes, {count} sessions, begun in {took} s", nodes.machines.len())?;
    let (mut arrivals, mut findings, mut rounds) = (Vec::new(), Vec::new(), 0);
    if count < SESSIONS * nodes.machines.len() {
        findings.push(format!("only {count} sessions could be begun"));
    }
    let (mut warm, begun) = (Vec::new(), Instant::now());
    while begun.elapsed() < Duration::from_secs(options.seconds) || rounds <= WARM_UP {
        if rounds == WARM_UP {
            warm = sizes(&nodes);
        }
        for outcome in round(&endpoints, &sessions, rounds, options.seed) {
            match outcome {
                Ok(arrival) => arrivals.push(arrival),
                Err(finding) => findings.push(finding),
            }
        }
        rounds += 1;
    }
    let now = sizes(&nodes);
    for (number, (before, now)) in warm.iter().zip(&now).enumerate() {
        if *now > before + GROWTH_MAX_KB {
            findings.push(format!("node-{number} grew from {before} kB to {now} kB"));
        }
    }
    arrivals.sort();
    let percentile = |part: usize| arrivals.get(arrivals.len() * part / 100).copied();
    let millis = |part| percentile(part).unwrap_or_default().as_millis();
    let (half, most) = (millis(50), millis(99));
    let mean = |sizes: &[u64]| sizes.iter().sum::<u64>() / (sizes.len().max(1) as u64) / 1024;
    writeln!(
        out,
        "{rounds} rounds, {} prompts from one node to another's session",
        arrivals.len()
    )?;
    writeln!(out, "from the prompt to a watcher on a third node: p50 {half} ms, p99 {most} ms")?;
    writeln!(out, "resident memory of a node: {} MB, at the end {} MB", mean(&warm), mean(&now))?;
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    writeln!(out, "load: {} findings", findings.len())?;
    Ok(if findings.is_empty() { Verdict::Held } else { Verdict::Broken })
}

/// Begins the sessions of a node.
fn begin_sessions(endpoint: &Endpoint, machine: &Machine) -> Vec<String> {
    let Some(path) = machine.projects().into_iter().next() else { return Vec::new() };
    let outcome = endpoint.call("POST", "/api/repos", Some(&json!({"path": path})));
    let Outcome::Answered(Answer { body, .. }) = outcome else { return Vec::new() };
    let new = json!({"repoId": text_of(&body, "id"), "agent": "wild"});
    let begin = |_| match endpoint.call("POST", "/api/sessions", Some(&new)) {
        Outcome::Answered(Answer { status: 201, body }) => Some(text_of(&body, "id")),
        Outcome::Answered(_) | Outcome::Unknown | Outcome::NotSent => None,
    };
    (0..SESSIONS).filter_map(begin).collect()
}

/// A prompt for a session of each node, from the next node, followed on the one after that.
fn round(
    endpoints: &[Endpoint],
    sessions: &[Vec<String>],
    number: usize,
    seed: u64,
) -> Vec<Result<Duration, String>> {
    let endpoint = |at: usize| endpoints.get(at % endpoints.len().max(1));
    thread::scope(|scope| {
        let mut running = Vec::new();
        for (at, sessions) in sessions.iter().enumerate() {
            let mut random = Random::new(seed + (number * endpoints.len() + at) as u64);
            let session = sessions.get(random.below(sessions.len().max(1) as u64) as usize);
            let (Some(session), Some(asker), Some(watcher)) =
                (session, endpoint(at + 1), endpoint(at + 2))
            else {
                continue;
            };
            let text = format!("r{number}n{at} hello");
            running.push(scope.spawn(move || follow(asker, watcher, session, &text)));
        }
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err("a client broke down".to_owned()))
        };
        running.into_iter().map(join).collect()
    })
}

fn follow(
    asker: &Endpoint,
    watcher: &Endpoint,
    session: &str,
    text: &str,
) -> Result<Duration, String> {
    let lost = |why: &str| format!("{text:?} in {session}: {why}");
    let mut events = watcher.follow(session, None).map_err(|error| lost(&error.to_string()))?;
    let sent = Instant::now();
    let path = format!("/api/sessions/{session}/prompt");
    let outcome = asker.call("POST", &path, Some(&json!({"text": text})));
    let Outcome::Answered(Answer { status: 202, .. }) = outcome else {
        return Err(lost(&format!("the prompt is answered {outcome:?}")));
    };
    while sent.elapsed() < ARRIVAL_MAX {
        match events.next() {
            StreamItem::Event(event) => {
                let said = event.data.pointer("/content/text").and_then(Value::as_str);
                if said == Some(text) {
                    return Ok(sent.elapsed());
                }
            }
            StreamItem::Quiet => {}
            StreamItem::Over => return Err(lost("the watcher was cut off")),
        }
    }
    Err(lost("the watcher was not told"))
}

/// The resident memory of each daemon, in kilobytes.
fn sizes(nodes: &Nodes) -> Vec<u64> {
    let size = |machine: &Machine| {
        let status = fs::read_to_string(format!("/proc/{}/status", machine.pid()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.split_whitespace().next()?.parse().ok()
    };
    nodes.machines.iter().map(|machine| size(machine).unwrap_or_default()).collect()
}
