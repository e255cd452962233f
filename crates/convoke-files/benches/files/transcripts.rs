//! Transcripts: a folder that is full of them, and one that is long.

use convoke_files::transcripts::{Id, Transcripts};
use convoke_testkit::bench::measure::{in_turn, seconds};
use convoke_testkit::bench::process::resident_bytes;
use convoke_testkit::bench::transcripts::{read_all, write};
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit};

pub(crate) const ROWS: [&str; 3] = [
    "list: 10,000 transcripts of 100 turns",
    "resume: open a transcript of 100 MB",
    "memory: resident with an open transcript of 100 MB",
];

/// Transcripts in the folder, and in what is enough to try the benchmark out.
const TRANSCRIPTS: (usize, usize) = (10_000, 200);
/// Turns of each.
const TURNS: usize = 100;
/// Turns of the long one, each of about two kilobytes.
const LONG_TURNS: (usize, usize) = (50_000, 500);
/// Times each is done.
const ROUNDS: (usize, usize) = (15, 3);
/// Tokens of the conversation that are carried along, as they are configured by default.
const TOKENS_MAX: u64 = 100_000;

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let [listing, opening, memory] = ROWS;
    bench.progress(listing)?;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let transcripts = Transcripts::new(folder.path().to_owned());
    let count = bench.size(TRANSCRIPTS.0, TRANSCRIPTS.1);
    for number in 0..count {
        write(&folder.path().join(format!("{number}.jsonl")), TURNS, 12)?;
    }
    let rounds = bench.size(ROUNDS.0, ROUNDS.1);
    let (time, bare) =
        in_turn(rounds, || seconds(|| transcripts.list()), || seconds(|| read_all(folder.path())))?;
    bench.add(
        Row::new(listing, Unit::Seconds, time.median())
            .against("reading each file, 1 thread", bare.median())
            .goal(Goal::AtMost(0.150)),
    )?;
    bench.progress(opening)?;
    let long = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (transcripts, id) = (Transcripts::new(long.path().to_owned()), "long".parse::<Id>()?);
    let turns = bench.size(LONG_TURNS.0, LONG_TURNS.1);
    write(&transcripts.path(&id), turns, 330)?;
    let (time, bare) = in_turn(
        rounds,
        || seconds(|| transcripts.open(&id, TOKENS_MAX)),
        || seconds(|| read_all(long.path())),
    )?;
    bench.add(
        Row::new(opening, Unit::Seconds, time.median())
            .against("reading the file", bare.median())
            .goal(Goal::AtMost(1.0)),
    )?;
    let opened = transcripts.open(&id, TOKENS_MAX)?;
    let resident = resident_bytes(std::process::id())?;
    drop(opened);
    bench.add(Row::new(memory, Unit::Bytes, resident as f64).goal(Goal::AtMost(100e6)))
}
