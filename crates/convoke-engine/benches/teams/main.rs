//! What teams cost: looking pairs up, asking one that is warm, and starting many at once.
//!
//! The agent is this program itself, following a script.

mod machine;

use std::time::{Duration, Instant};

use convoke_agents::sandbox;
use convoke_core::team::{AnswerStatus, Pair};
use convoke_engine::{Caller, Engine, TeamAsk, Wait};
use convoke_testkit::agent::{Protocol, Script, serve};
use convoke_testkit::bench::measure::Samples;
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};

use machine::Machine;

const CACHED: &str = "pair: look up the session of a team pair, cached";
const UNCACHED: &str = "pair: look up the session of a team pair, not cached";
const ASK: &str = "ask: question to a team with a warm agent, full answer";
const START: &str = "start: 5 teams, until all are ready";

/// Look-ups of one sample, and samples.
const LOOKS: (usize, usize) = (1000, 50);
const ASKS: (usize, usize) = (300, 20);
const STARTS: (usize, usize) = (10, 2);
/// Pairs in the store that are looked up one after the other, so that none is remembered.
const PAIRS: (usize, usize) = (500, 20);

fn main() -> Result<()> {
    // The agents are supervised, by this very program.
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
    if bench.subtask().is_some() {
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        runtime.block_on(serve(Protocol::Acp, Script::new(), input, output));
        return Ok(());
    }
    if bench.wants(&[CACHED, UNCACHED, ASK]) {
        runtime.block_on(lookups_and_asks(&mut bench))?;
    }
    if bench.wants(&[START]) {
        runtime.block_on(starts(&mut bench))?;
    }
    bench.finish()
}

fn pair(thread: Option<String>) -> Result<Pair> {
    Ok(Pair { from: None, to: "t0".parse()?, thread })
}

async fn lookups_and_asks(bench: &mut Bench) -> Result<()> {
    let machine = Machine::new()?;
    let count = bench.size(PAIRS.0, PAIRS.1);
    bench.progress("storing pairs")?;
    machine.store_pairs(count).await?;
    let engine = machine.open(1).await?;
    let main = pair(None)?;
    let (looks, rounds) = (LOOKS.0, bench.size(LOOKS.1, 5));
    let mut cached = Vec::new();
    for _ in 0..=rounds {
        let begun = Instant::now();
        for _ in 0..looks {
            engine.teams().pair_between(&main).await?.ok_or("no such pair")?;
        }
        cached.push(begun.elapsed().as_secs_f64() / looks as f64);
    }
    // The first time fills the cache.
    let cached: Samples = cached.into_iter().skip(1).collect();
    bench.add(Row::new(CACHED, Unit::Seconds, cached.median()).goal(Goal::AtMost(1e-6)))?;
    let mut uncached = Vec::new();
    for number in 0..count {
        let pair = pair(Some(format!("x{number}")))?;
        let begun = Instant::now();
        engine.teams().pair_between(&pair).await?.ok_or("no such pair")?;
        uncached.push(begun.elapsed());
    }
    let uncached: Samples = uncached.into_iter().collect();
    bench.add(Row::new(UNCACHED, Unit::Seconds, uncached.median()).goal(Goal::AtMost(30e-6)))?;
    asks(bench, &machine, &engine).await?;
    engine.stop().await;
    Ok(())
}

async fn asks(bench: &mut Bench, machine: &Machine, engine: &Engine) -> Result<()> {
    let mut direct = machine.direct().await?;
    let rounds = bench.size(ASKS.0, ASKS.1);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    // In turn, so that what else the machine does troubles both.
    for round in 0..=rounds {
        let (one, other) = (ask(engine).await?, direct.turn("hello").await?);
        // The first time starts the process.
        if round > 0 {
            ours.push(one);
            theirs.push(other);
        }
    }
    let (ours, theirs): (Samples, Samples) =
        (ours.into_iter().collect(), theirs.into_iter().collect());
    bench.add(
        Row::new(ASK, Unit::Seconds, ours.median())
            .against("the same agent, over its pipes", theirs.median())
            .goal(Goal::ExcessAtMost(2e-3)),
    )
}

async fn ask(engine: &Engine) -> Result<Duration> {
    let ask = TeamAsk {
        caller: Caller::Outside { team: None },
        to: "t0".parse()?,
        thread: None,
        question: "hello".to_owned(),
        by: None,
        wait: Wait::ForEver,
    };
    let begun = Instant::now();
    let answer = engine.teams().ask(ask).await?;
    let taken = begun.elapsed();
    if answer.status != AnswerStatus::Answered {
        return Err(format!("no answer: {:?}", answer.error).into());
    }
    Ok(taken)
}

async fn starts(bench: &mut Bench) -> Result<()> {
    let (mut five, mut one) = (Vec::new(), Vec::new());
    for _ in 0..bench.size(STARTS.0, STARTS.1) {
        five.push(start(5).await?);
        one.push(start(1).await?);
    }
    let (five, one): (Samples, Samples) = (five.into_iter().collect(), one.into_iter().collect());
    bench.add(
        Row::new(START, Unit::Seconds, five.median())
            .against("one team", one.median())
            .goal(Goal::RatioAtMost(1.5)),
    )
}

/// How long so many teams take until all of them are ready, on a fresh machine whose agents take their time.
async fn start(teams: usize) -> Result<Duration> {
    let machine = Machine::slow()?;
    let engine = machine.open(0).await?;
    let settings = machine.settings(teams)?;
    let begun = Instant::now();
    engine.teams().open(settings, |_| {}).await?;
    let taken = begun.elapsed();
    engine.stop().await;
    Ok(taken)
}
