//! Many writers at once, each in its own session.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Instant;

use convoke_store::Store;
use convoke_testkit::bench::measure::Samples;
use convoke_testkit::bench::{Bench, Goal, Plot, Result, Row, Scale, Unit};
use tokio::task::JoinSet;

use crate::database::Database;
use crate::raw;
use crate::speech::{Said, Speaker, Talk, record};

pub(crate) const ROWS: [&str; 2] = ["append: deltas, 64 writers", "append: prompts, 64 writers"];

/// Writers of the rows, and the last point of the curves.
const WRITERS: usize = 64;
/// Writers of the points before that.
const FEWER_WRITERS: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// Rounds, of which the median counts. Many short ones, since a disk has its moods.
const ROUNDS: (usize, usize) = (25, 2);
/// Rounds of a point that is no row.
const POINT_ROUNDS: (usize, usize) = (7, 1);
/// Pieces of answers that a writer appends in a round.
const PIECES: (usize, usize) = (150, 20);
/// Prompts that a writer appends in a round.
const PROMPTS: (usize, usize) = (40, 5);

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let [pieces, prompts] = ROWS;
    let each = bench.size(PIECES.0, PIECES.1);
    if bench.wants(&[pieces]) {
        let most = measure_row(bench, pieces, Speaker::Agent, each).await?;
        measure_curves(bench, each, &most).await?;
    }
    if bench.wants(&[prompts]) {
        let each = bench.size(PROMPTS.0, PROMPTS.1);
        measure_row(bench, prompts, Speaker::Human, each).await?;
    }
    Ok(())
}

/// What came out for some number of writers: medians of updates a second, and of a batch.
struct Rates {
    ours: f64,
    bare: f64,
    batch: f64,
}

async fn measure_row(
    bench: &mut Bench,
    name: &str,
    speaker: Speaker,
    each: usize,
) -> Result<Rates> {
    bench.progress(name)?;
    let rates = measure_rates(speaker, WRITERS, each, bench.size(ROUNDS.0, ROUNDS.1)).await?;
    let reference = format!("bare SQL in the same batches of {}", rates.batch);
    bench.add(
        Row::new(name, Unit::PerSecond, rates.ours)
            .against(&reference, rates.bare)
            .goal(Goal::RatioAtLeast(0.7)),
    )?;
    Ok(rates)
}

async fn measure_curves(bench: &Bench, each: usize, most: &Rates) -> Result<()> {
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    let rounds = bench.size(POINT_ROUNDS.0, POINT_ROUNDS.1);
    for writers in FEWER_WRITERS {
        bench.progress(&format!("append: {writers} writers"))?;
        let rates = measure_rates(Speaker::Agent, writers, each, rounds).await?;
        ours.push((writers as f64, rates.ours));
        bare.push((writers as f64, rates.bare));
    }
    ours.push((WRITERS as f64, most.ours));
    bare.push((WRITERS as f64, most.bare));
    let name = "Deltas appended per second";
    bench.plot(
        Plot::new(name, "concurrent writers", Scale::Logarithmic, Unit::PerSecond)
            .curve("convoke", ours)
            .curve("bare SQL in the same batches", bare),
    )
}

async fn measure_rates(
    speaker: Speaker,
    writers: usize,
    each: usize,
    rounds: usize,
) -> Result<Rates> {
    // Two databases that grow alike.
    let ours = Database::with_sessions(writers).await?;
    let theirs = Database::with_sessions(writers).await?;
    let (store, db) = (ours.open().await?, raw::connect(&theirs.path, speaker)?);
    let mut our_talks: Vec<Talk> = (0..writers).map(Talk::new).collect();
    let mut their_talks: Vec<Talk> = (0..writers).map(Talk::new).collect();
    let commits = Commits::of(&ours.path)?;
    let (mut rates, mut bare_rates, mut batches) = (Vec::new(), Vec::new(), Vec::new());
    // The first round warms up.
    for round in 0..=rounds {
        let before = commits.count()?;
        let rate = append(&store, &mut our_talks, speaker, each).await?;
        let made = commits.count()?.wrapping_sub(before).max(1);
        let batch = (writers * each).div_ceil(made as usize);
        let bare_rate = append_bare(&db, &mut their_talks, speaker, each, batch)?;
        if round > 0 {
            rates.push(rate);
            bare_rates.push(bare_rate);
            batches.push(batch as f64);
        }
    }
    store.close().await;
    drop(commits);
    let median = |figures: Vec<f64>| figures.into_iter().collect::<Samples>().median();
    Ok(Rates { ours: median(rates), bare: median(bare_rates), batch: median(batches) })
}

/// Has every writer record so many updates, each after the one before was acknowledged; updates per second.
pub(crate) async fn append(
    store: &Store,
    talks: &mut [Talk],
    speaker: Speaker,
    each: usize,
) -> Result<f64> {
    let speeches: Vec<Vec<Said>> =
        talks.iter_mut().map(|talk| talk.say_many(speaker, each)).collect::<Result<_>>()?;
    let start = Instant::now();
    let mut writers = JoinSet::new();
    for speech in speeches {
        let store = store.clone();
        writers.spawn(async move {
            for said in speech {
                record(&store, said, speaker).await?;
            }
            Ok::<_, convoke_store::Error>(())
        });
    }
    while let Some(done) = writers.join_next().await {
        done??;
    }
    Ok((talks.len() * each) as f64 / start.elapsed().as_secs_f64())
}

/// Appends as much with nothing but statements, the sessions in turn; updates per second.
fn append_bare(
    db: &rusqlite::Connection,
    talks: &mut [Talk],
    speaker: Speaker,
    each: usize,
    batch: usize,
) -> Result<f64> {
    let mut rows = Vec::new();
    for _ in 0..each {
        for talk in &mut *talks {
            rows.push(raw::Row::of(talk.say(speaker)?)?);
        }
    }
    let taken: f64 = raw::append(db, &rows, batch)?.iter().sum();
    Ok(rows.len() as f64 / taken)
}

/// Counts the commits that others make to a database.
///
/// The number stands in the index beside the log, for the database's own use; there is no other source for it. The file
/// must stay open until the store is closed: closing it would release the locks that the database has on it.
struct Commits {
    index: File,
}

impl Commits {
    fn of(database: &Path) -> Result<Self> {
        let mut path = database.to_owned().into_os_string();
        path.push("-shm");
        Ok(Self { index: File::open(path)? })
    }

    fn count(&self) -> Result<u32> {
        /// Where `iChange` of the header is.
        const AT: u64 = 8;
        let mut bytes = [0; 4];
        self.index.read_exact_at(&mut bytes, AT)?;
        Ok(u32::from_ne_bytes(bytes))
    }
}
