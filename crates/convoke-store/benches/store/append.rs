//! One prompt after the other, each on disk before the next.

use std::time::Instant;

use convoke_store::Store;
use convoke_testkit::bench::measure::{Samples, in_turn_async};
use convoke_testkit::bench::{Bench, Result, Row, Unit};

use crate::database::Database;
use crate::raw;
use crate::speech::{Speaker, Talk, record};

pub(crate) const ROWS: [&str; 2] =
    ["append: prompts, sequential", "append: prompts, sequential, p50"];

/// What both are compared with.
const REFERENCE: &str = "the same rows, bare SQL";

/// Rounds, of which the median counts. Many short ones, since a disk has its moods.
const ROUNDS: (usize, usize) = (40, 2);
/// Prompts in a round.
const PROMPTS: (usize, usize) = (250, 100);

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    bench.progress("append: prompts, sequential")?;
    let prompts = bench.size(PROMPTS.0, PROMPTS.1);
    // Two databases that grow alike.
    let (ours, theirs) = (Database::with_sessions(1).await?, Database::with_sessions(1).await?);
    let (store, db) = (ours.open().await?, raw::connect(&theirs.path, Speaker::Human)?);
    let (mut our_talk, mut their_talk) = (Talk::new(0), Talk::new(0));
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    let (rate, bare_rate) = in_turn_async(
        bench.size(ROUNDS.0, ROUNDS.1),
        async || {
            let times = append(&store, &mut our_talk, prompts).await?;
            our_times.extend_from_slice(&times);
            Ok(rate(&times))
        },
        || {
            let said = their_talk.say_many(Speaker::Human, prompts)?.into_iter();
            let rows: Vec<_> = said.map(raw::Row::of).collect::<Result<_>>()?;
            let times = raw::append(&db, &rows, 1)?;
            their_times.extend_from_slice(&times);
            Ok(rate(&times))
        },
    )
    .await?;
    store.close().await;
    let [rate_name, p50_name] = ROWS;
    bench.add(
        Row::new(rate_name, Unit::PerSecond, rate.median()).against(REFERENCE, bare_rate.median()),
    )?;
    let (p50, bare_p50): (Samples, Samples) =
        (our_times.into_iter().collect(), their_times.into_iter().collect());
    bench.add(Row::new(p50_name, Unit::Seconds, p50.median()).against(REFERENCE, bare_p50.median()))
}

async fn append(store: &Store, talk: &mut Talk, prompts: usize) -> Result<Vec<f64>> {
    let mut times = Vec::with_capacity(prompts);
    for said in talk.say_many(Speaker::Human, prompts)? {
        let start = Instant::now();
        record(store, said, Speaker::Human).await?;
        times.push(start.elapsed().as_secs_f64());
    }
    Ok(times)
}

fn rate(times: &[f64]) -> f64 {
    times.len() as f64 / times.iter().sum::<f64>()
}
