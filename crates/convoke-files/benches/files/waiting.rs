//! The time from the appearance of an answer to the return of its waiter.

use std::fs::{self, File};
use std::io::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use convoke_core::id::RequestId;
use convoke_files::questions::{Outcome, Questions, Until};
use convoke_testkit::bench::measure::Samples;
use convoke_testkit::bench::{Bench, Goal, Plot, Result, Row, Scale, Unit, questions};

use crate::OTHERS;
use crate::folder::{Folder, new_set};

pub(crate) const ROWS: [&str; 4] = [
    "wait: latency from answer to waiter, median",
    "wait: latency from answer to waiter, p99",
    "wait: latency from answer to waiter, 10,000 other sessions, median",
    "wait: latency from answer to waiter, 10,000 other sessions, p99",
];

/// Answers that are waited for.
const ANSWERS: (usize, usize) = (300, 20);

/// The time that a waiter needs until it sleeps. There is no signal for that, and it does no harm if it takes longer:
/// then the waiter finds the answer at its first check.
const UNTIL_ASLEEP: Duration = Duration::from_millis(5);

/// How long a waiter waits before the benchmark gives up.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A poll finds the answer after half its pause, on average.
const POLL_MEAN: f64 = 0.1;

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let [median, p99, median_among, p99_among] = ROWS;
    let poll = "polling every 200 ms, mean (computed)";
    bench.progress(median)?;
    let alone = wait_often(bench, 0)?;
    bench.add(
        Row::new(median, Unit::Seconds, alone.median())
            .against(poll, POLL_MEAN)
            .goal(Goal::AtMost(0.005)),
    )?;
    bench.add(Row::new(p99, Unit::Seconds, alone.percentile(99.0)).against(poll, POLL_MEAN))?;
    if !bench.wants(&[median_among, p99_among]) {
        return Ok(());
    }
    bench.progress(median_among)?;
    let among = wait_often(bench, bench.size(OTHERS.0, OTHERS.1))?;
    bench.add(
        Row::new(median_among, Unit::Seconds, among.median())
            .against("no other sessions", alone.median())
            .goal(Goal::RatioAtMost(1.5)),
    )?;
    bench.add(
        Row::new(p99_among, Unit::Seconds, among.percentile(99.0))
            .against("no other sessions", alone.percentile(99.0)),
    )?;
    let name = "Latency from answer to waiter";
    bench.plot(
        Plot::new(name, "percentile", Scale::Linear, Unit::Seconds)
            .curve("no other sessions", alone.distribution())
            .curve("10,000 other sessions", among.distribution()),
    )
}

fn wait_often(bench: &Bench, others: usize) -> Result<Samples> {
    let mut folder = Folder::with_others(others)?;
    let mut times = Vec::new();
    for _ in 0..bench.size(ANSWERS.0, ANSWERS.1) {
        let id = folder.next_id();
        folder.questions.create(id, new_set()?, questions::asked_at())?;
        times.push(wait_once(&folder.questions, id)?);
        // Else the folder would be fuller for each next one.
        fs::remove_dir_all(folder.questions.folder(id))?;
    }
    Ok(times.into_iter().collect())
}

/// Answers as any other program may: a file beside the answers, synced, then renamed.
fn wait_once(folder: &Questions, id: RequestId) -> Result<Duration> {
    let answers = folder.folder(id).join("answers.json");
    let temporary = answers.with_extension("tmp");
    let mut file = File::create(&temporary)?;
    file.write_all(&serde_json::to_vec_pretty(&questions::answers(id))?)?;
    file.sync_all()?;
    thread::scope(|scope| {
        let waiter = scope.spawn(|| wait(folder, id));
        thread::sleep(UNTIL_ASLEEP);
        let answered_at = Instant::now();
        fs::rename(&temporary, &answers)?;
        let returned_at = waiter.join().map_err(|_| "the waiter panicked")??;
        Ok(returned_at - answered_at)
    })
}

/// Waits as `convoke ask` does, and returns when it was over.
fn wait(folder: &Questions, id: RequestId) -> Result<Instant> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(folder.wait(id, None, Until::NotPending, Some(TIMEOUT)))?;
    let returned_at = Instant::now();
    match outcome {
        Some(Outcome::Answered(_)) => Ok(returned_at),
        Some(Outcome::Rejected { .. } | Outcome::TimedOut | Outcome::Abandoned) | None => {
            Err("the answer was not seen".into())
        }
    }
}
