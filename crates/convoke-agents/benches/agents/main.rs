//! What the way to an agent costs: turns, floods of updates and new sessions, beside talking to the agent directly.
//!
//! The agent is this program itself, following a script.

mod pooled;

use convoke_agents::sandbox;
use convoke_testkit::agent::{Protocol, Script, Step, serve};
use convoke_testkit::bench::direct::Direct;
use convoke_testkit::bench::instructions::{can_count, each, of_subtask};
use convoke_testkit::bench::measure::Samples;
use convoke_testkit::bench::process::resident_bytes;
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};

use pooled::Pooled;

const TURN: &str = "turn: prompt to end, through pool and driver";
const UPDATES: &str = "updates: throughput of one session";
const MEMORY: &str = "updates: resident memory after 100,000 updates";
const NEW: &str = "new: a session on a spare process";
const CONFINED: &str = "start: agent in all sandbox layers, until ready";
const INSTRUCTIONS: &str = "instructions: one agent update, from JSON line to report";
/// Followed by how many updates.
const FLOOD_SUBTASK: &str = "flood ";

/// Rounds of one turn, and updates of one flood.
const TURNS: (usize, usize) = (500, 20);
const FLOOD: (usize, usize) = (100_000, 1_000);
/// Updates whose instructions are counted.
const COUNTED: (usize, usize) = (10_000, 500);

fn main() -> Result<()> {
    // The agents of one row are supervised, by this very program.
    match std::env::args().nth(1).zip(std::env::args().nth(2)) {
        Some((first, second)) if first == "sandbox-exec" && second == "--supervise" => {
            sandbox::supervise()?;
            return Ok(());
        }
        Some((first, second)) if first == "sandbox-exec" && second == "--enter" => {
            sandbox::enter()?;
            return Ok(());
        }
        Some(_) | None => {}
    }
    let mut bench = Bench::from_args()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if let Some(updates) = bench.subtask().and_then(|subtask| subtask.strip_prefix(FLOOD_SUBTASK)) {
        return runtime.block_on(flood(updates.parse()?));
    }
    if let Some(updates) = bench.subtask() {
        let script = script(updates.parse()?);
        runtime.block_on(serve(Protocol::Acp, script, tokio::io::stdin(), tokio::io::stdout()));
        return Ok(());
    }
    if bench.wants(&[TURN, UPDATES, MEMORY, NEW]) {
        runtime.block_on(measure(&mut bench))?;
    }
    if bench.wants(&[CONFINED]) {
        runtime.block_on(measure_starts(&mut bench))?;
    }
    if bench.wants(&[INSTRUCTIONS]) && can_count()? {
        bench.progress(INSTRUCTIONS)?;
        let times = bench.size(COUNTED.0, COUNTED.1);
        let count = each(times, |times| of_subtask(&format!("{FLOOD_SUBTASK}{times}")))?;
        bench.add(Row::new(INSTRUCTIONS, Unit::Instructions, count))?;
    }
    bench.finish()
}

/// How much later an agent is ready that goes through all layers.
async fn measure_starts(bench: &mut Bench) -> Result<()> {
    let rounds = bench.size(40, 3);
    let (confined, bare) = (pooled::confined()?, pooled::launch(0)?);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let (one, other) = (pooled::start(&confined).await?, pooled::start(&bare).await?);
        // The first time does not count.
        if round > 0 {
            ours.push(one);
            theirs.push(other);
        }
    }
    let (ours, theirs): (Samples, Samples) =
        (ours.into_iter().collect(), theirs.into_iter().collect());
    bench.add(
        Row::new(CONFINED, Unit::Seconds, ours.median())
            .against("the same agent, unconfined", theirs.median())
            .goal(Goal::ExcessAtMost(15e-3)),
    )
}

/// Takes so many updates from an agent, whose own instructions do not count.
async fn flood(updates: usize) -> Result<()> {
    let (_, came) = Pooled::start(updates)?.turn("count").await?;
    if came == updates { Ok(()) } else { Err(format!("{came} of {updates} came").into()) }
}

/// An agent that answers with a word, and counts when the prompt says so.
fn script(updates: u64) -> Script {
    Script::new().when("count", [Step::Count(updates)]).when("hello", [Step::say("hello")])
}

async fn measure(bench: &mut Bench) -> Result<()> {
    let turns = bench.size(TURNS.0, TURNS.1);
    let updates = bench.size(FLOOD.0, FLOOD.1);
    let mut direct = Direct::start(["--subtask", &updates.to_string()]).await?;
    let mut pooled = Pooled::start(updates)?;
    // In turn, so that what else the machine does troubles both.
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=turns {
        let (one, other) = (pooled.turn("hello").await?, direct.turn("hello").await?);
        // The first time does not count.
        if round > 0 {
            ours.push(one.0);
            theirs.push(other.0);
        }
    }
    let (ours, theirs): (Samples, Samples) =
        (ours.into_iter().collect(), theirs.into_iter().collect());
    bench.add(
        Row::new(TURN, Unit::Seconds, ours.median())
            .against("the same agent, over its pipes", theirs.median())
            .goal(Goal::ExcessAtMost(1e-3)),
    )?;
    let (flood, flood_direct) = (pooled.turn("count").await?, direct.turn("count").await?);
    if flood.1 != updates {
        return Err(format!("{} of {updates} updates arrived", flood.1).into());
    }
    let rate = |(time, count): (std::time::Duration, usize)| count as f64 / time.as_secs_f64();
    bench.add(
        Row::new(UPDATES, Unit::PerSecond, rate(flood))
            .against("the same agent, over its pipes", rate(flood_direct)),
    )?;
    bench.add(
        Row::new(MEMORY, Unit::Bytes, resident_bytes(std::process::id())? as f64)
            .goal(Goal::AtMost(100e6)),
    )?;
    let rounds = bench.size(30, 3);
    let (mut spare, mut own) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        spare.push(pooled.new_on_spare(round).await?);
        own.push(direct.new_session().await?);
    }
    let (spare, own): (Samples, Samples) = (spare.into_iter().collect(), own.into_iter().collect());
    bench.add(
        Row::new(NEW, Unit::Seconds, spare.median())
            .against("the agent's own session/new", own.median())
            .goal(Goal::ExcessAtMost(50e-3)),
    )
}
