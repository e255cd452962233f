//! Many writers at once, each in a session of its own.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Instant;

use convoke_store::Store;
use convoke_testkit::bench::measure::Samples;
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};
use tokio::task::JoinSet;

use crate::database::Database;
use crate::raw;
use crate::speech::{Said, Speaker, Talk};

pub(crate) const ROWS: [&str; 2] =
    ["append: pieces of answers, 64 writers", "append: prompts, 64 writers"];

const WRITERS: usize = 64;
/// Rounds, of which the median counts. Many short ones, since a disk has its moods.
const ROUNDS: (usize, usize) = (25, 2);
/// Pieces of answers that a writer appends in a round.
const PIECES: (usize, usize) = (150, 20);
/// Prompts that a writer appends in a round.
const PROMPTS: (usize, usize) = (40, 5);

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let [pieces, prompts] = ROWS;
    measure_as(bench, pieces, Speaker::Agent, bench.size(PIECES.0, PIECES.1)).await?;
    measure_as(bench, prompts, Speaker::Human, bench.size(PROMPTS.0, PROMPTS.1)).await
}

async fn measure_as(bench: &mut Bench, name: &str, speaker: Speaker, each: usize) -> Result<()> {
    if !bench.wants(&[name]) {
        return Ok(());
    }
    bench.progress(name)?;
    // Two databases that grow alike.
    let ours = Database::with_sessions(WRITERS).await?;
    let theirs = Database::with_sessions(WRITERS).await?;
    let (store, db) = (ours.open().await?, raw::connect(&theirs.path, speaker)?);
    let mut our_talks: Vec<Talk> = (0..WRITERS).map(Talk::new).collect();
    let mut their_talks: Vec<Talk> = (0..WRITERS).map(Talk::new).collect();
    let commits = Commits::of(&ours.path)?;
    let (mut rates, mut bare_rates, mut batches) = (Vec::new(), Vec::new(), Vec::new());
    // The first round warms up.
    for round in 0..=bench.size(ROUNDS.0, ROUNDS.1) {
        let before = commits.count()?;
        let rate = append(&store, &mut our_talks, speaker, each).await?;
        let made = commits.count()?.wrapping_sub(before).max(1);
        let batch = (WRITERS * each).div_ceil(made as usize);
        let bare_rate = append_bare(&db, &mut their_talks, speaker, each, batch)?;
        if round > 0 {
            rates.push(rate);
            bare_rates.push(bare_rate);
            batches.push(batch as f64);
        }
    }
    store.close().await;
    drop(commits);
    let (rate, bare_rate): (Samples, Samples) =
        (rates.into_iter().collect(), bare_rates.into_iter().collect());
    let batch: Samples = batches.into_iter().collect();
    let reference = format!("bare SQL in the same batches of {}", batch.median());
    bench.add(
        Row::new(name, Unit::PerSecond, rate.median())
            .against(&reference, bare_rate.median())
            .goal(Goal::RatioAtLeast(0.7)),
    )
}

/// Has every writer append so many messages, each after the one before was acknowledged; messages per second.
async fn append(store: &Store, talks: &mut [Talk], speaker: Speaker, each: usize) -> Result<f64> {
    let speeches: Vec<Vec<Said>> =
        talks.iter_mut().map(|talk| talk.say_many(speaker, each)).collect();
    let start = Instant::now();
    let mut writers = JoinSet::new();
    for speech in speeches {
        let store = store.clone();
        writers.spawn(async move {
            for said in speech {
                let session = said.message.session_id;
                store.append(session, vec![said.message], said.summary).await?;
            }
            Ok::<_, convoke_store::Error>(())
        });
    }
    while let Some(done) = writers.join_next().await {
        done??;
    }
    Ok((talks.len() * each) as f64 / start.elapsed().as_secs_f64())
}

/// Appends as much with nothing but statements, the sessions in turn; messages per second.
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
            rows.push(raw::Row::of(talk.say(speaker), speaker)?);
        }
    }
    let taken: f64 = raw::append(db, &rows, batch)?.iter().sum();
    Ok(rows.len() as f64 / taken)
}

/// Counts the commits that others make to a database.
///
/// The number stands in the index beside the log, for the database's own use; nothing else tells it. The file must stay
/// open until the store is closed: closing it would release the locks that the database has on it.
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
