//! Looking for changes where there are none.

use std::collections::HashMap;
use std::path::Path;

use convoke_histories::{Agent, Store};
use convoke_testkit::bench::measure::{in_turn, seconds};
use convoke_testkit::bench::{Bench, Error, Goal, Result, Row, Unit, histories};

pub(crate) const ROWS: [&str; 1] = ["rescan: 10,000 history files, none changed"];

/// Files.
const FILES: (usize, usize) = (10_000, 200);
/// Times they are looked at.
const ROUNDS: (usize, usize) = (20, 2);

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let [name] = ROWS;
    bench.progress(name)?;
    let files = bench.size(FILES.0, FILES.1);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    histories::write_many(folder.path(), files)?;
    let mut store = Store::open_at(Agent::Claude, folder.path())?.ok_or("there is no store")?;
    let known: HashMap<_, _> =
        store.scan()?.into_iter().map(|history| (history.path, history.stamp)).collect();
    let (ours, bare) = in_turn(
        bench.size(ROUNDS.0, ROUNDS.1),
        || {
            seconds(|| {
                let found = store.scan()?;
                let changed = found.iter().filter(|it| known.get(&it.path) != Some(&it.stamp));
                if found.len() == files && changed.count() == 0 {
                    Ok(found)
                } else {
                    Err(Error::from("something changed"))
                }
            })
        },
        || seconds(|| look(folder.path())),
    )?;
    bench.add(
        Row::new(name, Unit::Seconds, ours.median())
            .against("readdir and stat of each file", bare.median())
            .goal(Goal::AtMost(0.150)),
    )
}

fn look(root: &Path) -> Result<u64> {
    let mut bytes = 0;
    for project in std::fs::read_dir(root.join("projects"))? {
        for file in std::fs::read_dir(project?.path())? {
            bytes += file?.metadata()?.len();
        }
    }
    Ok(bytes)
}
