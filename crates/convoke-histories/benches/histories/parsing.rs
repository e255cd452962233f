//! Reading many histories whole.

use std::path::Path;

use convoke_histories::{Agent, Reading, Store};
use convoke_testkit::bench::measure::{in_turn, seconds};
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit, histories};

pub(crate) const ROWS: [&str; 1] = ["import: read 10,000 Claude histories of 16 kB"];

/// Histories.
const HISTORIES: (usize, usize) = (10_000, 200);
/// Times they are read.
const ROUNDS: (usize, usize) = (5, 1);

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let [name] = ROWS;
    bench.progress(name)?;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    histories::write_many(folder.path(), bench.size(HISTORIES.0, HISTORIES.1))?;
    let (ours, bare) = in_turn(
        bench.size(ROUNDS.0, ROUNDS.1),
        || seconds(|| import(folder.path())),
        || seconds(|| histories::parse(folder.path())),
    )?;
    bench.add(
        Row::new(name, Unit::Seconds, ours.median())
            .against("parsing each line to a serde_json::Value, 1 thread", bare.median())
            .goal(Goal::RatioAtMost(3.0)),
    )
}

/// Finds all histories, reads them, and takes a cursor of each, as an import does.
fn import(root: &Path) -> Result<usize> {
    let mut store = Store::open_at(Agent::Claude, root)?.ok_or("there is no store")?;
    let mut messages = 0;
    for history in store.scan()? {
        let Reading::Whole(mut reader) = store.read(&history, None)? else { continue };
        while let Some(batch) = reader.next_batch()? {
            messages += batch.items.len();
        }
        drop(reader.cursor()?);
    }
    if messages == 0 { Err("nothing was read".into()) } else { Ok(messages) }
}
