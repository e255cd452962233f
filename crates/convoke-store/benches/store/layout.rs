//! Whole messages beside the table of the first release, which had a row for each piece: both with bare SQL, so that
//! nothing but the layout differs.

use convoke_testkit::bench::measure::in_turn;
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};
use rusqlite::Connection;

use crate::database::Database;
use crate::pieces::Pieces;
use crate::raw;
use crate::speech::{Said, Speaker, Talk};

pub(crate) const ROWS: [&str; 3] = [
    "layout: append deltas, bare SQL",
    "layout: database size, answers of 100 deltas",
    "layout: database size without the search index, answers of 100 deltas",
];

/// What all are compared with.
const REFERENCE: &str = "one row per delta, as in the first release";

/// Sessions in which answers are written at the same time.
const SESSIONS: usize = 16;
/// Pieces in one transaction: what the store has in its batches with 64 writers.
const BATCH: usize = 40;
/// Pieces that each session gets in a round: two answers.
const PIECES: usize = 200;
/// Rounds, of which the median counts.
const ROUNDS: (usize, usize) = (25, 3);

pub(crate) async fn measure(bench: &mut Bench) -> Result<()> {
    let [rate, size, size_without_search] = ROWS;
    bench.progress(rate)?;
    let database = Database::with_sessions(SESSIONS).await?;
    let whole = raw::connect(&database.path, Speaker::Agent)?;
    let mut pieces = Pieces::new(SESSIONS)?;
    let (mut our_talks, mut their_talks) = (talks(), talks());
    let per_second = |seconds: f64| (SESSIONS * PIECES) as f64 / seconds;
    let (ours, theirs) = in_turn(
        bench.size(ROUNDS.0, ROUNDS.1),
        || {
            let rows = round(&mut our_talks)?.into_iter().map(raw::Row::of);
            let rows = rows.collect::<Result<Vec<_>>>()?;
            Ok(per_second(raw::append(&whole, &rows, BATCH)?.iter().sum()))
        },
        || {
            let said = round(&mut their_talks)?;
            let rows = said.iter().map(|said| pieces.encode(said)).collect::<Result<Vec<_>>>()?;
            Ok(per_second(pieces.append(&rows, BATCH)?))
        },
    )?;
    bench.add(
        Row::new(rate, Unit::PerSecond, ours.median())
            .against(REFERENCE, theirs.median())
            .goal(Goal::RatioAtLeast(1.5)),
    )?;
    let (ours, theirs) = (Size::of(&whole)?, Size::of(pieces.connection())?);
    let goal = Goal::RatioAtMost(0.4);
    bench.add(Row::new(size, Unit::Bytes, ours.all).against(REFERENCE, theirs.all).goal(goal))?;
    let (ours, theirs) = (ours.all - ours.search, theirs.all - theirs.search);
    bench
        .add(Row::new(size_without_search, Unit::Bytes, ours).against(REFERENCE, theirs).goal(goal))
}

fn talks() -> Vec<Talk> {
    (0..SESSIONS).map(Talk::new).collect()
}

/// What is said in a round, the sessions in turn.
fn round(talks: &mut [Talk]) -> Result<Vec<Said>> {
    let mut said = Vec::with_capacity(SESSIONS * PIECES);
    for _ in 0..PIECES {
        for talk in &mut *talks {
            said.push(talk.say(Speaker::Agent)?);
        }
    }
    Ok(said)
}

/// How many bytes a database takes.
struct Size {
    all: f64,
    search: f64,
}

impl Size {
    fn of(db: &Connection) -> Result<Self> {
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        let all = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        let search = "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'message_search%'";
        let bytes = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0));
        Ok(Self { all: bytes(all)? as f64, search: bytes(search)? as f64 })
    }
}
