//! Finding a file that is mentioned by a few letters, as after each key.

use std::fs;

use convoke_files::index::FileIndex;
use convoke_testkit::bench::measure::{in_turn, seconds};
use convoke_testkit::bench::{Bench, Error, Goal, Result, Row, Unit};

pub(crate) const ROWS: [&str; 1] =
    ["mention: fuzzy search of 100,000 file names per keystroke, p99"];

/// Files of the project, and in what is enough to try the benchmark out.
const FILES: (usize, usize) = (100_000, 500);
/// Keys.
const ROUNDS: (usize, usize) = (40, 2);
/// What is typed.
const TYPED: [&str; 4] = ["m", "mod", "module7", "comp/mod99"];

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let [name] = ROWS;
    bench.progress(name)?;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let mut names = Vec::new();
    for number in 0..bench.size(FILES.0, FILES.1) {
        let below = format!("source/component{}", number / 100);
        if number % 100 == 0 {
            fs::create_dir_all(folder.path().join(&below))?;
        }
        let name = format!("{below}/module{number}.rs");
        fs::write(folder.path().join(&name), "")?;
        names.push(name);
    }
    let index = FileIndex::build(folder.path());
    let mut keys = TYPED.iter().cycle();
    let (time, bare) = in_turn(
        bench.size(ROUNDS.0, ROUNDS.1),
        || {
            let typed = keys.next().copied().unwrap_or_default();
            seconds(|| match index.search(typed, 20).len() {
                0 => Err(Error::from("nothing was found")),
                found => Ok(found),
            })
        },
        || seconds(|| Ok::<_, Error>(names.iter().filter(|name| name.contains("99")).count())),
    )?;
    bench.add(
        Row::new(name, Unit::Seconds, time.percentile(99.0))
            .against("substring search of all names, median", bare.median())
            .goal(Goal::AtMost(0.030)),
    )
}
