//! Listing a folder that is full.

use convoke_testkit::bench::measure::{in_turn, seconds};
use convoke_testkit::bench::{Bench, Goal, Result, Row, Unit, questions};

use crate::OTHERS;
use crate::folder::Folder;

pub(crate) const ROWS: [&str; 1] = ["list: 10,000 question sessions"];

/// Times the folder is listed.
const LISTINGS: (usize, usize) = (30, 5);

pub(crate) fn measure(bench: &mut Bench) -> Result<()> {
    let [name] = ROWS;
    bench.progress(name)?;
    let others = bench.size(OTHERS.0, OTHERS.1);
    let folder = Folder::with_others(others)?;
    let (time, bare) = in_turn(
        bench.size(LISTINGS.0, LISTINGS.1),
        || {
            let mut seen = 0;
            let taken = seconds(|| {
                let listing = folder.questions.list()?;
                seen = listing.entries.len();
                Ok::<_, convoke_files::Error>(listing)
            })?;
            if seen == others { Ok(taken) } else { Err("sessions are missing".into()) }
        },
        || seconds(|| questions::read_statuses(folder.questions.dir())),
    )?;
    bench.add(
        Row::new(name, Unit::Seconds, time.median())
            .against("reading each status.json, 1 thread", bare.median())
            .goal(Goal::RatioAtMost(2.0)),
    )
}
